"""The options of a checkpoint as a closed record: known names, declared types, nothing that acts.

Whoever writes a checkpoint writes its options, and fairseq builds what they name, opens the files
that they name and resolves what they refer to, such as ``${oc.env:TOKEN}``. So nobody here hands
them on. What is taken are the fields of our own dataclasses, each of the type that is declared
there; the rest is left where it is.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import Field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from ..errors import InputError

PIPELINE = "spacy_model"  # what reads raw text: the user names it, a checkpoint does not
NAME = "_name"  # of what fairseq builds: for whoever asks to decide
LONGEST_TEXT = 10_000  # characters of an option, unless its metadata say otherwise ("longest")
LONGEST_LIST = 1_000
MOST_LAYERS = 1_000  # in options that count them
COUNTS = ("layers", "blocks")  # how the names of these end
REFERENCE = "${"  # begins what OmegaConf would resolve
MISSING = "???"  # is to OmegaConf a value that is to come, and an error where it is used
UNIONS = (Union, UnionType)
SHOWN = 60  # characters of a value in a message


def close(
    given: Mapping[str, Any],
    config_class: type,
    where: object,
    *,
    without: Collection[str] = (),
    before: Mapping[str, Any] = {},
) -> dict[str, Any]:
    """Take from options what a dataclass declares, as values that have been checked.

    An option that says nothing else than its own default is left out, and so is a None where none
    is declared; older checkpoints have some of these.

    Args:
        given: options by name, none of them resolved.
        config_class: dataclass of known names and their types.
        where: what they are from, for messages.
        without: names that are not taken.
        before: what an older checkpoint means by options that it does not have.

    Raises:
        InputError: a value of another type, one that refers to something else, or one out of
            bounds; names the option and what is expected.
    """
    given, found = {**before, **given}, {}
    for spec in fields(config_class):
        if spec.name not in given or spec.name in without or spec.name == NAME:
            continue
        value = given[spec.name]
        own_default = type(value) is str and value == spec.default
        if own_default or (value is None and not _fits(None, spec.type)):
            continue
        found[spec.name] = _checked(value, spec, where)
    return found


def _checked(value: Any, spec: Field, where: object) -> Any:
    """Return a value of the declared type, or InputError; see `close`."""
    if isinstance(value, str) and REFERENCE in value:
        raise InputError(
            f"{where}: option {spec.name!r} refers to something else ({REFERENCE}...}}); a "
            "checkpoint holds values alone, and nothing was looked up"
        )
    longest = spec.metadata.get("longest", LONGEST_TEXT)
    if isinstance(value, (str, list)) and len(value) > longest:
        raise InputError(f"{where}: option {spec.name!r} is longer than {longest:,}")
    if not _fits(value, spec.type) or value == MISSING or value != value:  # not a number
        raise InputError(
            f"{where}: option {spec.name!r} is {_shown(value)}, expected {_expected(spec.type)}"
        )
    if spec.name.endswith(COUNTS) and isinstance(value, int) and value > MOST_LAYERS:
        raise InputError(
            f"{where}: option {spec.name!r} is {value}, expected at most {MOST_LAYERS:,}"
        )
    return value


def _fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a declared type; numbers are exact but for an int as a float."""
    outer, inner = get_origin(kind), get_args(kind)
    if outer in UNIONS:
        return any(_fits(value, one) for one in inner)
    if outer is list:
        fits = isinstance(value, list) and len(value) <= LONGEST_LIST
        return fits and all(_fits(item, inner[0]) for item in value)
    if issubclass(kind, Enum):
        return type(value) is str and value in kind.__members__
    if kind is float:
        return type(value) is float or _fits(value, int)
    if kind is int:
        return type(value) is int and -(2**63) <= value < 2**63
    return type(value) is kind


def _expected(kind: Any) -> str:
    kinds = [one for one in get_args(kind) or (kind,) if one is not NoneType]
    if get_origin(kind) in UNIONS and len(kinds) == 1:
        return _expected(kinds[0])
    if get_origin(kind) is list:
        return f"a list of {get_args(kind)[0].__name__}"
    if issubclass(kind, Enum):
        return f"one of {', '.join(kind.__members__)}"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return names.get(kind, str(kind))


def _shown(value: Any) -> str:
    if not isinstance(value, (str, int, float, bool, NoneType)):
        return f"of type {type(value).__name__}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 2**63 else "a huge number"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def read_list(text: str | None, name: str) -> list[str]:
    """Read an option that holds several texts as JSON; None holds none.

    Raises:
        InputError: it is something else; ``name`` is named.
    """
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f"option {name!r} is {_shown(text)}, expected a JSON list of text")
    return found
