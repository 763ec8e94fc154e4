"""The project's commands: how to start, write and parse each of them."""

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence
from functools import cache

PACKAGE = __name__.partition(".")[0]


def command(name: str, *words: str) -> list[str]:
    """Return the argument list that starts a command in a new process with this Python.

    Args:
        name: verb and noun, such as ``plot gates``.
        words: its arguments.
    """
    return [sys.executable, "-m", PACKAGE, *name.split(), *words]


def written(name: str, *words: str) -> str:
    """Return a command as a person types it."""
    return shlex.join(["fairseq-plugins", *name.split(), *words])


def check_name(words: Sequence[str]) -> None:
    """Refuse words that name no command; the error gives the new name of a renamed command."""
    importlib.import_module(f"{PACKAGE}.cli.subcommands").find(words)


@cache
def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments.

    The command is found by name, because its file imports this room.
    """
    main = importlib.import_module(f"{PACKAGE}.cli.main")
    subcommands = importlib.import_module(f"{PACKAGE}.cli.subcommands")
    typed, file = subcommands.find(name.split())
    return main.make_parser(typed, subcommands.load(file))
