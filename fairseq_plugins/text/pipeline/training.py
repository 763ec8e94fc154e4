"""Trains a small spaCy pipeline on a treebank: tags, morphology, lemmas and dependencies.

spaCy's own training runs by ``config.cfg``, which names two functions of this file: one varies the
tokenisation of sentences, the other ends the training after a time.
"""

import random
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
import srsly
from sacremoses import MosesTokenizer
from spacy.cli.train import train as train_spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from ...errors import InputError
from ...files import complete_folder
from ...language_codes import base_code
from ...messages import named
from ...syntax.layers import LAYERS
from .treebank import language_of, licence_of, read_docs, split_file

CONFIG = Path(__file__).parent / "config.cfg"
VERSION = "1.0.0"
MIXED = "xx"  # spaCy's code for unknown languages
WITHOUT_BLANKS = ("ja", "lo", "km", "my", "th", "zh")  # Moses splits at blanks, so not for these
SIZES = (1, 1, 1, 1, 2, 3)  # sentences of a document, drawn at random
SPLITS = ("train", "dev")
COMPONENTS = {  # layer -> spaCy's component that learns it
    "pos": "morphologizer",
    "morph": "morphologizer",
    "tag": "tagger",
    "lemma": "trainable_lemmatizer",
    "heads": "parser",
}
Cut = Callable[[Doc], list[str]]  # a sentence -> its text in other words


def train(args: Namespace) -> None:
    """Train by the flags of ``train-pipeline`` and save the best pipeline."""
    scratch = args.output.with_name(args.output.name + ".training")
    if left := {path.name for path in scratch.glob("*")} - {f"{split}.spacy" for split in SPLITS}:
        raise InputError(
            f"{scratch} holds {named(sorted(left))}, as a training does that was killed: rename "
            "model-best if you want to keep that pipeline, then remove the folder"
        )
    args = complete(args)
    vocab = spacy.blank(spacy_language(args.lang)).vocab
    read = {split: [*read_docs(getattr(args, split), vocab)] for split in SPLITS}
    layers = given_layers(read["train"], args.layers)
    print(f"{args.train}: a pipeline of language {args.lang} for {', '.join(layers)}", flush=True)
    write_corpora(read, layers, scratch, args.seed)
    best = scratch / "model-best"
    try:
        train_spacy(CONFIG, scratch, overrides=settings(scratch, layers, args))
    except KeyboardInterrupt as stop:
        if not is_whole(best):
            shutil.rmtree(scratch)
            raise
        print(f"{str(stop) or 'interrupted'}: the best pipeline so far is kept")
    with complete_folder(args.output) as new:
        save(best, new, about(args))
    shutil.rmtree(scratch)
    print(f"saved {args.output}")


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a complete pipeline; spaCy writes pipelines file by file."""
    try:
        spacy.load(folder)
    except (OSError, ValueError):
        return False
    return True


def complete(args: Namespace) -> Namespace:
    """Return the flags of ``train-pipeline``, missing flags filled in from the treebank."""
    folder = args.ud_dir
    found = {split: getattr(args, split) or split_file(folder, split) for split in SPLITS}
    found |= {"source": args.source or folder.resolve().name}
    found |= {"lang": base_code(args.lang or "") or language_of(folder)}
    found |= {"license": args.license or licence_of(folder)}
    for name, example in (("lang", "de"), ("license", "'CC BY-SA 4.0'")):
        if not found[name]:
            said = f"no file says what --{name} is; give it, for example --{name} {example}"
            raise InputError(f"{folder}: {said}")
    return Namespace(**{**vars(args), **found})


def spacy_language(lang: str) -> str:
    """Return spaCy's code of a language; ``xx`` for unknown languages."""
    try:
        spacy.util.get_lang_class(lang)
    except ImportError:
        return MIXED
    return lang


def given_layers(docs: Sequence[Doc], wanted: str = "") -> list[str]:
    """Return the layers to learn from a treebank: all layers present, or the wanted ones."""
    there = [n for n in COMPONENTS if any(d.has_annotation(LAYERS[n].set_by) for d in docs)]
    names = [name.strip() for name in wanted.split(",")] if wanted else there
    if unknown := [name for name in names if name not in there]:
        raise InputError(f"--layers {wanted}: the treebank has no {named(unknown)}, but {there}")
    return ["pos", *(name for name in there if name in names and name != "pos")]


