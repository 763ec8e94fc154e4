#!/usr/bin/env bash
# Train a baseline and a syntax-infused Transformer on fractions of a prepared training set; print
# and plot BLEU against the fraction (Sundararaman et al. 2019, Table 1).
#
#   bash scripts/sweep_fractions.sh DATA_FOLDER OUTPUT_FOLDER [extra fairseq-train arguments]
#
# FRACTIONS   percentages                  (default: "1 5 10 25 50 100")
# ARCH        architecture of both systems (default: syntax_transformer_tiny)
# UPDATES     updates of every run         (default: 2000)
# SEED        of subset and training, or several (default: 1)
# SUBSET      split to score               (default: test)
# REF         raw reference of that split (default: the folder's own target lines, detokenised)
# TRAIN, GENERATE   replace the default training and generation options
#
# Every fraction and both systems get the same number of updates and the same subwords; smaller
# fractions are contained in larger ones. Stop it at any time: the same command goes on, finished
# runs are not repeated. It writes the experiment OUTPUT_FOLDER/sweep.yaml and runs it; with a file
# like examples/multi30k_en_de/table1.yaml of your own you have more to say.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,18p' "$0"; exit ;; esac
if [ $# -lt 2 ]; then sed -n '2,18p' "$0" >&2; exit 2; fi
if [ ! -d "$1" ]; then echo "error: $1: no such folder" >&2; exit 1; fi
if [ -n "${REF:-}" ] && [ ! -f "$REF" ]; then echo "error: REF=$REF: no such file" >&2; exit 1; fi
data="$(realpath -- "$1")" out="$2" reference="${REF:+$(realpath -- "${REF:-}")}"; shift 2
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$here/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
train="${TRAIN:---optimizer adam --adam-betas (0.9,0.998) --lr 1e-3 --lr-scheduler inverse_sqrt
    --warmup-updates 400 --criterion label_smoothed_cross_entropy --label-smoothing 0.1
    --dropout 0.1 --max-tokens 4096 --share-decoder-input-output-embed}"
generate="${GENERATE:---beam 4 --lenpen 0.6 --max-tokens 8000}"

number='^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$'
quoted() { printf "'%s'" "${1//\'/\'\'}"; } # text in YAML, whatever it looks like
value() { if [[ "$1" =~ $number ]]; then printf '%s' "$1"; else quoted "$1"; fi; }
pairs() { # --name value --flag ... -> one "name=value" a line, the value as in YAML
    local name="" word
    for word in "$@"; do
        case "$word" in
            --*=*) [ -z "$name" ] || echo "$name=true"; word="${word#--}"
                echo "${word%%=*}=$(value "${word#*=}")"; name="" ;;
            --*) [ -z "$name" ] || echo "$name=true"; name="${word#--}" ;;
            *) [ -n "$name" ] || { echo "error: '$word' belongs to no option" >&2; exit 2; }
                echo "$name=$(value "$word")"; name="" ;;
        esac
    done
    [ -z "$name" ] || echo "$name=true"
}
# Places and options of fairseq may be any that the user gives, so they are said here, not in the file.
more=(--data "$data") own=()
for word in "$@"; do # of `run`, not of its trainings
    case "$word" in --cpu) more+=(--cpu) ;; *) own+=("$word") ;; esac
done
set -f # options are words, not file names
# shellcheck disable=SC2086
options="$(pairs $train && pairs ${own[@]+"${own[@]}"})"
# shellcheck disable=SC2086
decoding="$(pairs $generate)"
rate="$(sed -n 's/^lr=//p' <<<"$options" | tail -n 1 | tr -d "'")"
options="$(sed '/^lr=/d' <<<"$options")"
part="$(basename -- "$data" | sed 's/[^A-Za-z0-9_.-]/_/g; s/^[.-]/_/')" # a name of a file's
case "$part" in after | data | jobs) part="${part}_" ;; esac # these are folders of every experiment
part="$(quoted "$part")"
arch="$(quoted "${ARCH:-syntax_transformer_tiny}")"
shares=() seeds="${SEED:-1}"
for percent in ${FRACTIONS:-1 5 10 25 50 100}; do shares+=("$(awk "BEGIN { print $percent / 100 }")"); done
list() { local IFS=,; echo "[$*]"; }
mkdir -p "$out"
{
    echo "name: sweep"
    echo "title: $(quoted "Shares of the training data of $(basename -- "$data")")"
    echo "parts:"
    echo "  - name: $part"
    echo "    dataset: translation"
    echo "    systems:"
    echo "      - {name: baseline, arch: $arch, features: none}"
    echo "      - {name: syntax, arch: $arch}"
    echo "    fractions: $(list "${shares[@]}")"
    # shellcheck disable=SC2086
    echo "    seeds: $(list $seeds)"
    echo "    updates: ${UPDATES:-2000}"
    echo "    validate_every: 500"
    echo "    learning_rates: [${rate:-1e-3}]"
    echo "    evaluate: $(quoted "${SUBSET:-test}")"
    echo "tables: [fractions]"
} >"$out/.sweep.yaml.tmp"
mv "$out/.sweep.yaml.tmp" "$out/sweep.yaml"
if [ -n "$reference" ]; then more+=(--reference "$reference"); fi
given() { mapfile -t words; [ -z "${words[0]:-}" ] || more+=("$1" "${words[@]}"); }
given --options <<<"$options"
given --generate <<<"$decoding"
exec "$python" -m fairseq_plugins run "$out/sweep.yaml" --runs "$out" "${more[@]}"
