"""Trains and scores the bundled English spaCy pipeline: coarse tags and dependencies from UD EWT.

    python scripts/train_english_pipeline.py train --ud-dir UD_English-EWT --out en_ewt_small
    python scripts/train_english_pipeline.py evaluate --ud-dir UD_English-EWT --out en_ewt_small

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer that sees
UPOS only and a transition parser. Training mixes in lower-cased and Moses-tokenised variants, keeps
the pipeline that scores best on the development split and may be interrupted: what was best so far
is saved. ``evaluate`` measures the test split and writes the figures into ``meta.json`` and the
card.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import english_scores
import spacy
from english_treebank import Sentence, read_treebank, variants
from sacremoses import MosesTokenizer
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import (
    create_evaluation_callback,
    create_train_batches,
    train_while_improving,
)
from spacy.util import fix_random_seed, load_model_from_config, registry, resolve_dot_names
from spacy.vocab import Vocab
from thinc.api import Config

NAME, VERSION = "ewt_small", "1.0.0"
SOURCE = {
    "name": "UD English EWT (Universal Dependencies English Web Treebank)",
    "url": "https://github.com/UniversalDependencies/UD_English-EWT",
    "license": "CC BY-SA 4.0",
    "author": "Natalia Silveira, Timothy Dozat, Christopher Manning, Sebastian Schuster, "
    "Ethan Chi, John Bauer, Miriam Connor, Marie-Catherine de Marneffe, Nathan Schneider, "
    "Sam Bowman, Hanzhi Zhu, Daniel Galbraith",
}
DESCRIPTION = "English coarse tags (UPOS) and Universal Dependencies, small, for the CPU."


def to_docs(sentences: Iterable[Sentence], vocab: Vocab, *, seed: int) -> Iterator[Doc]:
    """Yields training documents: most hold one sentence, some two or three in a row."""
    draw = random.Random(seed)
    group: list[Sentence] = []
    size = 1
    for sentence in sentences:
        if group and not _joins(group, sentence, size):
            yield to_doc(group, vocab)
            group, size = [], draw.choice([1, 1, 1, 1, 2, 3])
        group.append(sentence)
    if group:
        yield to_doc(group, vocab)


def _joins(group: list[Sentence], sentence: Sentence, size: int) -> bool:
    """Tells whether a sentence may share a document with a group: same kind, room, trees."""
    last = group[-1]
    same = (last.spaces is None) == (sentence.spaces is None)
    return len(group) < size and same and None not in (last.heads, sentence.heads)


def to_doc(group: list[Sentence], vocab: Vocab) -> Doc:
    """Builds one gold document from sentences in a row."""
    heads: list[int] = []
    for sentence in group:
        heads += [len(heads) + head for head in sentence.heads or ()]
    parsed = bool(heads)
    given = group[0].spaces is None
    return Doc(
        vocab,
        words=[word for sentence in group for word in sentence.words],
        spaces=None if given else [space for s in group for space in s.spaces or ()],
        pos=[tag for sentence in group for tag in sentence.upos],
        heads=heads if parsed else None,
        deps=[dep for sentence in group for dep in sentence.deps] if parsed else None,
    )


def write_corpus(sentences: list[Sentence], path: Path, *, rate: float, seed: int) -> None:
    """Writes the training mixture of ``sentences`` as spaCy's binary documents."""
    moses = MosesTokenizer("en")
    mixed = variants(
        sentences, tokenize=lambda text: moses.tokenize(text, escape=False), rate=rate, seed=seed
    )
    vocab = spacy.blank("en").vocab
    DocBin(docs=to_docs(mixed, vocab, seed=seed)).to_disk(path)


def stock_config(corpora: Path, args: argparse.Namespace) -> Config:
    """Returns spaCy's CPU configuration with our sizes, schedule and corpus files."""
    config = init_config(
        lang="en",
        pipeline=["tok2vec", "morphologizer", "parser"],
        optimize="efficiency",
        gpu=False,
        silent=True,
    )
    config["paths"].update(train=str(corpora / "train.spacy"), dev=str(corpora / "dev.spacy"))
    config["system"]["seed"] = args.seed
    config["components"]["tok2vec"]["model"]["embed"]["rows"] = args.rows
    training = config["training"]
    training.update(max_steps=args.steps, eval_frequency=args.eval_every, patience=0)
    training["optimizer"]["use_averages"] = True
    weights = {"pos_acc": 0.5, "dep_uas": 0.0, "dep_las": 0.5, "morph_acc": 0.0}
    training["score_weights"].update(weights)
    return config


def train(args: argparse.Namespace) -> None:
    """Trains within the steps and minutes given and saves the best pipeline seen.

    Raises:
        FileNotFoundError: the treebank lacks a split.
        ValueError: ``--out`` holds something else than a pipeline, or a split is malformed.
    """
    if args.out.exists() and not (args.out / "meta.json").is_file():
        raise ValueError(f"--out {args.out}: exists and is no pipeline; give another directory")
    with tempfile.TemporaryDirectory() as scratch:
        corpora = Path(scratch)
        for split in ("train", "dev"):
            sentences = read_treebank(args.ud_dir, split)
            rate = args.variant_rate
            write_corpus(sentences, corpora / f"{split}.spacy", rate=rate, seed=args.seed)
        nlp = init_nlp(stock_config(corpora, args))
        run_steps(nlp, args)
    print(f"saved {args.out}: {english_scores.size_megabytes(args.out):.2f} MB")


