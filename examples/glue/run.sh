#!/usr/bin/env bash
# BERT and BERT + POS on classification and matching: Table 2 of Sundararaman et al. (2019), or a dataset.
#
#   bash examples/glue/run.sh demo --preset --seeds 1 2
#   RAW=DIR PRETRAINED=BERT bash examples/glue/run.sh table2 [options of fairseq-plugins run]
#   RAW=DIR bash examples/glue/run.sh NAME... [the same options]
#
# NAME  files of configs/; demo is a small invented corpus
# RAW   folder with a dataset's official files, or one with a folder NAME for each
# More variables: scripts/run_example.sh.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" "" "$@"
