"""What a system says about an example (a class, a score, labels of words, entities) as text.

``jsonl``  one object an example, with what `_LINES` names.
``tsv``    a header and one line an example, or a word (an empty line after every sentence).
``conll``  word, gold label where it is known, predicted label; an empty line after every sentence.
``glue``   what the GLUE server reads: ``index`` and ``prediction``, in the server's own names.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named, quoted
from ..text_reading import json_lines, read_lines
from .shown_text import as_cell

CLASSES, SCORE, WORD_LABELS = "classes", "score", "word_labels"  # targets that are read again
ENTITIES = "entities"  # which are written alone
KEYS = {CLASSES: "label", SCORE: "score", WORD_LABELS: "labels"}  # target -> its answer's name
FORMATS = ("jsonl", "tsv", "conll", "glue")
SCALE = (0.0, 5.0)  # of STS-B, GLUE's one task with scores: the server refuses others

_LINES = {  # target -> what a line of JSON holds; name, gold and texts only where they are known
    CLASSES: ("id", "label", "name", "probability", "probabilities", "gold", "texts"),
    SCORE: ("id", "score", "gold", "texts"),
    WORD_LABELS: ("id", "words", "labels", "probability", "gold"),
    ENTITIES: ("id", "words", "entities", "gold"),
}
_HEADS = {
    CLASSES: "id\tlabel\tprobability\tgold\n",
    SCORE: "id\tscore\tgold\n",
    WORD_LABELS: "id\tword\tlabel\tprobability\tgold\n",
    ENTITIES: "id\tlabel\tfirst\tlast\ttext\tscore\n",
}
_NEEDED = {
    CLASSES: ("a class", ("id", "label", "probabilities")),
    SCORE: ("a score", ("id", "score")),
    WORD_LABELS: ("labels of words", ("id", "words", "labels")),
}


@dataclass(frozen=True)
class Prediction:
    """What a system says about one example.

    Args:
        id: the example's.
        target: what is predicted, of `KEYS` or `ENTITIES`.
        answer: the most probable class, a score on the scale of the training data, the most
            probable label of each of W words, or `entity_spans.EntitySpan`s; also to be had as
            ``label``, ``score``, ``labels``, ``entities``.
        gold: the true one; None if unknown.
        texts: one or two sentences, or W words (``words``); empty if unknown.
        probabilities: class -> probability, in the order of the classes' ids, sum 1; of labels of
            words one such mapping a word; empty of a score.
        line: of the file that it was read from, from 1.
        names: class -> what it means, of classes that do not say so themselves.
        columns: the row of the table that was predicted, where it is wanted back.
    """

    id: str
    target: str
    answer: Any
    gold: Any = None
    texts: tuple[str, ...] = ()
    probabilities: Any = ()
    line: int = 0
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    columns: Mapping[str, Any] = field(default_factory=dict, compare=False)

    label = score = labels = entities = property(attrgetter("answer"))
    words = property(attrgetter("texts"))

    @property
    def name(self) -> str | None:
        """What the class means; None where it says so itself."""
        return self.names.get(self.answer)

    def shown(self, label: str) -> str:
        """Return a class as people read it: ``acceptable (1)``, or itself without a name."""
        return f"{self.names[label]} ({label})" if label in self.names else label

    @property
    def probability(self) -> Any:
        """Probability of the answer, or of each word's label."""
        if self.target == CLASSES:
            return self.probabilities[self.answer]
        return tuple(p[label] for p, label in zip(self.probabilities, self.answer))

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON."""
        fields = {name: getattr(self, name) for name in (*_LINES[self.target], "columns")}
        if self.target == ENTITIES:
            fields["entities"] = [self._entity(one) for one in self.answer]
            fields["gold"] = [self._entity(one, scored=False) for one in self.gold or ()]
        known = {"gold": self.gold is not None, "texts": self.texts, "name": fields.get("name")}
        known["columns"] = self.columns
        return {name: value for name, value in fields.items() if known.get(name, True)}

    def _entity(self, span: Any, *, scored: bool = True) -> dict[str, Any]:
        label, first, last, *score = span
        found = {"label": label, "first": first, "last": last}
        found["text"] = " ".join(self.texts[first : last + 1])
        return {**found, "score": score[0]} if scored else found


Render = Callable[[Prediction], str]
Systems = Sequence[tuple[str, Sequence[Prediction]]]  # files, each with its predictions


def renderer(form: str, target: str, names: Mapping[str, str] | None = None) -> tuple[str, Render]:
    """Return the head of a format and the function that writes one prediction.

    Args:
        form: one of `FORMATS`.
        target: of `KEYS`, or `ENTITIES`, which ``jsonl`` and ``tsv`` hold.
        names: for ``glue``: our label -> the server's; None without a GLUE submission.

    Raises:
        InputError: an unknown format, or one that does not go with the target.
    """
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; choices: {', '.join(FORMATS)}")
    if form == "conll" and target != WORD_LABELS:
        choices = "jsonl, tsv" if target == ENTITIES else "jsonl, tsv, glue"
        raise InputError(f"format 'conll' is for labels of words; choices: {choices}")
    if form == "glue":
        if names is None or target in (WORD_LABELS, ENTITIES):
            raise InputError("format 'glue' is for splits of GLUE's datasets")
        return "index\tprediction\n", lambda made: f"{made.id}\t{_glue(made, names)}\n"
    return _HEADS[target] if form == "tsv" else "", {"tsv": _tsv, "conll": _conll}.get(form, _json)


def _glue(made: Prediction, names: Mapping[str, str]) -> str:
    if made.target == SCORE:
        low, high = SCALE
        return f"{min(max(low, made.score), high):.6f}"
    return names.get(made.label, made.label)


def _json(made: Prediction) -> str:
    return json.dumps(made.record(), ensure_ascii=False) + "\n"


def _conll(made: Prediction) -> str:
    columns = [made.words, *([] if made.gold is None else [made.gold]), made.labels]
    return "".join(" ".join(row) + "\n" for row in zip(*columns)) + "\n"


def _tsv(made: Prediction) -> str:
    if made.target == WORD_LABELS:
        gold = made.gold or [""] * len(made.words)
        rows = zip(made.words, made.labels, made.probability, gold)
        return "".join(_cells(made, w, own, f"{p:.6f}", g) for w, own, p, g in rows) + "\n"
    if made.target == ENTITIES:
        rows = (made._entity(one) for one in made.answer)
        keys = ("label", "first", "last", "text")
        return "".join(_cells(made, *map(e.get, keys), f"{e['score']:.6f}") for e in rows)
    gold = "" if made.gold is None else made.gold
    if made.target == SCORE:
        return _cells(made, f"{made.score:.6f}", gold)
    return _cells(made, made.label, f"{made.probability:.6f}", gold)


def _cells(made: Prediction, *values: Any) -> str:
    return row_of_cells(made.id, *values, *made.columns.values())


def row_of_cells(*values: Any) -> str:
    """Return values as a line of TSV."""
    return "\t".join(as_cell(str(value)) for value in values) + "\n"


def target_of_lines(path: str | Path) -> str:
    """Return the target of a file of predictions.

    Empty where its first line shows that it is none.

    Raises:
        FileNotFoundError: there is no such file.
    """
    lines = read_lines(path)
    try:
        first = json.loads(lines[0])
    except (IndexError, ValueError, RecursionError):
        return ""
    if not isinstance(first, dict) or "id" not in first:
        return ""
    return next((target for target, key in KEYS.items() if key in first), "")


def read_predictions(path: str | Path, target: str = CLASSES) -> list[Prediction]:
    """Read predictions of one target.

    Raises:
        FileNotFoundError: there is no such file.
        InputError: a line that is none; names file and line.
    """
    what, needed = _NEEDED[target]
    made = []
    for number, record in json_lines(path):
        where = f"{path}, line {number}"
        if not isinstance(record, dict) or not record.keys() >= set(needed):
            raise InputError(f"{where}: no prediction of {what} ({', '.join(needed)})")
        answer, gold, more = _READ[target](record, record.get("gold"), where)
        made.append(Prediction(str(record["id"]), target, answer, gold, line=number, **more))
    return made


def read_texts(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read the texts of examples by their ids.

    Args:
        path: JSON lines with ``id`` and ``texts`` (a prepared folder's ``SPLIT.examples.jsonl``),
            or one example a line, a TAB between its sentences, whose ids count from 0.

    Raises:
        FileNotFoundError: there is no such file.
        InputError: a line that is no example, or has the id of another; names file and line.
    """
    if Path(path).suffix != ".jsonl":
        lines = enumerate(read_lines(path))
        return {str(number): tuple(line.split("\t")) for number, line in lines}
    texts: dict[str, tuple[str, ...]] = {}
    places: dict[str, int] = {}
    for number, record in json_lines(path):
        try:
            name, row = str(record["id"]), tuple(map(str, record["texts"]))
        except (KeyError, TypeError):
            raise InputError(f"{path}, line {number}: no example with 'id' and 'texts'") from None
        if (before := places.setdefault(name, number)) != number:
            raise InputError(
                f"{path}, line {number}: id {quoted(name)} is in line {before} already"
            )
        texts[name] = row
    return texts


