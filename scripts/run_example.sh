#!/usr/bin/env bash
# One dataset of an example folder: what the run.sh of examples/glue, tagging, sla, dabert and
# bertqa_squad share.
#
#   bash scripts/run_example.sh FOLDER NAME [options of scripts/run_experiments.py]
#
# FOLDER holds run.sh (whose head is the usage), configs/NAME.yaml and make_demo.py (or DEMO names
# another script that makes the corpus of NAME demo); with make_NAME.sh the dataset is first made of RAW.
set -euo pipefail
folder="$1" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"; shift
case "${1:-}" in "" | -h | --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "$folder/run.sh"; exit ;; esac
name="$1"; shift
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
if [ ! -f "$folder/configs/$name.yaml" ]; then
    echo "error: no configs/$name.yaml; choices: $(cd "$folder/configs" && ls | sed 's/.yaml//' | xargs)" >&2
    exit 2
fi
if [ "$name" = demo ]; then
    NAME="$(basename "$folder")_demo"
    export NAME RAW="$root/data-bin/${NAME}_raw"
    "$python" "${DEMO:-$folder/make_demo.py}" "$RAW"
fi
if [ -n "${RAW:-}" ] && [ -f "$folder/make_$name.sh" ]; then
    made="$root/data-bin/${name}_raw"
    bash "$folder/make_$name.sh" "$RAW" "$made"
    export RAW="$made"
fi
exec bash "$root/scripts/fine_tune_grid.sh" "$folder/configs/$name.yaml" "$@"
