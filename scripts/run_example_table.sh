#!/usr/bin/env bash
# Datasets of an example folder, and a table of all that has run: what examples/sla, dabert and
# bertqa_squad share.
#
#   bash scripts/run_example_table.sh FOLDER PREFIX NAME... [options of scripts/run_experiments.py]
#
# FOLDER  as in scripts/run_example.sh
# PREFIX  of the folders in data-bin and runs, before NAME; may be empty
# RAW     folder with a dataset's official files, or one with a folder NAME for each
# FOLDER/before_table.sh, if it is there, is read before the table is made, and may add to its options.
# The table is printed and left in runs/FOLDER.md and runs/FOLDER.csv, that of NAME demo beside its runs.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
folder="$1" prefix="$2"; shift 2
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
names=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do names+=("$1"); shift; done
if [ ${#names[@]} -eq 0 ]; then exec bash "$root/scripts/run_example.sh" "$folder" --help; fi
raw="${RAW:-}" own="${NAME:-}"
if [ -n "$own" ] && [ ${#names[@]} -gt 1 ]; then
    echo "error: NAME=$own is for one dataset, not for ${names[*]}" >&2
    exit 2
fi
if [ -e "$raw" ]; then raw="$(realpath "$raw")"; fi
for name in "${names[@]}"; do
    RAW="$raw"; if [ -n "$raw" ] && [ -d "$raw/$name" ]; then RAW="$raw/$name"; fi
    NAME="${own:-$prefix$name${SIZE:+_$SIZE}}" RAW="$RAW" bash "$root/scripts/run_example.sh" "$folder" "$name" "$@"
done
case " $* " in *" --dry-run "*) exit ;; esac
cd "$root"
kind="$(basename "$folder")" folders=() options=()
table="runs/$kind"
if [ "${names[*]}" = demo ]; then
    table="runs/${kind}_demo/table" folders=("runs/${kind}_demo") options=(--no-paper) # it is no real dataset
else
    for name in "$own" $(cd "$folder/configs" && ls | sed "s/.yaml//; s/^/$prefix/"); do
        for runs in "runs/$name" "runs/$name"_{tiny,minilm,base,large}; do
            if [ -n "$name" ] && [ "$name" != "${prefix}demo" ] && compgen -G "$runs/*/*/*/result.json" >/dev/null; then
                folders+=("$runs")
            fi
        done
    done
fi
if [ -f "$folder/before_table.sh" ]; then . "$folder/before_table.sh"; fi
if [ "${names[*]}" = demo ]; then printf '\nAn invented corpus in the format of the dataset that the tables name: no result on that dataset.\n'; fi
"$python" scripts/report_table.py "${folders[@]}" "${options[@]}" --output "$table"
echo "written to $table.md and $table.csv" >&2
