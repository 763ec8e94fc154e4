#!/usr/bin/env bash
# BERT and BERTQA on SQuAD 2.0: a table of Chadha and Sood (2019), or a grid.
#
#   bash examples/bertqa_squad/run.sh demo --seeds 1 --archs bert_plain_tiny bertqa_tiny
#   RAW=DIR bash examples/bertqa_squad/run.sh minilm [options of fairseq-plugins run]
#   RAW=DIR PRETRAINED=BERT bash examples/bertqa_squad/run.sh table2 [the same options]
#   RAW=DIR PRETRAINED=BERT_LARGE bash examples/bertqa_squad/run.sh table3 [the same options]
#
# NAME        table2, table3, or files of configs/; demo is a small invented corpus
# RAW         folder with train-v2.0.json and dev-v2.0.json, and with train_35.json and train_50.json of
#             augment questions where systems are trained on them (minilm, large, table3); not
#             needed for what has been prepared before
# PRETRAINED  Hugging Face BERT directory of that size (minilm, demo: all-MiniLM-L6-v2)
# Folders are called bertqa_NAME; those of augmented data have _35 and _50 behind. More in
# scripts/run_example.sh. Tables are printed and left beside the runs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" bertqa_ "$@"
