"""Trains a small spaCy pipeline on a treebank: tags, morphology, lemmas and dependencies.

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer, a tagger, an
edit-tree lemmatizer and a transition parser, as far as the treebank has what they learn. Training
mixes in lower-cased and Moses-tokenised variants, keeps the pipeline that scores best on the
development split and may be interrupted: what was best so far is saved.
"""

import json
import random
import shutil
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

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

from ...errors import InputError
from ...files import write_text
from ...language_codes import base_code
from ...messages import named
from ..annotate import SCORES, load_pipeline
from . import scores
from .treebank import (
    TreeSentence,
    language_of,
    licence_of,
    read_conllu,
    split_file,
    variants,
)

VERSION = "1.0.0"
CARD = Path(__file__).parent / "card"  # templates of the card and the licence note
MIXED = "xx"  # spaCy's language for those that it does not know
WITHOUT_BLANKS = ("ja", "lo", "km", "my", "th", "zh")  # not for Moses, which cuts at blanks


@dataclass(frozen=True)
class Task:
    """What a component of a pipeline learns.

    Args:
        component: spaCy's name of it.
        score: by what of spaCy's the best pipeline is chosen.
        of: column of a `TreeSentence` that must hold something; empty for what all have.
    """

    component: str
    score: str
    of: str = ""


TASKS = {  # by the layer that it gives
    "pos": Task("morphologizer", "pos_acc"),
    "morph": Task("morphologizer", "morph_acc", "feats"),
    "tag": Task("tagger", "tag_acc", "xpos"),
    "lemma": Task("trainable_lemmatizer", "lemma_acc", "lemmas"),
    "heads": Task("parser", "dep_las"),
}


def given_layers(sentences: Sequence[TreeSentence], wanted: str = "") -> list[str]:
    """Return what a pipeline can learn of a treebank: all there is, or what is wanted.

    Raises:
        InputError: something that is wanted and not there, or unknown; with the choices.
    """
    there = [
        name
        for name, task in TASKS.items()
        if not task.of or any(any(getattr(sentence, task.of)) for sentence in sentences)
    ]
    names = [name.strip() for name in wanted.split(",")] if wanted else there
    if unknown := [name for name in names if name not in there]:
        raise InputError(f"--layers {wanted}: the treebank has no {named(unknown)}, but {there}")
    return ["pos", *(name for name in there if name in names and name != "pos")]


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
    said = {"pos": "upos", "tags": "xpos", "morphs": "feats", "lemmas": "lemmas"}
    columns: dict[str, Any] = {
        name: [x for s in group for x in getattr(s, of)] for name, of in said.items()
    }
    return Doc(
        vocab,
        words=[word for sentence in group for word in sentence.words],
        spaces=None if given else [space for s in group for space in s.spaces or ()],
        heads=heads if parsed else None,
        deps=[dep for sentence in group for dep in sentence.deps] if parsed else None,
        **{name: values for name, values in columns.items() if any(values)},
    )


def moses_of(lang: str) -> Callable[[str], list[str]] | None:
    """Return Moses' tokeniser of a language, or None where words are not between blanks."""
    if base_code(lang) in WITHOUT_BLANKS:
        return None
    tokenizer: Any = MosesTokenizer(base_code(lang))
    return partial(tokenizer.tokenize, escape=False)


def write_corpus(
    sentences: list[TreeSentence], path: Path, *, lang: str, rate: float, seed: int
) -> None:
    """Write the training mixture of ``sentences`` as spaCy's binary documents."""
    mixed = variants(sentences, tokenize=moses_of(lang), rate=rate, seed=seed)
    DocBin(docs=to_docs(mixed, spacy.blank(spacy_language(lang)).vocab, seed=seed)).to_disk(path)


def spacy_language(lang: str) -> str:
    """Return spaCy's name of a language; ``xx`` for one that it does not know."""
    try:
        spacy.util.get_lang_class(lang)
    except ImportError:
        return MIXED
    return lang


