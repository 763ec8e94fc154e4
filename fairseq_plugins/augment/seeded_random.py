"""Randomness that depends only on the values that name it."""

import hashlib
from random import Random


def random_for(*parts: object) -> Random:
    """Return a generator that is the same on every machine and in every order of the work.

    Args:
        parts: seed, kind and content of what is drawn for.
    """
    key = "\t".join(map(str, parts))
    return Random(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big"))
