"""Files of SQuAD's official evaluation: gold answers, predictions, null odds, and lists of ids.

Gold is the dataset's JSON (version 1.1 or 2.0, or Hugging Face's form), predictions are
``{"id": "text", ...}`` with an empty text for no answer, null odds ``{"id": number, ...}``. A list
of ids is a file with one id per line, a JSON list, an object with ids as keys, or a SQuAD file.
"""

import json
import logging
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named
from ..targets.squad import OFFICIAL_THRESHOLD, evaluate
from ..text_reading import as_rows, read_lines
from .choices import MISSING

logger = logging.getLogger(__name__)

_SHOWN = 3  # ids in a message


@dataclass(frozen=True)
class SquadScoring:
    """Files and options of a scoring."""

    gold: str  # SQuAD JSON with answers
    predictions: str  # JSON, id -> text
    null_odds: str | None = None  # JSON, id -> number
    threshold: float | None = None  # of the odds; see `squad.evaluate`
    ids: str | None = None  # file of the questions to score
    # questions without a prediction are refused, left out, or counted as no answer
    missing: str = "error"

    @property
    def in_force(self) -> float | None:
        """The effective threshold; None without odds."""
        if self.null_odds is None:
            return None
        return OFFICIAL_THRESHOLD if self.threshold is None else self.threshold


def score_files(what: SquadScoring) -> dict[str, float]:
    """Read, check and score; see `squad.evaluate` for the names."""
    if what.missing not in MISSING:
        raise InputError(f"--missing {what.missing!r}; choices: {', '.join(MISSING)}")
    if what.threshold is not None and what.null_odds is None:
        raise InputError("--threshold needs --null-odds: there is nothing to compare it with")
    if what.threshold is not None and math.isnan(what.threshold):
        raise InputError("--threshold nan: must be a number")
    gold = read_gold(what.gold)
    known = set(gold)
    if what.ids is not None:
        wanted = read_ids(what.ids)
        check_known(wanted, known, what.ids, what.gold)
        gold = {name: gold[name] for name in gold if name in wanted}
    predictions = read_predictions(what.predictions)
    strangers = [name for name in predictions if name not in known]
    if strangers:
        logger.warning("%s: %s not in %s", what.predictions, _some(strangers), what.gold)
    odds = None if what.null_odds is None else read_odds(what.null_odds)
    gold, predictions, odds = _complete(gold, predictions, odds, what)
    if odds is None:
        return evaluate(gold, predictions)
    _warn_of_another_threshold({name: predictions[name] for name in gold}, odds, what)
    return evaluate(gold, predictions, odds, what.in_force or 0.0)


def _complete(
    gold: dict[str, tuple[str, ...]],
    predictions: dict[str, str],
    odds: dict[str, float] | None,
    what: SquadScoring,
) -> tuple[dict[str, tuple[str, ...]], dict[str, str], dict[str, float] | None]:
    """Apply the policy for questions without a prediction."""
    lacking = [name for name in gold if name not in predictions]
    if lacking and what.missing == "error":
        raise InputError(
            f"{what.predictions} lacks {_some(lacking)} of the {len(gold)} questions of "
            f"{what.ids or what.gold}; --missing skip leaves them out, --missing empty counts them "
            "as predicted to have no answer"
        )
    if lacking and what.missing == "skip":
        gold = {name: golds for name, golds in gold.items() if name in predictions}
        if not gold:
            raise InputError(f"{what.predictions} has no prediction for any question")
    if odds is not None:
        without = [name for name in gold if name not in odds and name in predictions]
        if without:
            raise InputError(f"{what.null_odds} lacks {_some(without)} that are predicted")
        odds = {name: value for name, value in odds.items() if name in gold}
        odds |= dict.fromkeys(lacking if what.missing == "empty" else (), math.inf)
    if lacking:
        logger.warning("%s lacks %s: %s", what.predictions, _some(lacking), what.missing)
    return gold, predictions | dict.fromkeys(lacking, ""), odds


