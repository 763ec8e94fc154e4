"""Perturb a split of a dataset: read, annotate, transform, write a folder per transformation."""

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...corpora.datasets import read_split
from ...corpora.examples import Example
from ...errors import InputError
from ...files import sha256
from ...prep.workers import run_jobs
from ...syntax.annotation import annotator_line
from ...syntax.layers import POS
from ...text.wordnet import open_wordnet
from ..translators import Translate, chunks, run_command, translate_all
from .names import collect_names
from .options import KEEP, PerturbOptions
from .record import check_free, file_name, open_rows, write_set
from .sentences import NUMBERS, Resources, TaggedSentence
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

CHUNK = 512  # sentences that a process annotates at a time
STALE = "columns other than the sentences and the label are those of the original pairs"
LoadTranslator = Callable[[str, str], Translate]


@dataclass(frozen=True)
class Outcome:
    """The result of a transformation."""

    name: str  # of the transformation
    pairs: int  # number of read pairs
    changed: int  # number of changed pairs; a set without any is not written
    seconds: float  # of one processor's time, without annotation and translation


@dataclass(frozen=True)
class PerturbReport:
    """The result of a run."""

    outcomes: list[Outcome]  # one per transformation
    left_out: dict[str, str]  # transformation -> why ``all`` excludes it
    # number of distinct annotated sentences; 0 if no transformation needs annotation
    sentences: int
    annotation: float  # seconds of annotation, without loading the pipeline
    translation: float  # seconds of translation there and back


def perturb(
    options: PerturbOptions, load_translator: LoadTranslator | None = None
) -> PerturbReport:
    """Perturb a split.

    Args:
        load_translator: from the checkpoints of ``--forward`` and ``--backward`` to a translator
            there and back.
    """
    there = {"wordnet": options.wordnet, "translates": options.translates}
    chosen, left_out = choose(options.transformations, options.dataset, options.labels, **there)
    needs = {need for item in chosen for need in item.needs}
    pairs = read_pairs(options)
    resources, annotator, translate = load_tools(options, needs, load_translator)
    jobs = [(item, job_of(options, item, resources, annotator)) for item in chosen]
    for item, job in jobs:
        check_free(Path(options.output) / item.name, job)
    times = [time.perf_counter()]
    texts = (text for pair in pairs for text in pair.texts)
    sentences = annotate_texts(texts, annotator, options.workers)
    times.append(time.perf_counter())
    if NAMES in needs:
        resources = replace(resources, names=collect_names(sentences.values()))
    if translate is not None:
        resources = replace(resources, translated=_translated(pairs, translate, options))
    times.append(time.perf_counter())
    read = {"pairs": pairs, "sentences": sentences, "resources": resources}
    outcomes = [_one(options, item, job, **read) for item, job in jobs]
    count, (start, annotated, translated) = len(sentences) if annotator else 0, times
    return PerturbReport(outcomes, left_out, count, annotated - start, translated - annotated)


def read_pairs(options: PerturbOptions) -> list[Example]:
    """Read the pairs of the split, or a seeded sample of them, in the order of the file."""
    pairs = list(read_split(options.source, options.split, options.path))
    for pair in pairs:
        place = f"{options.path}:{pair.line}"
        if pair.label is None:
            raise InputError(
                f"{place}: no gold label, without which nothing says what becomes of it; choose "
                "another --split"
            )
        if any("\ud800" <= character <= "\udfff" for character in "".join(pair.texts)):
            raise InputError(f"{place}: half a character (a lone surrogate)")
    if not 0 < options.max_pairs < len(pairs):
        return pairs
    keys = ["\t".join([str(options.seed), *pair.texts]).encode() for pair in pairs]
    drawn = sorted(range(len(pairs)), key=lambda i: hashlib.sha256(keys[i]).digest())
    return [pairs[i] for i in sorted(drawn[: options.max_pairs])]


