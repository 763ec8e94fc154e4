"""The words of many sentences, each distinct one annotated once, in several processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ...prep.workers import run_jobs
from ...syntax.annotation import Annotation
from ..translators import chunks
from .sentences import Sentence

CHUNK = 512  # sentences of a job


class WorkerTools:
    """What a process needs in addition to its jobs."""

    annotator: Any


def annotate_texts(texts: Iterable[str], annotator: Any, workers: int) -> dict[str, Sentence]:
    """Annotate distinct texts.

    Args:
        texts: any texts, in any order.
        annotator: `text.annotate.Annotator`, or what annotates raw text like it; None for
            sentences without words.
        workers: processes.

    Returns:
        Text -> the sentence with its words.
    """
    distinct = list(dict.fromkeys(texts))
    if annotator is None:
        return {text: Sentence(text) for text in distinct}
    jobs = list(chunks(distinct, CHUNK))
    how = {"title": "annotate", "sizes": [len(job) for job in jobs], "unit": "sentences"}
    done = run_jobs(_annotate, jobs, workers, partial(_start, annotator), **how)
    notes = (note for chunk in done for note in chunk)
    return {
        text: Sentence(text, tuple(note.words), tuple(note.layers["pos"]), tuple(note.spans or ()))
        for text, note in zip(distinct, notes)
    }


def _start(annotator: Any) -> None:
    WorkerTools.annotator = annotator


def _annotate(texts: Sequence[str]) -> list[Annotation]:
    return WorkerTools.annotator.annotate_text(texts)
