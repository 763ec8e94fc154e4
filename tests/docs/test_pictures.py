"""The pictures of the pages are made of what their captions name, and are made again from it.

A caption stands below a picture: `FILE` and the begin of its SHA-256. The gallery has one for each.
Pictures that need no training also carry both in their own metadata.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from fairseq_plugins.files import sha256
from fairseq_plugins.lab.figures.curves import plot_curves, plot_gates
from fairseq_plugins.lab.figures.drawing import PAGE, SOURCE, save
from fairseq_plugins.lab.results.origins import made_of_rows

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
PAGES = [path for place in ("*.md", "docs/**/*.md", "examples/*/*.md") for path in ROOT.glob(place)]
FOLDERS = ("docs", "docs/gallery", "docs/replication", "examples/*/figures")
PICTURES = [path for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}/*.png"))]
KEPT = ("examples/evidence/rows", "examples/*/figures", "examples/sample_en_de")
DEMOS = {  # picture -> the demo whose corpus its models were trained on
    "trees.png": "glue",
    "gates.png": "sla",
    "pairs.png": "dabert",
    "coattention.png": "bertqa_squad",
    "report.png": "sla",
}


def captions(*pages: Path) -> dict[str, tuple[str, str]]:
    """Return picture of pages -> the file it is made of, and 12 digits of its SHA-256."""
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    found = re.findall(r"\]\(([^)]*\.png)\)\n\n`(\S+)` ([0-9a-f]{12})\b", text)
    found = {(Path(picture).name, name, digits) for picture, name, digits in found}
    told = {picture: (name, digits) for picture, name, digits in found}
    assert len(told) == len(found)  # a picture has one caption on all pages
    return told


CAPTIONS = captions(*PAGES)


def kept(name: str) -> Path:
    (path,) = (path for folder in KEPT for path in ROOT.glob(f"{folder}/{name}"))
    return path


def source(picture: Path) -> str:
    return Image.open(picture).info.get(SOURCE, "")


def test_every_picture_of_the_gallery_has_a_caption() -> None:
    shown = re.findall(r"\]\(([^)]*\.png)\)", GALLERY.read_text(encoding="utf-8"))
    assert {Path(path).name for path in shown} == captions(GALLERY).keys()
    assert captions(GALLERY).keys() >= DEMOS.keys()


@pytest.mark.parametrize("picture", sorted(CAPTIONS.keys() - DEMOS.keys()))
def test_captions_name_the_hash_of_what_lies_here(picture) -> None:
    name, digits = CAPTIONS[picture]
    assert sha256(kept(name)).startswith(digits)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_pictures_are_of_one_width_and_of_what_lies_here(picture) -> None:
    assert Image.open(picture).width >= PAGE
    if found := source(picture):
        assert found == made_of_rows(kept(found.split()[0]))
        assert "docs/replication" not in picture.as_posix() or f"# {found}\n" in (
            ROOT / "docs" / "replication.md"
        ).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("picture", DEMOS)
def test_captions_name_the_hash_of_what_a_demo_makes(picture, tmp_path) -> None:
    command = [sys.executable, "examples/make_demo.py", DEMOS[picture], str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    name, digits = CAPTIONS[picture]
    assert sha256(tmp_path / name).startswith(digits)


def drawn_from_table(table: Path, stem: Path) -> None:
    """Draw a picture of examples from the table beside it."""
    rows = [*csv.DictReader(table.open(encoding="utf-8"))]
    if table.name == "gates.csv":
        panels: dict = {}
        for row in rows:
            curves = panels.setdefault(row["dataset"], {}).setdefault(row["system"], {})
            curves[int(row["layer"])] = [float(value) for value in row["values"].split()]
        figure = plot_gates(panels)
    else:
        systems = [name for name in rows[0] if name != "share"]
        points = {
            name: {float(row["share"]): [float(row[name])] for row in rows} for name in systems
        }
        figure = plot_curves(points, "BLEU, test")
    save(figure, stem, ["png"], made_of_rows(table))


@pytest.mark.long
def test_pictures_without_training_are_made_again(run_here, tmp_path, monkeypatch) -> None:
    """From the same rows: what they were made of, and their size up to what matplotlib changes."""
    monkeypatch.chdir(ROOT)
    evidence, made = Path("examples/evidence"), {}
    run_here("results", "page", evidence / "claims.yaml", "--output", tmp_path / "replication.md")
    for path in (tmp_path / "replication").glob("*.png"):
        made[ROOT / "docs" / "replication" / path.name] = path
    drawn = {
        "seeds.png": evidence / "rows" / "cola_whitespace.jsonl",
        "shares.png": "examples/sla/figures/shares.jsonl",
    }
    for picture, rows in drawn.items():
        run_here("results", "compare", rows, "--output", tmp_path / picture)
        made[ROOT / "docs" / "gallery" / picture] = tmp_path / picture / picture
    for table in ROOT.glob("examples/*/figures/*.csv"):
        drawn_from_table(table, tmp_path / table.stem)
        made[table.with_suffix(".png")] = tmp_path / f"{table.stem}.png"
    assert made.keys() == {path for path in PICTURES if source(path)}
    for before, after in made.items():
        assert source(before) == source(after)
        assert Image.open(after).size == pytest.approx(Image.open(before).size, rel=0.03)
