#!/usr/bin/env bash
# BERT, SyntaxBERT, UERBERT and DABERT: a table of Wang et al. (2022), or a dataset.
#
#   bash examples/dabert/run.sh demo --seeds 1
#   RAW=DIR PRETRAINED=BERT bash examples/dabert/run.sh table1 --preset [options of fairseq-plugins run]
#   RAW=DIR bash examples/dabert/run.sh NAME... [--preset] [the same options]
#   RAW=DIR bash examples/dabert/run.sh NAME... --ablation [--preset] [the same options]
#   RAW=DIR PRETRAINED=BERT SIZE=base bash examples/dabert/run.sh NAME...
#
# NAME        files of configs/; demo is a small invented corpus; table1, table2, table3, table5 have several
# RAW         folder with a dataset's official files, or one with a folder NAME for each; not needed
#             for what has been prepared before
# --preset    rate 2e-5, batch 32, clipping 10, dropout 0.1, in place of the paper's whole grid
# --ablation  DABERT whole and without each of its six parts, in place of all systems (Table 5)
# SIZE        of all systems: tiny, minilm, base, large; PRETRAINED names a BERT of that size. Datasets of
#             configs/ are of minilm's size without it
# Folders are called dabert_NAME, with SIZE dabert_NAME_SIZE. All but demo need an installed WordNet,
# see README.md. More in scripts/run_example.sh. Tables are printed and left beside the runs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
parts=affinity,difference,guide,fusion-gate,filter-gate,regulation
size="${SIZE:-minilm}"
arguments=()
for argument in "$@"; do
    if [ "$argument" = --ablation ]; then
        arguments+=(--archs "dabert_$size" --contrast "ablate=$parts")
    else
        arguments+=("$argument")
    fi
done
exec bash "$here/../../scripts/run_example.sh" "$here" dabert_ "${arguments[@]}"
