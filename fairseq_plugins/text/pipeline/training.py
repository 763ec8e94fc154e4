"""Trains a small spaCy pipeline on a treebank: coarse tags and dependencies.

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer that sees UPOS
only and a transition parser. Training mixes in lower-cased and Moses-tokenised variants, keeps the
pipeline that scores best on the development split and may be interrupted: what was best so far is
saved.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import spacy
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

from . import card, scores
from .treebank import Sentence, read_treebank, variants

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


@dataclass(frozen=True)
class TrainingOptions:
    """What to train on, where to, and how.

    Args:
        ud_dir: folder of the treebank: train, dev and test ``.conllu``.
        out: the pipeline's folder.
        steps: updates of about 1,000 words.
        minutes: stop after this long.
        eval_every: updates between scorings.
        variant_rate: share of each variant of the sentences.
        seed: of all choices.
        rows: hash rows for norm, prefix, suffix and shape.
    """

    ud_dir: Path
    out: Path
    steps: int
    minutes: float
    eval_every: int
    variant_rate: float
    seed: int
    rows: list[int]


def to_docs(sentences: Iterable[Sentence], vocab: Vocab, *, seed: int) -> Iterator[Doc]:
    """Yield training documents: most hold one sentence, some two or three in a row."""
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


def stock_config(corpora: Path, args: TrainingOptions) -> Config:
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


def train(args: TrainingOptions) -> None:
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
    print(f"saved {args.out}: {card.size_megabytes(args.out):.2f} MB")


def run_steps(nlp: Language, args: TrainingOptions) -> None:
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
    """Yield spaCy's report of every update, whether it scored best, and the averaged weights."""
    config = nlp.config.interpolate()
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    names = [settings["train_corpus"], settings["dev_corpus"]]
    train_corpus, dev_corpus = resolve_dot_names(config, names)
    optimizer = settings["optimizer"]
    same = ("dropout", "accumulate_gradient", "patience", "max_steps")
    steps = train_while_improving(
        nlp,
        optimizer,
        create_train_batches(nlp, train_corpus, settings["batcher"], settings["max_epochs"]),
        create_evaluation_callback(nlp, dev_corpus, settings["score_weights"]),
        eval_frequency=settings["eval_frequency"],
        exclude=[],
        annotating_components=[],
        before_update=None,
        **{name: settings[name] for name in same},
    )
    for _, info, is_best in steps:
        yield info, is_best, optimizer.averages


def report(info: dict, seconds: float, args: TrainingOptions) -> None:
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


def evaluate(ud_dir: Path, out: Path) -> dict[str, float]:
    """Scores the pipeline on the test split and writes the figures next to it."""
    nlp = spacy.load(out)
    found = scores.score(nlp, read_treebank(ud_dir, "test"))
    found["size_mb"] = card.size_megabytes(out)
    card.write(out, found)
    return found
