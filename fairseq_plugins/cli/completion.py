"""Completion in a shell, by argcomplete: subcommands, and the flags of the one that is typed."""

from __future__ import annotations

import argparse
import os

from . import subcommands


def complete() -> None:
    """Answer the shell and end the process."""
    import argcomplete

    argcomplete.autocomplete(parser_for(os.environ.get("COMP_LINE", "").split()[1:]))


def parser_for(typed: list[str]) -> argparse.ArgumentParser:
    """Return a parser of all subcommands; only the one that is typed declares its arguments."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    nouns = {}
    for words, name in subcommands.subcommands().items():
        *group, last = words
        if group and group[0] not in nouns:
            nouns[group[0]] = verbs.add_parser(group[0]).add_subparsers()
        one = (nouns[group[0]] if group else verbs).add_parser(last, help=subcommands.summary(name))
        if tuple(typed[: len(words)]) == words:
            subcommands.load(name).add_arguments(one)
    return parser
