"""A rule that holds for many files is one test: where it fails, it names all files it fails for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(values: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a function of one value and fixtures, which is called with each value."""

    def made(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            wrong = {}
            for value in values:
                try:
                    check(value, **fixtures)
                except (Exception, SystemExit) as error:
                    wrong[value] = error
            if wrong:
                told = [f"{value}: {error!r}" for value, error in wrong.items()]
                raise AssertionError("\n".join(told)) from [*wrong.values()][0]

        _, *others = inspect.signature(check).parameters.values()
        test.__signature__ = inspect.Signature(others)  # by which pytest knows the fixtures
        return test

    return made
