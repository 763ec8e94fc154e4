"""What the placeholders in the arguments of an experiment's further steps stand for.

==========================  ======================================================================
``{runs}``                  folder of the experiment
``{runs:PART}``             folder of a part's runs
``{run:PART/SYSTEM}``       run of a system: its first seed, at the setting chosen on the validation
                            set, on the largest share of the training data
``{runs:PART/SYSTEM}``      all seeds of that setting: several arguments where it stands alone,
                            otherwise joined by commas
``{data:PART}``             prepared folder; of a run's part
``{raw:PART}``              folder of its raw files
``{after:STEP}``            what an earlier step left
``{file}``                  folder of the experiment's file
``{out}``                   folder of the step itself
==========================  ======================================================================

``PART`` may be left out of an experiment of one part. A system is called by its name in the file,
or without its size, so that a step goes on working when all systems get another size. An argument
that begins with ``?`` is left out where its runs are not there; without any other a whole step is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...messages import named
from ..plan.grid import SIZES
from ..results.runs import Outcomes, read_outcomes
from ..results.seeds import chosen_settings
from ..results.split_files import like
from ..run_files import AFTER, RESULT
from ..safe_files import files_below, is_file, refuse_links

DONE = "done.json"
MANIFEST = "manifest.json"  # of a prepared folder
PLACEHOLDER = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
OPTIONAL = "?"
_INNER = re.compile(r"/[^{}:,]*")  # behind a placeholder: a file of the folder
KINDS = ("runs", "run", "data", "raw", "after", "file", "out")
_ALONE, _WITH_NAME = ("file", "out"), ("run", "after")


class NotThere(LookupError):
    """What a step needs was not run, or was not given."""


@dataclass(frozen=True)
class PartPlaces:
    """Where everything about a part of an experiment lies.

    Args:
        runs: folder of its runs.
        data: prepared folder.
        raw: folder of its raw files, if it was given.
        outcomes: what its runs came to, if one is finished.
    """

    runs: Path
    data: Path
    raw: Path | None = None
    outcomes: Outcomes | None = None


def places_of(runs: str | Path, data: str | Path, raw: str | Path | None = None) -> PartPlaces:
    """Return the places of a part, with what its runs came to.

    Raises:
        ValueError: see `read_outcomes`.
    """
    try:
        outcomes = read_outcomes(runs)
    except FileNotFoundError:
        outcomes = None
    return PartPlaces(Path(runs), Path(data), Path(raw) if raw else None, outcomes)


@dataclass(frozen=True)
class Context:
    """What steps may speak of.

    Args:
        folder: of the experiment.
        parts: name -> where it lies.
        file: of the experiment.
    """

    folder: Path
    parts: Mapping[str, PartPlaces]
    file: Path = Path("experiment.yaml")

    def left_by(self, step: str) -> Path:
        """Return the folder of a step."""
        return self.folder / AFTER / step


@dataclass
class Filled:
    """Arguments without placeholders, and the files that they follow from."""

    arguments: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # they were, with placeholders
    sources: list[Path] = field(default_factory=list)


def check(argument: str, earlier: Sequence[str]) -> None:
    """Refuse an argument with a placeholder that is none.

    Args:
        argument: as the experiment's file gives it.
        earlier: names of the steps before.

    Raises:
        ValueError: says what is wrong, and the choices.
    """
    for found in PLACEHOLDER.finditer(argument):
        kind, name = found.groups()
        if kind not in KINDS:
            choices = ", ".join(f"{{{one}}}" for one in KINDS)
            raise ValueError(f"{argument!r}: no placeholder {{{kind}}}; choices: {choices}")
        if kind in _WITH_NAME and not name or kind in _ALONE and name is not None or name == "":
            right = f"{{{kind}}}" if kind in _ALONE else f"{{{kind}:NAME}}"
            raise ValueError(f"{argument!r}: {found[0]} should be {right}")
        if kind == "after" and name not in earlier:
            raise ValueError(
                f"{argument!r}: no step {name!r} before this one; choices: {named(earlier)}"
            )
    if set(PLACEHOLDER.sub("", argument)) & set("{}"):
        raise ValueError(f"{argument!r}: a brace belongs to no placeholder")


def fill(arguments: Sequence[str], context: Context, out: Path) -> Filled:
    """Put paths in the place of placeholders.

    Args:
        arguments: that `check` let pass.
        context: what they are taken from.
        out: folder of the step.

    Raises:
        NotThere: a part, system, raw folder or step that there is nothing of.
        ValueError: a name that several systems share.
    """
    filled = Filled()
    for argument in arguments:
        try:
            words, sources = _filled(argument.removeprefix(OPTIONAL), context, out)
        except NotThere:
            if argument.startswith(OPTIONAL):
                continue
            raise
        filled.arguments += words
        filled.words.append(argument.removeprefix(OPTIONAL))
        filled.sources += sources
    return filled


def _filled(argument: str, context: Context, out: Path) -> tuple[list[str], list[Path]]:
    """Return what an argument becomes, and the files that it follows from."""
    sources: list[Path] = []
    if found := PLACEHOLDER.fullmatch(argument):
        return [str(path) for path in _paths(found, context, out, sources)], sources
    words = ""
    end = 0
    for found in PLACEHOLDER.finditer(argument):
        paths = _paths(found, context, out, sources)
        words, end = words + argument[end : found.start()], found.end()
        if found[1] != "out" and (inner := _INNER.match(argument, end)):
            paths = [_inside(path, inner[0], must_be=found[1] != "file") for path in paths]
            end = inner.end()
        words += ",".join(map(str, paths))
    return [words + argument[end:]], sources


def _inside(folder: Path, inner: str, must_be: bool) -> Path:
    """Return what a step wants of a folder.

    Raises:
        NotThere: it has to be there, and is not.
        ValueError: it lies elsewhere, behind a link.
    """
    path = like(Path(f"{folder}{inner}"))
    if must_be and not path.exists():
        raise NotThere(f"{path} is not there")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path}: lies outside {folder}, behind a link")
    return path


def _paths(found: re.Match, context: Context, out: Path, sources: list[Path]) -> list[Path]:
    """Return what a placeholder stands for; adds the files that it follows from to ``sources``."""
    kind, name = found.groups()
    if kind == "out":
        return [out]
    if kind == "file":
        return [context.file.parent]
    if kind == "after":
        folder = context.left_by(name)
        if not (folder / DONE).is_file():
            raise NotThere(f"step {name!r} left nothing")
        refuse_links(context.folder, folder)
        sources.append(folder / DONE)
        return [folder]
    if kind == "runs" and name is None:
        sources += _results(context.folder)
        return [context.folder]
    part, system = _split(kind, name, context)
    places = context.parts[part]
    if kind == "data":
        sources.append(places.data / MANIFEST)
        return [places.data]
    if kind == "raw":
        if places.raw is None:
            raise NotThere(f"the raw files of {part!r} were not given")
        return [places.raw]
    if not system:
        sources += _results(places.runs)
        return [places.runs]
    runs = chosen_runs(places.outcomes, system, part)[: 1 if kind == "run" else None]
    sources += [path for run in runs for path in _files_of(run)]
    return runs


def _split(kind: str, name: str | None, context: Context) -> tuple[str, str]:
    """Return part and system of a placeholder; the system may be empty.

    Raises:
        NotThere: no such part was run.
        ValueError: no part is named, and there are several.
    """
    part, _, system = (name or "").partition("/")
    if part not in context.parts:
        if not part and len(context.parts) > 1:
            raise ValueError(f"{{{kind}}}: name a part: {named(context.parts)}")
        if system or len(context.parts) > 1 or (part and kind in ("data", "raw")):
            raise NotThere(f"no part {part!r} was run")
        part, system = next(iter(context.parts)), part  # of the only part
    if kind == "run" and not system:
        raise ValueError(f"{{{kind}:{name}}}: name a system of the part: {{{kind}:{part}/SYSTEM}}")
    return part, system


def chosen_runs(outcomes: Outcomes | None, system: str, part: str) -> list[Path]:
    """Return the folders of a system's runs at the setting chosen on the validation set, by seed.

    Raises:
        NotThere: no run of the system is finished.
        ValueError: it was run in several sizes, and the name says none.
    """
    names = set(outcomes.runs.system) if outcomes else set()
    if system not in names:
        sized = sorted(name for name in names if name in {f"{system}_{size}" for size in SIZES})
        if len(sized) > 1:
            raise ValueError(f"{part}/{system} is any of {named(sized)}: name one of them")
        if not sized:
            raise NotThere(f"no run of {system!r} on {part!r} is finished")
        system = sized[0]
    own = outcomes.runs[outcomes.runs.system == system]
    runs = chosen_settings(own, outcomes.metric)[system].runs
    return list(runs.sort_values("seed").folder)


def _results(folder: Path) -> Iterator[Path]:
    """Yield what all runs below a folder came to."""
    for result in files_below(folder):
        if result.name == RESULT and AFTER not in result.relative_to(folder).parts:
            yield from _files_of(result.parent)


def _files_of(run: Path) -> Iterator[Path]:
    """Yield what says what a run came to."""
    names = [RESULT, *sorted(path.name for path in run.glob("evaluation*.json"))]
    yield from (run / name for name in names if is_file(run / name))
