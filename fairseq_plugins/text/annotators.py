"""The pipeline that finds or annotates words: whether one is needed, loaded, opened again."""

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

UDPIPE = "udpipe"  # kind of a model that is named udpipe:PATH
SPACY = "spacy"  # words are those that the pipeline finds


def needs_annotator(names: Iterable[str], tokenize: str = "") -> bool:
    """Whether a spaCy pipeline has work to do, for layers of these names or for what words are."""
    return tokenize == SPACY or any(one.annotated for one in layers_of(names))


def is_default(model: str) -> bool:
    """Whether a pipeline is one that is taken where none is named."""
    return model in ("", *PIPELINES)


def load_annotator(names: Iterable[str], model: str = "", tokenize: str = "") -> Any:
    """Load the pipeline that finds or annotates words, or None where nothing needs one.

    See `needs_annotator` for names and words, `annotate.Annotator` for what is refused; without a
    model it is a bundled one, see `resources.enough_for`.
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
    """Load the pipeline for raw text of a prepared folder, which may be of somebody else.

    Args:
        folder: for messages.
        recorded: what the folder's manifest says of its annotator. Its pipeline is loaded if it is
            the bundled one or one that is installed; a path and a package from elsewhere the user
            has to name.
        names, tokenize: see `needs_annotator`.
        named: the pipeline that the user names in its place; loaded wherever it lies.

    Returns:
        An `annotate.Annotator`, shown what that of the folder was shown, or None where nothing
        needs one.
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
    """Warn loudly when the annotator of raw text (or None) is not the one of a prepared folder.

    ``recorded`` is ``name version hash`` of that.
    """
    present = annotator_line(annotator)
    if present != recorded:
        logger.warning(
            "THE TAGGER DIFFERS: %s was prepared with %r, raw text is now annotated by %r; what a "
            "model makes of it can differ from what it makes of the prepared folder",
            *(folder, recorded, present),
        )


def warn_of_blanks(folder: Path, names: Iterable[str], tokenize: str) -> None:
    """Warn of raw text that is annotated as a prepared folder was: split at blanks alone."""
    if tokenize == TOKENIZE[0] and needs_annotator(names):
        logger.warning(
            "%s: raw text is split at blanks (--tokenize %s), and a word is annotated with the "
            "punctuation signs at its ends",
            *(folder, tokenize),
        )
