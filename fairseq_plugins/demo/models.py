"""The models of the page: opened, named, and of which kind each is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..bundles.translation import Translator
from ..errors import InputError
from ..inference.loading import load, task_of
from ..inference.options import SEEKING
from ..inference.prediction import Predictor
from ..inference.question_answering import Reader
from ..messages import named
from ..service.models import find_models
from .options import PAIRS, QUESTIONS, TEXT, TRANSLATION, DemoOptions
from .sentences import SentenceReader

LONG = {  # a task -> what becomes of texts that are longer than the model reads
    "text_classification": {"long_examples": "truncate"},
    "sequence_labeling": {"long_examples": "split"},
}


@dataclass(frozen=True)
class Shown:
    """A model with the name that it has on the page.

    Args:
        name: of its folder, or as the user calls it.
        kind: of `options.KINDS`.
        model: what `load` returned.
        annotator: what annotates raw text, if the user names it.
    """

    name: str
    kind: str
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
    """Load all models.

    Raises:
        FileNotFoundError, InputError: see `service.models.find_models` and `load`; or a model is
            of no kind of `options.KINDS`, or reads layers that raw text has not.
    """
    how = {"spacy_model": options.spacy_model, "int8": options.int8}
    found = []
    for name, paths in find_models(options.models).items():
        task = task_of(paths)
        if task == SEEKING:
            raise InputError(f"{named(paths)} is of task {task}, which the page does not show")
        model = load(paths, **how, **LONG.get(task or "", {}))
        kind = kind_of(model)
        if kind != TRANSLATION:
            getattr(model, "predictor", model).check_raw()
        found.append(Shown(name, kind, model, options.spacy_model))
    return found


def kind_of(model: Any) -> str:
    """Return which kind a loaded model is of."""
    return next(kind for kind, is_kind in _KIND_OF.items() if is_kind(model))


def _reads(model: Any, sentences: int) -> bool:
    return isinstance(model, Predictor) and model.manifest.sentences == sentences


_KIND_OF = {
    TRANSLATION: lambda model: isinstance(model, Translator),
    TEXT: lambda model: _reads(model, 1),
    PAIRS: lambda model: _reads(model, 2),
    QUESTIONS: lambda model: isinstance(model, Reader),
}
