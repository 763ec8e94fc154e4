#!/usr/bin/env bash
# Prepare a dataset, fine-tune every system of a grid, report: what examples/*/run.sh share.
#
#   RAW=DIR bash scripts/fine_tune_grid.sh CONFIG [options of scripts/run_experiments.py]
#
# CONFIG      YAML file of the grid
# RAW         folder with the dataset's official files; may be left out once data-bin/NAME is there. Of
#             SQuAD it may hold augmented training sets train_35.json, ...: data-bin/NAME_35, ...
# NAME        of the folders data-bin/NAME and runs/NAME (default: name of CONFIG, with SIZE)
# PRETRAINED  Hugging Face BERT directory (default: all-MiniLM-L6-v2)
# SIZE        of all systems: tiny, minilm, base or large (default: as CONFIG says)
# PREPARE     further options of scripts/prepare_text.py or prepare_squad.py, e.g. "--annotations none"
set -euo pipefail
absolute() { if [ -e "$1" ]; then realpath "$1"; else printf '%s' "$1"; fi; }
config="$(absolute "${1:?name a config}")"; shift
raw="$(absolute "${RAW:-}")"
pretrained="$(absolute "${PRETRAINED:-}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
VENV="${VENV:-.venv}"; [ -x "$VENV/bin/python" ] && PATH="$(cd "$VENV/bin" && pwd):$PATH"
name="${NAME:-$(basename "$config" .yaml)${SIZE:+_$SIZE}}"
value() { sed -n "s/^$1: *\(.*\)/\1/p" "$config"; }
if [ -n "$raw" ] || [ ! -f "data-bin/$name/manifest.json" ]; then
    [ -n "$raw" ] || { echo "error: set RAW to the folder with the official files" >&2; exit 2; }
    prepare() { # SCRIPT, then its options
        # shellcheck disable=SC2046,SC2086
        python "scripts/$1" "${@:2}" ${pretrained:+--pretrained "$pretrained"} $(value prepare) ${PREPARE:-}
    }
    if [ "$(value dataset)" = squad ]; then
        prepare prepare_squad.py --raw-dir "$raw" --destdir "data-bin/$name"
        for train in "$raw"/train_*.json; do
            share="${train##*_}"; share="${share%.json}"
            case "$share" in *[!0-9]*) continue ;; esac
            for valid in "$raw"/dev-v2.0.json "$raw"/dev-v1.1.json "$raw"/dev.json; do [ ! -f "$valid" ] || break; done
            prepare prepare_squad.py --train-file "$train" --valid-file "$valid" --destdir "data-bin/${name}_$share"
        done
    else
        prepare prepare_text.py --dataset "$(value dataset)" --raw-dir "$raw" --destdir "data-bin/$name"
    fi
fi
python scripts/run_experiments.py "$config" --data "data-bin/$name" --runs "runs/$name" \
    ${SIZE:+--size "$SIZE"} "$@"
case " $* " in *" --dry-run "*) exit ;; esac
python scripts/report_seeds.py "runs/$name"
