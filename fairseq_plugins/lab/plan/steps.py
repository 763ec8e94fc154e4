"""Steps after an experiment's runs: a step is a list of words of one of our own commands.

    after:
      gates: [plot, gates, "{runs:cola/bert_sla}", --output, "{out}/gates"]

The command's own parser reads the words, never a shell. A step may give numbers, flags, choices,
and texts for the options that are listed here; other texts start commands, load packages or are
paths. An input file begins with a placeholder (`execution.after`) and lies below its folder; a step
writes only into ``{out}``. ``?`` before a placeholder makes the word optional.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

from ...errors import InputError
from ...messages import named, quoted
from ..commands import check_name, parser_of, written
from .allowed import kind_of, listed
from .values import LINE, NUMBER, TEXT, WHOLE, WORD, Kind, matching
from .yaml_file import read_as

COMMANDS = (
    *("answer", "compare", "perturb", "plot attention", "plot coattention"),
    *("plot gates", "predict", "results table", "robustness", "score"),
)
OPTIONAL = "?"  # before an optional place
_INNER = r"(?:/(?!\.)[^/\\{}:,=\x00-\x1f\x7f]+)*/?"  # behind a placeholder: only descends
_PLACE = rf"\{{(?:(?:runs|data|raw)(?::[^{{}}:]+)?|(?:run|after):[^{{}}:]+|out)\}}{_INNER}"
_PLACES = re.compile(
    rf"\??(?:[^-?={{}}:,\x00-\x1f\x7f][^={{}}:,\x00-\x1f\x7f]*=)?{_PLACE}(?:[:,]{_PLACE})*"
)
_OUT = re.compile(rf"\{{out\}}{_INNER}")
_NAMED = re.compile(r"[A-Za-z0-9][\w-]{0,99}")
_WITH_VALUE = re.compile(r"-[^=]*=.*")
PLACE = matching(
    _PLACES.fullmatch,
    "a place: {runs}, {runs:NAME}, {run:NAME}, {data}, {raw}, {after:STEP} or {out}, and "
    "/names that go down from there; several with , or : between; NAME= may stand before",
)
OUT = matching(_OUT.fullmatch, "{out}/...: a step writes into its own folder")
_TEXT = Kind(TEXT.said, lambda value: TEXT.fits(value) and not PLACE.fits(value))
NAMES = listed(
    {
        None: "help tune-thresholds workers",
        OUT: "output submission-dir metrics html json",
        PLACE: "backward checkpoint checkpoints context data ensemble folder folders "
        "forward gold ids input null-odds predictions raw-dir ref sets src sys systems",
        _TEXT: "id pair positive question reference sentence text",
        WORD: "dataset fields head lang layout split transformations untouched",
    }
)
_STEP = matching(_NAMED.fullmatch, "a name of letters, digits, - and _")
_WORD = Kind(
    "a word by itself, in quotes if need be",
    lambda one: NUMBER.fits(one) or LINE.fits(one) and not _WITH_VALUE.fullmatch(one),
)
_NOTHING = Kind("for a step to say", lambda value: False)


class AfterStep(NamedTuple):
    """A command that runs after an experiment's runs."""

    name: str  # of its folder
    words: tuple[str, ...]  # of its command line, with placeholders

    def __str__(self) -> str:
        """Return the command with its placeholders."""
        return f"after: {self.name}: {written(*self.words)}"


def read_steps(entries: Any, place: str) -> tuple[AfterStep, ...]:
    """Read ``after`` of an experiment file; None means no steps."""
    if isinstance(entries, list):
        raise InputError(f"{place}: a step is NAME: [COMMAND, WORD, ...]")
    steps: dict[str, AfterStep] = {}
    for name, words in (read_as(dict[str, list] | None, entries, place) or {}).items():
        try:
            step = AfterStep(_STEP.check(name), tuple(str(_WORD.check(word)) for word in words))
            check_words(step.words)
            for left in re.findall(r"\{after:([^{}]*)\}", " ".join(step.words)):
                if left not in steps:
                    raise InputError(f"no step {left!r} before this one; choices: {named(steps)}")
        except InputError as error:
            raise InputError(f"{place}: {quoted(name)}: {error}") from None
        steps[name] = step
    return tuple(steps.values())


def check_words(words: Sequence[str]) -> None:
    """Refuse words of other commands, and words that the parser or the lists here refuse."""
    command = next((one for one in COMMANDS if [*words[: len(one.split())]] == one.split()), None)
    if command is None:
        check_name(words)
        raise InputError(f"{quoted(' '.join(words[:2]))} is not one of {', '.join(COMMANDS)}")
    _reader(command).parse_args(words[len(command.split()) :])


@cache
def _reader(command: str) -> Any:
    """Return a command's parser that raises `InputError`, also for options a step lacks."""

    def refuse(message: str = "--help is no step") -> NoReturn:
        raise InputError(f"{command}: {message}")

    parser: Any = parser_of.__wrapped__(command)
    parser.error, parser.print_help = refuse, refuse
    for action in parser._actions:
        action.default, kind = None, kind_of(action, NAMES)
        if kind not in (WHOLE, NUMBER):
            action.type = (kind or _NOTHING).check
    return parser
