#!/usr/bin/env python
"""How much of a sentence does SLA's mask leave open, and how much of that is its own tree's?

python benchmarks/mask_shares.py data-bin/cola --split valid --thresholds 1 4

Words of a prepared folder alone, no special tokens; the trees of `--tree-source`, drawn by a seed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from fairseq_plugins.nn.tree_masks import TreeRule
from fairseq_plugins.syntax.drawn import MADE, ControlledTrees
from fairseq_plugins.syntax.layers import HEADS, layer_of
from fairseq_plugins.syntax.rows import Rows

Trees = Rows | ControlledTrees


def mask(rule: TreeRule, tree: np.ndarray) -> np.ndarray:
    """Return what the words of a tree see, (W, W)."""
    words = torch.arange(len(tree))[None]
    return rule(words, None, torch.as_tensor(np.array(tree, dtype=np.int64))[None])[0].numpy()


def shares(rule: TreeRule, trees: Trees, others: Trees) -> list[float]:
    """Return which share of pairs of words trees leave open, of sentences wholly so, and of
    sentences in which other trees have the same mask.
    """
    opened = pairs = whole = same = 0
    for tree, own in zip(others, trees, strict=True):
        seen, of_parse = mask(rule, tree), mask(rule, own)
        opened, pairs = opened + int(seen.sum()), pairs + seen.size
        whole, same = whole + int(seen.all()), same + int((seen == of_parse).all())
    return [opened / pairs, whole / len(trees), same / len(trees)]


def main() -> None:
    """Print one row a threshold and source of trees."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="prepared folder with heads")
    parser.add_argument("--split", default="valid", help="part of it")
    parser.add_argument("--thresholds", type=int, nargs="+", default=[4], help="m")
    parser.add_argument("--seed", type=int, default=1, help="of the trees that are drawn")
    args = parser.parse_args()
    stream = args.folder / f"{args.split}.heads0"
    trees = layer_of(HEADS).checked(stream, Rows.read(stream))
    sources: dict[str, Trees] = {"parse": trees}
    for source in MADE:
        sources[source] = ControlledTrees(source, trees, args.seed, f"{args.split}0")
    print(
        f"{stream}: {len(trees)} sentences of {trees.lengths.mean():.1f} words, seed {args.seed}\n"
    )
    print("| m | trees | pairs open | sentences wholly open | same mask as the parse |")
    print("|---:|---|---:|---:|---:|")
    for threshold in args.thresholds:
        for source, others in sources.items():
            found = shares(TreeRule(threshold), trees, others)
            print(f"| {threshold} | {source} | {' | '.join(f'{one:.1%}' for one in found)} |")


if __name__ == "__main__":
    main()
