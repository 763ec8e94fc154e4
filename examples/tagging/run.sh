#!/usr/bin/env bash
# BERT and BERT + POS label words: entities, grammatical errors.
#
#   bash examples/tagging/run.sh demo --seeds 1
#   RAW=DIR bash examples/tagging/run.sh NAME... [options of fairseq-plugins run]
#
# NAME  files of configs/; demo is a small invented corpus
# RAW   folder with a dataset's official files, or one with a folder NAME for each
# More variables: scripts/run_example.sh.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" "" "$@"
