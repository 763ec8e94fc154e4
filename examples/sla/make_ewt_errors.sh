#!/usr/bin/env bash
# Inject errors into the sentences of a treebank: train.tsv, dev.tsv, test.tsv, and beside each of them the
# treebank's trees of these sentences (train.conllu ...).
#
#   bash examples/sla/make_ewt_errors.sh TREEBANK OUTPUT    # TREEBANK: folder with its CoNLL-U files
set -euo pipefail
treebank="$1" output="$2" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
VENV="${VENV:-$root/.venv}"
python="$VENV/bin/python"; [ -x "$python" ] || python=python
for split in train dev test; do
    file="$(find "$treebank" -maxdepth 1 -name "*$split.conllu" | head -1)"
    [ -n "$file" ] || { echo "error: $treebank holds no file *$split.conllu" >&2; exit 1; }
    mkdir -p "$output"
    { [ -f "$output/$split.tsv" ] && [ -f "$output/$split.conllu" ]; } ||
        "$python" -m fairseq_plugins augment errors --conllu "$file" --output "$output/$split.tsv" --trees "$output/$split.conllu" --seed 1
done
