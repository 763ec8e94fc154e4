"""What a file may give to a command: its options by name, and the kind of the values of each.

argparse says of an option whether it is a flag, a number or one of some choices. Texts are given to
the options that a table lists by name, since others are paths, hosts, code or other commands.
Whoever wants more gives it on the command line.
"""

from argparse import Action
from collections.abc import Iterable, Mapping
from typing import Any

from ...messages import like, quoted
from .plain_values import FLAG, NUMBER, WHOLE, ValueKind, either, one_of

Kinds = Mapping[str, ValueKind]  # of the options that a file may give
Names = Mapping[str, ValueKind | None]  # of options that are listed; None for those refused


def listed(table: Mapping[ValueKind | None, str]) -> Names:
    """Return name -> kind of a table kind -> names with blanks between."""
    return {name: kind for kind, names in table.items() for name in names.split()}


def kinds_of(actions: Iterable[Action], names: Names) -> Kinds:
    """Return name -> kind of what a file may give; of an option of several parsers either kind."""
    found: dict[str, ValueKind] = {}
    for action in actions:
        if kind := kind_of(action, names):
            name = name_of(action)
            found[name] = either(found.get(name, kind), kind)
    return found


def name_of(action: Action) -> str:
    """Return what an option is called: its flag without ``--``, or the argument that has none."""
    flags = [one for one in action.option_strings if one.startswith("--")]
    return flags[0].removeprefix("--") if flags else action.dest


def kind_of(action: Action, names: Names) -> ValueKind | None:
    """Return the kind of an option's values; None where a file may not give it."""
    name = name_of(action)
    if names.get(name, FLAG) is None:
        return None
    if action.nargs == 0:
        return FLAG
    if action.choices:
        return one_of(map(str, action.choices), alone=action.nargs == "?")
    return WHOLE if action.type is int else NUMBER if action.type is float else names.get(name)


def check_options(
    options: Mapping[Any, Any], kinds: Kinds, otherwise: str, *, is_open: bool = False
) -> None:
    """Refuse options that are none of those that a file may give, or have another kind of value.

    Args:
        options: as the file gives them.
        kinds: of those that it may give.
        otherwise: what to do instead, for the message.
        is_open: whether a list is a choice, all of whose values are looked at, and None takes an
            option away.
    """
    for key, given in options.items():
        if key not in kinds:
            near = like(key, kinds)
            hint = f" (like it: {near})" if near else ""
            name = f"option {quoted(str(key), 100)}"
            raise ValueError(f"{name}: not among those that a file may give{hint}; {otherwise}")
        try:
            for value in given if is_open and isinstance(given, list) else [given]:
                if value is not None or not is_open:
                    kinds[key].check(value)
        except ValueError as error:
            raise ValueError(f"option {key!r}: {error}") from None
