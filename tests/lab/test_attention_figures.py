"""Matrices of attention show their weights on one scale, with arcs and frames where they belong."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.figures.drawing import RED
from fairseq_plugins.lab.figures.matrices import ITSELF, AttentionPanel, plot_attention
from fairseq_plugins.lab.figures.sentences import ReadSentence, add_sentence
from fairseq_plugins.syntax.tree import arc_levels


def panel(title: str = "baseline", T: int = 3, S: int = 4, scale: float = 1.0) -> AttentionPanel:
    weights = np.arange(1, T * S + 1, dtype=float).reshape(T, S) / (T * S) * scale
    return AttentionPanel(
        title, weights, [f"ziel{i}" for i in range(T)], [f"src{j}" for j in range(S)]
    )


def drawn(**changed: Any) -> Axes:
    return plot_attention([replace(panel(T=4, S=4), **changed)]).axes[0]


def said(figure: Figure) -> str:
    return " ".join(text.get_text() for ax in figure.axes for text in ax.texts + figure.texts)


def test_labels_titles_and_sides_are_shown() -> None:
    figure = plot_attention([panel(), panel("syntax-infused", T=5)])
    assert [ax.get_title() for ax in figure.axes[:2]] == ["baseline", "syntax-infused"]
    labels = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert labels == [f"ziel{i}" for i in range(5)]
    assert figure.axes[0].get_ylabel() == "target subwords"
    assert plot_attention([panel()], ITSELF).axes[0].get_ylabel() == "attending tokens"


def test_panels_share_one_colour_scale() -> None:
    """Halving the weights of the only panel changes no colour, of one of two panels it does."""

    def darkest(*scales: float) -> int:
        axes = plot_attention([panel(scale=scale) for scale in scales]).axes[: len(scales)]
        images = [ax.collections[0] for ax in axes]
        return sum((one.norm(one.get_array()) == 1).sum() for one in images)

    assert darkest(1) == darkest(0.5) == 1
    assert (darkest(1, 1), darkest(1, 0.5)) == (2, 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 4)), "do not fit 3 target subwords and 4 source subwords"),
        (np.ones(12), "do not fit"),
        (np.full((3, 4), np.nan), "finite and not negative"),
        (np.full((3, 4), -0.1), "finite and not negative"),
    ],
)
def test_bad_panels_are_named(weights: np.ndarray, message: str) -> None:
    bad = replace(panel("second"), weights=weights)
    with pytest.raises(InputError, match=f"panel 'second': .*{message}"):
        plot_attention([panel(), bad])
    with pytest.raises(InputError, match="no attention panels"):
        plot_attention([])


def test_long_sentences_and_single_cells_are_drawn() -> None:
    assert plot_attention([panel(T=60, S=12)]).axes[0].get_yticklabels()[-1].get_text() == "ziel59"
    plot_attention([AttentionPanel("zero", np.zeros((1, 1)), ["a"], ["b"])])


def arcs_in(ax: Axes) -> list[np.ndarray]:
    """Return head, two handles and dependent of each arc: columns, inches above the matrix."""
    return [one.get_path().vertices for one in ax.patches if isinstance(one, PathPatch)]


def test_arcs_stand_above_labels_and_columns_with_their_relations() -> None:
    """From the head's column to the dependent's; wider ones rise higher; the name on the top."""
    assert arcs_in(drawn()) == []
    arcs, names = [(0, 3), (2, 3), (1.5, 0)], ["nsubj", "", "obl"]
    ax = drawn(arcs=arcs, relations=names)
    found = arcs_in(ax)
    for (dependent, head), points in zip(arcs, found, strict=True):
        assert (points[0][0], points[-1][0]) == (head + 0.5, dependent + 0.5)
        assert points[0][1] == points[-1][1] < points[1][1] == points[2][1]
    assert found[0][1][1] > found[1][1][1]
    assert [text.get_text() for text in ax.texts] == ["nsubj", "obl"]
    for text, points in zip(ax.texts, (found[0], found[2])):
        (x, y), (left, right) = text.get_position(), sorted((points[0][0], points[-1][0]))
        assert left < x < right
        assert points[0][1] < y < points[1][1]
    assert not drawn(arcs=arcs).texts
    longer = arcs_in(drawn(arcs=arcs, columns=["considerably longer", *"abc"]))
    assert longer[0][0][1] > found[0][0][1]


def test_frames_and_borders_are_drawn() -> None:
    ax = drawn(framed=[(0, 1, 1, 1), (2, 3, 2, 1)])
    frames = [one for one in ax.patches if isinstance(one, Rectangle)]
    assert [one.get_bbox().bounds for one in frames] == [(1, 0, 1, 1), (3, 2, 1, 2)]
    assert {one.get_edgecolor()[:3] for one in frames} == {tuple(int(RED[k : k + 2], 16) / 255
                                                                 for k in (1, 3, 5))}  # fmt: skip
    assert [line.get_xdata()[0] for line in drawn(border=3).lines][1] == 3
    assert not drawn().lines
    assert "line: between both sentences" in said(plot_attention([replace(panel(), border=1)]))
    told = said(plot_attention([panel(), replace(panel("b"), framed=[(0, 0, 1, 1)])]))
    assert "red: where attention grows most against baseline" in told


def test_a_sentence_stands_above_with_what_is_read_and_what_is_made_of_it() -> None:
    """Words of a translation that the reference lacks are red and underlined, no others."""
    figure, read = plot_attention([panel()]), ReadSentence(
        ["play", "it", "."], {"pos": ["NOUN", "PRON", "PUNCT"]}, [(1, 0)], ["obj"],
        [("a", "Das STÜCK es."), ("b", "Spiel es.")], "b", "Spiel es.",
    )  # fmt: skip
    add_sentence(figure, read)
    *_, ax = figure.axes
    assert [text.get_text() for text in ax.texts] == [*read.tokens, *read.layers["pos"], "obj"]
    assert len(arcs_in(ax)) == 1
    red = [text for text in figure.texts if text.get_color() == RED]
    assert " ".join(text.get_text() for text in red) == "Das STÜCK"
    das, large = (text.get_window_extent() for text in red)
    assert das.x1 + 3 < large.x0 < das.x1 + 15  # a blank between them, pixels
    above = [text for text in figure.texts if text.get_position()[1] > 1]
    assert {text.get_va() for text in (*above, *ax.texts[:6])} == {"baseline"}  # no word jumps
    for text, line in zip(red, figure.artists, strict=True):
        assert line.get_xdata()[0] == text.get_position()[0] < line.get_xdata()[1]
    assert "grey rows: read by b; arcs" in "; ".join(read.meanings())
    assert not replace(read, reference="", layers={}, arcs=()).meanings()


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


@given(st.lists(st.tuples(ARC, st.floats(0.1, 4)), max_size=8))
def test_no_arc_or_text_touches_another(named) -> None:
    arcs, widths = [arc for arc, _ in named], [width for _, width in named]
    plain, levels = arc_levels(arcs), arc_levels(arcs, widths)
    for one, level in zip(arcs, plain):
        spans = [min(one) <= min(arc) and max(arc) <= max(one) for arc in arcs]
        inner = [k for k, arc in enumerate(arcs) if spans[k] and {*arc} != {*one}]
        assert level > max((plain[k] for k in inner), default=0)
    assert all(level >= low for level, low in zip(levels, plain))
    places = [(sum(arc) / 2, width, level) for (arc, width), level in zip(named, levels)]
    for (middle, width, level), (other, much, high) in combinations(places, 2):
        assert level != high or abs(middle - other) >= (width + much) / 2 - 1e-9
