"""The notebooks run as they are, and their output is what the site shows."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest
from notebooks import page_of
from page_scripts import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def shown(path) -> list[list[str]]:
    """Return what each cell shows as text, without the numbers, on which machines differ."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = [one.get("outputs", ()) for one in cells]
    texts = [
        ["".join(one.get("text") or one["data"]["text/plain"]) for one in part] for part in found
    ]
    return [[NUMBERS.sub("0", text) for text in part] for part in texts]


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_holds(path, tmp_path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    words = [sys.executable, ROOT / "scripts" / "run_notebook.py", copy]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "DEBUG" not in done.stderr
    before, after = (shown(one) for one in (path, copy))
    assert [*map(len, before)] == [*map(len, after)]
    sure = [k for k, part in enumerate(before) if any("Data " in text for text in part)]
    assert sure
    assert [before[k] for k in sure] == [after[k] for k in sure]


def test_notebooks_hold_their_output_and_make_pages() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        page = page_of(path)
        assert page.startswith("# Notebook: ")
        assert page.count("```python") >= 6
        assert "```text\nData " in page
        assert '<img alt="Attention of ' in page
        assert "Traceback" not in page


def test_a_cell_shows_what_it_prints_and_its_last_value() -> None:
    spec = importlib.util.spec_from_file_location("runs", ROOT / "scripts" / "run_notebook.py")
    runs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runs)
    names = {}
    assert runs.run_cell("x = 2", names, 1) == []
    printed, value = runs.run_cell("print(x)\nx + 1", names, 2)
    assert (printed["text"], value["data"]) == (["2\n"], {"text/plain": ["3"]})
