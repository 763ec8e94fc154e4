"""Experiment files from elsewhere: those on record as hostile are refused, whatever reads them.

Examples plan the runs and the commands of training that are on record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from cli.commands import differences
from for_each import for_each
from frozen.experiments import make_experiments
from frozen.workshop import read_frozen

from fairseq_plugins.cli.main import main

HOSTILE = Path(__file__).parent / "hostile" / "experiments.yaml"
GRID = "dataset: cola\nsystems: [bert_plain_tiny]\n"
FORMS = {  # key of a case -> the file that it stands for
    "file": "%s",
    "grid": GRID + "%s",
    "part": "parts: [{dataset: cola, systems: [bert_plain_tiny], %s}]",
    "of_grid": "parts: [{grid: configs/cola.yaml, %s}]",
    "after": "parts: [{grid: configs/cola.yaml}]\nafter: %s",
    "step": "parts: [{grid: configs/cola.yaml}]\nafter: {one: %s}",
}


class Case(NamedTuple):
    """A file, and what the message about it names."""

    text: str
    names: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Yield the files on record."""
    for entry in yaml.safe_load(HOSTILE.read_text(encoding="utf-8")):
        (form,) = FORMS.keys() & entry
        text = FORMS[form].replace("%s", entry[form]).replace("LONG", "k" * 9000)
        text = text.replace("MANY", ", ".join(map(str, range(9000))))
        for value in entry.get("values", [""]):
            own = (*entry["names"], *filter(None, [repr(value)[1:-1]]))
            yield Case(text.replace("VALUE", json.dumps(value)), own)


@for_each(cases())
def test_hostile_files_are_refused(case, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir(exist_ok=True)
    (tmp_path / "configs" / "cola.yaml").write_text(GRID)
    (tmp_path / "table.yaml").write_text(case.text)
    there = sorted(tmp_path.rglob("*"))
    assert main(["run", "table.yaml", "--dry-run"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert (printed.err[:7], printed.err.count("\n"), len(printed.err) < 1500) == (
        "error: ",
        1,
        True,
    )
    assert [one for one in case.names if one not in printed.err] == [], printed.err
    assert "table.yaml" in printed.err or "none.yaml" in case.names
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.slow
def test_examples_plan_the_runs_on_record(workshop) -> None:
    assert differences(read_frozen("experiments"), make_experiments(workshop)) == []
