"""The pipeline that finds or annotates words: whether needed, loaded, opened again."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.folder_names import AS_TOKENISED, TOKENIZE
from ..resources import PIPELINES, enough_for
from ..syntax.annotation import annotator_line
from ..syntax.layers import annotated_names, layers_of
from .lowered import LoweredAnnotator

logger = logging.getLogger(__name__)

UDPIPE = "udpipe"  # prefix of a model's name: udpipe:PATH
SPACY = "spacy"  # words found by the pipeline


def needs_annotator(names: Iterable[str], tokenize: str = "") -> bool:
    """Whether these layers, or the definition of words, need a spaCy pipeline."""
    return tokenize == SPACY or any(one.annotated for one in layers_of(names))


def is_default(model: str) -> bool:
    """Whether a pipeline is a default."""
    return model in ("", *PIPELINES)


def load_annotator(names: Iterable[str], model: str = "", tokenize: str = "") -> Any:
    """Load the pipeline that finds or annotates words; None if none is needed.

    The default is a bundled pipeline, see `resources.enough_for`.
    """
    names = tuple(names)
    if not needs_annotator(names, tokenize):
        return None
    kind, _, path = model.partition(":")
    if kind == UDPIPE:
        from .udpipe import UDPipeAnnotator

        return UDPipeAnnotator(path, names)
    from .annotate import Annotator

    return Annotator(model or enough_for(annotated_names(names)), names)


def reopen_annotator(
    folder: Path,
    recorded: Mapping[str, str],
    names: Iterable[str],
    named: str | None = None,
    tokenize: str = "",
) -> Any:
    """Load the pipeline for raw text of a prepared folder, which may come from elsewhere.

    Args:
        folder: for messages.
        recorded: the annotator in the folder's manifest. A bundled or installed pipeline is loaded;
            the user must name a path, and a package of another environment.
        names, tokenize: see `needs_annotator`.
        named: a pipeline named by the user instead, loaded from any place.

    Returns:
        An `annotate.Annotator` that reads text as the folder's annotator did; None if none is
        needed.
    """
    names = tuple(names)
    if not named and needs_annotator(names, tokenize):
        from .annotate import check_recorded

        named = recorded.get("model") or enough_for(annotated_names(names))
        check_recorded(named, folder)
    found = load_annotator(names, named or "", tokenize)
    lowers = found is not None and recorded.get("text") == AS_TOKENISED
    return LoweredAnnotator(found) if lowers else found


def warn_of_other(folder: Path, recorded: str, annotator: Any) -> None:
    """Warn if the annotator of raw text (or None) is not a prepared folder's, ``recorded``."""
    present = annotator_line(annotator)
    if present != recorded:
        logger.warning(
            "THE TAGGER DIFFERS: %s was prepared with %r, raw text is now annotated by %r; what a "
            "model makes of it can differ from what it makes of the prepared folder",
            *(folder, recorded, present),
        )


def warn_of_blanks(folder: Path, names: Iterable[str], tokenize: str) -> None:
    """Warn if raw text is annotated after splitting at blanks alone, as in the prepared folder."""
    if tokenize == TOKENIZE[0] and needs_annotator(names):
        logger.warning(
            "%s: raw text is split at blanks (--tokenize %s), and a word is annotated with the "
            "punctuation signs at its ends",
            *(folder, tokenize),
        )
