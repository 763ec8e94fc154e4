"""``fairseq-plugins SUBCOMMAND ...``: finds a subcommand, reads its arguments, runs it.

Without a subcommand the command prints the directory for fairseq's option:
``--user-dir "$(fairseq-plugins)"``; ``python -m fairseq_plugins`` is the same command.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from types import ModuleType
from typing import NoReturn

from .. import __version__
from ..errors import InputError
from ..installation import FAIRSEQ_MISSING
from ..quiet import silence_warnings
from . import command, subcommands
from .subcommands import PROGRAM

USAGE_ERROR = 2
# log messages of imports and drawing concern no user
CHATTY = ("fairseq.tasks.text_to_speech", "matplotlib")
HEAD = f"""usage: {PROGRAM} SUBCOMMAND [arguments]
       {PROGRAM} SUBCOMMAND --help
       {PROGRAM} --help | --version

Without a subcommand, print the directory for fairseq: --user-dir "$({PROGRAM})"

"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line, or other words; return the exit status."""
    words = sys.argv[1:] if words is None else list(words)
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser_for(os.environ.get("COMP_LINE", "").split()[1:]))
    if not words:
        return command.run(print_user_dir)
    if words[0] in ("-h", "--help"):
        return command.run(lambda: print(HEAD + subcommands.overview(), end=""))
    if words[0] == "--version":
        return command.run(lambda: print(f"{PROGRAM} {__version__}"))
    if words[0] in subcommands.GROUPS and words[1:2] in (["-h"], ["--help"]):
        return command.run(lambda: print(subcommands.overview(words[0]), end=""))
    try:
        typed, name = subcommands.find(words)
    except InputError as error:
        command.complain(error)
        return USAGE_ERROR
    return execute(typed, subcommands.load(name), words[len(typed) :])


def print_user_dir() -> int:
    """Print the package's directory; say how to install fairseq if missing."""
    from importlib.util import find_spec

    if find_spec("fairseq") is None:
        print(FAIRSEQ_MISSING, file=sys.stderr)
        return command.FAILED
    print(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    return 0


class Parser(argparse.ArgumentParser):
    """argparse's parser, with errors in one line that suggest similar options."""

    def error(self, message: str) -> NoReturn:
        known = [option for option in self._option_string_actions if option.startswith("--")]
        wrong = message.split() if message.startswith("unrecognized") else ()
        near = [one for word in wrong for one in get_close_matches(word, known, 1, 0.8)]
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        command.complain(f"{message}{hint} ({self.prog} --help lists all options)")
        self.exit(USAGE_ERROR)


def make_parser(typed: Sequence[str], module: ModuleType) -> argparse.ArgumentParser:
    """Return the parser of a subcommand."""
    parser = Parser(
        prog=" ".join([PROGRAM, *typed]),
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    return parser


def parse(
    parser: argparse.ArgumentParser, module: ModuleType, words: Sequence[str]
) -> argparse.Namespace:
    """Read a subcommand's arguments; words after ``--`` go to its `REST`."""
    rest = getattr(module, "REST", "")
    cut = words.index("--") if rest and "--" in words else len(words)
    start = argparse.Namespace()
    if getattr(module, "UNGIVEN", False):
        start = argparse.Namespace(**{action.dest: None for action in parser._actions})
        delattr(start, "help")
    args = parser.parse_args(words[:cut], start)
    if rest:
        setattr(args, rest, list(words[cut + 1 :]))
    return args


def execute(typed: Sequence[str], module: ModuleType, words: Sequence[str]) -> int:
    """Run a subcommand; an error is one line on standard error."""
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    silence_warnings()
    parser = make_parser(typed, module)
    args = parse(parser, module, words)

    def work() -> object:
        command.check_places({name: getattr(args, name) for name in getattr(module, "READ", ())})
        try:
            with command.patience(parser.prog):
                return module.run(args)
        except command.UsageError as error:
            return parser.error(str(error))

    values = [getattr(args, name) for name in getattr(module, "PLACES", ())]
    place = next((value[0] if isinstance(value, list) else value for value in values if value), "")
    return command.run(work, place, stopped=getattr(module, "STOPPED", ""))


def parser_for(typed: list[str]) -> argparse.ArgumentParser:
    """Return the parser for completion in a shell: subcommands, and arguments of the typed one."""
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


if __name__ == "__main__":
    sys.exit(main())
