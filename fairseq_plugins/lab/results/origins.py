"""What the data of a run were made of, as its row says, and rows of otherwise made data or models.

A setting does not say which files were prepared, nor what parsed them. Paths and versions of
packages are left out, so that rows of several machines can be compared.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ...data.folder_names import TOKENIZE, WORD_LABELS
from ...messages import quoted
from ...syntax.layers import identity_line
from ..plan.prepare import SQUAD, TRANSLATION
from ..rows import Row

TRAINED, DEVICE = "trained", "device"  # keys of a row
ANNOTATOR, WORDS = "annotator", "words"  # keys of its `made_of`
_GIVEN, _BLANKS = "given", TOKENIZE[0]  # values of `WORDS`; the latter where older rows have none
_DIGITS = 12  # of a SHA-256
_APART = ("data", "validation_data", "system", "learning_rate", "epochs", "updates", "choice")
_APART += ("fraction", "translated")  # which are told by other keys, or by a setting


def made_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return input -> first digits of its SHA-256, and what annotated the text and cut it.

    Args:
        manifest: of a prepared folder.
    """
    inputs = manifest.get("inputs", {})
    found = {name: one["sha256"][:_DIGITS] for name, one in inputs.items() if one.get("sha256")}
    annotator = identity_line(manifest.get("annotator") or {})
    sides = manifest.get("segmentation") or {}
    cut = manifest.get("tokenize") or sides.get("source", {}).get("tokenizer")
    cut = _GIVEN if manifest.get("target") == WORD_LABELS else cut
    told = {ANNOTATOR: annotator, WORDS: cut}
    return found | {name: value for name, value in told.items() if value}


def cut_of(row: Row) -> str:
    """Return how text became words; given words, and older rows of texts, count as at blanks."""
    found = row.made_of.get(WORDS, _GIVEN)
    if found != _GIVEN:
        return found
    return "" if row.dataset in (SQUAD, TRANSLATION) else _BLANKS


def without_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a run that another seed has to share; of places their names."""
    options = {key: _named(value) for key, value in settings.get("options", {}).items()}
    translated = {key: _named(value) for key, value in settings.get("translated", {}).items()}
    own = {key: value for key, value in settings.items() if key != "seed"}
    own |= {"options": {**options, "seed": None}}
    return {**own, "translated": translated} if translated else own


def trained_with(settings: Mapping[str, Any]) -> str:
    """Return the first digits of a SHA-256 of what a run was trained with, but seed and data."""
    own = {key: value for key, value in without_seed(settings).items() if key not in _APART}
    text = json.dumps(own, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _named(value: Any) -> Any:
    """Return the last part of what looks like a path, which lies elsewhere on each machine."""
    return value.rpartition("/")[2] if isinstance(value, str) else value


def otherwise_made(runs: pd.DataFrame) -> Iterator[str]:
    """Say which rows have data made of something else than rows before them; once for each value.

    And which have a setting of rows before, but other options: seeds of one setting are averaged.
    And which were trained on another device; rows that do not say it count as trained on a CPU.
    Rows that do not say it are passed over. Systems may be trained on data of their own, with words
    of their own: all but what is scored and what annotates is compared within a setting.
    """
    first: dict[tuple, tuple[str, Any]] = {}
    told = set()
    for run in runs.itertuples():
        own = {**run.row.made_of, **({TRAINED: run.row.trained} if run.row.trained else {})}
        own |= {WORDS: cut} if (cut := cut_of(run.row)) else {}
        own[DEVICE] = run.row.device
        everywhere = (ANNOTATOR, WORDS, DEVICE, run.validation, run.evaluated)
        for name, value in own.items():
            shared = name.partition(".")[0] in everywhere
            about = name, None if shared else run.setting
            place, before = first.setdefault(about, (run.place, value))
            if value != before and (*about, repr(value)) not in told:
                told.add((*about, repr(value)))
                yield _said(run.place, place, name, value, before)


def _said(place: str, first: str, name: str, value: Any, before: Any) -> str:
    if name == TRAINED:
        return (
            f"{place}: trained with other options than {first}, which has the same setting (see "
            "their key 'command'): they are averaged as if they were the same"
        )
    if name == DEVICE:
        return (
            f"{place}: trained on {quoted(value)}, {first} on {quoted(before)}: the same seed "
            "draws other numbers there, so that pairs of seeds share less"
        )
    name = "words cut by" if name == WORDS else name
    return (
        f"{place}: its data were made of {name} {quoted(value)}, those of {first} of "
        f"{quoted(before)}: they are compared as if they were the same"
    )
