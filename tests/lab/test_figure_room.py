"""What figures draw covers nothing else of them, whatever names, words and numbers are like."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from fairseq_plugins.evaluation.question_types import TypeErrors
from fairseq_plugins.lab.figures.attention_plots import AttentionPanel, plot_attention
from fairseq_plugins.lab.figures.drawing import look, wrapped
from fairseq_plugins.lab.figures.plots import plot_curves, plot_gates, plot_learning
from fairseq_plugins.lab.figures.question_plots import plot_coattention, plot_errors
from fairseq_plugins.lab.figures.seed_plots import plot_seeds
from fairseq_plugins.lab.results.seeds import Shown

LONG = "bert_dual_attention_with_syntax_aware_local_attention_and_gates_minilm/lr=3e-05"
NAMES = [f"{LONG} {k}" for k in range(8)]
WORDS = [f"donaudampfschifffahrtsgesells{k}" for k in range(4)]
VALID = Shown("accuracy", "validation_matched")
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 0.95, 1.0)


@pytest.fixture
def drawn(monkeypatch, tmp_path) -> Callable[..., Figure]:
    """Draw what a function draws, and return the figure instead of its files."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))

    def draw(plot: Callable[..., Any], *args: Any, **options: Any) -> Figure:
        plot(*args, out_stem=tmp_path / "a", **options)
        figures[-1].draw_without_rendering()
        return figures[-1]

    return draw


def texts(figure: Figure) -> list[Text]:
    """Return the texts that are seen: ticks beyond an axis have some that are not."""
    seen: list[Text] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", lambda self, *_: seen.append(self))
        figure.draw_without_rendering()
    return [text for text in seen if text.get_visible() and text.get_text().strip()]


def said(figure: Figure) -> str:
    """Return all texts that are seen, their lines joined."""
    return " ".join(text.get_text().replace("\n", " ") for text in texts(figure))


def panels(titles: list[str], words: list[str], **more: Any) -> list[AttentionPanel]:
    weights = np.random.default_rng(1).dirichlet([0.1] * len(words), len(words))
    return [AttentionPanel(title, weights, words, words, **more) for title in titles]


def wrong(systems: list[str], questions: int = 90_000, share: float = 0.7) -> list[TypeErrors]:
    count = round(share * questions)
    return [TypeErrors(kind, s, questions, count) for kind in ("what", "all") for s in systems]


def curves(places: Any, systems: list[str] = NAMES, seeds: int = 2) -> dict:
    return {
        name: {x: [0.5 + 0.01 * k + 0.001 * seed for seed in range(seeds)] for x in places}
        for k, name in enumerate(systems)
    }


ROOTS = {"arcs": [(0, 1), (2, 1), (3, 1)], "relations": ["nsubj:pass", "compound:prt", "obl"]}
HARD = {
    "curves": (plot_curves, curves(SHARES), {}),
    "gaps": (plot_curves, curves(SHARES, NAMES[:2]), {}),
    "gates": (plot_gates, dict.fromkeys([LONG, "wnut17"], curves(range(48))), {}),
    "learning": (plot_learning, curves(range(1, 40)), {"label": "loss"}),
    "one update": (plot_learning, curves([7]), {"label": "loss"}),
    "errors": (plot_errors, wrong(NAMES), {}),
    "seeds": (plot_seeds, {name: [0.8, 0.81] for name in NAMES}, {"shown": VALID}),
    "close": (plot_seeds, {"a": [0.812345, 0.812346, 0.812347]}, {"shown": VALID}),
    "attention": (plot_attention, panels(NAMES, WORDS), {"about": LONG}),
    "a word": (plot_attention, panels(["a"], ["b"]), {}),
    "trees": (plot_attention, panels(["BERT", "SLA"], list("abcd"), **ROOTS), {}),
}


@pytest.mark.parametrize("case", HARD)
def test_no_text_covers_another_and_no_legend_covers_curves(drawn, case) -> None:
    plot, data, options = HARD[case]
    figure = drawn(plot, data, **options)
    boxes = [
        (text.get_text(), text.get_window_extent().padded(-1))
        for text in texts(figure)
        if text.get_rotation() % 90 == 0
    ]
    assert len(boxes) > 4
    covered = [(one, two) for (one, a), (two, b) in combinations(boxes, 2) if a.overlaps(b)]
    assert covered == []
    for legend in figure.findobj(Legend):
        assert not any(legend.get_window_extent().overlaps(ax.bbox) for ax in figure.axes)


