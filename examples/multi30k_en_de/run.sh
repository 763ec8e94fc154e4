#!/usr/bin/env bash
# Multi30k (task 1) English-German: the experiments of Sundararaman et al. (2019) in small.
#
#   RAW=DIR bash examples/multi30k_en_de/run.sh table1|features [options of fairseq-plugins run]
#   RAW=DIR bash examples/multi30k_en_de/run.sh linguistic_features|layers|truecase|de_en
#   RAW=DIR bash examples/multi30k_en_de/run.sh all       # both systems on all pairs: table1 --fractions 1
#
# RAW   folder with train.en train.de val.en val.de test_2016_flickr.en test_2016_flickr.de
# More variables: scripts/run_example.sh. What was stopped goes on with the same command.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if [ "${1:-}" = all ]; then shift; set -- table1 --fractions 1 "$@"; fi
target=de
if [ "${1:-}" = de_en ]; then target=en; fi
reference="${RAW:-}/test_2016_flickr.$target"
if [ -f "$reference" ]; then set -- "$@" --reference "$(realpath "$reference")"; fi
exec bash "$here/../../scripts/run_example.sh" "$here" "" "$@"
