#!/usr/bin/env bash
# Prepare a dataset, fine-tune the systems of its grid with every learning rate and seed, report.
#
#   bash examples/glue/run.sh demo --quick
#   RAW=DIR bash examples/glue/run.sh NAME [options of scripts/run_experiments.py]
#
# NAME is a file of configs/; demo is a small invented corpus. More in scripts/fine_tune_grid.sh.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
case "${1:-}" in "" | -h | --help) sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"; exit ;; esac
name="$1"; shift
if [ ! -f "$here/configs/$name.yaml" ]; then
    echo "error: no configs/$name.yaml; choices: $(cd "$here/configs" && ls | sed 's/.yaml//' | xargs)" >&2
    exit 2
fi
if [ "$name" = demo ]; then
    export NAME="glue_demo" RAW="$root/data-bin/glue_demo_raw"
    "$python" "$here/make_demo.py" "$RAW"
fi
[ -n "${RAW:-}" ] || { echo "error: set RAW to the folder with the official files" >&2; exit 2; }
exec bash "$root/scripts/fine_tune_grid.sh" "$here/configs/$name.yaml" "$@"