def run_steps(nlp: Language, args: argparse.Namespace) -> None:
    """Trains under a clock; Ctrl-C stops it with the best pipeline saved."""
    fix_random_seed(args.seed)
    started = time.monotonic()
    try:
        for info, is_best, averages in training_steps(nlp):
            seconds = time.monotonic() - started
            if is_best:
                with nlp.use_params(averages):
                    save(nlp, args.out)
            if is_best is not None or info["step"] % 50 == 0:
                report(info, seconds, args)
            if seconds > args.minutes * 60:
                print(f"stopping: {args.minutes} minutes are over")
                break
    except KeyboardInterrupt:
        print("interrupted: the best pipeline so far is saved")


def training_steps(nlp: Language) -> Iterator[tuple[dict, bool | None, dict]]:
    """Yields spaCy's report of every update, whether it scored best, and the averaged weights."""
    config = nlp.config.interpolate()
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    names = [settings["train_corpus"], settings["dev_corpus"]]
    train_corpus, dev_corpus = resolve_dot_names(config, names)
    optimizer = settings["optimizer"]
    steps = train_while_improving(
        nlp,
        optimizer,
        create_train_batches(nlp, train_corpus, settings["batcher"], settings["max_epochs"]),
        create_evaluation_callback(nlp, dev_corpus, settings["score_weights"]),
        dropout=settings["dropout"],
        accumulate_gradient=settings["accumulate_gradient"],
        patience=settings["patience"],
        max_steps=settings["max_steps"],
        eval_frequency=settings["eval_frequency"],
        exclude=[],
        annotating_components=[],
        before_update=None,
    )
    for _, info, is_best in steps:
        yield info, is_best, optimizer.averages


def report(info: dict, seconds: float, args: argparse.Namespace) -> None:
    """Prints one progress line: speed, time left, and development scores when there are any."""
    rate = (info["step"] + 1) / max(seconds, 1e-9)
    left = min((args.steps - info["step"]) / rate, args.minutes * 60 - seconds)
    line = f"step {info['step']}/{args.steps}  {rate:.2f} steps/s  {left / 60:.1f} min left"
    if info["score"] is not None:
        scores = info["other_scores"]
        names = ("pos_acc", "dep_uas", "dep_las")
        line += "  dev " + " ".join(f"{name} {100 * (scores[name] or 0):.2f}" for name in names)
    print(line, flush=True)


def save(nlp: Language, path: Path) -> None:
    """Saves the pipeline, whole or not at all, without the corpus words and paths of training."""
    config = nlp.config.copy()
    for key in config["paths"]:
        config["paths"][key] = None
    lean = load_model_from_config(config)
    for name, pipe in nlp.pipeline:
        state = pipe.to_bytes(exclude=["vocab"])
        lean.get_pipe(name).from_bytes(state, exclude=["vocab"])
    lean.meta.update(
        name=NAME,
        version=VERSION,
        spacy_version=">=3.8.0,<3.9.0",
        description=DESCRIPTION,
        license=SOURCE["license"],
        sources=[SOURCE],
    )
    fresh = path.with_name(path.name + ".new")
    lean.to_disk(fresh)
    if path.exists():
        shutil.rmtree(path)
    fresh.rename(path)


def evaluate(args: argparse.Namespace) -> None:
    """Scores the pipeline on the test split and writes the figures next to it."""
    nlp = spacy.load(args.out)
    scores = english_scores.score(nlp, read_treebank(args.ud_dir, "test"))
    scores["size_mb"] = english_scores.size_megabytes(args.out)
    english_scores.write(args.out, scores)
    for name, value in scores.items():
        print(f"{name:28s} {value:10.2f}")


def build_parser() -> argparse.ArgumentParser:
    """Returns the command line: ``train`` and ``evaluate``."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("train", train), ("evaluate", evaluate)):
        command = commands.add_parser(name, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument(
            "--ud-dir", type=Path, required=True, help="UD English-EWT: train, dev, test .conllu"
        )
        command.add_argument("--out", type=Path, required=True, help="the pipeline's directory")
    options = commands.choices["train"]
    options.add_argument("--steps", type=int, default=7000, help="updates of about 1,000 words")
    options.add_argument("--minutes", type=float, default=120, help="stop after this long")
    options.add_argument("--eval-every", type=int, default=500, help="updates between scorings")
    options.add_argument("--variant-rate", type=float, default=0.2, help="share of each variant")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--rows",
        type=int,
        nargs=4,
        default=[5000, 1000, 2500, 2500],
        help="hash rows for norm, prefix, suffix, shape",
    )
    return parser


if __name__ == "__main__":
    arguments = build_parser().parse_args()
    arguments.function(arguments)
