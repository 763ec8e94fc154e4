"""Options of a command as fields of a dataclass, with help, choices and limits of each field.

    @dataclass
    class CutOptions:
        destdir: str = option("folder to write")
        workers: int = option("processes", CORES, least=1)
        tokenizer: str = option("what input lines are", "moses", choices=TOKENIZERS)

        def __post_init__(self) -> None:
            check(self)

`add_flags` makes a flag of every such field; `check` refuses values outside choices and limits.
"""

from collections.abc import Collection, Iterable
from dataclasses import MISSING, Field, field, fields
from enum import Enum
from math import inf
from typing import Any, get_args, get_type_hints

from .errors import InputError

_KINDS = {int: int, int | None: int, float: float, float | None: float}


class Choice(str, Enum):
    """A value of an option with few values; equals its text."""

    __str__ = str.__str__


def choice(values: Iterable[str]) -> type[Choice]:
    """Return the type of an option with these values, as fairseq's parser reads it."""
    made: Any = Choice("Choices", {value: value for value in values})
    return made


def option(
    text: str,
    default: Any = MISSING,
    *,
    choices: Collection[str] = (),
    least: float | None = None,
    most: float | None = None,
    short: str = "",
    alias: str | None = None,
    metavar: str | None = None,
    positional: bool = False,
    required: bool | None = None,
) -> Any:
    """Make a field that is an option.

    Args:
        text: help; ``{choices}`` stands for the choices, which otherwise end the help.
        default: without a default the option must be given.
        choices: all possible values, shown in the help.
        least, most: limits of a number; ``most`` needs ``least``.
        short: a second, short flag, e.g. ``-s``.
        alias: another spelling of the flag, also in fairseq's own parser.
        metavar, positional: name of the value in the help; whether the option has no flag.
        required: whether the parser requires the option (default: if there is no default).
    """
    text = text if "{choices}" in text or not choices else f"{text}: {{choices}}"
    metadata = {
        "help": text.replace("{choices}", " | ".join(filter(None, choices))),
        "choices": choices,
        "least": least,
        "most": most,
        "short": short,
        "argparse_alias": alias,
        "metavar": metavar,
        "positional": positional,
        "required": default is MISSING if required is None else required,
    }
    return field(default=default, metadata=metadata)


def flag_of(name: str) -> str:
    """Return an option as on the command line: ``--max-words`` for ``max_words``."""
    return f"--{name.replace('_', '-')}"


def add_flags(
    parser: Any, record: type, *, leave_out: Collection[str] = (), strict: bool = False
) -> None:
    """Add a flag for each option of a dataclass, with its default.

    Args:
        parser: argparse's, or a group.
        record: dataclass; fields that are no `option` get no flag.
        leave_out: options without a flag.
        strict: whether the parser itself checks choices.
    """
    kinds = get_type_hints(record)
    for spec in fields(record):
        if not spec.metadata or spec.name in leave_out:
            continue
        spelt = (spec.metadata["short"], flag_of(spec.name), spec.metadata["argparse_alias"])
        names = [*filter(None, spelt)]
        text = spec.metadata["help"].replace("%", "%%")
        if spec.metadata["positional"]:
            parser.add_argument(spec.name, metavar=spec.metadata["metavar"], help=text)
            continue
        if kinds[spec.name] is bool:
            parser.add_argument(*names, action="store_true", help=text)
            continue
        kind = _KINDS.get(kinds[spec.name], str)
        settings: dict[str, Any] = {"type": kind, "metavar": spec.metadata["metavar"]}
        if strict and spec.metadata["choices"]:
            settings["choices"] = [*filter(None, spec.metadata["choices"])]
        if spec.default is MISSING:
            settings["required"] = spec.metadata["required"]
        else:
            settings["default"] = "" if spec.default == () else spec.default
            text += "" if spec.default in (None, "", ()) else f" (default: {spec.default})"
        parser.add_argument(*names, **settings, help=text)


def check(record: Any, declared: type | None = None) -> None:
    """Refuse values of a record outside choices and limits, or not finite; None is no value.

    Args:
        record: holds the values.
        declared: dataclass of the options, if the record is of another type.
    """
    for spec in fields(declared or record):
        choices, least = _choices(spec), spec.metadata.get("least")
        most = spec.metadata.get("most")
        value = getattr(record, spec.name, None) if choices or least is not None else None
        if value is None:  # not given, or not limited
            continue
        if choices and value not in choices:
            known = ", ".join(filter(None, choices))
            raise InputError(f"{flag_of(spec.name)} {value!r}: choices are {known}")
        if most is not None and not least <= value <= most:
            raise InputError(f"{flag_of(spec.name)} {value}: must be from {least} to {most}")
        if least is not None and not least <= value < inf:
            finite = "" if value < least else ", and finite"
            raise InputError(f"{flag_of(spec.name)} {value}: must be at least {least}{finite}")


def _choices(spec: Field) -> Collection[str]:
    """Return an option's choices, perhaps from its enumeration."""
    kinds = [one for one in (spec.type, *get_args(spec.type)) if isinstance(one, type)]
    held = [one.value for kind in kinds if issubclass(kind, Enum) for one in kind]
    return spec.metadata.get("choices") or held
