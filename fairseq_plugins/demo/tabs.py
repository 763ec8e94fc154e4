"""The tabs of the page as values: which kinds of models they show, and what of these."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from ..errors import InputError
from ..inference.loading import task_of
from ..inference.options import SEEKING
from ..messages import named, quoted, shortened
from ..service.kinds import PAIRS, QUESTIONS, SENTENCES, TRANSLATION, WORDS, Kind
from ..service.models import Served, find_models, load_model
from ..service.options import ServiceOptions
from ..service.requests import Body, check_size, read_request
from ..text_reading import read_text
from . import panels
from .maps import PAGE, render
from .options import DemoOptions
from .sentences import sentence

PRESETS = PAGE / "presets.yaml"
LONGEST = 10_000  # characters of a text
NOTHING = {"text": "", "words": (), "passage": (), "note": "", "bars": (), "gates": (), "maps": ()}
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tab:
    """One kind of thing to look at."""

    name: str  # in presets
    title: str
    about: str  # for people who see it for the first time
    kinds: tuple[Kind, ...]  # of models; the first says which texts the tab has fields for
    view: Callable[[Served, Body, Sequence[str]], panels.Panel]  # a model, a request, its texts
    template: str = "answer.html"

    @property
    def example(self) -> tuple[str, Any]:
        """The name and the first of the items in a request."""
        ((name, (item,)),) = self.kinds[0].example.items()
        return name, item

    @property
    def fields(self) -> list[str]:
        """The labels of the texts in an item."""
        item = self.example[1]
        pair = [*item] if isinstance(item, dict) else ["first sentence", "second sentence"]
        return ["sentence"] if isinstance(item, str) else pair

    def request(self, texts: Sequence[str]) -> Body:
        """Return a request with some texts; InputError for others than a model takes."""
        kind, fields, (name, item) = self.kinds[0], self.fields, self.example
        if len(texts) != len(fields):
            raise InputError(f"expected {len(fields)} text(s), found {quoted(texts)}")
        pair = dict(zip(fields, texts)) if isinstance(item, dict) else [*texts]
        asked = {name: [texts[0] if isinstance(item, str) else pair]}
        body = read_request(kind.body, asked, kind.example)
        check_size(body, 1, LONGEST)
        return body

    def show(self, models: Sequence[Served], *texts: str) -> str:
        """Return what models say of a user's texts as HTML; errors stand in their places."""
        found: list[tuple[str, panels.Panel | None, str]] = []
        try:
            request = self.request(texts)
        except InputError as error:
            return render("panels.html", panels=[(self.title, None, str(error))])
        for served in models:
            try:
                found.append((served.name, self.view(served, request, texts), ""))
            except Exception as error:  # whatever a library makes of a text
                found.append((served.name, None, one_line(error)))
        return render("panels.html", panels=found, template=self.template)


def one_line(error: Exception) -> str:
    """Return what a panel says of an error; of one that no user causes its type as well."""
    told = " ".join(str(error).split())
    if isinstance(error, (InputError, OSError)):
        return told
    logger.error("a panel cannot be shown", exc_info=error)
    return f"{type(error).__name__}: {told}"


def answered(said: Callable[..., panels.Panel], picture: Callable[..., panels.Panel]) -> Any:
    """Return a view of a model's answer, with a picture beside it where the model has one."""

    def view(served: Served, request: Body, texts: Sequence[str]) -> panels.Panel:
        shown = NOTHING | said(served, served.kind.items(served.model, request), texts)
        try:
            return shown | picture(served.model, texts)
        except InputError as error:
            return shown | {"note": f"No picture: {error}"}

    return view


def predictor_of(served: Served) -> Any:
    """Return the part of a model that reads text."""
    return getattr(served.model, "predictor", served.model)


TABS = (
    Tab(
        "sentence",
        "Sentence",
        "What a model reads: words, tags, dependency arcs, and what each subword carries.",
        (SENTENCES, WORDS, PAIRS, QUESTIONS, TRANSLATION),
        lambda served, _, texts: sentence(predictor_of(served), *texts),
        "sentence.html",
    ),
    Tab(
        "translation",
        "Translation",
        "Systems side by side, and where each looked while it wrote a subword.",
        (TRANSLATION,),
        answered(panels.translation, panels.source_attention),
    ),
    Tab(
        "text",
        "Class",
        "Classes of a sentence or of its words, the gates of each layer, and what looked at what.",
        (SENTENCES, WORDS),
        answered(panels.label, panels.looks),
    ),
    Tab(
        "pairs",
        "Pair",
        "Two sentences compared: what looks at what is like (affinity) and unlike (difference).",
        (PAIRS,),
        answered(panels.label, panels.looks),
    ),
    Tab(
        "questions",
        "Question",
        "The answer in its passage, its rivals, the chance that there is none, and coattention.",
        (QUESTIONS,),
        answered(panels.answer, panels.coattention),
    ),
)


def open_models(options: DemoOptions) -> list[Served]:
    """Load all models, as the service does; texts that are too long are cut."""
    how = ServiceOptions(spacy_model=options.spacy_model, int8=options.int8, cut_long=True)
    found = find_models(options.models)
    for paths in found.values():
        if (task := task_of(paths)) == SEEKING:
            raise InputError(f"{named(paths)} is of task {task}, which the page does not show")
    return [load_model(name, paths, how) for name, paths in found.items()]


def read_presets(path: Path = PRESETS) -> dict[str, list[list[str]]]:
    """Read examples to choose from: name of a tab -> examples, each the texts of its fields."""
    tabs = {tab.name: tab for tab in TABS}
    try:
        kind = TypeAdapter(dict[str, list[list[str]]])
        found = kind.validate_python(yaml.safe_load(read_text(path)), strict=True)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = shortened(" ".join(str(error).split()), 200)
        raise InputError(f"{path}: expected lists of texts under {named(tabs)}: {said}") from None
    for name, examples in found.items():
        if name not in tabs:
            raise InputError(f"{path}: {quoted(name)} is none of {named(tabs)}")
        for texts in examples:
            try:
                tabs[name].request(texts)
            except InputError as error:
                raise InputError(f"{path}, {name}: {error}") from None
    return found


def english_presets(models: Sequence[Served]) -> dict[str, list[list[str]]]:
    """Return our own presets, for the tabs with a model that reads English."""
    kinds = [served.kind for served in models if reads_english(served)]
    shown = {tab.name for tab in TABS if any(kind in tab.kinds for kind in kinds)}
    return {name: found for name, found in read_presets().items() if name in shown}


def reads_english(served: Served) -> bool:
    """Whether nothing says that a model reads another language than English."""
    manifest = predictor_of(served).manifest
    language = getattr(manifest, "source_lang", "") or manifest.annotator.get("model", "")
    return not language or language.lower().startswith("en")
