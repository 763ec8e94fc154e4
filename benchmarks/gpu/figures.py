"""Figures of the accelerator's benchmarks: a line of JSON as soon as one is known, then a table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
FIGURES = Path(__file__).with_name("figures.jsonl")


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Args:
        part: equality, speed, commands or evidence.
        what: the thing measured, in words, the same words in every run.
        figure: the median, count or largest difference; None for what could not be measured.
        unit: such as "ratio", "ms", "MB" or "difference".
        spread: least and greatest of the repeats.
        bar: what the figure should be, such as "<= 1.15"; empty where nothing is asked.
        note: conditions, or why there is no figure.
    """

    part: str
    what: str
    figure: float | None
    unit: str
    spread: tuple[float, float] | None = None
    bar: str = ""
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the figure is within its bar; None without a bar or a figure."""
        if not self.bar or self.figure is None:
            return None
        sign, bound = self.bar.split()
        return self.figure <= float(bound) if sign == "<=" else self.figure >= float(bound)


@dataclass
class Recorder:
    """Appends figures to a file as they come, with the machine they were measured on.

    Args:
        path: a file of JSON lines; figures are added to what it holds.
        device: such as "cuda" or "cpu".
    """

    path: Path
    device: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, figure: Figure) -> None:
        """Write a figure to the file at once and print it."""
        line = {**asdict(figure), **machine(self.device)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.figures.append(figure)
        print(_row(figure), flush=True)

    def table(self) -> str:
        """Return the figures added so far as a Markdown table, below a line about the machine."""
        about = ", ".join(f"{name} {value}" for name, value in machine(self.device).items())
        return "\n".join([about, "", table(self.figures)])


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that all parts share."""
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=default, help="where to run (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=FIGURES, help="file that figures go to")
    parser.add_argument("--tiny", action="store_true", help="small sizes that only try the code")


@cache
def machine(device: str) -> dict[str, Any]:
    """Return card, versions and commit."""
    on_card = torch.device(device).type == "cuda"
    card = torch.cuda.get_device_name() if on_card else platform.processor() or "processor"
    return {
        "card": card,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": commit(),
    }


def commit() -> str:
    """Return the commit of the checkout; COMMIT says it where there is no git."""
    if given := os.environ.get("COMMIT"):
        return given
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def read(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file of figures."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def table(figures: Iterable[Figure]) -> str:
    """Lay figures out as a Markdown table."""
    head = "| part | what | figure | spread | bar | |\n|---|---|---|---|---|---|"
    return "\n".join([head, *map(_row, figures)])


def _row(figure: Figure) -> str:
    shown = "none" if figure.figure is None else f"{figure.figure:.4g} {figure.unit}"
    spread = "{:.4g} to {:.4g}".format(*figure.spread) if figure.spread else ""
    held = {None: "", True: "holds", False: "**missed**"}[figure.holds]
    notes = "; ".join(filter(None, (held, figure.note)))
    return f"| {figure.part} | {figure.what} | {shown} | {spread} | {figure.bar} | {notes} |"
