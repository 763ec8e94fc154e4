"""Figures show what they were given, cover nothing of it, and their files are whole or absent."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from PIL import Image

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.shades import colour_range
from fairseq_plugins.lab.figures.curves import gates_table, plot_curves, plot_gates, plot_learning
from fairseq_plugins.lab.figures.drawing import (
    BLUE,
    PAGE,
    RED,
    SOURCE,
    check_stem,
    look,
    save,
    wrapped,
)
from fairseq_plugins.lab.figures.judgements import plot_confusion, plot_reliability
from fairseq_plugins.lab.figures.matrices import AttentionPanel, plot_attention, plot_coattention
from fairseq_plugins.lab.figures.seeds import plot_seeds, spread
from fairseq_plugins.lab.figures.sentences import ReadSentence, add_sentence
from fairseq_plugins.lab.results.frame import Shown
from fairseq_plugins.targets.calibration import Bin

LONG = "bert_dual_attention_with_syntax_aware_local_attention_and_gates_minilm/lr=3e-05"
NAMES = [f"{LONG} {k}" for k in range(8)]
WORDS = [f"donaudampfschifffahrtsgesells{k}" for k in range(4)]
VALID = Shown("accuracy", "validation_matched")
MATRIX = np.arange(25).reshape(5, 5)
BINS = [Bin(7, 0.6, 0.5), Bin(3, 0.95, 1.0)]
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 0.95, 1.0)


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


def curves(places: Any, systems: list[str] = NAMES, seeds: int = 2) -> dict:
    return {
        name: {x: [0.5 + 0.01 * k + 0.001 * seed for seed in range(seeds)] for x in places}
        for k, name in enumerate(systems)
    }


def strips(words: list[str], **more: Any) -> Figure:
    weights = np.random.default_rng(1).dirichlet([0.1] * 12, 4)
    more = {"strip": 5, "span": (11, 11), **more}
    return plot_coattention(weights, words, words * 3, ("question", "context"), **more)


def sentence() -> Figure:
    figure, systems = plot_attention(panels(NAMES[:2], WORDS)), [(one, LONG) for one in NAMES]
    read = ReadSentence(WORDS * 3, {"pos": WORDS * 3}, [(5, 0)], ["obl"], systems, LONG, "a")
    add_sentence(figure, read)
    return figure


ROOTS = {"arcs": [(0, 1), (2, 1), (3, 1)], "relations": ["nsubj:pass", "compound:prt", "obl"]}
HARD: dict[str, Callable[[], Figure]] = {
    "curves": lambda: plot_curves(curves(SHARES)),
    "gaps": lambda: plot_curves(curves(SHARES, NAMES[:2])),
    "gates": lambda: plot_gates(dict.fromkeys([LONG, "wnut17"], curves(range(48)))),
    "learning": lambda: plot_learning(curves(range(1, 40)), "loss"),
    "one update": lambda: plot_learning(curves([7]), "loss"),
    "seeds": lambda: plot_seeds({name: [0.8, 0.81] for name in NAMES}, VALID),
    "near shares": lambda: plot_curves(curves((0.01, 0.7, 0.8, 0.9, 1.0))),
    "close": lambda: plot_seeds({"a": [0.812345, 0.812346, 0.812347]}, VALID),
    "attention": lambda: plot_attention(panels(NAMES, WORDS), notes=[LONG]),
    "a word": lambda: plot_attention(panels(["a"], ["b"])),
    "sentence": sentence,
    "trees": lambda: plot_attention(panels(["BERT", "SLA"], list("abcd"), **ROOTS)),
    "confusion": lambda: plot_confusion({"BERT": MATRIX, LONG: MATRIX}, [*WORDS, "donau"]),
    "reliability": lambda: plot_reliability({"BERT": BINS, "POS": BINS}),
    "strips": lambda: strips(WORDS, title=f"red: the answer, {' '.join(WORDS)}"),
}


@pytest.mark.parametrize("case", HARD)
def test_no_text_covers_another_and_names_are_whole(case) -> None:
    figure = HARD[case]()
    level = [text for text in texts(figure) if text.get_rotation() % 90 == 0]
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in level]
    assert len(boxes) > 4
    covered = [(one, two) for (one, a), (two, b) in combinations(boxes, 2) if a.overlaps(b)]
    assert covered == []
    for legend in figure.findobj(Legend):
        assert not any(legend.get_window_extent().overlaps(ax.bbox) for ax in figure.axes)
    assert figure.get_tightbbox().width < 18  # inches
    shown = said(figure).replace(" ", "")
    if case in ("curves", "gates", "learning", "seeds", "attention"):
        assert all(name.replace(" ", "") in shown for name in NAMES)


def test_a_row_of_matrices_goes_on_below() -> None:
    figure = plot_attention(panels([f"layer {k}" for k in range(12)], WORDS * 3))
    assert len({round(ax.get_window_extent().y1) for ax in figure.axes}) > 1


@pytest.mark.parametrize(("low", "told"), [(0.2, True), (0.0, False)])
def test_a_scale_that_does_not_begin_at_0_is_told_of(low, told) -> None:
    weights = np.array([[low, 0.25], [0.22, 0.24]])
    figure = plot_attention([AttentionPanel("a", weights, "ab", "ab")])
    assert ("the scale begins at 0.2, not at 0" in said(figure)) == told
    alike, mixed = np.array([[0.10, 0.11]]), np.array([[0.01, 0.11]])
    assert colour_range([alike]) == (0.10, 0.11)
    assert colour_range([alike, mixed]) == (0.0, 0.11)
    assert colour_range([np.zeros((1, 1))]) == (0.0, 1.0)


def test_coattention_frames_its_span_in_each_strip() -> None:
    for chosen, line in ((True, "-"), (False, "--")):
        figure = strips(list("abcd"), chosen=chosen, span=(4, 6))
        assert all(side in said(figure) for side in ("question", "context"))
        frames = [(ax.get_label(), patch) for ax in figure.axes for patch in ax.patches]
        assert {patch.get_linestyle() for _, patch in frames} == {line}
        where = [(label, patch.get_bbox().bounds) for label, patch in frames]
        assert where == [("0", (4, 0, 1, 4)), ("1", (0, 0, 2, 4))]
    assert not any(ax.patches for ax in strips(list("abcd"), span=None).axes)


def svg(figure: Figure, folder: Path) -> str:
    return save(figure, folder / "figure", ["svg"])[0].read_text(encoding="utf-8")


def test_same_input_same_svg_whatever_the_settings(tmp_path) -> None:
    data = curves(SHARES, ["a", "b"])
    turned = {name: dict(reversed(points.items())) for name, points in data.items()}
    first = svg(plot_curves(data), tmp_path)
    mpl.rcParams["font.size"] = 20
    assert svg(plot_curves(turned), tmp_path) == first
    assert mpl.rcParams["font.size"] == 20
    mpl.rcdefaults()
    assert svg(plot_curves(curves(SHARES, ["b", "a"])), tmp_path) != first


def test_a_confusion_matrix_writes_counts_and_shades_shares_of_the_true_class() -> None:
    figure = plot_confusion({"a": np.array([[3, 1], [0, 1234]])}, ["no", "$yes$"])
    (ax,) = figure.axes
    assert ax.images[0].get_array().tolist() == [[0.75, 0.25], [0.0, 1.0]]
    shown = [text.get_text() for text in texts(figure)]
    assert {"3", "1", "0", "1,234", "no", "$yes$", "true", "predicted"} <= {*shown}
    many = plot_confusion({"a": np.ones((31, 31))}, [str(k) for k in range(31)])
    assert not many.axes[0].texts


def test_reliability_shows_bins_and_their_error() -> None:
    figure = plot_reliability({"a": BINS})
    assert figure.axes[0].lines[1].get_xdata().tolist() == [0.6, 0.95]
    assert figure.axes[0].lines[1].get_ydata().tolist() == [0.5, 1.0]
    assert "a (ECE 8.5 %)" in said(figure)


def test_curves_show_shares_in_percent() -> None:
    figure = plot_curves(curves((0.01, 0.1, 1.0), ["a", "b"], seeds=1), "sacreBLEU")
    shown = [text.get_text() for text in texts(figure)]
    assert {"1 %", "10 %", "100 %", "a", "b", "sacreBLEU"} <= {*shown}
    assert "band" not in said(figure)
    assert "95 %" not in said(plot_curves(curves((0.01, 0.1), ["a"], seeds=2)))
    several = plot_curves({"a": {0.01: [1.0, 2.0, 3.0], 0.1: [2.0]}})
    (bar,) = several.axes[0].containers  # at one share alone there are seeds enough
    (low, high) = bar.lines[2][0].get_segments()[0][:, 1]
    assert math.isclose(high - low, 2 * 4.3026527 * 3**-0.5, rel_tol=1e-6)  # t, 2 degrees
    assert "bar: 95 % interval (t)" in said(several)


def test_several_seeds_are_mean_range_and_dots() -> None:
    figure = plot_learning({"a": {10: [0.1, 0.3], 20: [0.5, 0.7]}}, "mcc $x$")
    (ax,) = figure.axes
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([0.2, 0.6])
    band, dots = ax.collections
    assert {point[1] for point in band.get_paths()[0].vertices} == {0.1, 0.3, 0.5, 0.7}
    assert len(dots.get_offsets()) == 4
    assert "mcc $x$" in said(figure)
    assert "dots: each seed" in said(figure)
    alone = [text.get_text() for text in texts(plot_learning({"a": {7: [0.1]}}, "mcc"))]
    assert alone.count("7") == 1
    with pytest.raises(InputError, match="no curves"):
        plot_learning({}, "mcc")


def test_gates_have_a_panel_a_dataset_and_a_table() -> None:
    data = {name: curves(range(3), ["wla", "sla"]) for name in ("SST-2", "FCE")}
    data["FCE"]["sla"] = {1: [0.2, 0.6]}
    figure = plot_gates(data)
    assert [ax.get_title() for ax in figure.axes] == ["SST-2", "FCE"]
    colors = [[line.get_color() for line in ax.lines] for ax in figure.axes]
    assert colors == [[BLUE, RED]] * 2
    table = gates_table(data, {(d, s): 50 for d in data for s in ("wla", "sla")})
    assert len(table) == 3 + 3 + 3 + 1
    row = table.iloc[-1].to_dict()
    assert row.pop("values").split() == ["0.200000", "0.600000"]
    assert row == {"dataset": "FCE", "system": "sla", "layer": 1, "mean": 0.4, "min": 0.2,
                   "max": 0.6, "runs": 2, "tokens": 50}  # fmt: skip


def test_every_seed_is_a_dot() -> None:
    scores = {"a": [0.5] * 20, "b": [0.5, 0.6, 0.55], "c": [0.5, math.nan], "d": [math.inf]}
    figure = plot_seeds(scores, Shown("mcc", "valid"))
    found = [one.get_offsets() for one in figure.findobj(PathCollection)]
    assert [len(dots) for dots in found] == [20, 3, 1, 0]
    data = figure.axes[0].transData
    places, dot = sorted(data.transform(found[0])[:, 1]), 34**0.5 * figure.dpi / 72
    assert all(two - one > dot / 2 for one, two in pairwise(places))
    rows = data.transform([(0, -0.5), (0, 0.5)])[:, 1]
    assert min(rows) < places[0] < places[-1] < max(rows)
    shown = said(figure)
    assert shown.count("1 without a number") == 2
    for name in ("MCC × 100, valid", "the mean of the seeds", "its 95 % interval"):
        assert name in shown
    assert "mean" not in said(plot_seeds({"a": [0.5]}, VALID))
    with pytest.raises(InputError, match="no scores"):
        plot_seeds({}, VALID)


@pytest.mark.parametrize("values", [[0.5] * 10, [0.1, 0.1, 0.9], [3, 1, 2.05, 2, 2.1, 1]])
def test_dots_that_would_cover_each_other_stand_apart(values) -> None:
    places = list(zip(values, spread(values, 0.2)))
    assert len(set(places)) == len(values)
    for (one, level), (two, other) in combinations(places, 2):
        assert level != other or abs(one - two) > 0.2
    assert spread([1, 2, 3], 0.2) == [0, 0, 0]


def test_many_curves_look_different() -> None:
    assert len({tuple(look(number).values()) for number in range(24)}) == 24


@given(st.text("ab_/ -,", max_size=80), st.integers(1, 20))
def test_wrapped_texts_keep_all_but_spaces(text, most) -> None:
    lines = wrapped(text, most).split("\n")
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, lines)) <= most


def test_any_label_is_drawn_as_it_is(tmp_path) -> None:
    rows = ["$5$", "\u2581a_b", "<unk>"]
    columns = ["Donaudampfschifffahrtsgesellschaftskapitän", "a" * 30, "猫", " \t", "x\ny"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font without the glyph
        text = svg(plot_attention([AttentionPanel("$", np.ones((3, 5)), rows, columns)]), tmp_path)
    for label in ("a" * 30, "$5$", "\u2581a_b", "&lt;unk&gt;", "猫", "x y"):
        assert f">{label}</text>" in text
    assert "Donaudampfschifffahrtsgesellsch\u2026" in text


def names(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_are_both_there_or_as_before(tmp_path, monkeypatch) -> None:
    written = save(Figure(), tmp_path / "new" / "a.v1")
    before = names(tmp_path / "new")
    assert [path.name for path in written] == ["a.v1.png", "a.v1.svg"] == list(before)
    real = Figure.savefig

    def failing(self, path, **options):
        real(self, path, **options)
        if options["format"] == "svg":
            raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", failing)
    with pytest.raises(OSError, match="disk full"):
        save(Figure(figsize=(1, 1)), tmp_path / "new" / "a.v1")
    assert names(tmp_path / "new") == before


def test_pictures_are_as_wide_as_a_page_and_say_what_they_are_made_of(tmp_path) -> None:
    for name, inches in (("narrow", 2), ("wide", 12)):
        figure = Figure(figsize=(inches, 1))
        figure.text(0, 0, "a")
        figure.text(1, 1, "b")
        png, text = save(figure, tmp_path / name, made_of="rows.jsonl 0123")
        picture = Image.open(png)
        assert picture.width == PAGE if name == "narrow" else picture.width > PAGE
        assert picture.info[SOURCE] == "rows.jsonl 0123"
        assert "rows.jsonl 0123" in text.read_text(encoding="utf-8")
    assert SOURCE not in Image.open(save(Figure(figsize=(1, 1)), tmp_path / "a")[0]).info


def test_a_picture_may_be_larger_than_what_a_stranger_sends(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)  # twice as many are an error
    (png,) = save(strips(list("abcd")), tmp_path / "large", ["png"])
    monkeypatch.undo()
    assert Image.open(png).width >= PAGE


def test_bad_places_are_refused(tmp_path, monkeypatch) -> None:
    for suffixed in ("a.png", "a.svg", "a"):
        assert check_stem(tmp_path / suffixed) == tmp_path / "a"
    assert check_stem(tmp_path / "a.v1").name == "a.v1"
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        check_stem(tmp_path / "file" / "a")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(InputError, match="a.csv is a folder"):
        check_stem(tmp_path / "a", "csv")
    for nameless in ("", "new/", "."):
        with pytest.raises(InputError, match="names no figure"):
            check_stem(nameless)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PermissionError, match="no permission"):
        check_stem(tmp_path / "a")
