"""The models of the page: opened, named, and each of the kind that its place wants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..bundles.translation import Translator
from ..inference.loading import load
from ..inference.prediction import Predictor
from ..inference.question_answering import Reader
from .options import PAIRS, QUESTIONS, TEXT, TRANSLATION, DemoOptions
from .sentences import SentenceReader


@dataclass(frozen=True)
class Shown:
    """A model with the name that it has on the page.

    Args:
        name: of its folder.
        kind: of `options.KINDS`.
        model: what `load` returned.
        annotator: what annotates raw text, if the user names it.
    """

    name: str
    kind: str
    model: Any
    annotator: str | None = None

    @cached_property
    def sentences(self) -> SentenceReader:
        """What tells how the model reads a sentence."""
        return SentenceReader(getattr(self.model, "predictor", self.model), self.annotator)


def open_models(options: DemoOptions) -> list[Shown]:
    """Load all models.

    Raises:
        FileNotFoundError, ValueError: see `load`; or a model is of another kind than its flag says.
    """
    given = [(kind, path) for kind in _KIND_OF for path in getattr(options, kind)]
    names = _names([path for _, path in given])
    how = {"spacy_model": options.spacy_model, "int8": options.int8}
    found = []
    for name, (kind, path) in zip(names, given):
        model = load(path, **how)
        if kind != (other := kind_of(model)):
            cure = f"give it with --{other}" if other else "export makes a bundle of a run"
            raise ValueError(f"{path} is no model for --{kind}: {cure}")
        found.append(Shown(name, kind, model, options.spacy_model))
    return found


def kind_of(model: Any) -> str:
    """Return which kind a loaded model is of; empty for none, a run that translates."""
    return next((kind for kind, is_kind in _KIND_OF.items() if is_kind(model)), "")


def _reads(model: Any, sentences: int) -> bool:
    return isinstance(model, Predictor) and model.manifest.sentences == sentences


_KIND_OF = {
    TRANSLATION: lambda model: isinstance(model, Translator),
    TEXT: lambda model: _reads(model, 1),
    PAIRS: lambda model: _reads(model, 2),
    QUESTIONS: lambda model: isinstance(model, Reader),
}


def _names(paths: Sequence[str]) -> list[str]:
    """Name models by their folders; whole paths where two are alike, with a number if these are."""
    for names in ([Path(path).resolve().name for path in paths], [*paths]):
        if len({*names}) == len(names):
            return names
    return [*_numbered(paths)]


def _numbered(names: Iterable[str]) -> Iterable[str]:
    return (f"{name} ({number})" for number, name in enumerate(names, 1))