def stock_config(corpora: Path, layers: Sequence[str], args: Namespace) -> Config:
    """Return spaCy's CPU configuration for layers, with our sizes, schedule and corpus files."""
    components = [*dict.fromkeys(TASKS[name].component for name in layers)]
    config = init_config(
        lang=spacy_language(args.lang),
        pipeline=["tok2vec", *components],
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
    weights = {k: v and 0.0 for k, v in training["score_weights"].items()}  # None stays
    weights |= {TASKS[name].score: 1 / len(layers) for name in layers}
    training["score_weights"] = weights
    return config


def complete(args: Namespace) -> Namespace:
    """Return the flags of ``train-pipeline`` with what the treebank says where none is given.

    Raises:
        FileNotFoundError: the treebank lacks a split.
        InputError: its language or licence is not known.
    """
    folder = args.ud_dir
    found = {
        "train": args.train or split_file(folder, "train"),
        "dev": args.dev or split_file(folder, "dev"),
        "lang": base_code(args.lang or "") or language_of(folder),
        "license": args.license or licence_of(folder),
        "source": args.source or folder.resolve().name,
    }
    unsaid = (("lang", "language", "de"), ("license", "licence", "'CC BY-SA 4.0'"))
    for name, what, example in unsaid:
        if not found[name]:
            raise InputError(
                f"{folder}: no file says its {what}: give --{name}, for example {example}"
            )
    return Namespace(**{**vars(args), **found})


def train(args: Namespace) -> None:
    """Train by the flags of ``train-pipeline`` and save the best pipeline seen.

    Raises:
        FileNotFoundError: the treebank lacks a split.
        InputError: ``--output`` holds something else than a pipeline, or a split is malformed.
    """
    if args.output.exists() and not (args.output / "meta.json").is_file():
        raise InputError(
            f"--output {args.output}: exists and is no pipeline; give another directory"
        )
    args = complete(args)
    read = {split: list(read_conllu(getattr(args, split))) for split in ("train", "dev")}
    layers = given_layers(read["train"], args.layers)
    print(f"{args.train}: a pipeline of language {args.lang} for {', '.join(layers)}")
    with tempfile.TemporaryDirectory() as scratch:
        corpora = Path(scratch)
        for split, sentences in read.items():
            if "morph" not in layers:
                sentences = [replace(s, feats=("",) * len(s.feats)) for s in sentences]
            how = {"lang": args.lang, "rate": args.variant_rate, "seed": args.seed}
            write_corpus(sentences, corpora / f"{split}.spacy", **how)
        nlp = init_nlp(stock_config(corpora, layers, args))
        run_steps(nlp, args)
    print(f"saved {args.output}: {size_megabytes(args.output):.2f} MB")


def run_steps(nlp: Language, args: Namespace) -> None:
    """Train under a clock; Ctrl-C stops it with the best pipeline saved."""
    fix_random_seed(args.seed)
    started = time.monotonic()
    try:
        for info, is_best, averages in training_steps(nlp):
            seconds = time.monotonic() - started
            if is_best:
                with nlp.use_params(averages):
                    save(nlp, args)
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
        found = info["other_scores"]
        names = [task.score for task in TASKS.values() if found.get(task.score) is not None]
        line += "  dev " + " ".join(f"{name} {100 * found[name]:.2f}" for name in names)
    print(line, flush=True)


def save(nlp: Language, args: Namespace) -> None:
    """Save the pipeline, whole or not at all, without the corpus words and paths of training."""
    path, config = args.output, nlp.config.copy()
    for key in config["paths"]:
        config["paths"][key] = None
    lean = load_model_from_config(config)
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for name, pipe in pipes:
        state = pipe.to_bytes(exclude=["vocab"])
        to_fill: Any = lean.get_pipe(name)
        to_fill.from_bytes(state, exclude=["vocab"])
        for text in texts_of(pipe):
            lean.vocab.strings.add(text)
    source = {"name": args.source, "url": args.url, "license": args.license, "author": args.author}
    lean.meta.update(
        name=path.name.removeprefix(f"{lean.lang}_"),
        version=VERSION,
        spacy_version=">=3.8.0,<3.9.0",
        description=f"Universal Dependencies ({args.lang}), small, for the CPU.",
        license=args.license,
        sources=[source],
    )
    fresh = path.with_name(path.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    lean.to_disk(fresh)
    if path.exists():
        shutil.rmtree(path)
    fresh.rename(path)


def texts_of(pipe: Any) -> Iterator[str]:
    """Yield what a component writes onto tokens, which spaCy does not save with all of them."""
    yield from map(str, getattr(pipe, "labels", ()))
    trees = getattr(pipe, "trees", ())  # of edits of words to lemmas
    for tree in (trees[number] for number in range(len(trees))):
        yield from (pipe.vocab.strings[tree[part]] for part in ("orig", "subst") if part in tree)


def evaluate(test: Path, out: Path) -> dict[str, float]:
    """Score the pipeline on the test split of its treebank and write the figures next to it.

    They stand in the card and in `SCORES`, which do not decide what a pipeline is.

    Raises:
        FileNotFoundError: there is no pipeline.
        InputError: by the names of its files the treebank is of another language.
    """
    if not (out / "meta.json").is_file():
        raise FileNotFoundError(f"{out}: no spaCy pipeline (no meta.json)")
    nlp, language = load_pipeline(str(out.absolute()), ()), language_of(test.parent)
    if language and spacy_language(language) != nlp.lang:
        raise InputError(f"{test}: is of language {language!r}, and {out} of {nlp.lang!r}")
    found = scores.score(nlp, list(read_conllu(test)), moses_of(str(nlp.lang)))
    found["size_mb"] = size_megabytes(out)
    write_card(out, found, test.name)
    return found


def size_megabytes(directory: Path) -> float:
    """Return the size of all files of a directory in millions of bytes."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return round(sum(path.stat().st_size for path in files) / 1e6, 2)


def write_card(directory: Path, found: dict[str, float], test: str) -> None:
    """Write the figures, of a file of that name, and the card and the licence note beside them."""
    meta = json.loads((directory / "meta.json").read_text(encoding="utf-8"))
    write_text(directory / SCORES, json.dumps({"of": test, **found}, indent=2) + "\n")
    source = meta["sources"][0]
    entries = {**meta, **source, "source": source["name"], "name": f"{meta['lang']}_{meta['name']}"}
    entries["url"] = source["url"] or "https://universaldependencies.org"
    entries["author"] = source["author"] or "those that the treebank's README names"
    entries["components"] = ", ".join(meta["pipeline"])
    told = ((text, found[name]) for name, text in scores.MEASURES.items() if name in found)
    entries["scores"] = "\n".join(f"| {text} | {value} |" for text, value in told)
    entries |= {name: found[name] for name in ("sentences", "words", "size_mb")} | {"test": test}
    for page in CARD.iterdir():
        text = Template(page.read_text(encoding="utf-8")).substitute(entries)
        write_text(directory / page.name, text)
