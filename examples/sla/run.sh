#!/usr/bin/env bash
# Prepare datasets, fine-tune BERT, LISA, SGNet, WLA and SLA on them, lay out all that has run.
#
#   bash examples/sla/run.sh demo --quick
#   RAW=DIR bash examples/sla/run.sh NAME... [options of scripts/run_experiments.py]
#   RAW=DIR PRETRAINED=BERT SIZE=base bash examples/sla/run.sh NAME...
#
# NAME  files of configs/; demo is a small invented corpus
# RAW   folder with a dataset's official files, or one with a folder NAME for each; not needed for
#       what has been prepared before. ewt_errors: folder with the treebank's CoNLL-U files
# SIZE  of all systems: tiny, minilm (default), base, large; PRETRAINED names a BERT of that size.
#       Folders are then called NAME_SIZE
# More in scripts/fine_tune_grid.sh. The table is printed and left in runs/sla.md and runs/sla.csv.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
names=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do names+=("$1"); shift; done
if [ ${#names[@]} -eq 0 ]; then exec bash "$root/scripts/run_example.sh" "$here" --help; fi
raw="${RAW:-}"; if [ -e "$raw" ]; then raw="$(realpath "$raw")"; fi
export DEMO="$root/examples/glue/make_demo.py"

inject() { # treebank: sentences with errors, from the folder of a treebank's CoNLL-U files
    local split file output="$root/data-bin/ewt_errors_raw"
    for split in train dev test; do
        file="$(find "$1" -maxdepth 1 -name "*$split.conllu" | head -1)"
        [ -n "$file" ] || { echo "error: $1 holds no file *$split.conllu" >&2; exit 1; }
        mkdir -p "$output"
        [ -f "$output/$split.tsv" ] ||
            "$python" "$root/scripts/inject_errors.py" --conllu "$file" --output "$output/$split.tsv" --seed 1
    done
}
for name in "${names[@]}"; do
    RAW="$raw"; if [ -n "$raw" ] && [ -d "$raw/$name" ]; then RAW="$raw/$name"; fi
    if [ "$name" = ewt_errors ] && [ -n "$raw" ]; then inject "$RAW"; RAW="$root/data-bin/ewt_errors_raw"; fi
    RAW="$RAW" bash "$root/scripts/run_example.sh" "$here" "$name" "$@"
done
case " $* " in *" --dry-run "*) exit ;; esac
cd "$root"
table=runs/sla folders=() options=()
if [ "${names[*]}" = demo ]; then
    table=runs/sla_demo/table folders=(runs/sla_demo) options=(--no-paper) # it is no CoLA
else
    for name in "${NAME:-}" $(cd "$here/configs" && ls | sed 's/.yaml//'); do
        for folder in "runs/$name" "runs/$name"_{tiny,minilm,base,large}; do
            if [ "$name" != demo ] && compgen -G "$folder/*/*/*/result.json" >/dev/null; then
                folders+=("$folder")
            fi
        done
    done
fi
"$python" scripts/report_table.py "${folders[@]}" "${options[@]}" --output "$table"