def write_corpora(
    read: Mapping[str, Sequence[Doc]], layers: Sequence[str], folder: Path, seed: int
) -> None:
    """Write the documents of each split for spaCy's training."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, docs in read.items():
        tokens: Iterator[Any] = (token for doc in docs for token in doc)
        for token in tokens if "morph" not in layers else ():
            token.set_morph("")
        DocBin(docs=grouped(docs, seed)).to_disk(folder / f"{split}.spacy")


def grouped(docs: Iterable[Doc], seed: int) -> Iterator[Doc]:
    """Yield documents of one to three successive sentences, mostly of one."""
    draw, left = random.Random(seed), iter(docs)
    while group := [*islice(left, draw.choice(SIZES))]:
        yield Doc.from_docs(group)


def settings(scratch: Path, layers: Sequence[str], args: Namespace) -> dict[str, Any]:
    """Return the values of ``config.cfg`` that flags and treebank decide."""
    return {
        **{f"paths.{split}": str(scratch / f"{split}.spacy") for split in SPLITS},
        "system.seed": args.seed,
        "nlp.lang": spacy_language(args.lang),
        "nlp.pipeline": ["tok2vec", *dict.fromkeys(COMPONENTS[name] for name in layers)],
        "corpora.train.augmenter.rate": args.variant_rate,
        "components.tok2vec.model.embed.rows": args.rows,
        "training.max_steps": args.steps,
        "training.eval_frequency": args.eval_every,
        "training.logger.progress_bar": "train" if sys.stderr.isatty() else None,
        "training.before_update.minutes": args.minutes,
    }


def about(args: Namespace) -> dict[str, Any]:
    """Return a pipeline's description in its ``meta.json``."""
    source = {"name": args.source, "url": args.url, "license": args.license, "author": args.author}
    return {
        "name": args.output.name.removeprefix(f"{spacy_language(args.lang)}_"),
        "version": VERSION,
        "spacy_version": ">=3.8.0,<3.9.0",
        "description": f"Universal Dependencies ({args.lang}), small, for the CPU.",
        "license": args.license,
        "sources": [source],
    }


def save(best: Path, folder: Path, meta: Mapping[str, Any]) -> None:
    """Write a trained pipeline without the words and paths of its training."""
    nlp = spacy.load(best)
    config = nlp.config
    config |= {"paths": dict.fromkeys(config["paths"]), "corpora": {}}
    config["training"]["before_update"] = None
    nlp.config = config
    nlp.meta.update(meta)
    nlp.to_disk(folder)
    pipes: list[tuple[str, Any]] = nlp.pipeline
    texts = {*spacy.blank(str(nlp.lang)).vocab.strings}
    texts |= {text for _, pipe in pipes for text in texts_of(pipe)}
    srsly.write_json(folder / "vocab" / "strings.json", sorted(texts))


def texts_of(pipe: Any) -> Iterator[str]:
    """Yield the texts that a component writes onto tokens; spaCy does not save all of them."""
    yield from map(str, getattr(pipe, "labels", ()))
    trees = getattr(pipe, "trees", ())  # trees of edits from words to lemmas
    for tree in (trees[number] for number in range(len(trees))):
        yield from (pipe.vocab.strings[tree[part]] for part in ("orig", "subst") if part in tree)


@cache
def cuts(lang: str) -> dict[str, Cut]:
    """Return the tokenisations of a sentence; Moses' tokeniser lacks some languages."""
    found: dict[str, Cut] = {
        "": lambda doc: [token.text for token in doc],
        "_lower": lambda doc: [token.lower_ for token in doc],
    }
    if base_code(lang) not in WITHOUT_BLANKS:
        moses: Any = MosesTokenizer(base_code(lang))
        found["_moses"] = lambda doc: moses.tokenize(doc.text, escape=False)
    return found


def example(nlp: Language, words: Sequence[str], gold: Doc) -> Example:
    """Return a sentence with given words, which spaCy aligns with the treebank's."""
    return Example(Doc(nlp.vocab, words=[*words]), gold)


@spacy.registry.augmenters("fairseq_plugins.variants.v1")
def variants(rate: float) -> Callable[[Language, Example], Iterator[Example]]:
    """Return the function that makes the training mixture of documents.

    Half of the documents keep their raw text, so that the pipeline learns with its own tokeniser;
    the others have the treebank's words. A share ``rate`` is repeated in lower case, and an equal
    share in Moses' tokenisation, a quarter of it in lower case. The draws depend on the text alone.
    """

    def varied(nlp: Language, raw: Example) -> Iterator[Example]:
        draw, gold = random.Random(raw.text), raw.reference
        given, lower, *moses = cuts(str(nlp.lang)).values()
        yield raw if draw.random() < 0.5 else example(nlp, given(gold), gold)
        if draw.random() < rate:
            yield example(nlp, lower(gold), gold)
        for cut in moses:
            if draw.random() < rate:
                words = cut(gold)
                is_lower = draw.random() < 0.25
                yield example(nlp, [w.lower() for w in words] if is_lower else words, gold)

    return varied


@spacy.registry.callbacks("fairseq_plugins.stop_after.v1")
def stop_after(minutes: float) -> Callable[[Language, Mapping[str, Any]], None]:
    """Return the function that ends a training after some minutes, like Ctrl-C."""
    end = time.monotonic() + 60 * minutes

    def check(nlp: Language, step: Mapping[str, Any]) -> None:
        if time.monotonic() > end:
            raise KeyboardInterrupt(f"{minutes} minutes are over")

    return check
