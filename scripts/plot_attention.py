"""Draw what models attend to while translating a sentence, side by side, as PNG and SVG.

python scripts/plot_attention.py "She lights the lamp." --out figure --checkpoints \
    runs/quickstart/baseline/checkpoint_last.pt runs/quickstart/syntax/checkpoint_last.pt
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins.experiments.plots import AttentionPanel, plot_attention
from fairseq_plugins.inference.attention import attend, load


def main() -> int:
    """Translate with every checkpoint and draw one panel each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sentence", help="raw source sentence")
    parser.add_argument("--checkpoints", nargs="+", type=Path, required=True)
    parser.add_argument("--names", nargs="+", help="panel titles (default: the folders' names)")
    parser.add_argument("--data", help="prepared folder (default: the checkpoint's own)")
    parser.add_argument("--out", default="attention", help="file name without suffix")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--layer", type=int, help="decoder layer from 0 (default: the last)")
    parser.add_argument("--head", type=int, help="one head from 0 (default: mean over heads)")
    args = parser.parse_args()
    logging.disable(logging.INFO)
    names = args.names or [path.parent.name for path in args.checkpoints]
    if len(names) != len(args.checkpoints):
        parser.error(f"{len(names)} names for {len(args.checkpoints)} checkpoints")
    panels = []
    try:
        for name, path in zip(names, args.checkpoints):
            found = attend(
                load(path, args.data),
                args.sentence,
                beam=args.beam,
                layer=args.layer,
                head=args.head,
            )
            print(f"{name}: {found.translation}")
            panels.append(AttentionPanel(name, found.weights, found.target, found.source))
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in plot_attention(panels, args.out):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
