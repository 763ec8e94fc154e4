"""Starts of parts that a model has beside a plain one, so that the rest of both starts equal.

Systems are compared over paired seeds: with one seed they shall differ by what sets them apart, not
by other numbers drawn for the head since a gate was drawn before it. What a variant has of its own
is therefore drawn from a generator of its own, and the one that all share goes on as if it were not
there.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def own_start(part: str) -> Iterator[None]:
    """Draw what is made inside from a generator of its own, which follows from the seed.

    Args:
        part: what it is, such as ``gate``: parts of other names draw other numbers. Parts of one
            name do as well, where the shared generator has moved between them.
    """
    shared = torch.get_rng_state()
    try:
        digest = hashlib.sha256(part.encode() + shared.numpy().tobytes()).digest()
        torch.default_generator.manual_seed(int.from_bytes(digest[:8], "big"))
        yield
    finally:
        torch.set_rng_state(shared)