def load_tools(
    options: PerturbOptions, needs: Collection[str], load_translator: LoadTranslator | None
) -> tuple[Resources, Any, Translate | None]:
    """Load what the transformations need before any long work.

    Returns:
        Resources, so far only WordNet; the annotator; the translator.
    """
    wordnet = open_wordnet(options.wordnet or None) if WORDNET in needs else None
    if wordnet:
        wordnet.read_lists()
    translate, annotator = None, None
    if TRANSLATION in needs and options.back_translate:
        translate = run_command(options.back_translate, "--back-translate")
    elif TRANSLATION in needs and load_translator:
        translate = load_translator(options.forward, options.backward)
    if WORDS in needs:
        from ...text.annotate import Annotator

        annotator = Annotator(*filter(None, [options.spacy_model]))
    return Resources(wordnet), annotator, translate


def job_of(
    options: PerturbOptions, item: Transformation, resources: Resources, annotator: Any
) -> dict[str, Any]:
    """Describe a transformation's work for ``perturbation.json``."""
    path, wordnet = options.path, resources.wordnet
    how = options.back_translate or f"{options.forward} {options.backward}"
    with open(path, "rb") as stream:
        source = {"file": path.name, "lines": sum(1 for _ in stream), "sha256": sha256(path)}
    return {
        "dataset": options.dataset,
        "split": options.split,
        "transformation": item.name,
        "short": item.short,  # its name in the paper's Table 3
        "seed": options.seed,
        "file": file_name(options.source, options.split, path),  # to write
        "source": source,
        "fields": fields_of(item, options.fields),
        "max_pairs": options.max_pairs,
        "kept": options.untouched == KEEP,  # whether unchanged pairs are written
        "labels": options.labels.different if item.differs else "kept",  # of all changed pairs
        "wordnet": wordnet.version if wordnet and WORDNET in item.needs else None,
        "annotator": annotator_line(annotator) if WORDS in item.needs else None,
        "translation": how if TRANSLATION in item.needs else None,
        "note": "; ".join(filter(None, (item.note, STALE))),
    }


def annotate_texts(texts: Iterable[str], annotator: Any, workers: int) -> dict[str, TaggedSentence]:
    """Annotate distinct texts.

    Args:
        texts: any texts, in any order.
        annotator: `text.annotate.Annotator` or similar; None for sentences without words.
        workers: processes.

    Returns:
        Text -> the sentence with its words.
    """
    distinct = list(dict.fromkeys(texts))
    if annotator is None:
        return {text: TaggedSentence(text) for text in distinct}
    jobs = list(chunks(distinct, CHUNK))
    how = {"title": "annotate", "sizes": [len(job) for job in jobs], "unit": "sentences"}
    done = run_jobs(annotator.annotate_text, jobs, workers, **how)
    notes = (note for chunk in done for note in chunk)
    return {
        text: TaggedSentence(
            text, tuple(note.words), tuple(note.layers[POS]), tuple(note.spans or ())
        )
        for text, note in zip(distinct, notes)
    }


def _translated(
    pairs: Sequence[Example], translate: Translate, options: PerturbOptions
) -> dict[str, str]:
    numbers = NUMBERS[options.fields or "both"]
    texts = (pair.texts[number] for pair in pairs for number in numbers)
    how = {"title": "translate there and back", "unit": " sentences"}
    return translate_all(texts, translate, **how)


def _one(
    options: PerturbOptions,
    item: Transformation,
    job: dict[str, Any],
    *,
    pairs: Sequence[Example],
    sentences: dict[str, TaggedSentence],
    resources: Resources,
) -> Outcome:
    """Apply one transformation to all pairs, and write its folder unless nothing changed."""
    started = time.process_time()
    made = []
    for pair in tqdm(pairs, desc=item.name, unit=" pairs", unit_scale=True):
        both = sentences[pair.texts[0]], sentences[pair.texts[1]]
        made.append(perturb_pair(item, both, pair.label or "", options, resources))
    seconds = time.process_time() - started
    changed = sum(done is not None for done in made)
    if changed:
        rows = open_rows(options.source, options.path)
        write_set(Path(options.output) / item.name, job, rows, list(zip(pairs, made)))
    return Outcome(item.name, len(pairs), changed, seconds)
