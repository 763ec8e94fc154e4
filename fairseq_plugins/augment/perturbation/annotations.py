"""The words of many sentences, each distinct one annotated once, in several processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ...prep.workers import run_jobs
from ...syntax.annotation import Annotation
from .sentences import Sentence

CHUNK = 512  # sentences of a job


class Context:
    """What a process needs beside its jobs."""

    annotator: Any


def annotate_texts(texts: Iterable[str], annotator: Any, workers: int) -> dict[str, Sentence]:
    """Annotate distinct texts.

    Args:
        texts: any texts, in any order.
        annotator: `text.annotate.Annotator`, or what annotates raw text like it.
        workers: processes.

    Returns:
        Text -> the sentence with its words.
    """
    distinct = list(dict.fromkeys(texts))
    jobs = [distinct[i : i + CHUNK] for i in range(0, len(distinct), CHUNK)]
    start = partial(_start, annotator)
    done = run_jobs(
        _annotate,
        jobs,
        workers,
        start,
        title="annotate",
        sizes=[len(job) for job in jobs],
        unit="sentences",
    )
    notes = (note for chunk in done for note in chunk)
    return {text: _sentence(text, note) for text, note in zip(distinct, notes)}


def _start(annotator: Any) -> None:
    Context.annotator = annotator


def _annotate(texts: Sequence[str]) -> list[Annotation]:
    return Context.annotator.annotate_text(texts)


def _sentence(text: str, note: Annotation) -> Sentence:
    return Sentence(text, tuple(note.words), tuple(note.layers["pos"]), tuple(note.spans or ()))
