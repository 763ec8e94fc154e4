"""Versions of what a run depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("fairseq-plugins", "fairseq-fixed", "torch", "numpy", "sacrebleu", "spacy")


def versions() -> dict[str, str]:
    """Return package -> version, Python's first; those that are not there are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
