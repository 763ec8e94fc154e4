"""Bars of errors by question word: Figure 5 of Chadha and Sood 2019."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from ...evaluation.question_types import TypeErrors
from .drawing import COLORS, legend, save, style, tidy

GROUP = 0.8  # of the room of a type that its bars take


def plot_errors(found: Sequence[TypeErrors], out_stem: str | Path) -> list[Path]:
    """Draw the percentage of wrong answers of every type of question, a bar a system.

    Numbers above the bars are counts of wrong answers, as in the paper's text.

    Args:
        found: of all types and systems.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.

    Returns:
        The two files written.

    Raises:
        ValueError: nothing to draw.
        OSError: the files cannot be written.
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
            ax.bar_label(bars, [f"{one.wrong:,}" for one in rows], fontsize=6.5, padding=1)
        counts = {one.kind: one.questions for one in found}
        ax.set_xticks(range(len(kinds)), [f"{kind}\n({counts[kind]:,})" for kind in kinds])
        ax.set_ylabel("wrong answers, %")
        tidy(ax, 0.02, 0.12, lines=False)
        legend(figure, loc="outside upper left", ncols=3)
        return save(figure, out_stem)
