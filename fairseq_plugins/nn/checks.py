"""Refusals of values that modules of this room share."""

from __future__ import annotations

from collections.abc import Sequence


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        ValueError: names the value and the choices.
    """
    if value not in choices:
        raise ValueError(f"{name} {value!r}: choices are {', '.join(choices)}")


def check_least(name: str, value: int, least: int = 0) -> None:
    """Refuse a number that is too small.

    Raises:
        ValueError: names the value and the least.
    """
    if value < least:
        raise ValueError(f"a {name} of {value}: must be at least {least}")
