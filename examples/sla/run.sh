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
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export DEMO="$here/../glue/make_demo.py"
exec bash "$here/../../scripts/run_example_table.sh" "$here" "" "$@"
