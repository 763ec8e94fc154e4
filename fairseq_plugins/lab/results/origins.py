"""What the data of a run were made of, and what trained it, in a few digits for its row.

A setting does not say which files were prepared, nor what parsed them. Paths and versions of
packages are left out, so that rows of several machines can be compared.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ...data.folder_names import TOKENIZE
from ...data.manifests import AnyManifest
from ...data.text_manifest import TextManifest
from ..plan.prepare import SQUAD, TRANSLATION
from ..rows import Row

ANNOTATOR, WORDS = "annotator", "words"  # keys of `made_of`
_GIVEN, _BLANKS = "given", TOKENIZE[0]  # values of `WORDS`; the latter where older rows have none
_DIGITS = 12  # of a SHA-256
_APART = ("data", "validation_data", "system", "learning_rate", "epochs", "updates", "choice")
_APART += ("fraction", "translated", "seed")  # which are told by other keys, or by a setting


def made_of(manifest: AnyManifest) -> dict[str, str]:
    """Return input -> first digits of its SHA-256, and what annotated the text and cut it.

    Args:
        manifest: of a prepared folder.
    """
    if isinstance(manifest, TextManifest):
        cut = _GIVEN if manifest.target_kind.by_word else manifest.tokenize
    else:
        cut = manifest.segmentation["source"]["tokenizer"]
    told = {
        **{name: one.get("sha256", "")[:_DIGITS] for name, one in manifest.inputs.items()},
        ANNOTATOR: manifest.annotator_id,
        WORDS: cut,
    }
    return {name: value for name, value in told.items() if value}


def cut_of(row: Row) -> str:
    """Return how text became words; given words, and older rows of texts, count as at blanks."""
    found = row.made_of.get(WORDS, _GIVEN)
    if found != _GIVEN:
        return found
    return "" if row.dataset in (SQUAD, TRANSLATION) else _BLANKS


def trained_with(settings: Mapping[str, Any]) -> str:
    """Return the first digits of a SHA-256 of what a run was trained with, but seed and data."""
    own = {key: value for key, value in settings.items() if key not in _APART}
    options = {name: _named(value) for name, value in own.get("options", {}).items()}
    own["options"] = {**options, "seed": None}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _named(value: Any) -> Any:
    """Return the last part of what looks like a path, which lies elsewhere on each machine."""
    return value.rpartition("/")[2] if isinstance(value, str) else value
