"""Tables, comparisons and pages show of frozen results what they showed, cell by cell."""

from __future__ import annotations

import json
import shutil

import pytest
from frozen.invented import unpack
from frozen.shown import (
    AGAIN,
    CASES,
    RECORDS,
    left,
    line_of,
    of_markdown,
    read_cells,
    show,
)

SLOW = ("report papers", "report shares", "page", "seeds scores")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with all experiments."""
    place = tmp_path_factory.mktemp("results")
    for path in RECORDS.glob("*.json"):
        unpack(json.loads(path.read_text(encoding="utf-8")), place)
    return place


@pytest.fixture
def there(results, monkeypatch):
    """The same, as the folder in which commands run."""
    monkeypatch.chdir(results)
    yield results
    shutil.rmtree(results / "out", ignore_errors=True)


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in CASES]
)
def test_what_is_shown_is_what_was_shown(name, there, run_here):
    before, today = read_cells(name), show(run_here, name)
    assert today.keys() == before.keys()
    assert today["cells"].keys() == before["cells"].keys()
    for title, cells in before["cells"].items():
        assert left(today["cells"][title]) == left(cells), title
    assert today["lines"] == before["lines"]
    assert today["pictures"] == before["pictures"]


@pytest.mark.parametrize("name", AGAIN)
def test_kept_rows_show_what_their_runs_show(name, there, run_here):
    run_here(*line_of(f"keep {name}"))
    seeds, _, *words = line_of(f"seeds {name}")
    run_here(seeds, "out/kept.jsonl", *words)
    before = read_cells(f"seeds {name}")["cells"]
    tables = of_markdown((there / "out" / "seeds.md").read_text())[0]
    assert tables.keys() == {title for title in before if "." not in title}
    for title, cells in tables.items():
        assert sorted(left(cells)) == sorted(left(before[title]))
