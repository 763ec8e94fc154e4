#!/usr/bin/env bash
# Prepare a dataset, fine-tune every system of a grid, report: what examples/*/run.sh share.
#
#   RAW=DIR bash scripts/fine_tune_grid.sh CONFIG [options of scripts/run_experiments.py]
#
# CONFIG      YAML file of the grid
# RAW         folder with the dataset's official files
# NAME        of the folders data-bin/NAME and runs/NAME (default: name of CONFIG)
# PRETRAINED  Hugging Face BERT directory (default: all-MiniLM-L6-v2); other sizes also need
#             --archs bert_plain_base bert_pos_base
# PREPARE     further options of scripts/prepare_text.py, e.g. "--annotations none"
set -euo pipefail
absolute() { if [ -e "$1" ]; then realpath "$1"; else printf '%s' "$1"; fi; }
config="$(absolute "${1:?name a config}")"; shift
raw="$(absolute "${RAW:?set RAW to the folder with the raw data}")"
pretrained="$(absolute "${PRETRAINED:-}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
VENV="${VENV:-.venv}"; [ -x "$VENV/bin/python" ] && PATH="$(cd "$VENV/bin" && pwd):$PATH"
name="${NAME:-$(basename "$config" .yaml)}"
dataset="$(sed -n 's/^dataset: *\([a-z0-9_]*\).*/\1/p' "$config")"
prepare=(); [ -n "$pretrained" ] && prepare=(--pretrained "$pretrained")
# shellcheck disable=SC2086
python scripts/prepare_text.py --dataset "$dataset" --raw-dir "$raw" \
    --destdir "data-bin/$name" "${prepare[@]}" ${PREPARE:-}
python scripts/run_experiments.py "$config" --data "data-bin/$name" --runs "runs/$name" "$@"
case " $* " in *" --dry-run "*) exit ;; esac
python scripts/report_seeds.py "runs/$name"