def with_texts(systems: Systems, path: str | Path) -> Systems:
    """Give the first system's predictions the texts of a file, where they hold none.

    Raises:
        FileNotFoundError, InputError: see `read_texts`; an example that the file does not hold.
    """
    (first, made), *others = systems
    texts = read_texts(path)
    lacking = next((one for one in made if not one.texts and one.id not in texts), None)
    if lacking is not None:
        raise InputError(f"{path} holds no example {lacking.id!r}, which {first} predicts")
    known = [replace(one, texts=one.texts or texts[one.id]) for one in made]
    return [(first, known), *others]


def check_same(systems: Systems) -> None:
    """Refuse systems that predict other examples, or examples without gold.

    Args:
        systems: files, each with its predictions.

    Raises:
        InputError: names files and line.
    """
    (first, made), *others = systems
    for name, other in others:
        if len(made) != len(other):
            raise InputError(
                f"{name} has {len(other):,} predictions, {first} {len(made):,}: they must be of "
                "the same examples"
            )
        for one, two in zip(made, other):
            for what in ("id", "gold"):
                if getattr(one, what) != getattr(two, what):
                    raise InputError(
                        f"{name}, line {two.line}: {what} {quoted(getattr(two, what))}, but "
                        f"{first} has {quoted(getattr(one, what))}: they must be of the same "
                        "examples"
                    )
    lacking = next((one for one in made if one.gold is None), None)
    if lacking is not None:
        raise InputError(f"{first}, line {lacking.line}: no gold label: nobody is right or wrong")