def _warn_of_another_threshold(
    predictions: Mapping[str, str], odds: Mapping[str, float], what: SquadScoring
) -> None:
    """Warn if texts were emptied by another threshold of their odds."""
    ranked = [name for name in predictions if odds[name] < math.inf]  # others have no span
    if all(predictions[name] for name in ranked):
        return  # no text was emptied
    in_force = what.in_force or 0.0
    unlike = [name for name in ranked if bool(predictions[name]) == (odds[name] > in_force)]
    if unlike:
        logger.warning(
            "%s was made with another threshold than %g: its texts and null odds of %s say so. "
            "Give --threshold what `answer` used (null_threshold in metrics.json), or leave out "
            "--null-odds to score the texts as they are",
            *(what.predictions, in_force, _some(unlike)),
        )


def check_known(ids: Iterable[str], known: Container[str], path: str, gold: str) -> None:
    """Refuse ids without a question."""
    unknown = [name for name in ids if name not in known]
    if unknown:
        raise InputError(f"{path}: {_some(unknown)} not in {gold}")


def _some(names: list[str]) -> str:
    return f"{len(names)} id{'s' if len(names) > 1 else ''} ({named(names, _SHOWN)})"


def read_json(path: str | Path) -> Any:
    """Read a JSON file."""
    text = "\n".join(read_lines(path))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}, line {error.lineno}, column {error.colno}"
        raise InputError(f"{where}: malformed JSON ({error.msg})") from None
    except ValueError:
        raise InputError(f"{path}: malformed JSON (a number of too many digits)") from None
    except RecursionError:
        raise InputError(f"{path}: malformed JSON (nested too deeply)") from None


def read_gold(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read the texts of all questions' gold answers; none if there is no answer."""
    found: dict[str, tuple[str, ...]] = {}
    for where, question in _questions(read_json(path), str(path)):
        name = str(_part(question, "id", (str, int), where))
        if "answers" not in question:
            raise InputError(
                f"{where}: question {name} has no 'answers': there is no gold to score"
            )
        if name in found:
            raise InputError(f"{where}: question {name} is there twice")
        given = {"answers": as_rows(question["answers"])}
        answers = _part(given, "answers", list, where)
        found[name] = tuple(_part(answer, "text", str, where) for answer in answers)
    if not found:
        raise InputError(f"{path} holds no questions")
    return found


def _questions(squad: Any, path: str) -> Iterator[tuple[str, Any]]:
    for i, article in enumerate(_part(squad, "data", list, path)):
        if isinstance(article, dict) and "question" in article and "paragraphs" not in article:
            yield f"{path}: data[{i}]", article
            continue
        for j, paragraph in enumerate(_part(article, "paragraphs", list, f"{path}: data[{i}]")):
            where = f"{path}: data[{i}].paragraphs[{j}]"
            for k, question in enumerate(_part(paragraph, "qas", list, where)):
                yield f"{where}.qas[{k}]", question


def _part(whole: Any, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    part = whole.get(name) if isinstance(whole, dict) else None
    if not isinstance(part, kind) or isinstance(part, bool):
        names = " or ".join(_KINDS[each] for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise InputError(f"{where}: expected an object with {name!r}, {names}: no SQuAD file")
    return part


_KINDS = {str: "a text", int: "a number", list: "a list"}


def read_predictions(path: str | Path) -> dict[str, str]:
    """Read id -> text."""
    return _values(path, lambda value: isinstance(value, str), "a text")


def read_odds(path: str | Path) -> dict[str, float]:
    """Read id -> number."""

    def fits(value: Any) -> bool:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and not math.isnan(value)

    return _values(path, fits, "a number")


def _values(path: str | Path, fits: Callable[[Any], bool], wanted: str) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, Mapping):
        raise InputError(f"{path}: expected one JSON object, ids with {wanted} each")
    for name, value in found.items():
        if not fits(value):
            raise InputError(f"{path}: question {name}: {json.dumps(value)[:80]} is not {wanted}")
    return dict(found)


def read_ids(path: str | Path) -> dict[str, None]:
    """Read a list of ids, in order; see the top of the file."""
    lines = read_lines(path)
    start = next((line.strip()[0] for line in lines if line.strip()), "")
    if start not in ("[", "{"):
        found = [line.strip() for line in lines if line.strip()]
    else:
        content = read_json(path)
        if isinstance(content, dict) and isinstance(content.get("data"), list):
            places = _questions(content, str(path))
            found = [str(_part(question, "id", (str, int), where)) for where, question in places]
        else:
            found = [str(name) if type(name) is int else name for name in content]
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"{path}: {json.dumps(name)[:80]} is no id of a question")
    if not found:
        raise InputError(f"{path} holds no ids")
    return dict.fromkeys(found)
