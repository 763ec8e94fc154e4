"""What a system says about one example, a class, a score or labels of words, and that as text.

``jsonl``  one object an example, with what `_LINES` names.
``tsv``    a header and one line an example, or a word (an empty line after every sentence).
``conll``  word, gold label where it is known, predicted label; an empty line after every sentence.
``glue``   what the GLUE server reads: ``index`` and ``prediction``, in the server's own names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

CLASSES, SCORE, WORD_LABELS = "classes", "score", "word_labels"  # targets
KEYS = {CLASSES: "label", SCORE: "score", WORD_LABELS: "labels"}  # target -> its answer's name
FORMATS = ("jsonl", "tsv", "conll", "glue")

_LINES = {  # target -> what a line of JSON holds; gold and texts only where they are known
    CLASSES: ("id", "label", "probability", "probabilities", "gold", "texts"),
    SCORE: ("id", "score", "gold", "texts"),
    WORD_LABELS: ("id", "words", "labels", "probability", "gold"),
}
_HEADS = {
    CLASSES: "id\tlabel\tprobability\tgold\n",
    SCORE: "id\tscore\tgold\n",
    WORD_LABELS: "id\tword\tlabel\tprobability\tgold\n",
}


@dataclass(frozen=True)
class Prediction:
    """What a system says about one example.

    Args:
        id: the example's.
        target: what is predicted, of `KEYS`.
        answer: the most probable class, a score on the scale of the training data, or the most
            probable label of each of W words; also to be had as ``label``, ``score``, ``labels``.
        gold: the true one; None if unknown.
        texts: one or two sentences, or W words (``words``); empty if unknown.
        probabilities: class -> probability, in the order of the classes' ids, sum 1; of labels of
            words one such mapping a word; empty of a score.
        line: of the file that it was read from, from 1.
    """

    id: str
    target: str
    answer: Any
    gold: Any = None
    texts: tuple[str, ...] = ()
    probabilities: Any = ()
    line: int = 0

    label = score = labels = property(attrgetter("answer"))
    words = property(attrgetter("texts"))

    @property
    def probability(self) -> Any:
        """Probability of the answer, or of each word's label."""
        if self.target == CLASSES:
            return self.probabilities[self.answer]
        return tuple(p[label] for p, label in zip(self.probabilities, self.answer))

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON."""
        fields = {name: getattr(self, name) for name in _LINES[self.target]}
        lacking = {"gold"} if self.gold is None else set()
        lacking |= set() if self.texts else {"texts"}
        return {name: value for name, value in fields.items() if name not in lacking}


Render = Callable[[Prediction], str]


def renderer(form: str, target: str, names: Mapping[str, str] | None = None) -> tuple[str, Render]:
    """Return the head of a format and the function that writes one prediction.

    Args:
        form: one of `FORMATS`.
        target: of `KEYS`.
        names: for ``glue``: our label -> the server's; None without a GLUE submission.

    Raises:
        ValueError: an unknown format, or one that does not go with the target.
    """
    if form not in FORMATS:
        raise ValueError(f"unknown format {form!r}; choices: {', '.join(FORMATS)}")
    if form == "conll" and target != WORD_LABELS:
        raise ValueError("format 'conll' is for labels of words; choices: jsonl, tsv, glue")
    if form == "glue":
        if names is None or target == WORD_LABELS:
            raise ValueError("format 'glue' is for splits of GLUE's datasets")
        return "index\tprediction\n", lambda made: f"{made.id}\t{_glue(made, names)}\n"
    return _HEADS[target] if form == "tsv" else "", {"tsv": _tsv, "conll": _conll}.get(form, _json)


def _glue(made: Prediction, names: Mapping[str, str]) -> str:
    return f"{made.score:.6f}" if made.target == SCORE else names.get(made.label, made.label)


def _json(made: Prediction) -> str:
    return json.dumps(made.record(), ensure_ascii=False) + "\n"


def _conll(made: Prediction) -> str:
    columns = [made.words, *([] if made.gold is None else [made.gold]), made.labels]
    return "".join(" ".join(row) + "\n" for row in zip(*columns)) + "\n"


def _tsv(made: Prediction) -> str:
    if made.target == WORD_LABELS:
        gold = made.gold or [""] * len(made.words)
        rows = zip(made.words, made.labels, made.probability, gold)
        return "".join(f"{made.id}\t{w}\t{own}\t{p:.6f}\t{g}\n" for w, own, p, g in rows) + "\n"
    gold = "" if made.gold is None else made.gold
    if made.target == SCORE:
        return f"{made.id}\t{made.score:.6f}\t{gold}\n"
    return f"{made.id}\t{made.label}\t{made.probability:.6f}\t{gold}\n"
