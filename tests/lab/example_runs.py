"""The runs of the example experiments, and how few of them stand for all."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from cli.commands import ROOT
from lab.example_datasets import dataset_of
from lab.toy_grids import manifest_of

from fairseq_plugins.cli import run as run_command
from fairseq_plugins.cli.main import make_parser, parse
from fairseq_plugins.lab.execution import experiment
from fairseq_plugins.lab.execution.experiment import Plan
from fairseq_plugins.lab.plan.experiment_file import PlannedPart, read_experiment
from fairseq_plugins.lab.plan.grid import Cell
from fairseq_plugins.lab.plan.grid_selection import smoke
from fairseq_plugins.lab.plan.prepared_data import TRANSLATION

EXAMPLES = ROOT / "examples"
CLAIMS = "claims.yaml"  # of `fairseq-plugins results page`
FILES = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.name != CLAIMS)
TINY = {  # smaller than the smallest size
    "understanding": "hidden-size=16 intermediate-size=32 max-positions=96".split(),
    "translation": "encoder-embed-dim=96 encoder-ffn-embed-dim=32 decoder-embed-dim=32".split(),
}
RECIPE = ("lr", "pretrained")  # options of a system that are not about its model


@dataclass(frozen=True)
class ExampleRun:
    """A system of a part of an experiment, as a smoke test has it."""

    path: Path
    part: PlannedPart
    system: str

    def __str__(self) -> str:
        return f"{name_of(self.path)}-{self.part.name}-{self.system}"

    @property
    def own(self) -> str:
        """The system: its options, each with one value."""
        options = self.part.grid.systems[self.system]
        return json.dumps({k: options[k] for k in sorted(options) if k not in RECIPE})

    @property
    def traits(self) -> set[tuple[str, ...]]:
        """Its prepared folder; with the kind of target, architecture and options."""
        grid = self.part.grid
        target = (
            TRANSLATION if grid.dataset == TRANSLATION else str(dataset_of(grid.dataset).target)
        )
        options = grid.systems[self.system]
        return {
            ("data", grid.dataset, json.dumps(dict(grid.prepare), sort_keys=True)),
            ("arch", target, options["arch"]),
            *(("option", target, name) for name in (*grid.options, *options)),
        }


def name_of(path: Path) -> str:
    """Return what a file is called in the names of tests."""
    return f"{path.parent.name}-{path.stem}"


def every_run() -> list[ExampleRun]:
    """Return all runs of smoke tests of all files."""
    found = []
    for path in FILES:
        for part in (part.resized("") for part in read_experiment(path).parts):
            grid = smoke(part.grid)
            small = replace(part, grid=grid)
            found += [ExampleRun(path, small, system) for system in grid.systems]
    return found


def covering(
    runs: Sequence[ExampleRun],
    traits_of: Callable[[ExampleRun], set[object]],
    chosen: Iterable[ExampleRun] = (),
) -> list[ExampleRun]:
    """Return few runs that together have every trait, but for those of runs chosen before."""
    left = set().union(*map(traits_of, runs)).difference(*map(traits_of, chosen))
    found = []
    while left:
        found.append(max(runs, key=lambda run: len(traits_of(run) & left)))
        left -= traits_of(found[-1])
    return found


def parsed(module: ModuleType, words: list[str]) -> argparse.Namespace:
    return parse(make_parser([module.__name__], module), module, words)


def cells_of(path: Path, *words: str) -> list[Cell]:
    """Return the runs that a command line asks for."""
    selected = experiment.selected(parsed(run_command, [str(path), *words]))
    return [cell for part in selected.parts for cell in part.grid.cells()]


def planned(path: Path, runs: Path, *more: str) -> Plan:
    """Return the plan of a smoke run, as the command line makes it."""
    (first, *_) = read_experiment(path).parts
    kind = "translation" if first.grid.dataset == TRANSLATION else "understanding"
    words = [str(path), "--smoke", "--cpu", "--runs", str(runs), *more]
    args = parsed(run_command, [*words, "--options", *TINY[kind]])
    plan, missing = experiment.planned(args, experiment.selected(args))
    assert not missing
    return plan


def invent_data(part: PlannedPart) -> None:
    """Write the manifests of a part's prepared folders, as far as plans read them."""
    grid = part.grid
    translates = grid.dataset == TRANSLATION
    dataset = None if translates else dataset_of(grid.dataset)
    target = TRANSLATION if translates else str(dataset.target)
    splits = {"train", "valid", "test", *(() if translates else dataset.splits)}
    manifest = manifest_of(grid.dataset, target, dict.fromkeys(splits, (64, 64)))
    own = {grid.data_of(system) for system in grid.systems}
    for name in own:
        folder = part.folder.with_name("_".join(filter(None, (part.folder.name, name))))
        folder.mkdir(parents=True, exist_ok=True)
        manifest.save(folder)
