#!/usr/bin/env bash
# Chinese from raw text to tags: UDPipe finds and annotates words, a small tagger labels them.
#
#   bash examples/tagging/chinese.sh UD_Chinese-GSDSimp [options of fairseq-plugins run]
#
# The treebank has no training split here: nine tenths of its development split serve (see
# treebank_tags.py). Results: data-bin/chinese_gsd, runs/chinese_gsd. What is made is not made again.
set -euo pipefail
case "${1:-}" in "" | -*) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "$0"; exit 2 ;; esac
treebank="$(realpath "$1")"; shift
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$here/../.."
VENV="${VENV:-$PWD/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
plugins() { "$python" -m fairseq_plugins "$@"; }
raw=data-bin/chinese_raw data=data-bin/chinese_gsd runs=runs/chinese_gsd
[ -f "$raw/bert/config.json" ] || "$python" "$here/treebank_tags.py" cut "$treebank" "$raw"
[ -f "$raw/zh.udpipe" ] || plugins train-pipeline --ud-dir "$raw" --output "$raw/zh.udpipe"
[ -d "$data" ] || plugins prepare text --dataset tokens --many-labels --tokenize spacy \
    --train-file "$raw/train.tsv" --valid-file "$raw/dev.tsv" --test-file "$raw/test.tsv" \
    --annotator "udpipe:$raw/zh.udpipe" --layers pos,heads,dep --pretrained "$raw/bert" \
    --destdir "$data"
plugins run "$here/configs/chinese_gsd.yaml" --data "$data" --name chinese_gsd --runs "$runs" "$@"
for run in "$runs"/*/lr*/seed*; do
    plugins predict "$run" --annotator "udpipe:$raw/zh.udpipe" --input "$raw/test.txt" \
        --format conll --output "$run/raw.conll" 2> "$run/raw.log" || { cat "$run/raw.log"; exit 1; }
    echo "$run" $("$python" "$here/treebank_tags.py" score "$raw/test.tsv" "$run/raw.conll")
done
