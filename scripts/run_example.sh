#!/usr/bin/env bash
# Tables and datasets of an example folder: what the run.sh of the examples share.
#
#   bash scripts/run_example.sh FOLDER PREFIX NAME... [options of fairseq-plugins run]
#
# FOLDER  holds run.sh (whose head is the usage), experiments NAME.yaml and grids configs/NAME.yaml;
#         examples/make_demo.py makes the corpus of NAME demo, make_NAME.sh a dataset of what RAW
#         holds
# PREFIX  of the folders of grids in data-bin and runs, before NAME; may be empty
# RAW, PRETRAINED, SIZE, PREPARE  are handed on as --raw, --pretrained, --size, --prepare
# NAME    of the folders data-bin/NAME and runs/NAME, of one dataset; so does --name
# Folders on the command line are seen from where you stand, the others from the project.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
folder="$1" prefix="$2"; shift 2
case "${1:-}" in "" | -*) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "$folder/run.sh"; exit ;; esac
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
absolute() { case "$1" in "" | /*) printf '%s' "$1" ;; *) printf '%s/%s' "$PWD" "$1" ;; esac; }
given_raw="$(absolute "${RAW:-}")" pretrained="${PRETRAINED:-}" given_name="${NAME:-}" runs="" folders=""
names=() options=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do names+=("$1"); shift; done
while [ $# -gt 0 ]; do
    case "$1" in
        --name | --raw | --pretrained | --data | --runs | --reference)
            if [ $# -lt 2 ]; then echo "error: $1: expected a value" >&2; exit 2; fi
            option="$1" value="$2"; shift ;;
        --name=* | --raw=* | --pretrained=* | --data=* | --runs=* | --reference=*)
            option="${1%%=*}" value="${1#*=}" ;;
        *) options+=("$1"); shift; continue ;;
    esac
    shift
    case "$option" in
        --name) given_name="$value" ;;
        --raw) given_raw="$(absolute "$value")" ;;
        --pretrained) pretrained="$value" ;;
        --runs) runs="$(absolute "$value")" folders="--runs $value" ;;
        --data) options+=("$option" "$(absolute "$value")"); folders="--data $value" ;;
        *) options+=("$option" "$(absolute "$value")") ;;
    esac
done
if [ -e "$pretrained" ]; then pretrained="$(absolute "$pretrained")"; fi
one="${given_name:+NAME=$given_name}" one="${one:-$folders}"
if [ -n "$one" ] && [ ${#names[@]} -gt 1 ]; then
    echo "error: $one is for one dataset, not for ${names[*]}" >&2
    exit 2
fi
case "$folder" in /*) ;; *) folder="$PWD/$folder" ;; esac
cd "$root"

run() { # FILE, then further options
    "$python" -m fairseq_plugins run "$@" ${pretrained:+--pretrained "$pretrained"} \
        ${SIZE:+--size "$SIZE"} ${PREPARE:+"--prepare=$PREPARE"}
}
grid() { # NAME, of its folders, of its raw data, then further options: a dataset of configs/
    local name="$1" data="${2:-$prefix$1${SIZE:+_$SIZE}}" raw="$3" place paper=""; shift 3
    place="${runs:-runs/$data}"
    if [ -d "$raw/$name" ]; then raw="$raw/$name"; fi
    if [ -n "$raw" ] && [ -f "$folder/make_$name.sh" ]; then
        bash "$folder/make_$name.sh" "$raw" "data-bin/${name}_raw"
        raw="data-bin/${name}_raw"
    fi
    run "$folder/configs/$name.yaml" --name "$data" --data "data-bin/$data" --runs "$place" \
        ${raw:+--raw "$raw"} "$@"
    case " $* " in *" --dry-run "*) return ;; esac
    if grep -q '^tables:' "$folder/configs/$name.yaml"; then return; fi # printed already
    if [ "$name" = demo ]; then paper=--no-paper; fi
    "$python" -m fairseq_plugins results table "$place" --output "$place/tables" $paper
}

for name in "${names[@]}"; do
    if [ ! -f "$folder/$name.yaml" ] && [ ! -f "$folder/configs/$name.yaml" ]; then
        echo "error: no $name.yaml; choices: $(cd "$folder" && ls ./*.yaml configs/*.yaml 2>/dev/null |
            sed 's/.*\///; s/.yaml//' | xargs)" >&2
        exit 2
    fi
done
for name in "${names[@]}"; do
    own="$given_name" raw="$given_raw"
    if [ "$name" = demo ]; then
        own="${own:-$(basename "$folder")_demo}" raw="$root/data-bin/$(basename "$folder")_demo_raw"
        "$python" examples/make_demo.py "$(basename "$folder")" "$raw"
    fi
    if [ -f "$folder/configs/$name.yaml" ]; then
        grid "$name" "$own" "$raw" ${options[@]+"${options[@]}"}
    else
        run "$folder/$name.yaml" ${given_name:+--name "$given_name"} ${raw:+--raw "$raw"} \
            ${runs:+--runs "$runs"} ${options[@]+"${options[@]}"}
    fi
done
