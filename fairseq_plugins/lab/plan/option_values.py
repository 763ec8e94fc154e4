"""Options and their values, read from a file or a command line, and spelt out for one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...messages import quoted
from .strict_yaml import parse_yaml

Options = dict[str, Any]
_NAME = re.compile(r"[A-Za-z][\w-]*")


def check_choice(key: Any, values: list[Any]) -> None:
    """Refuse a choice whose values are not all different, or cannot stand in a folder's name."""
    names = [str(value) for value in values]
    single = all(isinstance(value, (str, int, float)) for value in values)
    if not single or not names or len(set(names)) < len(names):
        raise ValueError(f"option {quoted(key)}: {quoted(values)} is no list of different values")
    if any(Path(name).name != name for name in names):
        raise ValueError(f"option {quoted(key)}: {quoted(values)} holds no name for a folder")


def read_assignments(words: Sequence[str]) -> Options:
    """Read ``name=value`` of a command line; values as YAML has them, an empty one is None."""
    return {name: _value(name, text) for name, text in map(_split, words)}


def read_choices(words: Sequence[str]) -> dict[str, list[Any]]:
    """Read ``name=value,value`` of a command line."""
    found = {}
    for name, text in map(_split, words):
        found[name] = [_value(name, value) for value in text.split(",")]
        check_choice(name, found[name])
    return found


def _split(word: str) -> tuple[str, str]:
    name, sign, text = word.partition("=")
    if not sign or not _NAME.fullmatch(name):
        raise ValueError(f"{quoted(word)} is not NAME=VALUE, with the name of an option")
    return name, text


def _value(name: str, text: str) -> Any:
    if text.startswith("--"):
        raise ValueError(f"option {quoted(name)}: {quoted(text)} is an option, not a value")
    try:
        value = parse_yaml(text, "value")
    except ValueError:
        raise ValueError(f"{quoted(text)} is no value") from None
    if not isinstance(value, str | int | float | None):
        raise ValueError(f"option {quoted(name)}: {quoted(value)} is no single value")
    return value


def command_line(options: Options) -> list[str]:
    """Spell options out; True is a bare flag, False and None are left out."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(str(value))
    return words
