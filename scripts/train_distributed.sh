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
# the only process, and every process trains alone and overwrites the others' checkpoints. Here rank
# and world size are handed over one by one. Resuming needs every process to load the checkpoint:
# what fairseq would send around is no plain data, and torch refuses to load it.
set -euo pipefail
if [ $# -lt 2 ] || ! [[ "$1" =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: train_distributed.sh NUMBER_OF_PROCESSES FAIRSEQ_TRAIN_ARGUMENTS…" >&2
    exit 2
fi
processes="$1"; shift
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$here/$VENV" ;; esac
if [ -x "$VENV/bin/torchrun" ]; then export PATH="$VENV/bin:$PATH"; fi
options=(--load-checkpoint-on-all-dp-ranks)
case " $* " in *" --user-dir"[\ =]*) ;; *) options+=(--user-dir "$(python -m fairseq_plugins)") ;; esac

on_cpu() {
    case " $* " in *" --cpu "*) return 0 ;; esac
    ! python -c 'import torch; raise SystemExit(not torch.cuda.is_available())'
}
if [ "$processes" -eq 1 ] && [ -z "${TORCHRUN:-}" ]; then # one process needs no rendezvous
    if on_cpu "$@"; then options+=(--cpu); fi
    exec fairseq-train "${options[@]}" --distributed-world-size 1 "$@"
fi
if on_cpu "$@"; then
    options+=(--cpu --distributed-backend gloo --ddp-backend legacy_ddp)
    export CUDA_VISIBLE_DEVICES=""
    threads=$(($(getconf _NPROCESSORS_ONLN) / processes))
    export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))}"
fi

# shellcheck disable=SC2016,SC2086
exec torchrun --nproc_per_node "$processes" ${TORCHRUN:---standalone} --no_python bash -c \
    'exec fairseq-train "$@" --distributed-init-method env:// --distributed-no-spawn \
        --distributed-world-size "$WORLD_SIZE" --distributed-rank "$RANK" --device-id "$LOCAL_RANK"' \
    -- "${options[@]}" "$@"
