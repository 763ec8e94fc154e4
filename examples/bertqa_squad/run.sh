#!/usr/bin/env bash
# Prepare SQuAD 2.0, fine-tune BERT and BERTQA on it, lay out all that has run.
#
#   bash examples/bertqa_squad/run.sh demo --quick
#   RAW=DIR bash examples/bertqa_squad/run.sh minilm [options of scripts/run_experiments.py]
#   RAW=DIR PRETRAINED=BERT bash examples/bertqa_squad/run.sh base [--preset] [the same options]
#   RAW=DIR PRETRAINED=BERT_LARGE bash examples/bertqa_squad/run.sh large [the same options]
#
# NAME        files of configs/; demo is a small invented corpus
# RAW         folder with train-v2.0.json and dev-v2.0.json, and with train_35.json and train_50.json of
#             scripts/augment_squad.py where systems are trained on them (minilm, large); not needed
#             for what has been prepared before
# PRETRAINED  Hugging Face BERT directory of that size (minilm, demo: all-MiniLM-L6-v2)
# Folders are called bertqa_NAME; those of augmented data have _35 and _50 behind. More in
# scripts/fine_tune_grid.sh. Where the three models of Table 3 are there, their ensemble is made. The
# tables are printed and left in runs/bertqa_squad.md and runs/bertqa_squad.csv.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example_table.sh" "$here" bertqa_ "$@"
