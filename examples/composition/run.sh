#!/usr/bin/env bash
# Parts of the four papers together, in every combination.
#
#   bash examples/composition/run.sh demo
#   RAW=DIR bash examples/composition/run.sh rte|cola|squad [options of fairseq-plugins run]
#
# demo   is an invented corpus
# RAW    folder with the dataset's official files; not needed for what has been prepared before
# More variables: scripts/run_example.sh. Tables are printed and left beside the runs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" "" "$@"
