"""What the placeholders in the words of an experiment's steps stand for.

==========================  ======================================================================
``{runs}``                  folder of the experiment
``{runs:PART}``             folder of a part's runs
``{run:PART/SYSTEM}``       run of a system: its first seed, at the setting chosen on the validation
                            set, on the largest share of the training data
``{runs:PART/SYSTEM}``      all seeds of that setting: a word each, or joined by commas where
                            something stands before, such as ``NAME=``
``{data:PART}``             prepared folder; of a run's part
``{raw:PART}``              folder of its raw files
``{after:STEP}``            what an earlier step left
``{file}``                  folder of the experiment's file
``{out}``                   folder of the step itself
==========================  ======================================================================

``PART`` may be left out of an experiment of one part. A system is called by its name in the file,
or without its size, so that a step goes on working when all systems get another size. A word that
begins with ``?`` is left out where its runs are not there; without any other, or where what is left
is no command, a whole step is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...messages import named
from ..plan.grid import SIZES
from ..plan.steps import OPTIONAL, PLACE, AfterStep, check_words
from ..results.runs import Outcomes, read_outcomes
from ..results.seeds import chosen_settings
from ..run_files import AFTER, RESULT
from ..safe_files import files_below, is_file, refuse_links

DONE = "done.json"
MANIFEST = "manifest.json"  # of a prepared folder
_PLACEHOLDER = re.compile(r"\{([a-z]+)(?::([^{}]*))?\}(/[^{}:,]*)?")


class NotThere(LookupError):
    """What a step needs was not run, or was not given."""


@dataclass(frozen=True)
class PartPlaces:
    """Where everything about a part of an experiment lies."""

    runs: Path  # folder of its runs
    data: Path  # prepared folder
    raw: Path | None = None  # folder of its raw files, if it was given

    @cached_property
    def outcomes(self) -> Outcomes | None:
        """What its runs came to, if one is finished; ValueError: see `read_outcomes`."""
        try:
            return read_outcomes(self.runs)
        except FileNotFoundError:
            return None


@dataclass(frozen=True)
class ExperimentPlaces:
    """Where everything about an experiment lies."""

    folder: Path  # of the experiment
    parts: Mapping[str, PartPlaces]  # name -> where it lies
    file: Path = Path("experiment.yaml")  # of the experiment

    def left_by(self, step: str) -> Path:
        """Return the folder of a step."""
        return self.folder / AFTER / step


def fill(step: AfterStep, places: ExperimentPlaces, out: Path) -> tuple[list[str], list[Path]]:
    """Put paths in the place of a step's placeholders; ``{out}`` is ``out``.

    Returns:
        The words of its command, and the files that they follow from.

    Raises:
        NotThere: a part, system, raw folder or step that there is nothing of; what is left without
            such words is no command.
        ValueError: a name that several systems share.
    """
    kept: list[str] = []
    words: list[str] = []
    sources: list[Path] = []
    for word in step.words:
        try:
            found, behind = _words_of(word, places, out) if PLACE.fits(word) else ([word], [])
        except NotThere:
            if word.startswith(OPTIONAL):
                continue
            raise
        kept, words, sources = [*kept, word], [*words, *found], [*sources, *behind]
    try:
        check_words(kept)
    except ValueError as error:
        raise NotThere(f"of what is there, {error}") from None
    return words, sources


def _words_of(word: str, places: ExperimentPlaces, out: Path) -> tuple[list[str], list[Path]]:
    """Return what a value becomes, and the files that it follows from."""
    sources: list[Path] = []

    def paths(found: re.Match) -> list[str]:
        kind, name, inner = found.groups()
        folders = [out] if kind == "out" else _folders(kind, name, places)
        sources.extend(path for folder in folders for path in _sources(kind, folder))
        if inner is None or kind == "out":
            return [f"{folder}{inner or ''}" for folder in folders]
        inside = [_inside(folder, inner, must_be=kind != "file") for folder in folders]
        sources.extend(path for path in inside if kind in ("file", "raw") and path.is_file())
        return [str(path) for path in inside]

    word = word.removeprefix(OPTIONAL)
    if found := _PLACEHOLDER.fullmatch(word):
        return paths(found), sources
    return [_PLACEHOLDER.sub(lambda found: ",".join(paths(found)), word)], sources


def _inside(folder: Path, inner: str, must_be: bool) -> Path:
    """Return what a step wants of a folder, where no link leads elsewhere."""
    path = Path(f"{folder}{inner}")
    if must_be and not path.exists():
        raise NotThere(f"{path} is not there")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path}: lies outside {folder}, behind a link")
    return path


def _folders(kind: str, name: str | None, places: ExperimentPlaces) -> list[Path]:
    """Return what a placeholder stands for."""
    if kind == "file":
        return [places.file.parent]
    if kind == "after":
        folder = places.left_by(str(name))
        if not (folder / DONE).is_file():
            raise NotThere(f"step {name!r} left nothing")
        refuse_links(places.folder, folder)
        return [folder]
    if kind == "runs" and name is None:
        return [places.folder]
    part, system = _split(kind, name, places)
    own = places.parts[part]
    if kind in ("run", "runs") and system:
        return chosen_runs(own.outcomes, system, part)[: 1 if kind == "run" else None]
    if kind == "raw" and own.raw is None:
        raise NotThere(f"the raw files of {part!r} were not given")
    return [getattr(own, kind)]


def _split(kind: str, name: str | None, places: ExperimentPlaces) -> tuple[str, str]:
    """Return part and system of a placeholder; the system may be empty."""
    part, _, system = (name or "").partition("/")
    if part not in places.parts:
        if not part and len(places.parts) > 1:
            raise ValueError(f"{{{kind}}}: name a part: {named(places.parts)}")
        if system or len(places.parts) > 1 or (part and kind in ("data", "raw")):
            raise NotThere(f"no part {part!r} was run")
        part, system = next(iter(places.parts)), part  # of the only part
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
    found: Any = outcomes  # there are some: they have the system
    own = found.runs[found.runs.system == system]
    runs = chosen_settings(own, found.metric)[system].runs
    return list(runs.sort_values("seed").folder)


def _sources(kind: str, folder: Path) -> Iterator[Path]:
    """Yield the files that say what a placeholder's folder holds: of runs what they came to."""
    if kind in ("data", "after"):
        yield folder / (MANIFEST if kind == "data" else DONE)
    for result in files_below(folder) if kind in ("run", "runs") else ():
        if result.name == RESULT and AFTER not in result.relative_to(folder).parts:
            run = result.parent
            names = [RESULT, *sorted(path.name for path in run.glob("evaluation*.json"))]
            yield from (run / name for name in names if is_file(run / name))