def _class(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    probabilities = record["probabilities"]
    label = record["label"]
    if not isinstance(probabilities, dict) or label not in [*probabilities]:
        raise InputError(f"{where}: no probability of label {quoted(label)}")
    if not all(map(_is_number, probabilities.values())):
        raise InputError(f"{where}: probabilities are {named(probabilities.values())}")
    more = {"texts": _texts(record, where), "probabilities": probabilities}
    return str(label), None if gold is None else str(gold), more


def _score(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    for value in (record["score"], *([] if gold is None else [gold])):
        if not _is_number(value):
            raise InputError(f"{where}: {quoted(value)} is no number")
    return record["score"], gold, {"texts": _texts(record, where)}


def _labels(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    keys = ("words", "labels", *([] if gold is None else ["gold"]))
    rows = [_row(record, key, where) for key in keys]
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{where}: {named(map(len, rows), between=' and ')} words and labels")
    words, labels, *truth = rows
    return labels, truth[0] if truth else None, {"texts": words}


_READ = {CLASSES: _class, SCORE: _score, WORD_LABELS: _labels}


def _texts(record: dict[str, Any], where: str) -> tuple[str, ...]:
    return _row(record, "texts", where) if record.get("texts") else ()


def _row(record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    values = record[key]
    if not isinstance(values, list | tuple) or not all(isinstance(text, str) for text in values):
        wanted = "sentences" if key == "texts" else "texts"
        raise InputError(f"{where}: {key!r} are {quoted(values)}, expected a list of {wanted}")
    return tuple(values)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, float | int) and math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False
