#!/usr/bin/env bash
# From nothing to translations: set up, prepare the bundled sample, train a baseline and a
# syntax-infused Transformer side by side, translate the test set with both, score, compare.
#
#   bash scripts/quickstart.sh            # on two cores about 5 minutes, and as many for the first set-up
#
# UPDATES  updates of both models (default below); RUNS  where checkpoints and logs go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$PWD/$VENV" ;; esac
export VENV PATH="$VENV/bin:$PATH"
sample=examples/sample_en_de data=data-bin/sample_en_de runs="${RUNS:-runs/quickstart}"
updates="${UPDATES:-1200}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
user_dir="$(python -m fairseq_plugins)"
step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
SECONDS=0

step "1/5 prepare: tokenise, tag, cut into subwords, binarise"
fairseq-plugins prepare translation -s en -t de --destdir "$data" --bpe-size 1500 --overwrite \
    --trainpref $sample/train --validpref $sample/valid --testpref $sample/test

train() { # name features
    mkdir -p "$runs/$1"
    exec fairseq-train "$data" --user-dir "$user_dir" --task syntax_translation --features "$2" \
        --arch syntax_transformer_tiny --encoder-embed-dim 128 --encoder-ffn-embed-dim 256 \
        --encoder-attention-heads 4 --decoder-embed-dim 128 --decoder-ffn-embed-dim 256 \
        --decoder-attention-heads 4 --share-decoder-input-output-embed --dropout 0.1 \
        --optimizer adam --adam-betas '(0.9, 0.98)' --lr 3e-3 --lr-scheduler inverse_sqrt \
        --warmup-updates 200 --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
        --max-tokens 1000 --max-update "$updates" --seed 1 --cpu --distributed-world-size 1 --num-workers 0 \
        --no-epoch-checkpoints --save-dir "$runs/$1" --validate-interval 8 --save-interval 8 \
        --log-format simple --log-interval 50 >"$runs/$1/train.log" 2>&1
}
progress() { # show how far both are, until the given processes end
    local line="" last=""
    while kill -0 "$@" 2>/dev/null; do
        line=""
        for name in baseline syntax; do
            line+="$name $(grep -o 'num_updates=[0-9]*' "$runs/$name/train.log" 2>/dev/null |
                tail -n 1 | cut -d= -f2 | grep . || echo 0)/$updates  "
        done
        if [ "$line" != "$last" ]; then printf '%4d s  %s\n' "$SECONDS" "$line"; last="$line"; fi
        sleep 5
    done
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

step "2/5 train both models, $updates updates each (logs: $runs/*/train.log)"
rm -rf "$runs/baseline" "$runs/syntax"
train baseline none & baseline=$!
train syntax pos,case,subword & syntax=$!
progress "$baseline" "$syntax" || true
for job in "$baseline" "$syntax"; do
    wait "$job" || { tail -n 20 "$runs"/*/train.log; echo "training failed" >&2; exit 1; }
done
grep -h -o 'num. shared model params: .*' "$runs"/*/train.log | sort | uniq -c

step "3/5 translate the test set with both"
for name in baseline syntax; do
    fairseq-generate "$data" --user-dir "$user_dir" --task syntax_translation --cpu \
        --path "$runs/$name/checkpoint_last.pt" --beam 4 --lenpen 0.6 --max-tokens 4000 \
        >"$runs/$name/generate.log" 2>"$runs/$name/generate.err" || { cat "$runs/$name/generate.err"; exit 1; }
done

step "4/5 score"
fairseq-plugins score --sys "$runs/baseline/generate.log" "$runs/syntax/generate.log" \
    --ref $sample/test.de --lang de --paired

echo; echo "ambiguous words (watch, light, play, …) translated in the right sense:"
for name in baseline syntax; do
    grep '^D-' "$runs/$name/generate.log" | sort -V | cut -f3 >"$runs/$name.de"
done
python $sample/score_ambiguous.py "$runs/baseline.de" "$runs/syntax.de" | sed -n '1p;$p'

step "5/5 translate raw English with the syntax-infused model"
head -n 5 $sample/test.en | fairseq-interactive "$data" --user-dir "$user_dir" \
    --task syntax_translation --cpu --path "$runs/syntax/checkpoint_last.pt" --beam 4 --lenpen 0.6 \
    --buffer-size 5 --batch-size 5 2>"$runs/interactive.err" | grep '^D-' | cut -f3 >"$runs/five.de" ||
    { cat "$runs/interactive.err"; exit 1; }
paste -d '\n' <(head -n 5 $sample/test.en | sed 's/^/  EN  /') <(sed 's/^/  DE  /' "$runs/five.de")
step "done"
