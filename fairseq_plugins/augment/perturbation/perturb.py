"""Perturb a split of a dataset: read, annotate once, transform, write a folder a transformation."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...corpora.datasets import read_split
from ...corpora.examples import Example
from ...files import sha256
from ...syntax.annotation import annotator_line
from ...text.wordnet import WordNet, open_wordnet
from ..translators import Translate, run_command
from .annotations import annotate_texts
from .back_translation import translate_all
from .name_lists import Names, collect_names
from .options import KEEP, PerturbOptions
from .pairs import NUMBERS, Change, Resources
from .record import PerturbationRecord, check_free, write_set
from .rows import file_name, open_rows
from .sentences import Sentence
from .transformations import (
    NAMES,
    TRANSLATION,
    WORDNET,
    WORDS,
    Transformation,
    choose,
    fields_of,
    perturb_pair,
)

STALE = "columns other than the sentences and the label are those of the original pairs"
LoadTranslator = Callable[[str, str], Translate]


@dataclass(frozen=True)
class Outcome:
    """What a transformation came to.

    Args:
        name: of the transformation.
        pairs: how many pairs were read.
        changed: how many of them were changed; a set without any is not written.
        seconds: of one processor's time, annotation and translation apart.
    """

    name: str
    pairs: int
    changed: int
    seconds: float


@dataclass(frozen=True)
class PerturbReport:
    """What a run came to.

    Args:
        outcomes: one a transformation.
        left_out: transformation -> why ``all`` left it out.
        sentences: how many distinct ones were annotated, 0 where no transformation needs it.
        annotation: seconds this took, loading the pipeline apart.
        translation: seconds that translation there and back took.
    """

    outcomes: list[Outcome]
    left_out: dict[str, str]
    sentences: int
    annotation: float
    translation: float


@dataclass(frozen=True)
class Tools:
    """What the transformations work with, loaded before any long work."""

    annotator: Any
    wordnet: WordNet | None
    translate: Translate | None


def perturb(
    options: PerturbOptions, load_translator: LoadTranslator | None = None
) -> PerturbReport:
    """Perturb a split as the options say.

    Args:
        options: what and how.
        load_translator: takes the checkpoints of ``--forward`` and ``--backward``, gives what
            translates sentences there and back.

    Raises:
        ValueError, FileNotFoundError: see `choose`, `read_pairs`, `check_free`, `open_wordnet`,
            `text.annotate.Annotator`.
    """
    there = {"wordnet": options.wordnet, "translates": options.translates}
    chosen, left_out = choose(options.transformations, options.dataset, options.labels, **there)
    pairs = read_pairs(options)
    tools = load_tools(options, chosen, load_translator)
    records = [record_of(options, item, tools) for item in chosen]
    for record in records:
        check_free(Path(options.output) / record.transformation, record)
    times = [time.perf_counter()]
    sentences = annotate_texts(
        (t for pair in pairs for t in pair.texts), tools.annotator, options.workers
    )
    times.append(time.perf_counter())
    resources = _resources(pairs, sentences, chosen, tools, options)
    times.append(time.perf_counter())
    read = {"pairs": pairs, "sentences": sentences, "resources": resources}
    outcomes = [_one(options, *both, **read) for both in zip(chosen, records)]
    count, (start, annotated, translated) = len(sentences) if tools.annotator else 0, times
    return PerturbReport(outcomes, left_out, count, annotated - start, translated - annotated)


def read_pairs(options: PerturbOptions) -> list[Example]:
    """Read the pairs of the split, or a seeded sample of them, in the order of the file.

    Raises:
        ValueError: a row that is no example, or one without a gold label; with file and line.
    """
    pairs = list(read_split(options.source, options.split, options.path))
    for pair in pairs:
        place = f"{options.path}:{pair.line}"
        if pair.label is None:
            raise ValueError(
                f"{place}: no gold label, without which nothing says what becomes of it; choose "
                "another --split"
            )
        if any("\ud800" <= character <= "\udfff" for character in "".join(pair.texts)):
            raise ValueError(f"{place}: half a character (a lone surrogate)")
    if not 0 < options.max_pairs < len(pairs):
        return pairs
    keys = ["\t".join([str(options.seed), *pair.texts]).encode() for pair in pairs]
    drawn = sorted(range(len(pairs)), key=lambda i: hashlib.sha256(keys[i]).digest())
    return [pairs[i] for i in sorted(drawn[: options.max_pairs])]


def load_tools(
    options: PerturbOptions,
    chosen: Sequence[Transformation],
    load_translator: LoadTranslator | None,
) -> Tools:
    """Load what the transformations need, and nothing else.

    Raises:
        ValueError, FileNotFoundError: something is not there, or not what it should be.
    """
    needs = {need for item in chosen for need in item.needs}
    wordnet = open_wordnet(options.wordnet or None) if WORDNET in needs else None
    if wordnet:
        wordnet.read_lists()
    translate, annotator = None, None
    if TRANSLATION in needs and options.back_translate:
        translate = run_command(options.back_translate, "--back-translate")
    elif TRANSLATION in needs:
        translate = load_translator(options.forward, options.backward) if load_translator else None
    if WORDS in needs:
        from ...text.annotate import BUNDLED, Annotator

        annotator = Annotator(options.spacy_model or BUNDLED)
    return Tools(annotator, wordnet, translate)


def record_of(options: PerturbOptions, item: Transformation, tools: Tools) -> PerturbationRecord:
    """Say what a transformation is about to do; the counts come later."""
    path, needs = options.path, item.needs
    how = options.back_translate or f"{options.forward} {options.backward}"
    with open(path, "rb") as stream:
        source = {"file": path.name, "lines": sum(1 for _ in stream), "sha256": sha256(path)}
    return PerturbationRecord(
        dataset=options.dataset,
        split=options.split,
        transformation=item.name,
        short=item.short,
        seed=options.seed,
        file=file_name(options.source, options.split, path),
        source=source,
        fields=fields_of(item, options.fields),
        max_pairs=options.max_pairs,
        kept=options.untouched == KEEP,
        labels=options.labels.different if item.differs else "kept",
        wordnet=tools.wordnet.version if tools.wordnet and WORDNET in needs else None,
        annotator=annotator_line(tools.annotator) if WORDS in needs else None,
        translation=how if TRANSLATION in needs else None,
        note="; ".join(filter(None, (item.note, STALE))),
    )


def _resources(
    pairs: Sequence[Example],
    sentences: dict[str, Sentence],
    chosen: Sequence[Transformation],
    tools: Tools,
    options: PerturbOptions,
) -> Resources:
    """Collect the names and translations that the transformations draw on."""
    named = any(NAMES in item.needs for item in chosen)
    names = collect_names(sentences.values()) if named else Names()
    if tools.translate is None:
        return Resources(tools.wordnet, names)
    numbers = NUMBERS[options.fields or "both"]
    texts = dict.fromkeys(pair.texts[number] for pair in pairs for number in numbers)
    return Resources(tools.wordnet, names, translate_all(list(texts), tools.translate))


def _one(
    options: PerturbOptions,
    item: Transformation,
    record: PerturbationRecord,
    *,
    pairs: Sequence[Example],
    sentences: dict[str, Sentence],
    resources: Resources,
) -> Outcome:
    """Apply one transformation to all pairs, and write its folder unless nothing changed."""
    started, labels = time.process_time(), options.labels
    made: list[tuple[Change, str] | None] = [
        perturb_pair(
            item,
            (sentences[pair.texts[0]], sentences[pair.texts[1]]),
            pair.label or "",
            labels=labels,
            seed=options.seed,
            fields=options.fields,
            resources=resources,
        )
        for pair in tqdm(pairs, desc=item.name, unit=" pairs", unit_scale=True)
    ]
    seconds = time.process_time() - started
    changed = sum(done is not None for done in made)
    if changed:
        record = replace(record, pairs=len(pairs), changed=changed, untouched=len(pairs) - changed)
        rows = open_rows(options.source, options.path)
        write_set(Path(options.output) / item.name, record, rows, list(zip(pairs, made)))
    return Outcome(item.name, len(pairs), changed, seconds)