@pytest.mark.parametrize("case", HARD)
def test_names_are_whole_and_make_no_figure_wide(drawn, case) -> None:
    plot, data, options = HARD[case]
    figure = drawn(plot, data, **options)
    assert figure.get_tightbbox().width < 18  # inches
    shown = said(figure).replace(" ", "")
    for name in NAMES if LONG in str(data) else []:
        assert (name.replace(" ", "") in shown) == (name in str(data))


@pytest.mark.slow
def test_strips_of_long_words_cover_nothing(drawn) -> None:
    weights = np.random.default_rng(1).dirichlet([0.1] * 12, 4)
    more = {"span": (11, 11), "strip": 5, "title": f"red: the answer, {' '.join(WORDS)}"}
    figure = drawn(plot_coattention, weights, WORDS, WORDS * 3, **more)
    boxes = [text.get_window_extent().padded(-1) for text in texts(figure)]
    assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
    assert all(word in said(figure) for word in (*WORDS, "question", "context"))


def test_coattention_says_which_side_attends(drawn) -> None:
    weights = np.random.default_rng(1).dirichlet([0.1] * 3, 4)
    for asks, sides in (
        (True, ("question (attending)", "context (attended)")),
        (False, ("question (attended)", "context (attending)")),
    ):
        more = {"strip": 2, "question_attends": asks}
        figure = drawn(plot_coattention, weights, WORDS[:4], WORDS[:3], **more)
        assert all(side in said(figure) for side in sides)


def test_a_row_of_matrices_goes_on_below(drawn) -> None:
    figure = drawn(plot_attention, panels([f"layer {k}" for k in range(12)], WORDS * 3))
    tops = {round(ax.get_window_extent().y1) for ax in figure.axes}
    assert len(tops) > 1
    assert figure.get_figwidth() < 18


def test_both_sides_of_a_matrix_are_named(drawn) -> None:
    shown = said(drawn(plot_attention, panels(["a"], WORDS), sides=("those", "these")))
    assert "those" in shown
    assert "these" in shown


@pytest.mark.parametrize(("low", "told"), [(0.2, True), (0.0, False)])
def test_a_scale_that_does_not_begin_at_0_is_told_of(drawn, low, told) -> None:
    weights = np.array([[low, 0.25], [0.22, 0.24]])
    figure = drawn(plot_attention, [AttentionPanel("a", weights, "ab", "ab")])
    assert ("the scale begins at 0.2, not at 0" in said(figure)) == told


def test_equal_seeds_are_seen_one_by_one(drawn) -> None:
    figure = drawn(plot_seeds, {"a": [0.5] * 20, "b": [0.5, 0.6]}, shown=VALID)
    dots = next(found for found in figure.findobj(PathCollection) if len(found.get_offsets()) == 20)
    places = sorted(figure.axes[0].transData.transform(dots.get_offsets())[:, 1])
    dot = 34**0.5 * figure.dpi / 72
    assert all(two - one > dot / 2 for one, two in pairwise(places))
    rows = figure.axes[0].transData.transform([(0, -0.5), (0, 0.5)])[:, 1]
    assert min(rows) < places[0] < places[-1] < max(rows)


def test_a_curve_of_one_point_is_left_out_and_named(drawn) -> None:
    both = {**curves([10, 20], ["a"]), **curves([10], ["late"])}
    assert "not drawn, one point: late" in said(drawn(plot_learning, both, label="mcc"))
    alone = [text.get_text() for text in texts(drawn(plot_learning, curves([10]), label="mcc"))]
    assert alone.count("10") == 1  # the only update, once
    assert not any("not drawn" in text for text in alone)


def test_differences_stand_above_what_is_drawn(drawn) -> None:
    figure = drawn(plot_curves, curves(SHARES[:4], ["a", "b"]))
    numbers = [text for text in texts(figure) if text.get_text().startswith("+")]
    assert len(numbers) == 4
    assert all(one.get_window_extent().y0 >= figure.axes[0].bbox.y1 for one in numbers)
    assert "numbers above: b minus a" in said(figure)


def test_bars_stand_on_0_even_where_nothing_is_wrong(drawn) -> None:
    assert drawn(plot_errors, wrong(["a"], share=0.0)).axes[0].get_ylim()[0] == 0


def test_many_curves_look_different() -> None:
    assert len({tuple(look(number).values()) for number in range(24)}) == 24


@given(st.text("ab_/ -,", max_size=80), st.integers(1, 20))
def test_wrapped_texts_keep_all_but_spaces(text, most) -> None:
    lines = wrapped(text, most).split("\n")
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, lines)) <= most
