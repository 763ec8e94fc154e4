"""Figures 4 and 5 of Chadha and Sood 2019: attention of questions, and errors by question word.

A context is long and a question short: the map of attention between them is cut into strips, one
below the other.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...evaluation.question_types import TypeErrors
from .drawing import (
    COLORS,
    RED,
    checked,
    colour_range,
    draw_matrix,
    legend_above,
    note,
    plain,
    save,
    style,
    tidy,
)

SIDES = ("wordpieces of the question", "of the context")
CELL = 0.2  # inches
FONT = 7.0  # points
GROUP = 0.8  # of the room of a type that its bars take
LETTER = FONT / 72 * 0.62  # width of an average letter, inches


def plot_coattention(
    weights: np.ndarray,
    question: Sequence[str],
    context: Sequence[str],
    out_stem: str | Path,
    *,
    span: tuple[int, int] | None = None,
    chosen: bool = True,
    title: str = "",
    strip: int,
) -> list[Path]:
    """Draw a map of attention, question down and context across.

    Args:
        weights: (Q, C).
        question: Q labels.
        context: C labels.
        out_stem: names the files that are returned; see `drawing.save`.
        span: first and last column of the best span, which is framed.
        chosen: whether it is the answer; else the frame is dashed.
        title: above the figure.
        strip: most columns of a strip.

    Raises:
        ValueError: weights that do not fit their labels, are negative or not finite; a span beyond
            the context; strips without columns.
    """
    weights = checked(weights, question, context, "attention", SIDES)
    if span is not None and not 0 <= span[0] <= span[1] < len(context):
        raise ValueError(f"the span {span} is none of {len(context)} columns")
    if strip < 1:
        raise ValueError(f"strips of {strip} columns: must be at least 1")
    starts = range(0, len(context), strip)
    columns, shades = min(strip, len(context)), colour_range([weights])
    with style():
        figure = Figure(figsize=_size(question, context, columns, len(starts)))
        axes = figure.subplots(len(starts), 1, squeeze=False)[:, 0]
        for ax, start in zip(axes, starts):
            part = weights[:, start : start + strip]
            labels, look = context[start : start + strip], {"font": FONT, "border": 0.4}
            image = draw_matrix(ax, part, question, labels, shades=shades, **look)
            ax.set_anchor("W")
            ax.set_xlim(0, columns)
            if span is not None:
                _mark(ax, (span[0] - start, span[1] - start), part.shape, "-" if chosen else "--")
        figure.tight_layout(pad=0.4, h_pad=0.8)
        bar = figure.colorbar(image, ax=list(axes), fraction=0.03, pad=0.01, aspect=30)
        bar.ax.tick_params(labelsize=FONT)
        bar.set_label("attention weight", fontsize=FONT)
        bar.outline.set_visible(False)
        if title:
            plain(figure.suptitle(title, fontsize=9.0, y=1.0, va="bottom"))
        return save(figure, out_stem)


def _size(
    question: Sequence[str], context: Sequence[str], columns: int, strips: int
) -> tuple[float, float]:
    """Return width and height of the figure, inches."""
    left = LETTER * max(map(len, question))
    above = LETTER * max(map(len, context))
    width = CELL * columns + left + 1.2
    return max(width, 4.0), strips * (CELL * len(question) + above + 0.25) + 0.3


def _mark(ax: Axes, span: tuple[int, int], shape: tuple[int, ...], line: str) -> None:
    """Frame what a strip shows of the span, and colour its labels."""
    rows, columns = shape
    first, last = max(span[0], 0), min(span[1], columns - 1)
    if first > last:
        return
    look = {"fill": False, "edgecolor": RED, "linewidth": 1.4, "linestyle": line, "clip_on": False}
    ax.add_patch(Rectangle((first, 0), last - first + 1, rows, **look))
    for label in ax.get_xticklabels()[first : last + 1]:
        label.set_color(RED)


def plot_errors(found: Sequence[TypeErrors], out_stem: str | Path) -> list[Path]:
    """Draw the percentage of wrong answers of every type of question, a bar a system.

    Numbers above the bars are counts of wrong answers, as in the paper's text.

    Args:
        found: of all types and systems.
        out_stem: names the files that are returned; see `drawing.save`.

    Raises:
        ValueError: nothing to draw.
    """
    kinds = list(dict.fromkeys(one.kind for one in found))
    systems = list(dict.fromkeys(one.system for one in found))
    if not kinds:
        raise ValueError("no errors to draw")
    width = GROUP / len(systems)
    with style():
        size = (max(4.5, 1.2 + len(kinds) * (0.35 + 0.3 * len(systems))), 3.8)
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.subplots()
        for k, system in enumerate(systems):
            rows = [one for one in found if one.system == system]
            places = [kinds.index(one.kind) - GROUP / 2 + width * (k + 0.5) for one in rows]
            heights = [one.percent for one in rows]
            bars = ax.bar(places, heights, width, color=COLORS[k % len(COLORS)], label=system)
            ax.bar_label(bars, [f"{one.wrong:,}" for one in rows], fontsize=8, padding=1)
        counts = {one.kind: one.questions for one in found}
        ax.set_xticks(range(len(kinds)), [f"{kind}\n({counts[kind]:,})" for kind in kinds])
        ax.set(ylabel="wrong answers (%)", xlabel="type of question (how many there are)")
        tidy(ax, 0.02, 0.12, lines=False)
        legend_above(figure, ax)
        note(figure, "numbers: wrong answers")
        return save(figure, out_stem)
