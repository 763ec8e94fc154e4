"""The commands of this project: how one is started, how it is written, what it takes."""

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence
from functools import cache

PACKAGE = __name__.partition(".")[0]


def command(name: str, *words: str) -> list[str]:
    """Return the words that start a command in a process of its own, with this Python.

    Args:
        name: verb and noun, such as ``plot gates``.
        words: its arguments.
    """
    return [sys.executable, "-m", PACKAGE, *name.split(), *words]


def written(name: str, *words: str) -> str:
    """Return a command as a person types it."""
    return shlex.join(["fairseq-plugins", *name.split(), *words])


def check_name(words: Sequence[str]) -> None:
    """Refuse words that name no command; InputError says what an old name is called now."""
    importlib.import_module(f"{PACKAGE}.cli.subcommands").find(words)


@cache
def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments.

    The command is found by its name, as a process that is started would find it: its file imports
    this room, not this room its file.
    """
    main = importlib.import_module(f"{PACKAGE}.cli.main")
    subcommands = importlib.import_module(f"{PACKAGE}.cli.subcommands")
    typed, file = subcommands.find(name.split())
    return main.make_parser(typed, subcommands.load(file))
