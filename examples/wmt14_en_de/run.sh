#!/usr/bin/env bash
# WMT14 English-German: the experiments of Sundararaman et al. (2019).
#
#   bash examples/wmt14_en_de/run.sh download
#   bash examples/wmt14_en_de/run.sh table1|features [options of fairseq-plugins run]
#   bash examples/wmt14_en_de/run.sh all        # download; both systems on all pairs: table1 --fractions 1
#
# RAW      folder of the raw text (default: data-bin/wmt14_raw)
# PREPARE  further options of fairseq-plugins prepare translation (default: --workers with all cores)
# With 4 GPUs: --gpus-per-node 4 --options fp16=true; on a cluster: --executor slurm as well. An
# update is of 32,768 tokens however many processes there are. What was stopped goes on with the same command.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
VENV="${VENV:-$root/.venv}"; if [ -x "$VENV/bin/sacrebleu" ]; then PATH="$(cd "$VENV/bin" && pwd):$PATH"; fi
raw="$(realpath -m "${RAW:-$root/data-bin/wmt14_raw}")"

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

if [ "${1:-}" = download ]; then download; exit; fi
if [ "${1:-}" = all ]; then download; shift; set -- table1 --fractions 1 "$@"; fi
if [ -f "$raw/train.en" ]; then
    export RAW="$raw" PREPARE="${PREPARE:---workers $(getconf _NPROCESSORS_ONLN)}"
else
    unset RAW # prepared elsewhere
fi
if [ -f "$raw/test.de" ]; then set -- "$@" --reference "$raw/test.de"; fi
exec bash "$root/scripts/run_example.sh" "$here" "" "$@"
