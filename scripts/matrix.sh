#!/usr/bin/env bash
# Run the fast tests with several Pythons and torches, each in an environment of its own; print a table of what came out.
#
#   bash scripts/matrix.sh                      # all of them: hours, and some 3 to 8 GB for each
#   PYTHONS="3.12 3.13" TORCHES="2.13.0" bash scripts/matrix.sh tests/nn tests/models
#
# PYTHONS  versions whose interpreters are called python3.12 and so on (default: 3.10 3.11 3.12 3.13)
# TORCHES  versions of torch, or newest (default: 2.10.0 2.13.0 newest)
# MATRIX   folder of the environments, logs and rows (default: matrix); one that has a row is not run again
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
matrix="${MATRIX:-matrix}"
mkdir -p "$matrix"
matrix="$(cd "$matrix" && pwd)"
touch "$matrix/rows.md"
for python in ${PYTHONS:-3.10 3.11 3.12 3.13}; do
    for torch in ${TORCHES:-2.10.0 2.13.0 newest}; do
        name="$python-$torch" required="torch==$torch"
        [ "$torch" = newest ] && required="torch"
        if grep -q "^| $python | $torch " "$matrix/rows.md"; then continue; fi
        echo "== Python $python, torch $torch (log: $matrix/$name.log)"
        status=passed
        VENV="$matrix/$name" PYTHON="python$python" TORCH="$required" \
            bash scripts/test.sh "$@" >"$matrix/$name.log" 2>&1 || status=failed
        found="$("$matrix/$name/bin/python" -c 'import torch; print(torch.__version__)' 2>/dev/null || echo none)"
        counts="$(grep -oE '[0-9]+ (passed|failed).* in [0-9]' "$matrix/$name.log" | tail -n 1 | sed 's/ in .*//' || true)"
        echo "| $python | $torch ($found) | $status | ${counts:-see $name.log} |" | tee -a "$matrix/rows.md"
        [ "$status" = passed ] && rm -rf "${matrix:?}/$name" # the space; a failed one is kept to be looked at
    done
done
printf '\n| Python | torch | | |\n|---|---|---|---|\n'
sort -V "$matrix/rows.md"
