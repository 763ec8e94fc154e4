#!/usr/bin/env bash
# Run fairseq-train in several processes, one a GPU, or on CPU.
#
#   bash scripts/train_distributed.sh 2 data-bin/x --task syntax_translation … (fairseq-train's arguments)
#
# The first argument is the number of processes on this machine. Without a GPU, or with --cpu among
# the arguments, they run on CPU. For several machines set torchrun's own options in TORCHRUN, e.g.
# TORCHRUN="--nnodes 2 --rdzv_backend c10d --rdzv_endpoint host:29500". The environment's commands
# are taken from VENV (default: .venv of the project, else what is on the PATH).
#
# Why not `torchrun fairseq-train` itself: where fairseq sees one GPU or none, it takes itself for
# the only process, and every process trains alone and overwrites the others' checkpoints. Recipes,
# and what works with what: docs/distributed.md.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,13p' "$0"; exit ;; esac
if [ $# -lt 2 ] || ! [[ "$1" =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: train_distributed.sh NUMBER_OF_PROCESSES FAIRSEQ_TRAIN_ARGUMENTS…" >&2
    exit 2
fi
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$here/$VENV" ;; esac
if [ -x "$VENV/bin/torchrun" ]; then export PATH="$VENV/bin:$PATH"; fi
exec python -m fairseq_plugins train-distributed "$@"
