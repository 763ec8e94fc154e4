"""What a file may give to a command: its options by name, and the kind of the values of each.

argparse says of an option whether it is a flag, a number or one of some choices. Texts are given to
the options that a table lists by name, since others are paths, hosts, code or other commands.
"""

from argparse import Action
from collections.abc import Mapping

from .plain_values import FLAG, NUMBER, WHOLE, ValueKind, one_of

Names = Mapping[str, ValueKind | None]  # of options -> their kind; None for those refused


def listed(table: Mapping[ValueKind | None, str]) -> Names:
    """Return name -> kind of a table kind -> names with blanks between."""
    return {name: kind for kind, names in table.items() for name in names.split()}


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
    return {int: WHOLE, float: NUMBER}.get(action.type, names.get(name))
