#!/usr/bin/env bash
# Prepare datasets, fine-tune BERT, SyntaxBERT, UERBERT and DABERT on them, lay out all that has run.
#
#   bash examples/dabert/run.sh demo --quick
#   RAW=DIR bash examples/dabert/run.sh NAME... [--preset] [options of scripts/run_experiments.py]
#   RAW=DIR bash examples/dabert/run.sh NAME... --ablation [--preset] [the same options]
#   RAW=DIR PRETRAINED=BERT SIZE=base bash examples/dabert/run.sh NAME...
#
# NAME        files of configs/; demo is a small invented corpus
# RAW         folder with a dataset's official files, or one with a folder NAME for each; not needed
#             for what has been prepared before
# --preset    rate 2e-5, batch 32, clipping 10, dropout 0.1, in place of the paper's whole grid
# --ablation  DABERT whole and without each of its six parts, in place of all systems (Table 5)
# SIZE        of all systems: tiny, minilm (default), base, large; PRETRAINED names a BERT of that size
# Folders are called dabert_NAME, with SIZE dabert_NAME_SIZE. All but demo need an installed WordNet,
# see README.md. More in scripts/fine_tune_grid.sh. The table is printed and left in runs/dabert.md
# and runs/dabert.csv.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
parts=affinity,difference,guide,fusion-gate,filter-gate,regulation
size="${SIZE:-minilm}"; case " $* " in *" demo "*) size="${SIZE:-tiny}" ;; esac
arguments=()
for argument in "$@"; do
    if [ "$argument" = --ablation ]; then
        arguments+=(--archs "dabert_$size" --contrast "ablate=$parts")
    else
        arguments+=("$argument")
    fi
done
exec bash "$here/../../scripts/run_example_table.sh" "$here" dabert_ "${arguments[@]}"
