"""Preparations that are stopped at a chosen moment, as by a kill."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


class Stopped(BaseException):
    """Stands for a kill that comes at a chosen moment."""


def stop_now(*args, **kwargs):
    raise Stopped


@contextlib.contextmanager
def stopped_at(
    monkeypatch: pytest.MonkeyPatch, module: Any, step: str, *, after: bool
) -> Iterator[None]:
    """Expect that what is done within is stopped at a step.

    Args:
        monkeypatch: undone at the end.
        module: that calls the step.
        step: name of a function of the module, or of something in it, ``owner.name``.
        after: whether it is stopped after the step has been done, or before.
    """
    owner, _, name = step.rpartition(".")
    place = getattr(module, owner) if owner else module
    original = getattr(place, name)

    def stop(*args, **kwargs):
        if after:
            made = original(*args, **kwargs)
            if isinstance(made, Iterator):  # which has done nothing yet
                list(made)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(place, name, stop)
        with pytest.raises(Stopped):
            yield
