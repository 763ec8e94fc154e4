"""Files of a figure are complete or absent, and bad places are refused before any work."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairseq_plugins.evaluation.shades import colour_range
from fairseq_plugins.lab.figures.drawing import check_stem, save


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_both_files_appear(tmp_path) -> None:
    written = save(Figure(), tmp_path / "new" / "a.v1")
    assert [path.name for path in written] == ["a.v1.png", "a.v1.svg"] == names(tmp_path / "new")


def test_a_suffix_of_a_figure_is_dropped(tmp_path) -> None:
    for given in ("a.png", "a.svg", "a"):
        assert check_stem(tmp_path / given) == tmp_path / "a"
    assert check_stem(tmp_path / "a.v1").name == "a.v1"


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch) -> None:
    save(Figure(), tmp_path / "a")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real = Figure.savefig

    def failing(self, path, **options):
        real(self, path, **options)
        if options["format"] == "svg":
            raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", failing)
    with pytest.raises(OSError, match="disk full"):
        save(Figure(figsize=(1, 1)), tmp_path / "a")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_bad_places_are_refused(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        check_stem(tmp_path / "file" / "a")
    (tmp_path / "a.csv").mkdir()
    assert check_stem(tmp_path / "a")
    with pytest.raises(ValueError, match="a.csv is a folder"):
        check_stem(tmp_path / "a", "csv")
    for nameless in ("", "new/", "."):
        with pytest.raises(ValueError, match="names no figure"):
            check_stem(nameless)


def test_closed_folders_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PermissionError, match="no permission"):
        check_stem(tmp_path / "a")


def test_weights_that_are_all_alike_are_told_apart() -> None:
    alike, mixed = np.array([[0.10, 0.11]]), np.array([[0.01, 0.11]])
    assert colour_range([alike]) == (0.10, 0.11)
    assert colour_range([alike, mixed]) == (0.0, 0.11)
    assert colour_range([np.zeros((1, 1))]) == (0.0, 1.0)
