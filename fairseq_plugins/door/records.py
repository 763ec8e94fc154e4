"""The options of a checkpoint as a closed record: known names, declared types, no effects.

The author of a checkpoint writes its options; fairseq builds the named classes, opens the named
files and resolves references such as ``${oc.env:TOKEN}``. So options are never passed on. Only
fields of our own dataclasses are read, each with its declared type; all others are ignored.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import Field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from ..errors import InputError

PIPELINE = "spacy_model"  # pipeline for raw text: the user names it, never a checkpoint
BY_USERS = (PIPELINE, "prefix")  # likewise
NAME = "_name"  # of the class that fairseq builds; the caller decides
LONGEST_TEXT = 10_000  # characters of an option, unless its metadata have another limit ("longest")
LONGEST_LIST = 1_000
MOST_LAYERS = 1_000  # in options that count layers
COUNTS = ("layers", "blocks")  # endings of the names of such options
REFERENCE = "${"  # beginning of a reference in OmegaConf
MISSING = "???"  # OmegaConf's missing value, an error when read
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
    """Return the options that a dataclass declares, with checked values.

    An option equal to its own default is left out, and so is an undeclared None; older checkpoints
    have some of these.

    Args:
        given: options by name, none resolved.
        config_class: dataclass of known names and their types.
        where: source of the options, for messages.
        without: ignored names.
        before: values of options that older checkpoints lack.
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
    """Return a value of the declared type; see `close`."""
    if isinstance(value, str) and REFERENCE in value:
        raise InputError(
            f"{where}: option {spec.name!r} refers to something else ({REFERENCE}...}}); a "
            "checkpoint holds values alone, and nothing was looked up"
        )
    longest = spec.metadata.get("longest", LONGEST_TEXT)
    if isinstance(value, (str, list)) and len(value) > longest:
        raise InputError(f"{where}: option {spec.name!r} is longer than {longest:,}")
    if not _fits(value, spec.type) or value == MISSING or value != value:  # the last test finds NaN
        raise InputError(
            f"{where}: option {spec.name!r} is {_shown(value)}, expected {_expected(spec.type)}"
        )
    if spec.name.endswith(COUNTS) and isinstance(value, int) and value > MOST_LAYERS:
        raise InputError(
            f"{where}: option {spec.name!r} is {value}, expected at most {MOST_LAYERS:,}"
        )
    return value


def _fits(value: Any, kind: Any) -> bool:
    """Tell whether a value has a declared type; an int may stand for a float."""
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
    """Read an option that holds several texts as JSON; None holds none."""
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f"option {name!r} is {_shown(text)}, expected a JSON list of text")
    return found
