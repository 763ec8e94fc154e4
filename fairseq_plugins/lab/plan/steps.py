"""Steps after an experiment's runs: commands of this project with their options, as typed values.

    after:
      - name: gates
        command: plot gates
        options: {checkpoints: ["{runs:cola/bert_sla}"], out: "{out}/gates"}

A command's options, and what stands on its command line without one, are those of its own parser,
by their names. A step may give numbers, flags and choices, and those of the texts that stand in
the lists here: others start commands, load packages or are paths. A file to read begins with a
placeholder (`execution.step_places`) and goes down from there; a step writes into ``{out}`` alone.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, model_validator

from ...messages import named, quoted
from ..commands import parser_of, written
from . import plain_values as of
from .option_values import check_option

COMMANDS = (
    *("analyze-questions", "answer", "cases", "compare", "perturb", "plot attention"),
    *("plot coattention", "plot fractions", "plot gates", "predict", "robustness", "score"),
    *("score-answers", "table"),
)
OPTIONAL = "?"  # before a place: what is left out where nothing is there
_WRITTEN = "out output output-dir submission-dir metrics html plot json".split()
_READ = (
    "against backward checkpoint checkpoints context data ensemble folder folders forward gold ids "
    "input null-odds path predictions raw-dir ref sets src sys systems"
).split()
_TEXTS = "id names pair positive question sentence text".split()
_WORDS = (
    "attention better dataset direction fields first format head input-format lang layout "
    "long-examples metric missing ref-tokenized split subwords test tokenized transformations "
    "untouched"
).split()
_LEFT_OUT = ("help", "workers")

_INNER = r"(?:/(?!\.)[^/\\{}:,=\x00-\x1f\x7f]+)*/?"  # behind a placeholder: goes down only
_PLACE = rf"\{{(?:(?:runs|data|raw)(?::[^{{}}:]+)?|(?:run|after):[^{{}}:]+|file|out)\}}{_INNER}"
_PLACES = re.compile(
    rf"\??(?:[^-?={{}}:,\x00-\x1f\x7f][^={{}}:,\x00-\x1f\x7f]*=)?{_PLACE}(?:[:,]{_PLACE})*"
)
PLACE = of.matching(
    _PLACES.fullmatch,
    "a place: {runs}, {runs:NAME}, {run:NAME}, {data}, {raw}, {after:STEP}, {file} or {out}, and "
    "/names that go down from there; several with , or : between; NAME= may stand before",
)
_WITHIN_OUT = re.compile(rf"\{{out\}}{_INNER}")
OUT = of.matching(_WITHIN_OUT.fullmatch, "{out}/...: a step writes into its own folder")
_STEP_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,99}")
_STEP = of.matching(_STEP_NAME.fullmatch, "a name of letters, digits, - and _")


@dataclass(frozen=True)
class StepOption:
    """An option of a command that a step may give."""

    kind: of.ValueKind  # of each value
    count: int | str | None  # of values, as argparse has it; a number: of each of several lists
    flag: str  # on the command line; empty for what stands there by its place
    is_required: bool  # whether the command asks for it

    def check(self, value: Any) -> None:
        """Refuse a value of another kind, or more or fewer than the option takes.

        Raises:
            ValueError: says what would fit.
        """
        several = value if isinstance(value, list) else [value]
        if isinstance(self.count, int):
            if not all(isinstance(one, list) and len(one) == self.count for one in several):
                raise ValueError(f"{quoted(value)} is no list of lists of {self.count}")
            several = [word for one in several for word in one]
        elif isinstance(value, list) and self.count != "+":
            raise ValueError(f"{quoted(value)}: one value, no list")
        if not several:
            raise ValueError("expected at least one value")
        for one in several:
            if not (one is True and self.count == "?"):
                self.kind.check(one)

    def words(self, values: Sequence[Any]) -> list[str]:
        """Spell values out for the command line, the flag before them."""
        if isinstance(self.count, int):
            return [word for pair in values for word in (self.flag, *map(str, pair))]
        if values[0] is False:
            return []
        given = [str(value) for value in values if value is not True]
        return [*filter(None, [self.flag]), *given]


@cache
def options_of(command: str) -> dict[str, StepOption]:
    """Return name -> option of what a step may give to a command; in the order of its words."""
    found = {}
    for action in parser_of(command)._actions:
        flag = next((one for one in action.option_strings if one.startswith("--")), "")
        name = flag.removeprefix("--") or action.dest
        if kind := _kind_of(action, name):
            count = None if kind is of.FLAG else action.nargs
            found[name] = StepOption(kind, count, flag, action.required)
    return found


def _kind_of(action: argparse.Action, name: str) -> of.ValueKind | None:
    """Return the kind of an option's values; None for one that a step may not give."""
    if name in _LEFT_OUT or action.dest in _LEFT_OUT:
        return None
    if action.nargs == 0:
        return of.FLAG
    if action.choices:
        return of.one_of(map(str, action.choices))
    if action.type in (int, float):
        return of.WHOLE if action.type is int else of.NUMBER
    known = ((OUT, _WRITTEN), (PLACE, _READ), (of.TEXT, _TEXTS), (of.WORD, _WORDS))
    return next((kind for kind, names in known if name in names), None)


class AfterStep(BaseModel):
    """A command that is called with an experiment's runs."""

    model_config = of.CLOSED

    name: Annotated[str, _STEP]  # of its folder
    command: Annotated[str, of.one_of(COMMANDS)]
    options: dict[str, Any] = {}  # name -> value or values, with placeholders

    @model_validator(mode="after")
    def _fits_its_command(self) -> AfterStep:
        known = options_of(self.command)
        for key, value in self.options.items():
            check_option(key, value, known, f"{self.command} takes {', '.join(known)}")
        for key, option in known.items():
            if option.is_required and key not in self.options:
                raise ValueError(f"{self.command}: option {key!r} is missing")
        return self

    def __str__(self) -> str:
        """Return its command, placeholders and all."""
        return f"after: {self.name}: {written(self.command, *self.words(self.options))}"

    def words(self, options: dict[str, Any]) -> list[str]:
        """Spell options of its command out, what stands by its place first."""
        known = options_of(self.command)
        order = sorted(known, key=lambda name: bool(known[name].flag))
        given = {name: v if isinstance(v, list) else [v] for name, v in options.items()}
        return [word for name in order if name in given for word in known[name].words(given[name])]


def read_steps(entries: Any, place: str) -> tuple[AfterStep, ...]:
    """Read ``after`` of an experiment's file, which stands at ``place``; None for no steps.

    Raises:
        ValueError: what is wrong with which step, and what could stand there.
    """
    steps: list[AfterStep] = []
    for number, entry in enumerate(of.read_as(list | None, entries, place) or [], start=1):
        where, earlier = f"{place}: step {number}", [step.name for step in steps]
        step = of.read_as(AfterStep, entry, where)
        if step.name in earlier:
            raise ValueError(f"{where}: {quoted(step.name)} is the name of an earlier step")
        for left in re.findall(r"\{after:([^{}]*)\}", str(step.options)):
            if left not in earlier:
                choices = named(earlier)
                raise ValueError(f"{where}: no step {left!r} before this one; choices: {choices}")
        steps.append(step)
    return tuple(steps)
