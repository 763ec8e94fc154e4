"""The pipeline that finds or annotates words: whether one is needed, loaded, opened again."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..syntax.layers import annotator_line, layers_of

logger = logging.getLogger(__name__)

SPACY = "spacy"  # words are those that the pipeline finds


def needs_annotator(names: Iterable[str], tokenize: str = "") -> bool:
    """Whether a spaCy pipeline has work to do.

    Args:
        names: of the layers that are wanted.
        tokenize: what words are.
    """
    return tokenize == SPACY or any(one.annotated for one in layers_of(names))


def load_annotator(names: Iterable[str], model: str = "", tokenize: str = "") -> Any:
    """Load the pipeline that finds or annotates words, or None where nothing needs one.

    Args:
        names: see `needs_annotator`.
        model: of the pipeline (default: the bundled one).
        tokenize: see `needs_annotator`.

    Raises:
        FileNotFoundError, ValueError: see `text.annotate.Annotator`.
    """
    names = tuple(names)
    if not needs_annotator(names, tokenize):
        return None
    from .annotate import BUNDLED, Annotator

    return Annotator(model or BUNDLED, names)


def reopen_annotator(
    folder: Path,
    recorded: Mapping[str, str],
    names: Iterable[str],
    named: str | None = None,
    tokenize: str = "",
) -> Any:
    """Load the pipeline for raw text of a prepared folder, or None where nothing needs one.

    Args:
        folder: for messages.
        recorded: what the folder's manifest says of its annotator.
        names: see `needs_annotator`.
        named: the pipeline that the user names; see `annotate.recorded_annotator`.
        tokenize: see `needs_annotator`.
    """
    names = tuple(names)
    if not needs_annotator(names, tokenize):
        return None
    from .annotate import BUNDLED, recorded_annotator

    return recorded_annotator(recorded.get("model") or BUNDLED, folder, names, named=named)


def warn_of_other(folder: Path, recorded: str, annotator: Any) -> None:
    """Warn loudly when the annotator of raw text is not the one that a folder was prepared with.

    Args:
        folder: the prepared folder.
        recorded: ``name version hash`` of its annotator.
        annotator: of raw text, or None.
    """
    present = annotator_line(annotator)
    if present != recorded:
        logger.warning(
            "THE TAGGER DIFFERS: %s was prepared with %r, raw text is now annotated by %r; what a "
            "model makes of it can differ from what it makes of the prepared folder",
            folder,
            recorded,
            present,
        )
