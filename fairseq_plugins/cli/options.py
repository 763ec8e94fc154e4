"""List the options of this project's tasks, architectures and criterions, with their defaults.

    fairseq-plugins options
    fairseq-plugins options text_classification
    fairseq-plugins options text_classification bert_sla_minilm

For an architecture, the defaults are those that it presets. Without a name, all names are listed,
also those of optimisers and learning rate schedules. `fairseq-train --help` prints fairseq's
options as well.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..errors import InputError
from ..messages import like
from ..option_flags import flag_of
from ..registration import architectures_of_ours, ours, parser_of_class, presets

WIDTH = 96  # columns
KINDS = {
    "tasks": "--task",
    "models": "--arch",
    "criterions": "--criterion",
    "optimizers": "--optimizer",
    "schedules": "--lr-scheduler",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="task, architecture, criterion, …")


def run(args: argparse.Namespace) -> None:
    """Print the requested options."""
    known = {kind: names_of(kind) for kind in KINDS}
    if not args.names:
        for kind, flag in KINDS.items():
            words = f"{flag} {', '.join(known[kind])}"
            print(textwrap.fill(words, WIDTH, subsequent_indent="    ", break_on_hyphens=False))
        return
    sections = [(name, kinds_of(name, known)) for name in args.names]
    print("\n\n".join(described(kind, name) for name, kinds in sections for kind in kinds))


def names_of(kind: str) -> list[str]:
    """Return our names for `--task`, `--arch` and so on."""
    return sorted(architectures_of_ours() if kind == "models" else ours(kind))


def kinds_of(name: str, known: Mapping[str, list[str]]) -> list[str]:
    """Return the kinds with a name: a task and its criterion may share one name."""
    kinds = [kind for kind, names in known.items() if name in names]
    if not kinds:
        near = like(name, {one for names in known.values() for one in names})
        hint = f"; like it: {near}" if near else ""
        raise InputError(f"{name!r} is no name of ours{hint} (`options` alone lists all)")
    return kinds


def described(kind: str, name: str) -> str:
    """Return the options of one registered class as text."""
    is_model = kind == "models"
    cls = ours(kind)[architectures_of_ours()[name] if is_model else name]
    preset = presets(name) if is_model else {}
    own, others = split_options(cls)
    lines = [f"{KINDS[kind]} {name}", *(line for one in own for line in shown(one, preset))]
    inherited = {action.dest for action in others}
    filled = [f"{flag_of(k)} {v}" for k, v in sorted(preset.items()) if k in inherited]
    for title, words in (
        ("as in fairseq, preset", filled),
        ("as in fairseq", [one.option_strings[0] for one in others if one.dest not in preset]),
    ):
        if words:
            text = f"{title}: {', '.join(words)}"
            lines.append(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines if len(lines) > 1 else [*lines, "  no options of its own"])


def split_options(cls: type) -> tuple[list[argparse.Action], list[argparse.Action]]:
    """Return a class's options: ours, and fairseq's inherited options."""
    inherited: set[str] = set()
    for above in cls.__mro__[1:]:
        if above.__module__.startswith("fairseq."):
            with suppress(TypeError, AttributeError, NotImplementedError):
                inherited |= {*parser_of_class(above)._option_string_actions}
    actions = parser_of_class(cls)._actions
    others = [one for one in actions if {*one.option_strings} & inherited]
    return [one for one in actions if one not in others and is_public(one)], others


def is_public(action: argparse.Action) -> bool:
    """Whether an option is shown to users."""
    return action.help != argparse.SUPPRESS


def shown(action: argparse.Action, preset: Mapping[str, object]) -> Iterator[str]:
    """Yield an option's lines: flags with choices and default, and its help."""
    flags = ", ".join(action.option_strings) or action.dest.upper()
    values = f" {{{','.join(map(str, action.choices))}}}" if action.choices else ""
    default = preset.get(action.dest, action.default)
    is_said = default not in (None, "", argparse.SUPPRESS) and action.nargs != 0
    needed = default == "???" or (action.required and action.option_strings)
    said = "  (required)" if needed else f"  [{default}]" if is_said else ""
    yield f"  {flags}{values}{said}"
    text = (action.help or "").replace("%%", "%").replace("%(default)s", str(default))
    if is_said:
        text = text.replace(" (default: as the architecture says)", "")
    yield from textwrap.wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
