"""What the files of a translated split are called: ``generate.test.log``, ``score.test.json`` ...

Runs of earlier releases have ``generate.log``, of whatever split was translated last; what split
that was stands in their ``evaluation.json``. They are found as well, and not translated again.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..safe_files import is_file, read_text

EVALUATION, GENERATED, SCORE = "evaluation.json", "generate.log", "score.json"
_NAMES = re.compile(r"(generate|score|evaluation)(?:\.([\w-]+))?\.(log|json)")


def of_split(name: str, split: str) -> str:
    """Return what a file is called for a split: ``generate.log`` becomes ``generate.test.log``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{split}.{suffix}"


def find(folder: Path, name: str, split: str) -> Path:
    """Return a file of a split by its name, or by the old one if it is of this split.

    Args:
        folder: of the run.
        name: the old name.
        split: that was translated.
    """
    own, old = folder / of_split(name, split), folder / name
    return old if not is_file(own) and is_file(old) and _split_of(folder) == split else own


def evaluation_of(folder: Path, result: Mapping[str, Any]) -> Path:
    """Return the file with a run's metrics on the split that it was tried on.

    Args:
        folder: of the run.
        result: what its ``result.json`` says; of translation it names the split.
    """
    about = result.get("translated")
    split = about.get("split") if isinstance(about, Mapping) else None
    named_well = isinstance(split, str) and re.fullmatch(r"[\w-]+", split)
    return find(folder, EVALUATION, split) if named_well else folder / EVALUATION


def like(path: Path) -> Path:
    """Return a file, or, where it is not there, the same one by its older or newer name."""
    found = _NAMES.fullmatch(path.name)
    if not found or path.exists():
        return path
    name = f"{found[1]}.{found[3]}"
    if found[2]:
        return find(path.parent, name, found[2])
    others = sorted(path.parent.glob(f"{found[1]}.*.{found[3]}"))
    return others[0] if len(others) == 1 else path


def _split_of(folder: Path) -> str:
    """Return the split behind files with the old names."""
    try:
        return str(json.loads(read_text(folder / EVALUATION))["of"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
