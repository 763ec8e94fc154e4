"""Served models: found by name, loaded, tried, and described."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..bundles.index import CARD, found_bundles, listed
from ..errors import InputError
from ..inference.loading import load, task_of
from ..inference.options import ANSWERING, SEEKING, TRANSLATING
from ..installation import FAIRSEQ_MISSING
from ..messages import named, quoted
from ..text_reading import read_text
from .kinds import Kind, Record, kind_of
from .options import ServiceOptions

LONGEST_CARD = 100_000  # bytes
# task -> policy for long texts, if cutting is requested
CUT = {"text_classification": "truncate", "sequence_labeling": "split", SEEKING: "split"}
_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class Served:
    """A served model."""

    name: str  # in requests
    kind: Kind  # of its requests
    model: Any  # from `load`
    about: dict[str, Any]  # its entry in lists of models

    def answer(self, items: Sequence[Any]) -> list[Record | Exception]:
        """Answer items of any requests, see `Kind`."""
        return self.kind.answer(self.model, items)


def find_models(given: Sequence[str]) -> dict[str, list[Path]]:
    """Return name -> bundles or runs from the command line, without loading them.

    Args:
        given: ``PATH`` or ``NAME=PATH`` each; paths joined by ``:`` are an ensemble. The default
            name is the folder name of the first path.
    """
    found: dict[str, list[Path]] = {}
    for one in given:
        name, path = _named(one)
        paths = listed(path)
        if not paths:
            raise InputError(f"{quoted(one)} names no model")
        for part in paths:
            if not part.exists():
                raise FileNotFoundError(f"{part}: no such bundle or run")
        name = name or paths[0].resolve().name
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{quoted(name)} cannot stand in an address: name the model, NAME={path}, by "
                "letters, digits, '.', '-' and '_'"
            )
        if name in found:
            raise InputError(f"two models are called {name!r}: name one of them, NAME={path}")
        if not found_bundles(paths):
            _check_run(paths)
        found[name] = paths
    return found


def _named(given: str) -> tuple[str, str]:
    """Return the name and the path in an argument; no name if the whole is a path."""
    name, equals, path = given.partition("=")
    return (name, path) if equals and not Path(given).exists() else ("", given)


def _check_run(paths: Sequence[Path]) -> None:
    """Refuse a run that cannot be served."""
    if find_spec("fairseq") is None:
        raise InputError(
            f"{named(paths)} is no bundle (fairseq-plugins export makes one), and {FAIRSEQ_MISSING}"
        )
    if task_of(paths) == TRANSLATING:
        raise InputError(
            f"{named(paths)} is a run that translates: fairseq-plugins export makes a bundle of "
            "it, which can be served (unless it has local attention)"
        )


def load_model(name: str, paths: Sequence[Path], options: ServiceOptions) -> Served:
    """Load a model and try it."""
    task = task_of(paths)
    how: dict[str, Any] = {"int8": options.int8, "cpu": options.cpu}
    if options.spacy_model is not None:
        how["spacy_model"] = options.spacy_model
    if options.cut_long and task in CUT:
        how["long_examples"] = CUT[task]
    if task == TRANSLATING:
        how |= {"threads": options.threads, "workers": options.workers}
    model = load(paths, **how)
    kind = kind_of(model, task)
    served = Served(name, kind, model, _about(name, kind, model, task, paths, options))
    items = kind.items(model, kind.body.model_validate(kind.example))
    for found in served.answer(items):  # the first loads what raw text needs
        if isinstance(found, Exception):
            raise InputError(f"{named(paths)} cannot answer {kind.example}: {found}")
    return served


def _about(
    name: str,
    kind: Kind,
    model: Any,
    task: str | None,
    paths: Sequence[Path],
    options: ServiceOptions,
) -> dict[str, Any]:
    """Return a model's entry in lists of models, without paths."""
    if task == TRANSLATING:
        manifest, longest = model.manifest, model.model.layout.source.positions
        more = {"source": manifest.source_lang, "target": manifest.target_lang}
    else:
        predictor = model.predictor if task == ANSWERING else model
        manifest, longest = predictor.manifest, predictor.inputs.limit
        more = {"dataset": manifest.dataset, "labels": predictor.labels}
        more |= {"names": predictor.names} if predictor.names else {}
    limits = {name: getattr(options, name) for name in ("max_texts", "max_characters", "max_body")}
    return {
        "name": name,
        "task": task,
        "kind": kind.name,
        **more,
        "example": kind.example,
        "limits": {**limits, "subwords": longest},
        "card": _card(paths[0]),
    }


def _card(folder: Path) -> str | None:
    """Return a bundle's card, if it is a text file of limited length and no link."""
    path = folder / CARD
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST_CARD:
        return None
    try:
        return read_text(path)
    except InputError:
        return None
