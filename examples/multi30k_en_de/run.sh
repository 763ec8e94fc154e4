#!/usr/bin/env bash
# Multi30k (task 1) English-German: prepare, train, translate, score.
#
#   RAW=/path/to/multi30k bash examples/multi30k_en_de/run.sh prepare|train|generate|score|all
#
# RAW      folder with train.en train.de val.en val.de test_2016_flickr.en test_2016_flickr.de
# SYSTEM   baseline | syntax       (default: both, one after the other)
# UPDATES  updates of each         (default: 3600, about six and a half epochs)
# GPU=1    train on an accelerator instead of --cpu
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$PWD/$VENV" ;; esac
export VENV PATH="$VENV/bin:$PATH"
data=data-bin/multi30k_en_de runs="${RUNS:-runs/multi30k_en_de}" updates="${UPDATES:-3600}"
device=(--cpu); [ -n "${GPU:-}" ] && device=(--fp16)
user_dir="$(python -m fairseq_plugins)"

features() { [ "$1" = baseline ] && echo none || echo pos,case,subword; }

prepare() {
    python scripts/prepare_translation.py -s en -t de --destdir "$data" --bpe-size 5000 \
        --trainpref "${RAW:?set RAW}/train" --validpref "$RAW/val" --testpref "$RAW/test_2016_flickr"
}
train() {
    mkdir -p "$runs/$1"
    if grep -qs 'done training' "$runs/$1/train.log"; then echo "$1: trained before"; return; fi
    fairseq-train "$data" --user-dir "$user_dir" --task syntax_translation \
        --arch syntax_transformer_iwslt_en_de --features "$(features "$1")" \
        --encoder-embed-dim 256 --encoder-ffn-embed-dim 512 --encoder-layers 2 \
        --decoder-embed-dim 256 --decoder-ffn-embed-dim 512 --decoder-layers 2 \
        --share-decoder-input-output-embed --dropout 0.2 --optimizer adam \
        --adam-betas '(0.9, 0.998)' --lr 1.5e-3 --lr-scheduler inverse_sqrt --warmup-updates 500 \
        --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --weight-decay 1e-4 \
        --max-tokens 1024 --max-update "$updates" --seed 1 --num-workers 0 --distributed-world-size 1 \
        --no-epoch-checkpoints --save-interval-updates 500 --keep-interval-updates 3 \
        --log-format simple --log-interval 50 --save-dir "$runs/$1" "${device[@]}" \
        2>&1 | tee -a "$runs/$1/train.log"
}
generate() {
    fairseq-generate "$data" --user-dir "$user_dir" --task syntax_translation \
        --path "$runs/$1/checkpoint_best.pt" --beam 4 --lenpen 0.6 --max-tokens 4000 \
        "${device[@]}" >"$runs/$1/generate.log" 2> >(grep -v INFO >&2)
}
score() {
    logs=()
    for system in ${SYSTEM:-baseline syntax}; do logs+=("$runs/$system/generate.log"); done
    python scripts/score.py --sys "${logs[@]}" --ref "${RAW:?set RAW}/test_2016_flickr.de" \
        --lang de --paired --json "$runs/score.json"
}
each() { for system in ${SYSTEM:-baseline syntax}; do "$1" "$system"; done; }

case "${1:-all}" in
    prepare) prepare ;;
    train | generate) each "$1" ;;
    score) score ;;
    all) prepare; each train; each generate; score ;;
    *) sed -n 2,9p "$0" >&2; exit 2 ;;
esac
