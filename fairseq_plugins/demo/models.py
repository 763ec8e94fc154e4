"""The models of the page: those of the service, with what tells how each reads a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import InputError
from ..inference.loading import task_of
from ..inference.options import SEEKING
from ..messages import named
from ..service.kinds import Kind
from ..service.models import find_models, load_model
from ..service.options import ServiceOptions
from .options import DemoOptions
from .sentences import SentenceReader


@dataclass(frozen=True)
class Shown:
    """A model with the name that it has on the page.

    Args:
        name: of its folder, or as the user calls it.
        kind: how the service asks it.
        model: what `load` returned.
        annotator: what annotates raw text, if the user names it.
    """

    name: str
    kind: Kind
    model: Any
    annotator: str | None = None

    @property
    def reads_english(self) -> bool:
        """Whether nothing says that the model reads another language than English."""
        manifest = getattr(self.model, "predictor", self.model).manifest
        language = getattr(manifest, "source_lang", "") or manifest.annotator.get("model", "")
        return not language or language.lower().startswith("en")

    @cached_property
    def sentences(self) -> SentenceReader:
        """What tells how the model reads a sentence."""
        return SentenceReader(getattr(self.model, "predictor", self.model), self.annotator)


def open_models(options: DemoOptions) -> list[Shown]:
    """Load all models, as the service does; texts that are too long are cut."""
    how = ServiceOptions(spacy_model=options.spacy_model, int8=options.int8, cut_long=True)
    found = []
    for name, paths in find_models(options.models).items():
        if (task := task_of(paths)) == SEEKING:
            raise InputError(f"{named(paths)} is of task {task}, which the page does not show")
        served = load_model(name, paths, how)
        found.append(Shown(name, served.kind, served.model, options.spacy_model))
    return found
