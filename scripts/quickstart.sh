#!/usr/bin/env bash
# From nothing to translations: set up, prepare the bundled sample, train a baseline and a
# syntax-infused Transformer side by side, translate the test set with both, score, compare, draw.
#
#   bash scripts/quickstart.sh            # on two idle cores about 3 minutes, and 2 to 7 for the first set-up
#
# One line a step; what the commands say goes to RUNS/*.log and RUNS/*/*.log, and its end is shown if one fails.
#
# UPDATES  updates of both models (default below); RUNS  where checkpoints and logs go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$PWD/$VENV" ;; esac
export VENV PATH="$VENV/bin:$PATH"
sample=examples/sample_en_de data=data-bin/sample_en_de runs="${RUNS:-runs/quickstart}"
updates="${UPDATES:-2300}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
user_dir="$(python -m fairseq_plugins)"
rm -rf "$runs/baseline" "$runs/syntax"
mkdir -p "$runs/baseline" "$runs/syntax"
SECONDS=0
step() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
logged() { # LOG COMMAND...: keep what a command says; show its end if it fails
    local log="$1" status
    shift
    "$@" >>"$log" 2>&1 && return
    status=$?
    tail -n 20 "$log" >&2
    step "error: this failed: $* (all of it: $log)" >&2
    exit "$status"
}

train() { # NAME FEATURES: the checkpoint with the least loss on the validation set is checkpoint_best.pt
    exec fairseq-train "$data" --user-dir "$user_dir" --task syntax_translation --features "$2" \
        --arch syntax_transformer_tiny --encoder-layers 1 --encoder-embed-dim 128 --encoder-ffn-embed-dim 256 \
        --encoder-attention-heads 4 --decoder-embed-dim 128 --decoder-ffn-embed-dim 256 \
        --decoder-attention-heads 4 --share-decoder-input-output-embed --dropout 0.1 \
        --optimizer adam --adam-betas '(0.9, 0.98)' --lr 3e-3 --lr-scheduler polynomial_decay \
        --total-num-update "$updates" --warmup-updates 150 --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
        --max-tokens 500 --max-update "$updates" --seed 1 --cpu --distributed-world-size 1 --num-workers 0 \
        --no-epoch-checkpoints --save-dir "$runs/$1" --validate-interval 10 --save-interval 10 \
        --log-format simple --log-interval 10 >"$runs/$1/train.log" 2>&1
}
updates_of() { # NAME: how many updates a training has done
    grep -o 'num_updates=[0-9]*' "$runs/$1/train.log" 2>/dev/null | tail -n 1 | cut -d= -f2 | grep . || echo 0
}
progress() { # PROCESS...: until they end, one line rewritten in a terminal, a line every 30 s elsewhere
    local line shown=$SECONDS
    while kill -0 "$@" 2>/dev/null; do
        line="baseline $(updates_of baseline)/$updates, syntax $(updates_of syntax)/$updates updates"
        if [ -t 1 ]; then
            printf '\r[%3d s]       %s ' "$SECONDS" "$line"
        elif [ $((SECONDS - shown)) -ge 30 ]; then
            shown=$SECONDS
            step "      $line"
        fi
        sleep 1
    done
    if [ -t 1 ]; then printf '\r\033[K'; fi
}
translate() { # NAME
    fairseq-generate "$data" --user-dir "$user_dir" --task syntax_translation --cpu \
        --path "$runs/$1/checkpoint_best.pt" --beam 4 --lenpen 0.6 --max-tokens 4000 >"$runs/$1/generate.log"
    grep '^D-' "$runs/$1/generate.log" | sort -V | cut -f3 >"$runs/$1.de"
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

step "on two idle cores this takes about 3 minutes, and 60 MB in $runs and $data"
step "1/5   prepare $(wc -l <$sample/train.en) sentence pairs: tokenise, tag, cut into subwords (10 s)"
logged "$runs/prepare.log" fairseq-plugins prepare translation -s en -t de --destdir "$data" --bpe-size 1100 --overwrite \
    --trainpref $sample/train --validpref $sample/valid --testpref $sample/test

step "2/5   train both models side by side, $updates updates each (2 minutes)"
train baseline none & baseline=$!
train syntax pos,case,subword & syntax=$!
progress "$baseline" "$syntax" || true
for name in baseline syntax; do
    wait "${!name}" || { tail -n 20 "$runs/$name/train.log" >&2; step "error: training failed: $runs/$name/train.log" >&2; exit 1; }
    step "      $name: $(grep -h -o 'num. shared model params: [0-9,]*' "$runs/$name/train.log" | cut -d' ' -f5) parameters"
done

step "3/5   translate the $(wc -l <$sample/test.en) test sentences with both (30 s)"
for name in baseline syntax; do logged "$runs/$name/generate.err" translate "$name"; done

step "4/5   score (5 s; all figures: $runs/scores.txt)"
logged "$runs/scores.txt" fairseq-plugins score --sys "$runs/baseline.de" "$runs/syntax.de" \
    --ref $sample/test.de --lang de --paired
sed -n '/^system .*n$/,/^$/p; /^system .*difference/,/^BLEU:/p' "$runs/scores.txt" | grep -v '^BLEU:'
echo "ambiguous words (watch, light, play, …) translated in the right sense:"
python $sample/score_ambiguous.py "$runs/baseline.de" "$runs/syntax.de" | sed -n '1p;$p'

python $sample/score_ambiguous.py "$runs/baseline.de" "$runs/syntax.de" --example >"$runs/example.txt"
if ! { read -r sentence && read -r reference; } <"$runs/example.txt"; then # the baseline mistakes none
    read -r sentence <$sample/test.en
    read -r reference <$sample/test.de
fi
models="$runs/baseline/checkpoint_best.pt $runs/syntax/checkpoint_best.pt"
step "5/5   draw a sentence in which the baseline mistakes a word, and what both look at (15 s)"
# shellcheck disable=SC2086
logged "$runs/draw.log" fairseq-plugins plot attention $models --sentence "$sentence" --reference "$reference" \
    --output "$runs/attention"
echo "      $sentence"
grep -E '^(baseline|syntax): ' "$runs/draw.log" | sed 's/^/      /'
step "done; the picture: $runs/attention.png"
cat <<END

To go on:
source ${VENV#"$PWD/"}/bin/activate
fairseq-plugins plot attention $models --sentence "They light the fire." --output fire
fairseq-plugins export $runs/syntax --output bundles/en_de --with-pipeline
python -c 'from fairseq_plugins import load; print(load("bundles/en_de").translate(["She watches the play."]))'
END
