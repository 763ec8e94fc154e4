"""Trains a small spaCy pipeline on a treebank: coarse tags and dependencies.

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer that sees UPOS
only and a transition parser. Training mixes in lower-cased and Moses-tokenised variants, keeps the
pipeline that scores best on the development split and may be interrupted: what was best so far is
saved.
"""

import json
import random
import shutil
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from string import Template

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

from . import scores
from .treebank import TreeSentence, read_treebank, variants

NAME, VERSION = "ewt_small", "1.0.0"
SOURCE = {
    "name": "UD English EWT (Universal Dependencies English Web Treebank)",
    "url": "https://github.com/UniversalDependencies/UD_English-EWT",
    "license": "CC BY-SA 4.0",
    "author": "Natalia Silveira, Timothy Dozat, Christopher Manning, Sebastian Schuster, "
    "Ethan Chi, John Bauer, Miriam Connor, Marie-Catherine de Marneffe, Nathan Schneider, "
    "Sam Bowman, Hanzhi Zhu, Daniel Galbraith",
}
CARD = Path(__file__).parent / "card"  # templates of the card and the licence note
DESCRIPTION = "English coarse tags (UPOS) and Universal Dependencies, small, for the CPU."


def to_docs(sentences: Iterable[TreeSentence], vocab: Vocab, *, seed: int) -> Iterator[Doc]:
    """Yield training documents: most hold one sentence, some two or three in a row."""
    draw = random.Random(seed)
    group: list[TreeSentence] = []
    size = 1
    for sentence in sentences:
        if group and not _joins(group, sentence, size):
            yield to_doc(group, vocab)
            group, size = [], draw.choice([1, 1, 1, 1, 2, 3])
        group.append(sentence)
    if group:
        yield to_doc(group, vocab)


def _joins(group: list[TreeSentence], sentence: TreeSentence, size: int) -> bool:
    """Tell whether a sentence may share a document with a group: same kind, room, trees."""
    last = group[-1]
    same = (last.spaces is None) == (sentence.spaces is None)
    return len(group) < size and same and None not in (last.heads, sentence.heads)


def to_doc(group: list[TreeSentence], vocab: Vocab) -> Doc:
    """Build one gold document from sentences in a row."""
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


def write_corpus(sentences: list[TreeSentence], path: Path, *, rate: float, seed: int) -> None:
    """Write the training mixture of ``sentences`` as spaCy's binary documents."""
    tokenize = partial(MosesTokenizer("en").tokenize, escape=False)
    mixed = variants(sentences, tokenize=tokenize, rate=rate, seed=seed)
    DocBin(docs=to_docs(mixed, spacy.blank("en").vocab, seed=seed)).to_disk(path)


def stock_config(corpora: Path, args: Namespace) -> Config:
    """Return spaCy's CPU configuration with our sizes, schedule and corpus files."""
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


def train(args: Namespace) -> None:
    """Train by the flags of ``train-pipeline`` and save the best pipeline seen.

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
    print(f"saved {args.out}: {size_megabytes(args.out):.2f} MB")


def run_steps(nlp: Language, args: Namespace) -> None:
    """Train under a clock; Ctrl-C stops it with the best pipeline saved."""
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


def report(info: dict, seconds: float, args: Namespace) -> None:
    """Print one progress line: speed, time left, and development scores when there are any."""
    rate = (info["step"] + 1) / max(seconds, 1e-9)
    left = min((args.steps - info["step"]) / rate, args.minutes * 60 - seconds)
    line = f"step {info['step']}/{args.steps}  {rate:.2f} steps/s  {left / 60:.1f} min left"
    if info["score"] is not None:
        scores = info["other_scores"]
        names = ("pos_acc", "dep_uas", "dep_las")
        line += "  dev " + " ".join(f"{name} {100 * (scores[name] or 0):.2f}" for name in names)
    print(line, flush=True)


def save(nlp: Language, path: Path) -> None:
    """Save the pipeline, whole or not at all, without the corpus words and paths of training."""
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
    """Score the pipeline on the test split and writes the figures next to it."""
    nlp = spacy.load(out)
    found = scores.score(nlp, read_treebank(ud_dir, "test"))
    found["size_mb"] = size_megabytes(out)
    write_card(out, found)
    return found


def size_megabytes(directory: Path) -> float:
    """Return the size of all files of a directory in millions of bytes."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return round(sum(path.stat().st_size for path in files) / 1e6, 2)


def write_card(directory: Path, found: dict[str, float]) -> None:
    """Write the figures into ``meta.json``, and the card and the licence note beside it."""
    path = directory / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    meta["performance"] = found
    path.write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    source = meta["sources"][0]
    entries = {**meta, **source, **found, "source": source["name"], "name": meta["name"]}
    entries["components"] = ", ".join(meta["pipeline"])
    for page in CARD.iterdir():
        text = Template(page.read_text(encoding="utf-8")).substitute(entries)
        (directory / page.name).write_text(text, encoding="utf-8")
