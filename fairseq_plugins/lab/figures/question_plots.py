"""Figures 4 and 5 of Chadha and Sood 2019: attention of questions, and errors by question word.

A context is long and a question short: the map of attention between them is cut into strips, one
below the other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...evaluation.question_types import TypeErrors
from ...evaluation.shades import colour_range
from .drawing import COLORS, RED, SMALL, legend_above, note, save, style, tidy
from .matrices import LETTER, arrange, checked, draw_matrix, finish

SIDES = ("wordpieces of the question", "of the context")
CELL = 0.2  # inches
FONT = 7.0  # points
GROUP = 0.8  # of the room of a type that its bars take
HATCHES = ("", "//", "..", "xx")  # where colours do not suffice


def plot_coattention(
    weights: np.ndarray,
    question: Sequence[str],
    context: Sequence[str],
    out_stem: str | Path,
    *,
    span: tuple[int, int] | None = None,
    chosen: bool = True,
    title: str = "",
    about: str = "",
    question_attends: bool = True,
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
        about: which attention it is, in words below.
        question_attends: whether the question attends to the context, or the context to it.
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
    with style():
        figure = Figure()
        image = _draw_strips(figure, weights, question, context, strip)
        roles = ("attending", "attended") if question_attends else ("attended", "attending")
        figure.axes[-1].set_xlabel(f"context ({roles[1]})", fontsize=SMALL)
        for ax in figure.axes:
            ax.set_ylabel(f"question ({roles[0]})", fontsize=SMALL)
            if span is not None:
                start = int(str(ax.get_label()))
                _mark(ax, (span[0] - start, span[1] - start), "-" if chosen else "--")
        arrange(figure.axes, CELL, 0.0)
        finish(figure, image, [about] * bool(about), title)
        return save(figure, out_stem)


def _draw_strips(
    figure: Figure, weights: np.ndarray, question: Sequence[str], context: Sequence[str], strip: int
) -> Any:
    """Draw the map, axes called by the column that they begin with; return one of the images."""
    shades, image = colour_range([weights]), None
    for start in range(0, len(context), strip):
        ax = figure.add_axes((0, 0, 1, 1), label=str(start))
        part, labels = weights[:, start : start + strip], context[start : start + strip]
        image = draw_matrix(ax, part, question, labels, shades=shades, font=FONT, border=0.4)
    return image


def _mark(ax: Axes, span: tuple[int, int], line: str) -> None:
    """Frame what a strip shows of the span, and colour its labels."""
    rows, columns = int(ax.get_ylim()[0]), int(ax.get_xlim()[1])
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
    room = 0.35 + 0.3 * len(systems)  # inches of a type
    counts = {one.kind: one.questions for one in found}
    with style():
        figure = Figure(figsize=(max(4.5, 1.2 + len(kinds) * room), 3.5), layout="constrained")
        ax = figure.subplots()
        turned = _draw_bars(ax, found, systems, kinds, room)
        ax.set_xticks(range(len(kinds)), [f"{kind}\n({counts[kind]:,})" for kind in kinds])
        ax.set(ylabel="wrong answers (%)", xlabel="type of question (how many there are)")
        tidy(ax, 0.02, 0.25 if turned else 0.12, lines=False)
        top = ax.get_ylim()[1] if any(one.wrong for one in found) else 1
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= min(100, top)])
        ax.set_ylim(0, top)
        legend_above(figure, ax)
        note(figure, "numbers: wrong answers")
        return save(figure, out_stem)


def _draw_bars(
    ax: Axes,
    found: Sequence[TypeErrors],
    systems: Sequence[str],
    kinds: Sequence[str],
    room: float,
) -> bool:
    """Draw bars with numbers, which are turned where they are wider; return whether they are."""
    width = GROUP / len(systems)
    longest = max(len(f"{one.wrong:,}") for one in found)
    turned = longest * SMALL * LETTER > room * width
    for k, system in enumerate(systems):
        rows = [one for one in found if one.system == system]
        places = [kinds.index(one.kind) - GROUP / 2 + width * (k + 0.5) for one in rows]
        look = {"color": COLORS[k % len(COLORS)], "edgecolor": "white", "linewidth": 0}
        hatch = HATCHES[k // len(COLORS) % len(HATCHES)]
        bars = ax.bar(
            places, [one.percent for one in rows], width, label=system, hatch=hatch, **look
        )
        told = [f"{one.wrong:,}" for one in rows]
        ax.bar_label(bars, told, fontsize=SMALL, padding=2, rotation=90 * turned)
    return turned
