#!/usr/bin/env bash
# Prepare a dataset, fine-tune the systems of its grid with every learning rate and seed, report.
#
#   bash examples/glue/run.sh demo --quick
#   RAW=DIR bash examples/glue/run.sh NAME [options of scripts/run_experiments.py]
#
# NAME is a file of configs/; demo is a small invented corpus. More in scripts/fine_tune_grid.sh.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec bash "$here/../../scripts/run_example.sh" "$here" "$@"
