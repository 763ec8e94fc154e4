"""The subword models of a preparation: given, found from an earlier run, or learnt."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.dictionaries import load_dictionary
from ...files import copy, write_bytes, write_text
from ...text.segment import (
    BpeSegmenter,
    Segmenter,
    check_codes,
    learn_codes,
    learn_sentencepiece,
    load_segmenter,
    read_vocabulary,
    subword_counts,
)
from ..chunks import Chunk
from .translation_chunks import annotated_rows
from .translation_options import TranslationOptions

logger = logging.getLogger(__name__)

CODES = "codes.bpe"
PIECES = "sentencepiece.model"


@dataclass(frozen=True)
class SubwordModels:
    """Loaded segmenters and what the manifest says of them.

    Args:
        segmenters: the source's and the target's.
        settings: manifest entries per side (``source``, ``target``).
    """

    segmenters: tuple[Segmenter, Segmenter]
    settings: dict[str, dict[str, Any]]

    @classmethod
    def obtain(
        cls, options: TranslationOptions, jobs: list[Chunk], work: Path, folder: Path
    ) -> SubwordModels:
        """Copy or learn the model into ``folder`` and load it for both sides."""
        kind, name = options.subwords, {"subword_nmt": CODES, "sentencepiece": PIECES}
        model = folder / name[kind] if kind in name else None
        train = [job for job in jobs if job.split.startswith("train")]
        if model:
            given = options.bpe_codes if kind == "subword_nmt" else options.sentencepiece_model
            if given:
                copy(given, model)
            elif not (work / name[kind]).is_file():
                _learn(options, train, work / name[kind])
            if not given:
                copy(work / name[kind], model)
        vocabularies = _vocabularies(options, train, model, folder)
        sides, segmenters = {}, []
        for side, lang in (("source", options.source_lang), ("target", options.target_lang)):
            vocabulary, file = vocabularies.get(lang, (None, None))
            segmenters.append(load_segmenter(kind, model, vocabulary))
            sides[side] = {
                "tokenizer": options.tokenizer,
                "normalizer": options.normalizer,
                "subwords": kind,
                "model": model.name if model else None,
                "vocabulary": file,
            }
        return cls((segmenters[0], segmenters[1]), sides)


def _learn(options: TranslationOptions, jobs: list[Chunk], path: Path) -> None:
    """Learn the joint model from both sides of the training chunks."""
    logger.info("learning %s (%d)", options.subwords, options.bpe_size)
    if options.subwords == "subword_nmt":
        counts = word_counts(jobs, "t") + word_counts(jobs, "y")
        write_text(path, learn_codes(counts, options.bpe_size))
        return
    write_bytes(
        path, learn_sentencepiece(_lines(jobs), options.bpe_size, options.sentencepiece_sample)
    )


def word_counts(jobs: list[Chunk], field: str) -> Counter[str]:
    """Count the words of annotated chunks (field ``t`` source text, ``y`` target text)."""
    counts: Counter[str] = Counter()
    for job in jobs:
        for row in annotated_rows(job):
            counts.update(row[field].split())
    return counts


def _lines(jobs: list[Chunk]) -> Iterator[str]:
    for job in jobs:
        for row in annotated_rows(job):
            yield from (text for text in (row["t"], row["y"]) if text)


def _vocabularies(
    options: TranslationOptions, jobs: list[Chunk], model: Path | None, folder: Path
) -> dict[str, tuple[set[str], str]]:
    """Write and return the subwords that may be made: given ones, or the frequent ones."""
    given = {options.source_lang: options.srcvocab, options.target_lang: options.tgtvocab}
    if any(given.values()):
        copied = {lang: (path, f"vocab.{lang}") for lang, path in given.items() if path}
        for path, name in copied.values():
            copy(path, folder / name)
        return {lang: (read_vocabulary(path), name) for lang, (path, name) in copied.items()}
    threshold = options.bpe_vocabulary_threshold
    if options.subwords != "subword_nmt" or not threshold or not jobs:
        return {}
    segmenter = BpeSegmenter(model)
    sides = [("t", options.source_lang)]
    if not options.only_source:
        sides.append(("y", options.target_lang))
    found = {}
    for field, lang in sides:
        counts = subword_counts(segmenter, word_counts(jobs, field))
        kept = {piece: n for piece, n in counts.items() if n >= threshold}
        if not kept:
            raise ValueError(
                f"--bpe-vocabulary-threshold {threshold}: no subword of {lang} is that frequent"
            )
        rows = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
        write_text(folder / f"vocab.{lang}", "".join(f"{piece} {n}\n" for piece, n in rows))
        found[lang] = (set(kept), f"vocab.{lang}")
    return found


def check_given(options: TranslationOptions) -> None:
    """Load and drop the given subword model and dictionaries: a foreign one is refused at once."""
    given = options.given_models()
    for name, path in given.items():
        if name == "bpe_codes":
            check_codes(path)
        elif name == "sentencepiece_model":
            load_segmenter("sentencepiece", path)
        elif name.endswith("vocab"):
            read_vocabulary(path)
        else:
            load_dictionary(path)
