#!/usr/bin/env bash
# BERT and SemBERT on an invented corpus of pairs in which semantic roles alone decide.
#
#   bash examples/sembert/run.sh [--max-update 100] [further options of fairseq-train]
#
# Writes data-bin/sembert_demo and runs/sembert_demo; two layers from random weights, some minutes on a
# processor. What is read of your own files is said in README.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
VENV="${VENV:-.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
raw=data-bin/sembert_demo_raw data=data-bin/sembert_demo
"$python" examples/make_demo.py sembert "$raw"
for split in train dev; do
    "$python" -m fairseq_plugins convert-roles --roles "$raw/$split.srl" --output "$raw/$split.conllu"
done
"$python" -m fairseq_plugins prepare text --dataset plain --raw-dir "$raw" --destdir "$data" --overwrite \
    --text2-column second --train-conllu "$raw/train.conllu" --valid-conllu "$raw/dev.conllu" \
    --layers given.srl1,given.srl2,given.srl3
for arch in bert_plain_tiny bert_sembert_tiny; do
    "$python" -m fairseq_cli.train "$data" --user-dir fairseq_plugins --task text_classification \
        --criterion text_classification --arch "$arch" --pretrained none --save-dir "runs/sembert_demo/$arch" \
        --optimizer bert_adamw --lr 1e-3 --lr-scheduler linear_warmup --warmup-ratio 0.1 --clip-norm 1.0 \
        --max-update 600 --batch-size 32 --best-checkpoint-metric accuracy --maximize-best-checkpoint-metric \
        --no-epoch-checkpoints --no-progress-bar --seed 1 "$@"
    "$python" -m fairseq_plugins predict "runs/sembert_demo/$arch" --split valid \
        --output "runs/sembert_demo/$arch.tsv" --metrics "runs/sembert_demo/$arch.json"
done
