#!/usr/bin/env bash
# BERT, LISA, SGNet, WLA and SLA: a table of Li et al. (2020), or a dataset.
#
#   bash examples/sla/run.sh demo --seeds 1
#   RAW=DIR PRETRAINED=BERT bash examples/sla/run.sh table1 [options of fairseq-plugins run]
#   RAW=DIR bash examples/sla/run.sh NAME... [the same options]
#   RAW=DIR PRETRAINED=BERT SIZE=base bash examples/sla/run.sh NAME...
#
# NAME  files of configs/; demo is a small invented corpus; table1, table2, table3 have several
# RAW   folder with a dataset's official files, or one with a folder NAME for each; not needed for
#       what has been prepared before. ewt_errors: folder with the treebank's CoNLL-U files
# SIZE  of all systems: tiny, minilm, base, large; PRETRAINED names a BERT of that size. Datasets of
#       configs/ are of minilm's size without it; with it their folders are called NAME_SIZE
# More in scripts/run_example.sh. Tables are printed and left beside the runs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" "" "$@"
