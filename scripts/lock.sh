#!/usr/bin/env bash
# Write requirements.lock anew: one version of everything that set-up installs, with the hashes of its files, for Python
# 3.10 to 3.13 on every system. Versions that stand there are kept where they still fit.
#
#   bash scripts/lock.sh             # after a change of setup.py; needs uv (pip install uv)
#   bash scripts/lock.sh --upgrade   # the newest versions; run all tests afterwards
#
# Two parts: what every set-up installs, and below a line of its own what the extra "test" adds.
# torch and what it alone requires are left out: which build fits depends on the machine (scripts/setup.sh chooses it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work="$(mktemp -d)"; trap 'rm -rf "$work"' EXIT
pins="$(sed -n 's/^\(FAIRSEQ\|BERT\)="\([^"]*\)".*/\2/p' scripts/setup.sh)"
printf '%s\n' cython setuptools wheel >"$work/build.in" # what builds fairseq
printf '%s\n' $pins >"$work/pins.in"                          # installed without their own requirements
echo 'torch; python_version < "0"' >"$work/without.txt"
if [ -f requirements.lock ]; then cp requirements.lock "$work/main.lock"; fi
compile() { uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate --no-header "$@" >/dev/null; }
compile setup.py "$work/build.in" --extra test --override "$work/without.txt" -o "$work/main.lock" "$@"
compile setup.py "$work/build.in" --extra serve --constraint "$work/main.lock" --override "$work/without.txt" -o "$work/user.lock"
compile "$work/pins.in" --no-deps -o "$work/pins.lock"
chosen() { # WANTED: the entries of main.lock whose names user.lock has (1) or lacks (0)
    awk -v wanted="$1" '/^[a-z0-9]/ {name = $0; sub(/==.*/, "", name)}
        NR == FNR {known[name] = 1; next} (name in known) == wanted' "$work/user.lock" "$work/main.lock"
}
{
    echo "# Made by scripts/lock.sh; not to be edited by hand."
    chosen 1
    cat "$work/pins.lock"
    echo "# below: what the extra test adds"
    chosen 0
} >requirements.lock.part
mv requirements.lock.part requirements.lock
