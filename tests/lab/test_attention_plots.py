"""Attention figures are written whole, deterministic, and show what they were given."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.lab.figures.attention_plots import AttentionPanel, plot_attention
from fairseq_plugins.lab.figures.drawing import RED
from fairseq_plugins.syntax.tree import arc_levels

PNG = b"\x89PNG"


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
    written = plot_attention([panel(), panel("syntax-infused", T=5)], stem)
    assert [path.name for path in written] == ["attention.v1.png", "attention.v1.svg"]
    assert written[0].read_bytes().startswith(PNG)
    text = svg(stem)
    for label in ("baseline", "syntax-infused", "ziel4", "src3"):
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
    columns = ["Donaudampfschifffahrtsgesellschaftskapitän", "a" * 30, "猫", " \t", "x\ny"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font without the glyph
        plot_attention([AttentionPanel("$", np.ones((3, 5)), rows, columns)], tmp_path / "a")
    text = svg(tmp_path / "a")
    for label in ("a" * 30, "$5$", "\u2581a_b", "&lt;unk&gt;", "猫", "x y"):
        assert f">{label}</text>" in text
    assert "Donaudampfschifffahrtsgesellsch\u2026" in text


def test_long_sentences_and_single_cells_are_drawn(tmp_path) -> None:
    plot_attention([panel(T=60, S=12)], tmp_path / "long")
    zero = AttentionPanel("zero", np.zeros((1, 1)), ["a"], ["b"])
    plot_attention([zero], tmp_path / "zero")
    assert ">ziel59</text>" in svg(tmp_path / "long")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 4)), "do not fit 3 target subwords and 4 source subwords"),
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


def curves(stem: Path) -> list[list[tuple[float, float]]]:
    """Return the points of each arc of a figure: the head, two handles, the dependent."""
    found = []
    for path in re.findall(r' d="(M [^"]*)"', svg(stem)):
        if path.count("C") == 1:
            numbers = [float(part) for part in path.split() if part not in "MC"]
            found.append(list(zip(numbers[::2], numbers[1::2])))
    return found


def columns(stem: Path, count: int) -> list[float]:
    """Return where the columns of a single square panel stand: one label each."""
    text = svg(stem)
    return [
        float(re.search(rf'translate\(([\d.]+) [\d.]+\) rotate\(-90\)" *>src{i}<', text)[1])
        for i in range(count)
    ]


def test_arcs_stand_above_their_columns(tmp_path) -> None:
    """From the head's column to the dependent's, above the labels; wider ones rise higher."""
    one = panel(T=4, S=4)
    plot_attention([one], tmp_path / "none")
    assert curves(tmp_path / "none") == []
    plot_attention([replace(one, arcs=[(0, 3), (2, 3), (1.5, 0)])], tmp_path / "arcs")
    found = curves(tmp_path / "arcs")
    assert len(found) == 3
    place = columns(tmp_path / "arcs", 4)
    width = place[1] - place[0]
    for (dependent, head), points in zip([(0, 3), (2, 3), (1.5, 0)], found):
        assert points[-1][0] - points[0][0] == pytest.approx((dependent - head) * width, rel=0.02)
        assert points[0][1] == points[-1][1] > points[1][1] == points[2][1]  # SVG counts downwards
    assert len({points[0][1] for points in found}) == 1
    assert found[0][1][1] < found[1][1][1]
    # half a letter lies between where a rotated label begins and its column's middle
    assert found[0][0][0] == pytest.approx(place[3], abs=width / 2)


def test_relations_stand_on_top_of_their_arcs(tmp_path) -> None:
    one = replace(panel(T=4, S=4), arcs=[(0, 3), (2, 3), (1.5, 0)], relations=["nsubj", "", "obl"])
    plot_attention([one], tmp_path / "named")
    plot_attention([replace(one, relations=[])], tmp_path / "bare")
    assert "nsubj" not in svg(tmp_path / "bare")
    found = curves(tmp_path / "named")
    assert len(found) == 3
    said = re.findall(r"rotate\(-0 ([\d.]+) ([\d.]+)\)\">(nsubj|obl)<", svg(tmp_path / "named"))
    assert [name for *_, name in said] == ["nsubj", "obl"]
    places = [(float(x), float(y)) for x, y, _ in said]
    assert places[0][1] < places[1][1]  # the wider arc is higher
    for (x, y), points in zip(places, [found[0], found[2]]):
        left, right = sorted((points[0][0], points[-1][0]))
        assert left < x < right
        assert points[1][1] < y < points[0][1]


def test_a_line_stands_between_both_sentences(tmp_path) -> None:
    one = panel(T=4, S=4)
    for border in (0, 1, 3):
        plot_attention([replace(one, border=border)], tmp_path / str(border))
    said = {border: svg(tmp_path / str(border)) for border in (0, 1, 3)}
    assert [("line: between both sentences" in said[border]) for border in said] == [0, 1, 1]
    place = columns(tmp_path / "3", 4)
    width = place[1] - place[0]
    ends = re.findall(r'd="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \n"', said[3])
    upright = {float(x) for x, top, other, bottom in ends if x == other and top != bottom}
    assert any(abs(x - place[3]) < width for x in upright)
    assert said[1] != said[3]


def test_arcs_keep_clear_of_the_labels(tmp_path) -> None:
    feet = []
    for name in ("i", "considerably longer"):
        one = replace(panel(T=2, S=2), columns=[name, "a"], arcs=[(0, 1)])
        plot_attention([one], tmp_path / "figure")
        (points,) = curves(tmp_path / "figure")
        bottom = float(
            re.search(rf"translate\([\d.]+ ([\d.]+)\) rotate.*>{name}<", svg(tmp_path / "figure"))[
                1
            ]
        )
        feet.append(bottom - points[0][1])
    assert feet[0] < feet[1] / 3


@pytest.mark.parametrize(
    ("arcs", "levels"),
    [
        ([], []),
        ([(0, 1)], [1]),
        ([(1, 0), (2, 3), (0, 3)], [1, 1, 2]),
        ([(0, 4), (1, 4), (4, 2)], [3, 2, 1]),
        ([(0, 2), (1, 3)], [1, 1]),  # crossing
    ],
)
def test_arcs_rise_above_those_they_span(arcs, levels) -> None:
    assert arc_levels(arcs) == levels


ARC = st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda arc: arc[0] != arc[1])


@given(st.lists(ARC))
def test_no_arc_touches_one_that_it_spans(arcs) -> None:
    levels = arc_levels(arcs)
    for one, level in zip(arcs, levels):
        inner = [
            other
            for arc, other in zip(arcs, levels)
            if min(one) <= min(arc) and max(arc) <= max(one) and {*arc} != {*one}
        ]
        assert level > max(inner, default=0)


@given(st.lists(st.tuples(ARC, st.floats(0.1, 4)), max_size=8))
def test_texts_of_arcs_of_one_height_lie_beside_each_other(named) -> None:
    arcs, widths = [arc for arc, _ in named], [width for _, width in named]
    levels = arc_levels(arcs, widths)
    assert all(level >= low for level, low in zip(levels, arc_levels(arcs)))
    places = [(sum(arc) / 2, width, level) for (arc, width), level in zip(named, levels)]
    for (middle, width, level), (other, much, high) in combinations(places, 2):
        assert level != high or abs(middle - other) >= (width + much) / 2 - 1e-9


def test_marks_are_drawn(tmp_path) -> None:
    plot_attention([panel()], tmp_path / "none")
    plot_attention([replace(panel(), marked=[(0, 1), (2, 3)])], tmp_path / "two")
    assert RED.lower() not in svg(tmp_path / "none")
    assert svg(tmp_path / "two").count(RED.lower()) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"arcs": [(0, 4)]}, r"arc \(0, 4\) leads beyond 4 columns"),
        ({"arcs": [(-1, 2)]}, "leads beyond"),
        ({"arcs": [(0, 1)], "relations": ["a", "b"]}, "2 relations at 1 arcs"),
        ({"marked": [(3, 0)]}, r"no cell \(3, 0\) in 3 x 4"),
    ],
)
def test_arcs_and_marks_lie_within(tmp_path, wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"panel 'baseline': .*{message}"):
        plot_attention([replace(panel(), **wrong)], tmp_path / "x")


def test_sides_are_named(tmp_path) -> None:
    plot_attention([panel()], tmp_path / "a")
    plot_attention([panel()], tmp_path / "b", sides=("attending tokens", "attended tokens"))
    assert ">target subwords<" in svg(tmp_path / "a")
    assert ">attending tokens<" in svg(tmp_path / "b")
    with pytest.raises(ValueError, match="3 attending tokens and 4 attended tokens"):
        plot_attention(
            [replace(panel(), weights=np.ones((1, 1)))],
            tmp_path / "x",
            sides=("attending tokens", "attended tokens"),
        )
