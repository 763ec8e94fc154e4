"""The tabs of the page as values: which models each is for, what it asks, and what it shows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError
from ..messages import quoted
from ..service.kinds import PAIRS, QUESTIONS, SENTENCES, TRANSLATION, WORDS, Kind
from ..text_reading import check_characters, read_text
from . import views
from .drawings import PAGE, render
from .models import Shown

SENTENCE = "sentence"
PRESETS = PAGE / "presets.yaml"
LONGEST = {1: 500, 2: 1500, 6: 10_000}  # lines of a field -> characters that it takes


@dataclass(frozen=True)
class Tab:
    """One kind of thing to look at.

    Args:
        name: in presets.
        title: on the page.
        about: a sentence for people who see it for the first time.
        kinds: of models that it shows.
        texts: what it asks for: label -> lines of its field.
        view: what makes the values of the template, of a model, these texts, and a choice.
        template: that shows them.
        choice: what else may be chosen, its label and what there is, of all models.
        single: whether one model is shown, which is chosen by its name.
    """

    name: str
    title: str
    about: str
    kinds: tuple[Kind, ...]
    texts: dict[str, int]
    view: Callable[..., dict[str, Any]]
    template: str
    choice: tuple[str, Callable[[Sequence[Shown]], list[str]]] | None = None
    single: bool = False

    def show(self, models: Sequence[Shown], *given: str) -> str:
        """Return what models say of a user's texts as HTML; errors stand in their places."""
        for text, (label, lines) in zip(given, self.texts.items()):
            try:
                _check_text(text, f"the {label}", lines)
            except InputError as error:
                return render("panels.html", panels=[(self.title, None, str(error))])
        if self.single:
            name, given = given[-1], given[:-1]
            models = [model for model in models if model.name == name]
        panels: list[tuple[str, dict[str, Any] | None, str]] = []
        for model in models:
            try:
                panels.append((model.name, self.view(model, *given), ""))
            except Exception as error:  # whatever a library makes of a text
                panels.append((model.name, None, one_line(error)))
        return render("panels.html", panels=panels, template=self.template)


def one_line(error: Exception) -> str:
    """Return what a panel says of an error; of one that no user causes its type as well."""
    told = " ".join(str(error).split())
    if isinstance(error, (InputError, OSError)):
        return told
    logging.getLogger(__name__).error("a panel cannot be shown", exc_info=error)
    return f"{type(error).__name__}: {told}"


def _layers(models: Sequence[Shown]) -> list[str]:
    """Return the layers of self-attention that there are, and all of them together."""
    encoders = (getattr(shown.model.models[0], "encoder", None) for shown in models)
    most = max(len(getattr(encoder, "layers", ())) for encoder in encoders)
    return [views.ALL_LAYERS, *map(views.layer_name, range(most))]


ATTENTION = ("attention of", _layers)
TABS = (
    Tab(
        SENTENCE,
        "Sentence",
        "What a model reads: words, tags, dependency arcs, and what each subword carries.",
        (TRANSLATION, SENTENCES, WORDS, PAIRS, QUESTIONS),
        {"sentence": 2},
        views.sentence,
        "sentence.html",
        ("as read by", lambda models: [model.name for model in models]),
        single=True,
    ),
    Tab(
        "translation",
        "Translation",
        "Systems side by side, and where each looked while it wrote a subword.",
        (TRANSLATION,),
        {"sentence": 2},
        views.translation,
        "translation.html",
    ),
    Tab(
        "text",
        "Class",
        "Classes of a sentence or of its words, the gates of each layer, and what looked at what.",
        (SENTENCES, WORDS),
        {"sentence": 2},
        views.label,
        "label.html",
        ATTENTION,
    ),
    Tab(
        "pairs",
        "Pair",
        "Two sentences compared: what looks at what is like (affinity) and unlike (difference).",
        (PAIRS,),
        {"first sentence": 2, "second sentence": 2},
        views.pair,
        "label.html",
        ATTENTION,
    ),
    Tab(
        "questions",
        "Question",
        "The answer in its passage, its rivals, the chance that there is none, and coattention.",
        (QUESTIONS,),
        {"question": 1, "passage": 6},
        views.question,
        "question.html",
        ("coattention", lambda models: [*views.WAYS] if any(map(views.coattends, models)) else []),
    ),
)


def read_presets(path: Path = PRESETS) -> dict[str, list[list[str]]]:
    """Read examples to choose from: name of a tab -> examples, each the texts of its fields."""
    try:
        found = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    sizes = {tab.name: len(tab.texts) for tab in TABS}
    if not isinstance(found, dict) or not found.keys() <= sizes.keys():
        raise InputError(
            f"{path}: expected examples under {', '.join(sizes)}; found {quoted(found)}"
        )
    for name, examples in found.items():
        for example in examples if isinstance(examples, list) else [examples]:
            kinds = {*map(type, example)} if isinstance(example, list) else set()
            if kinds != {str} or len(example) != sizes[name]:
                raise InputError(
                    f"{path}, {name}: expected {sizes[name]} text(s) in a list, found "
                    f"{quoted(example)}"
                )
            _check_example(f"{path}, {name}", name, example)
    return found


def english_presets(models: Sequence[Shown]) -> dict[str, list[list[str]]]:
    """Return our own presets, for the tabs that show a model which reads English."""
    english = [model.kind for model in models if model.reads_english]
    shown = {tab.name for tab in TABS if any(kind in tab.kinds for kind in english)}
    return {name: found for name, found in read_presets().items() if name in shown}


def _check_example(where: str, name: str, example: Sequence[str]) -> None:
    """Refuse texts that a tab does not take (InputError)."""
    fields = next(tab.texts for tab in TABS if tab.name == name)
    for text, (label, lines) in zip(example, fields.items()):
        _check_text(text, f"{where}: the {label}", lines)


def _check_text(text: str, what: str, lines: int) -> None:
    check_characters(text, what)
    if len(text) > LONGEST[lines]:
        raise InputError(f"{what} has {len(text)} characters; the page takes {LONGEST[lines]}")
