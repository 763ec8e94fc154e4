"""Predictions as text: JSON lines, TSV, CoNLL columns and GLUE's submission files.

``jsonl``  one object an example; see `prediction_records`.
``tsv``    a header and one line an example, or a word (an empty line after every sentence).
``conll``  word, gold label where it is known, predicted label; an empty line after every sentence.
``glue``   what the GLUE server reads: ``index`` and ``prediction``, in the server's own names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..files import replacing
from .options import OUTPUT_FORMATS
from .prediction_records import ClassPrediction, Prediction, ScorePrediction, WordPrediction

Render = Callable[[Prediction], str]


def renderer(form: str, target: str, names: Mapping[str, str] | None = None) -> tuple[str, Render]:
    """Return the head of a format and the function that writes one prediction.

    Args:
        form: one of `options.OUTPUT_FORMATS`.
        target: ``classes`` | ``score`` | ``word_labels``.
        names: for ``glue``: our label -> the server's; None without a GLUE submission.

    Raises:
        ValueError: an unknown format, or one that does not go with the target.
    """
    if form not in OUTPUT_FORMATS:
        raise ValueError(f"unknown format {form!r}; choices: {', '.join(OUTPUT_FORMATS)}")
    if form == "conll" and target != "word_labels":
        raise ValueError("format 'conll' is for labels of words; choices: jsonl, tsv, glue")
    if form == "glue":
        if names is None or target == "word_labels":
            raise ValueError("format 'glue' is for splits of GLUE's datasets")
        return "index\tprediction\n", lambda made: f"{made.id}\t{glue_answer(made, names)}\n"
    if form == "tsv":
        return _TSV_HEADS[target], _TSV_LINES[target]
    return "", _conll if form == "conll" else _json


def glue_answer(made: ClassPrediction | ScorePrediction, names: Mapping[str, str]) -> str:
    """Return a prediction as the GLUE server calls it."""
    if isinstance(made, ScorePrediction):
        return f"{made.score:.6f}"
    return str(names.get(made.label, made.label))


def _json(made: Prediction) -> str:
    return json.dumps(made.record(), ensure_ascii=False) + "\n"


def _conll(made: WordPrediction) -> str:
    columns = [made.words, made.labels]
    if made.gold is not None:
        columns.insert(1, made.gold)
    return "".join(" ".join(row) + "\n" for row in zip(*columns)) + "\n"


def _tsv_class(made: ClassPrediction) -> str:
    return f"{made.id}\t{made.label}\t{made.probability:.6f}\t{made.gold or ''}\n"


def _tsv_score(made: ScorePrediction) -> str:
    return f"{made.id}\t{made.score:.6f}\t{'' if made.gold is None else made.gold}\n"


def _tsv_words(made: WordPrediction) -> str:
    gold = made.gold or [""] * len(made.words)
    rows = zip(made.words, made.labels, made.probability, gold)
    return "".join(f"{made.id}\t{w}\t{label}\t{p:.6f}\t{g}\n" for w, label, p, g in rows) + "\n"


_TSV_LINES = {"classes": _tsv_class, "score": _tsv_score, "word_labels": _tsv_words}
_TSV_HEADS = {
    "classes": "id\tlabel\tprobability\tgold\n",
    "score": "id\tscore\tgold\n",
    "word_labels": "id\tword\tlabel\tprobability\tgold\n",
}


@contextmanager
def opened(path: Path | None) -> Iterator[TextIO]:
    """Open a file that appears under its name when it is complete, or standard output.

    Args:
        path: the file; None is standard output.
    """
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        yield sys.stdout
        sys.stdout.flush()
        return
    with replacing(path, "w") as stream:
        yield stream
