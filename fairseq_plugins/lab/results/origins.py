"""The origin of a run's data and its training, as short hashes for the row.

A setting does not identify the prepared files or their parser. Paths and versions of packages are
left out, so that rows of several machines can be compared.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...data.folder_names import TOKENIZE
from ...data.manifests import AnyManifest
from ...data.text_manifest import TextManifest
from ...files import sha256
from ..plan.prepare import SQUAD, TRANSLATION
from ..rows import Row

ANNOTATOR, WORDS = "annotator", "words"  # keys of `made_of`
_GIVEN, _BLANKS = "given", TOKENIZE[0]  # values of `WORDS`; older rows without a value mean blanks
_DIGITS = 12  # of a SHA-256
_APART = ("data", "validation_data", "system", "learning_rate", "epochs", "updates", "choice")
_APART += ("fraction", "translated", "seed")  # stored under other keys, or in the setting


def made_of(manifest: AnyManifest) -> dict[str, str]:
    """Return input -> short SHA-256 of a prepared folder's files, annotator, tokenisation."""
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


def made_of_rows(rows: Path) -> str:
    """Return name and short SHA-256 of a file of rows; empty for a folder of runs."""
    return f"{rows.name} {sha256(rows)[:_DIGITS]}" if rows.is_file() else ""


def cut_of(row: Row) -> str:
    """Return how text became words; given words, and older rows of texts, count as at blanks."""
    found = row.made_of.get(WORDS, _GIVEN)
    if found != _GIVEN:
        return found
    return "" if row.dataset in (SQUAD, TRANSLATION) else _BLANKS


def trained_with(settings: Mapping[str, Any]) -> str:
    """Return a short SHA-256 of all that decides the training, except seed and data."""
    own = {key: value for key, value in settings.items() if key not in _APART}
    options = {name: _named(value) for name, value in own.get("options", {}).items()}
    own["options"] = {**options, "seed": None}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _named(value: Any) -> Any:
    """Return the last part of a path, because folders differ between machines."""
    return value.rpartition("/")[2] if isinstance(value, str) else value
