"""Figures are written whole, deterministic, and show what they were given."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from fairseq_plugins.experiments.plots import AttentionPanel, plot_attention, plot_curves

PNG = b"\x89PNG"
ROWS = [
    {"system": name, "fraction": fraction, "score": 10 * fraction**0.5 + bonus}
    for name, bonus in (("baseline", 0.0), ("syntax-infused", 1.5))
    for fraction in (0.01, 0.1, 1.0)
]


def panel(title: str = "baseline", T: int = 3, S: int = 4, scale: float = 1.0) -> AttentionPanel:
    """Return a panel with distinct weights."""
    weights = np.arange(1, T * S + 1, dtype=float).reshape(T, S) / (T * S) * scale
    return AttentionPanel(
        title, weights, [f"ziel{i}" for i in range(T)], [f"src{j}" for j in range(S)]
    )


def svg(stem: Path) -> str:
    """Read the SVG of a figure."""
    return stem.with_name(f"{stem.name}.svg").read_text(encoding="utf-8")


def test_attention_figure_shows_every_label_and_title(tmp_path) -> None:
    stem = tmp_path / "new" / "attention.v1"
    written = plot_attention([panel(), panel("syntax-infused", T=5)], stem, title="last layer")
    assert [path.name for path in written] == ["attention.v1.png", "attention.v1.svg"]
    assert written[0].read_bytes().startswith(PNG)
    text = svg(stem)
    for label in ("baseline", "syntax-infused", "last layer", "ziel4", "src3"):
        assert f">{label}</text>" in text
    assert text.count(">src0</text>") == 2
    assert sorted(path.name for path in stem.parent.iterdir()) == [path.name for path in written]


def test_same_input_same_svg_and_other_weights_another(tmp_path) -> None:
    plot_attention([panel()], tmp_path / "a")
    mpl.rcParams["font.size"] = 20  # the caller's settings do not matter
    plot_attention([panel()], tmp_path / "b")
    assert mpl.rcParams["font.size"] == 20
    mpl.rcdefaults()
    changed = panel()
    changed.weights[0, 0] = 0.9
    plot_attention([changed], tmp_path / "c")
    assert svg(tmp_path / "a") == svg(tmp_path / "b") != svg(tmp_path / "c")
    plot_curves(ROWS, tmp_path / "d")
    plot_curves(ROWS, tmp_path / "e")
    assert svg(tmp_path / "d") == svg(tmp_path / "e")


def test_panels_share_one_colour_scale(tmp_path) -> None:
    """Halving the weights of the only panel changes no colour, of one of two panels it does."""
    plot_attention([panel()], tmp_path / "one")
    plot_attention([panel(scale=0.5)], tmp_path / "half")
    plot_attention([panel(), panel()], tmp_path / "equal")
    plot_attention([panel(), panel(scale=0.5)], tmp_path / "unequal")

    def darkest(name: str) -> int:
        return svg(tmp_path / name).count("#08306b")

    assert darkest("one") == darkest("half")
    assert darkest("unequal") < darkest("equal")


def test_any_label_is_drawn_as_it_is(tmp_path) -> None:
    rows = ["$5$", "\u2581a_b", "<unk>"]
    columns = ["Donaudampfschifffahrtsgesellschaftskapitän", "猫", " \t", "x\ny"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font without the glyph
        plot_attention([AttentionPanel("$", np.ones((3, 4)), rows, columns)], tmp_path / "a")
    text = svg(tmp_path / "a")
    for label in ("$5$", "\u2581a_b", "&lt;unk&gt;", "猫", "x y"):
        assert f">{label}</text>" in text
    assert "Donaudampfschifffahrtsgesel\u2026" in text


def test_long_sentences_and_single_cells_are_drawn(tmp_path) -> None:
    plot_attention([panel(T=90, S=60)], tmp_path / "long")
    zero = AttentionPanel("zero", np.zeros((1, 1)), ["a"], ["b"])
    plot_attention([zero], tmp_path / "zero")
    assert ">ziel89</text>" in svg(tmp_path / "long")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 4)), "do not fit 3 target and 4 source"),
        (np.ones(12), "do not fit"),
        (np.full((3, 4), np.nan), "finite and not negative"),
        (np.full((3, 4), -0.1), "finite and not negative"),
    ],
)
def test_bad_panels_are_named(tmp_path, weights: np.ndarray, message: str) -> None:
    good = panel()
    bad = AttentionPanel("second", weights, good.rows, good.columns)
    with pytest.raises(ValueError, match=f"panel 'second': .*{message}"):
        plot_attention([good, bad], tmp_path / "x")
    with pytest.raises(ValueError, match="no attention panels"):
        plot_attention([], tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_curves_show_fractions_in_percent_and_both_systems(tmp_path) -> None:
    plot_curves(ROWS, tmp_path / "curve", metric="sacreBLEU")
    text = svg(tmp_path / "curve")
    for label in ("1 %", "10 %", "100 %", "baseline", "syntax-infused", "sacreBLEU", "+1.5"):
        assert f">{label}</text>" in text
    plot_curves(ROWS[:3], tmp_path / "single")
    assert "minus" not in svg(tmp_path / "single")


def test_order_of_rows_only_names_the_first_system(tmp_path) -> None:
    plot_curves(ROWS, tmp_path / "a")
    plot_curves([*ROWS[2::-1], *ROWS[:2:-1]], tmp_path / "b")
    assert svg(tmp_path / "a") == svg(tmp_path / "b")
    plot_curves(ROWS[::-1], tmp_path / "c")
    assert ">-1.5</text>" in svg(tmp_path / "c").replace("\u2212", "-")


def test_several_seeds_are_drawn_as_mean_and_range(tmp_path) -> None:
    seeds = [{**row, "score": row["score"] + shift} for row in ROWS for shift in (-1, 1)]
    plot_curves(ROWS, tmp_path / "one")
    plot_curves(seeds, tmp_path / "many")
    assert "FillBetween" not in svg(tmp_path / "one")
    assert "FillBetween" in svg(tmp_path / "many")
    assert ">+1.5</text>" in svg(tmp_path / "many")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"system": "a", "fraction": 0.1}, "row 0 has no score"),
        ({"system": "a", "fraction": 10, "score": 1}, "fraction must be in"),
        ({"system": "a", "fraction": 0.1, "score": float("nan")}, "score finite"),
    ],
)
def test_bad_rows_are_named(tmp_path, row: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_curves([row], tmp_path / "x")
    with pytest.raises(ValueError, match="no rows"):
        plot_curves([], tmp_path / "x")
