#!/usr/bin/env bash
# Set up, check style and types, then run the tests, a process a core, up to eight (WORKERS=N: N of them; 0: all in one).
# Arguments go to pytest; `--slow` adds the long ones.
#   bash scripts/test.sh            bash scripts/test.sh --slow tests/cli
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
EXTRAS=test bash scripts/setup.sh
VENV="${VENV:-.venv}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
cores="$(getconf _NPROCESSORS_ONLN)"
"$VENV/bin/ruff" check .
"$VENV/bin/ruff" format --check .
if [ "${LOCK:-yes}" = yes ]; then # other versions of libraries have other types
    "$VENV/bin/pyrefly" check --python-interpreter-path "$VENV/bin/python"
fi
workers="${WORKERS:-$((cores < 8 ? cores : 8))}"
exec "$VENV/bin/python" -m pytest --numprocesses "$workers" --dist loadfile --no-loadscope-reorder "$@"
