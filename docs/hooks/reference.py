"""The reference pages, made of what the program itself declares: commands, tasks, models and so on.

Every option comes from the parser that reads it: argparse's of a subcommand, and what fairseq makes
of a registered dataclass. Nothing here is written by hand, so nothing can be out of date.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Callable, Iterable

from fairseq_plugins.cli import main, subcommands
from fairseq_plugins.cli.options import is_public, split_options
from fairseq_plugins.option_flags import flag_of
from fairseq_plugins.registration import architectures_of_ours, ours, presets

HEAD = "| option | values | default | |\n|---|---|---|---|"
TITLES = {
    "tasks": ("Tasks", "--task"),
    "models": ("Models and architectures", "--arch"),
    "criterions": ("Criterions", "--criterion"),
    "optimizers": ("Optimisers", "--optimizer"),
    "schedules": ("Schedules", "--lr-scheduler"),
}
MISSING = "???"  # fairseq's word for an option that has to be given
MOST_DEFAULT = 60  # characters of a default that is shown


def pages() -> dict[str, str]:
    """Return the pages: path in the site -> Markdown."""
    made = {f"reference/{kind}.md": registered_page(kind) for kind in TITLES}
    return {"reference/commands.md": commands_page(), **made}


def command_parsers() -> dict[str, ArgumentParser]:
    """Return the parser of every subcommand, by the words that call it."""
    known = subcommands.subcommands().items()
    return {" ".join(w): main.make_parser(w, subcommands.load(name)) for w, name in known}


def commands_page() -> str:
    """Return the page of all subcommands: description, arguments, options."""
    parts = ["# Commands", "What `fairseq-plugins SUBCOMMAND --help` says, for every subcommand."]
    parts += [f"```\n{subcommands.overview()}```"]
    for words, parser in command_parsers().items():
        first, _, rest = (parser.description or "").strip().partition("\n")
        parts += [f"## {words}", prose(first)]
        if rest.strip():
            parts.append(f"```\n{textwrap.dedent(rest).strip()}\n```")
        parts.append(options_table(parser._actions))
    return "\n\n".join(parts) + "\n"


def registered_page(kind: str) -> str:
    """Return the page of a registry: each of our classes with its options."""
    title, flag = TITLES[kind]
    parts = [f"# {title}", f"What `{flag}` takes, with the options that come with it."]
    for name, cls in ours(kind).items():
        about = inspect.getmodule(cls) if kind == "models" else cls
        doc = inspect.cleandoc(about.__doc__ or "").partition("\n\n")[0]
        parts += [f"## {name}", prose(doc)]
        own, others = split_options(cls)
        parts.append(options_table(own) if own else "No options of its own.")
        if others:
            names = ", ".join(f"`{action.option_strings[0]}`" for action in others)
            parts.append(f"As in fairseq: {names}.")
        if kind == "models":
            parts += architectures(name)
    return "\n\n".join(parts) + "\n"


def architectures(model: str) -> list[str]:
    """Return what a model's architectures preset, of others than the first where they depart."""
    others = [name for name, of in architectures_of_ours().items() if of == model != name]
    base = presets(model)
    rows = ["| `--arch` | presets |", "|---|---|"]
    for name in (model, *others):
        own = presets(name)
        shown = {k: v for k, v in own.items() if name == model or base.get(k) != v}
        said = ", ".join(f"`{flag_of(k)} {v}`" for k, v in sorted(shown.items()))
        rows.append(f"| `{name}` | {said} |")
    return [f"Architectures: what they preset, others than `{model}` beside it.", "\n".join(rows)]


def options_table(actions: Iterable[Action]) -> str:
    """Return a table of options, a row each."""
    shown = [one for one in actions if "--help" not in one.option_strings and is_public(one)]
    return "\n".join([HEAD, *map(option_row, shown)])


def option_row(action: Action) -> str:
    """Return an option as a row: its flags, values, default, help."""
    flags = ", ".join(f"`{one}`" for one in action.option_strings) or f"`{_metavar(action)}`"
    text = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    cells = (flags, _values(action), _default(action), prose(text))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _metavar(action: Action) -> str:
    named = action.metavar or action.dest.upper()
    return " ".join(named) if isinstance(named, tuple) else str(named)


def _values(action: Action) -> str:
    if action.choices:
        return " ".join(f"`{one}`" for one in action.choices)
    if action.nargs == 0:
        return ""
    kind = action.type if isinstance(action.type, type) else None
    return {int: "integer", float: "number"}.get(kind, "text" if kind in (None, str) else "")


def _default(action: Action) -> str:
    value = action.default
    if value == MISSING or (action.required and action.option_strings):
        return "required"
    if value is None or value == SUPPRESS or action.nargs == 0:
        return ""
    text = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"`{text}`" if 0 < len(text) <= MOST_DEFAULT else ""


def prose(text: str) -> str:
    """Return a help text as Markdown: one line, with code where it has flags, names or brackets."""
    text = " ".join(text.replace("``", "`").split())
    return _outside_code(text, _marked)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") and len(p) > 1 else change(p) for p in pieces)


def _marked(text: str) -> str:
    text = re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)
    return _outside_code(text, lambda plain: re.sub(r"([\\*_<>\[\]#])", r"\\\1", plain))
