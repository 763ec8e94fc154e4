"""Files of systems in, what they differ in out: printed, and written as a page.

What the first file holds decides what is compared: translations (generation logs, plain files),
classes, scores or labels of words (JSON lines of predictions), or answers (one JSON object).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import write_text
from ..option_flags import flag_of
from ..text_reading import read_lines
from .contrast import ContrastOptions, Item, agreement, differing, short_names
from .contrast_kinds import answer_items, predicted_items, scorer, sentence_items
from .contrast_report import format_items
from .generate_log import load
from .predictions import CLASSES, SCORE, WORD_LABELS, read_predictions, target_of_lines, with_texts
from .squad_files import read_predictions as read_answers
from .translation import TextForm, remove_subwords

ReadQuestions = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class ContrastKind:
    """What systems may be compared on.

    Args:
        name: what files of it hold.
        noun: what one item is called.
        options: those that say something about it, and about other kinds perhaps.
        items: makes items of files.
        is_judged: whether systems are right or wrong, not better or worse.
    """

    name: str
    noun: str
    options: set[str]
    items: Callable[[ContrastOptions, Sequence[str], ReadQuestions], list[Item]]
    is_judged: bool = False


def compare_files(options: ContrastOptions, read_questions: ReadQuestions) -> str:
    """Compare, write the files asked for, and return what is to be printed.

    Args:
        options: see there.
        read_questions: reads questions with their gold answers and contexts by their ids.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: one of another kind or damaged, systems of other items, options that are not
            for the kind, or another number of names than of systems.
    """
    kind = kind_of(options)
    names = tuple(options.names or short_names(options.systems))
    if len(options.systems) < 2:
        raise ValueError("a comparison needs the predictions of two systems at least")
    if len(names) != len(options.systems):
        raise ValueError(f"--names gives {len(names)} names for {len(options.systems)} systems")
    items = kind.items(options, names, read_questions)
    found = differing(items, options)
    shown = found[: options.max]
    how = {"names": names, "noun": kind.noun, "is_judged": kind.is_judged}
    if options.html:
        write_text(options.html, format_items(shown, style="html", **how))
    text = format_items(shown, **how)
    text += f"{len(shown)} of {len(found)} such {kind.noun}s shown\n"
    return text + (f"{agreement(items, kind.noun)}\n" if kind.is_judged else "")


def kind_of(options: ContrastOptions) -> ContrastKind:
    """Return what the first system's file holds; that the others do is found as they are read.

    Raises:
        FileNotFoundError: one is not there.
        ValueError: answers beside other things, or options that are not for the kind.
    """
    first, *others = options.systems
    kind = _kind_of_file(first)
    for path in others:
        if kind is not ANSWERS and _kind_of_file(path) is ANSWERS:
            raise ValueError(f"{first} holds {kind.name}, {path} {ANSWERS.name}")
    for name in sorted(set().union(*(one.options for one in KINDS)) - kind.options):
        if getattr(options, name) is not None:
            raise ValueError(f"{flag_of(name)} is not for {kind.name}, which {first} holds")
    return kind


def holds_answers(path: str | Path) -> bool:
    """Tell whether a file holds answers to questions: it is one JSON object of ids with texts.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a JSON object of something else, which nothing here compares.
    """
    text = "\n".join(read_lines(path)).strip()
    if not (text.startswith("{") and text.endswith("}")) or target_of_lines(path):
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not all(isinstance(answer, str) for answer in found.values()):
        raise ValueError(f"{path} is one JSON object, but not of ids with answers")
    return True


def _kind_of_file(path: str) -> ContrastKind:
    if holds_answers(path):
        return ANSWERS
    return _OF_LINES.get(target_of_lines(path), TRANSLATIONS)


def _translations(options: ContrastOptions, names: Sequence[str], _: ReadQuestions) -> list[Item]:
    if len(options.systems) != 2:
        raise ValueError(f"{len(options.systems)} systems: translations are compared two by two")
    form = TextForm(options.lang or "de", options.tokenized or "auto")
    inputs = load(options.systems, options.gold, form)
    sources = next((o.sources for o in inputs.outputs if o.sources is not None), None)
    if options.src:
        sources = read_lines(options.src)
    metric = options.metric or "chrf"
    return sentence_items(
        [system.text for system in inputs.systems],
        inputs.reference.text,
        None if sources is None else remove_subwords(sources, form.subwords),
        names=names,
        metric=(metric, scorer(metric, form.lang)),
    )


def _predictions(options: ContrastOptions, *_: Any) -> list[Item]:
    target = target_of_lines(options.systems[0])
    systems = [(path, read_predictions(path, target)) for path in options.systems]
    if options.src:
        systems = with_texts(systems, options.src)
    return predicted_items(target, systems, positive=options.positive or "")


def _answers(options: ContrastOptions, _: Any, read_questions: ReadQuestions) -> list[Item]:
    if not options.gold:
        raise ValueError(f"{options.systems[0]} holds answers: --gold names the questions")
    systems = [(path, read_answers(path)) for path in options.systems]
    return answer_items(read_questions(options.gold), systems)


TRANSLATIONS = ContrastKind(
    "translations", "sentence", {"gold", "src", "lang", "tokenized", "metric"}, _translations
)
ANSWERS = ContrastKind("answers", "question", {"gold"}, _answers, is_judged=True)
_OF_LINES = {
    CLASSES: ContrastKind("classes", "example", {"src", "positive"}, _predictions, is_judged=True),
    SCORE: ContrastKind("scores", "example", {"src"}, _predictions),
    WORD_LABELS: ContrastKind("labels of words", "sentence", set(), _predictions),
}
KINDS = (TRANSLATIONS, ANSWERS, *_OF_LINES.values())
