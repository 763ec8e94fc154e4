#!/usr/bin/env bash
# Train a baseline and a syntax-infused Transformer on fractions of a prepared training set; print
# and plot BLEU against the fraction (Sundararaman et al. 2019, Table 1).
#
#   bash scripts/sweep_fractions.sh DATA_FOLDER OUTPUT_FOLDER [extra fairseq-train arguments]
#
# FRACTIONS   percentages                  (default: "1 5 10 25 50 100")
# ARCH        architecture of both systems (default: syntax_transformer_tiny)
# UPDATES     updates of every run         (default: 2000)
# SEED        of subset and training       (default: 1)
# SUBSET      split to score               (default: test)
# REF         raw reference of that split (default: the folder's own target lines, detokenised)
# TRAIN, GENERATE   replace the default training and generation options
#
# Every fraction and both systems get the same number of updates and the same subwords; smaller
# fractions are contained in larger ones. Stop it at any time: the same command goes on, finished
# runs are not repeated.
set -euo pipefail
if [ $# -lt 2 ]; then sed -n '2,20p' "$0" >&2; exit 2; fi
data="$1" out="$2"; shift 2
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-.venv}"; case "$VENV" in /*) ;; *) VENV="$here/$VENV" ;; esac
if [ -x "$VENV/bin/python" ]; then export PATH="$VENV/bin:$PATH"; fi
user_dir="$(python -m fairseq_plugins)"
arch="${ARCH:-syntax_transformer_tiny}" updates="${UPDATES:-2000}" seed="${SEED:-1}"
subset="${SUBSET:-test}"
train="${TRAIN:---optimizer adam --adam-betas (0.9,0.998) --lr 1e-3 --lr-scheduler inverse_sqrt
    --warmup-updates 400 --criterion label_smoothed_cross_entropy --label-smoothing 0.1
    --dropout 0.1 --max-tokens 4096 --share-decoder-input-output-embed}"
generate="${GENERATE:---beam 4 --lenpen 0.6 --max-tokens 8000}"
target="$(python -c 'import json,sys; print(json.load(open(sys.argv[1]+"/manifest.json"))["target_lang"])' "$data")"
reference=(); [ -n "${REF:-}" ] && reference=(--ref "$REF")
mkdir -p "$out"
settings="data=$data arch=$arch updates=$updates seed=$seed subset=$subset ref=${REF:-} train=$train generate=$generate extra=$*"
if [ -f "$out/settings" ] && [ "$(cat "$out/settings")" != "$settings" ]; then
    echo "error: $out holds a sweep with other settings; name another folder. Its settings:" >&2
    cat "$out/settings" >&2
    exit 1
fi
printf '%s' "$settings" >"$out/settings"
cpu=(); python -c 'import torch; raise SystemExit(torch.cuda.is_available())' && cpu=(--cpu)

trained() { # checkpoint: has it all updates? fairseq would train a finished run for one more
    [ -f "$1" ] && python -c 'import sys, torch
state = torch.load(sys.argv[1], map_location="cpu", weights_only=True, mmap=True)
raise SystemExit(state["optimizer_history"][-1]["num_updates"] < int(sys.argv[2]))' "$1" "$updates"
}

run() { # percentage system features
    local percent="$1" system="$2" features="$3" folder="$out/$1/$2" bin="$out/$1/data"
    shift 3
    if [ -f "$folder/score.json" ]; then echo "$percent % $system: done before"; return; fi
    mkdir -p "$folder"
    echo "== $percent % $system: $updates updates"
    # shellcheck disable=SC2086
    trained "$folder/checkpoint_last.pt" ||
        fairseq-train "$bin" --user-dir "$user_dir" --task syntax_translation --arch "$arch" \
        --features "$features" --max-update "$updates" --seed "$seed" --save-dir "$folder" \
        --no-epoch-checkpoints --keep-best-checkpoints 1 --log-format simple --log-interval 50 \
        --save-interval-updates 500 --keep-interval-updates 1 \
        --validate-interval-updates 500 --validate-interval 1000000 --save-interval 1000000 \
        --distributed-world-size 1 \
        $train "${cpu[@]}" "$@" >>"$folder/train.log" 2>&1 ||
        { tail -5 "$folder/train.log" >&2; exit 1; }
    # shellcheck disable=SC2086
    fairseq-generate "$bin" --user-dir "$user_dir" --task syntax_translation \
        --gen-subset "$subset" --path "$folder/checkpoint_best.pt" $generate "${cpu[@]}" \
        >"$folder/generate.log" 2>"$folder/generate.err" ||
        { tail -5 "$folder/generate.err" >&2; exit 1; }
    python "$here/scripts/score.py" --sys "$folder/generate.log" --lang "$target" \
        "${reference[@]}" \
        --json "$folder/score.json"
}

for percent in ${FRACTIONS:-1 5 10 25 50 100}; do
    mkdir -p "$out/$percent"
    python "$here/scripts/subset_data.py" "$data" "$out/$percent/data" \
        --fraction "$(python -c "print($percent/100)")" --seed "$seed"
    run "$percent" baseline none "$@"
    run "$percent" syntax "$(python -c 'import json,sys; print(",".join(json.load(open(sys.argv[1]+"/manifest.json"))["features"]))' "$data")" "$@"
done
python "$here/scripts/report_fractions.py" "$out"
