"""Options of a command as fields of a dataclass: help, choices and limits stand with each field.

    @dataclass
    class CutOptions:
        destdir: str = option("folder to write")
        workers: int = option("processes", CORES, least=1)
        tokenizer: str = option("what input lines are", "moses", choices=TOKENIZERS)

        def __post_init__(self) -> None:
            check(self)

`add_flags` makes a flag of every such field; `check` refuses values outside choices and limits.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, field, fields
from typing import Any

_KINDS = {"int": int, "float": float}


def option(
    text: str,
    default: Any = MISSING,
    *,
    choices: Collection[str] = (),
    least: float | None = None,
    most: float | None = None,
    short: str = "",
    required: bool | None = None,
) -> Any:
    """Make a field that is an option.

    Args:
        text: its help; ``{choices}`` in it stands for these, which else are its end.
        default: what it is when it is not given; without one it has to be given.
        choices: all values it may have, shown in its help.
        least: the smallest number it may be.
        most: the largest number it may be; needs ``least``.
        short: a second, short flag, e.g. ``-s``.
        required: whether the parser asks for it (default: where there is no default).
    """
    shown = " | ".join(filter(None, choices))
    text = text if "{choices}" in text or not choices else f"{text}: {{choices}}"
    metadata = {
        "help": text.replace("{choices}", shown),
        "choices": choices,
        "least": least,
        "most": most,
        "short": short,
        "required": default is MISSING if required is None else required,
    }
    return field(default=default, metadata=metadata)


def flag_of(name: str) -> str:
    """Return an option as it stands on the command line: ``--max-words`` for ``max_words``."""
    return f"--{name.replace('_', '-')}"


def add_flags(parser: Any, record: type, *, leave_out: Collection[str] = ()) -> None:
    """Add one flag an option; defaults come from the record.

    Args:
        parser: of argparse, or a group of one.
        record: dataclass; its fields that are no `option` get no flag.
        leave_out: options that get no flag.
    """
    for spec in fields(record):
        if not spec.metadata or spec.name in leave_out:
            continue
        names = [*filter(None, [spec.metadata["short"]]), flag_of(spec.name)]
        text = spec.metadata["help"]
        if spec.type == "bool":
            parser.add_argument(*names, action="store_true", help=text)
            continue
        settings: dict[str, Any] = {"type": _KINDS.get(str(spec.type), str)}
        if spec.default is MISSING:
            settings["required"] = spec.metadata["required"]
        else:
            settings["default"] = spec.default
            text += "" if spec.default in (None, "", ()) else f" (default: {spec.default})"
        parser.add_argument(*names, **settings, help=text.replace("%", "%%"))


def check(record: Any) -> None:
    """Refuse values of a record that are no choice or too small.

    Raises:
        ValueError: names the flag, the value, and the choices or the limit.
    """
    for spec in fields(record):
        value = getattr(record, spec.name)
        choices, least = spec.metadata.get("choices"), spec.metadata.get("least")
        most = spec.metadata.get("most")
        if choices and value not in choices:
            known = ", ".join(filter(None, choices))
            raise ValueError(f"{flag_of(spec.name)} {value!r}: choices are {known}")
        if most is not None and not least <= value <= most:
            raise ValueError(f"{flag_of(spec.name)} {value}: must be from {least} to {most}")
        if least is not None and not value >= least:
            raise ValueError(f"{flag_of(spec.name)} {value}: must be at least {least}")
