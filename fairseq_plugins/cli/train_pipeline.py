"""Train the bundled English spaCy pipeline anew: coarse tags and dependencies from UD EWT.

    fairseq-plugins train-pipeline --ud-dir UD_English-EWT --out en_ewt_small

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer that sees
UPOS only and a transition parser. Training mixes in lower-cased and Moses-tokenised variants, keeps
the pipeline that scores best on the development split and may be interrupted: what was best so far
is saved. score-pipeline measures it afterwards.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ud-dir", type=Path, required=True, help="UD English-EWT: train, dev, test .conllu")
    add("--out", type=Path, required=True, help="the pipeline's directory")
    add("--steps", type=int, default=7000, help="updates of about 1,000 words")
    add("--minutes", type=float, default=120, help="stop after this long")
    add("--eval-every", type=int, default=500, help="updates between scorings")
    add("--variant-rate", type=float, default=0.2, help="share of each variant")
    add("--seed", type=int, default=1, help="of all choices")
    rows = [5000, 1000, 2500, 2500]
    add("--rows", type=int, nargs=4, default=rows, help="hash rows for norm, prefix, suffix, shape")


def run(args: argparse.Namespace) -> None:
    """Train."""
    from ..text.pipeline.training import train

    train(args)
