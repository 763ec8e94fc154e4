"""Initial values of a variant's own parts, such that all common parts start equal.

Systems are compared over paired seeds: with one seed they should differ only in their own parts,
not in the head because a gate was drawn before it. A variant's own parts are therefore drawn from a
separate generator, and the common generator continues as if they were absent.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def own_start(part: str) -> Iterator[None]:
    """Draw everything inside the context from a separate generator, derived from the seed.

    Args:
        part: name, such as ``gate``: other names draw other numbers. Equal names do too if the
            shared generator has moved between them.
    """
    shared = torch.get_rng_state()
    try:
        digest = hashlib.sha256(part.encode() + shared.numpy().tobytes()).digest()
        torch.default_generator.manual_seed(int.from_bytes(digest[:8], "big"))
        yield
    finally:
        torch.set_rng_state(shared)
