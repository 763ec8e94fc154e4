#!/usr/bin/env bash
# Run fairseq-train in several processes, on GPUs or on CPU.
#
#   bash scripts/train_distributed.sh 2 data-bin/x --task syntax_translation … (fairseq-train's arguments)
#
# The first argument is the number of processes on this machine. For several machines set torchrun's
# own options in TORCHRUN, e.g. TORCHRUN="--nnodes 2 --rdzv_backend c10d --rdzv_endpoint host:29500".
#
# On a machine without GPUs plain `torchrun fairseq-train --cpu` would silently run independent
# trainings: fairseq sees one process. Here rank and world size are handed over one by one.
set -euo pipefail
if [ $# -lt 2 ] || ! [ "$1" -ge 1 ] 2>/dev/null; then
    echo "usage: train_distributed.sh NUMBER_OF_PROCESSES FAIRSEQ_TRAIN_ARGUMENTS…" >&2
    exit 2
fi
processes="$1"; shift
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$here/.venv}"
if [ -x "$VENV/bin/torchrun" ]; then export PATH="$VENV/bin:$PATH"; fi
user_dir=()
case " $* " in *" --user-dir "*) ;; *) user_dir=(--user-dir "$(python -m fairseq_plugins)") ;; esac

# shellcheck disable=SC2086
run() { torchrun --nproc_per_node "$processes" ${TORCHRUN:---standalone} "$@"; }

if python -c 'import torch; raise SystemExit(not torch.cuda.is_available())'; then
    run "$(command -v fairseq-train)" "$@" "${user_dir[@]}"
else
    export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
    # shellcheck disable=SC2016
    run --no_python bash -c 'exec fairseq-train "$@" \
        --distributed-init-method env:// --distributed-world-size "$WORLD_SIZE" \
        --distributed-rank "$RANK" --distributed-no-spawn' -- \
        "$@" "${user_dir[@]}" --cpu --distributed-backend gloo --ddp-backend legacy_ddp \
        --load-checkpoint-on-all-dp-ranks
fi
