#!/usr/bin/env bash
# WMT14 English-German with the recipe of Sundararaman et al. 2019.
#
#   bash examples/wmt14_en_de/run.sh download|prepare|train|average|generate|score|all
#
# RAW     folder for the raw text       (default: data-bin/wmt14_raw)
# SYSTEM  baseline | syntax             (default: both, one after the other)
# GPUS    processes on this machine     (default: 4; the paper's batch is 4 x 4096 x 2 tokens)
# UPDATES                               (default: 100000)
# PYTHON_WORKERS  processes of preparation (default: all cores)
# `sbatch examples/wmt14_en_de/train.slurm` runs `train` on a cluster.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$PWD/$VENV" ;; esac
export VENV PATH="$VENV/bin:$PATH"
raw="${RAW:-data-bin/wmt14_raw}" data=data-bin/wmt14_en_de runs="${RUNS:-runs/wmt14_en_de}"
user_dir="$(python -m fairseq_plugins)"
EXTRA="${EXTRA:-}"   # further fairseq-train options, e.g. EXTRA="--cpu --max-tokens 1000"
PRECISION="${PRECISION---fp16}"

features() { [ "$1" = baseline ] && echo none || echo pos,case,subword; }

download() { # 4.5M training pairs; newstest2013 (3,000) to validate; newstest2014 (2,737) to test
    mkdir -p "$raw/parts"
    for url in http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz \
        http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz \
        http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz; do
        file="$raw/parts/$(basename "$url")"
        [ -f "$file" ] || { curl -fL --retry 3 -o "$file.part" "$url" && mv "$file.part" "$file"; }
        tar -xzf "$file" -C "$raw/parts"
    done
    for lang in en de; do
        cat "$raw/parts/training/europarl-v7.de-en.$lang" "$raw/parts/commoncrawl.de-en.$lang" \
            "$raw/parts/training/news-commentary-v9.de-en.$lang" >"$raw/train.$lang.part"
        mv "$raw/train.$lang.part" "$raw/train.$lang"
    done
    for set in wmt13:valid wmt14:test; do
        for side in src:en ref:de; do
            file="$raw/${set#*:}.${side#*:}"
            sacrebleu -t "${set%:*}" -l en-de --echo "${side%:*}" >"$file.part"
            mv "$file.part" "$file"
        done
    done
    wc -l "$raw"/*.en "$raw"/*.de
}
prepare() {
    python scripts/prepare_translation.py -s en -t de --destdir "$data" \
        --trainpref "$raw/train" --validpref "$raw/valid" --testpref "$raw/test" \
        --normalizer "${NORMALIZER:-moses}" --tokenizer "${TOKENIZER:-moses}" --subwords subword_nmt \
        --bpe-size "${BPE_SIZE:-37000}" --joined-dictionary --max-words 250 --max-ratio 1.5 \
        --workers "${PYTHON_WORKERS:-$(getconf _NPROCESSORS_ONLN)}"
}
train() {
    mkdir -p "$runs/$1"
    # shellcheck disable=SC2086
    bash scripts/train_distributed.sh "${GPUS:-4}" "$data" --task syntax_translation \
        --arch "${ARCH:-syntax_transformer_wmt_en_de}" --features "$(features "$1")" \
        --param-init glorot --share-decoder-input-output-embed --dropout 0.1 \
        --optimizer adam --adam-betas '(0.9, 0.998)' --adam-eps 1e-9 \
        --lr 9.88e-4 --lr-scheduler inverse_sqrt --warmup-updates 8000 \
        --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
        --max-tokens 4096 --update-freq 2 --max-update "${UPDATES:-100000}" --seed 1 \
        --save-interval-updates "${SAVE_EVERY:-5000}" --keep-interval-updates 5 --no-epoch-checkpoints \
        --log-format simple --log-interval 100 --save-dir "$runs/$1" $PRECISION $EXTRA
}
average() {
    python scripts/average_checkpoints.py --dir "$runs/$1" --last 5 --output "$runs/$1/average.pt"
}
generate() {
    # shellcheck disable=SC2086
    fairseq-generate "$data" --user-dir "$user_dir" --task syntax_translation \
        --path "$runs/$1/${CHECKPOINT:-average.pt}" --beam 4 --lenpen 0.6 --max-tokens 8000 \
        ${GENERATE_EXTRA---fp16} >"$runs/$1/generate.log"
}
score() {
    logs=()
    for system in ${SYSTEM:-baseline syntax}; do logs+=("$runs/$system/generate.log"); done
    python scripts/score.py --sys "${logs[@]}" --ref "$raw/test.de" --lang de --paired \
        --json "$runs/score.json"
}
each() { for system in ${SYSTEM:-baseline syntax}; do "$1" "$system"; done; }

case "${1:-}" in
    download | prepare | score) "$1" ;;
    train | average | generate) each "$1" ;;
    all) download; prepare; each train; each average; each generate; score ;;
    *) sed -n 2,12p "$0" >&2; exit 2 ;;
esac
