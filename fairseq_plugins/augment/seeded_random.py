"""Chance that depends on nothing but what it is named by."""

from __future__ import annotations

import hashlib
from random import Random


def dice_for(*parts: object) -> Random:
    """Return a generator that is the same wherever, whenever the same parts name it.

    Args:
        parts: seed, kind and content of what is drawn for.
    """
    key = "\t".join(map(str, parts))
    return Random(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big"))
