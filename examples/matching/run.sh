#!/usr/bin/env bash
# Models that match pairs from scratch: ESIM, BiMPM, CAFE and a transformer.
#
#   RAW=DIR bash examples/matching/run.sh NAME... [options of fairseq-plugins run]
#
# NAME  files of configs/
# RAW   folder with a dataset's official files, or one with a folder NAME for each
# Folders are called matching_NAME. More variables: scripts/run_example.sh.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" matching_ "$@"
