"""Rows and matrices -> figures, as PNG and SVG. Nothing here opens a log or a checkpoint.

``plot_attention`` draws the syntax-infused paper's Figure 3 (attention of each target subword over
the source subwords, systems side by side), ``plot_curves`` its Table 1 (BLEU against the share of
the training data). Figures are drawn without a display, and the same input gives the same SVG.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

logger = logging.getLogger(__name__)

_Named = tuple[str, Mapping[float, Sequence[float]]]  # system, fraction -> scores

CELL = 0.25  # inches; shrinks for long sentences
LONGEST_SIDE = 11.0  # inches of matrix
MAX_LABEL = 28  # characters
COLORS = ("#4477AA", "#EE6677", "#228833", "#AA3377", "#CCBB44", "#66CCEE")  # safe for all eyes
MARKERS = "osD^vP"
FALLBACK_FONTS = (
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
)


@dataclass(frozen=True)
class AttentionPanel:
    """One matrix of the figure.

    Attributes:
        title: for instance the system's name.
        weights: (T, S) attention of each target subword (row) over the source (columns).
        rows: T target subwords.
        columns: S source subwords.
    """

    title: str
    weights: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]


def plot_attention(
    panels: Sequence[AttentionPanel], out_stem: str | Path, *, title: str | None = None
) -> list[Path]:
    """Draw attention matrices side by side on one colour scale.

    Args:
        panels: at least one; they may differ in size.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.
        title: above the whole figure.

    Returns:
        The two files written.

    Raises:
        ValueError: no panels, or weights that do not fit their labels, are negative or not finite.
    """
    matrices = [_checked(panel) for panel in panels]
    if not matrices:
        raise ValueError("no attention panels to draw")
    top = max(float(matrix.max()) for matrix in matrices) or 1.0
    cell, font, size = _measures(panels)
    with _style():
        figure = Figure(figsize=size, layout="constrained")
        widths = [len(panel.columns) for panel in panels]
        axes = figure.subplots(1, len(panels), squeeze=False, width_ratios=widths)[0]
        for panel, matrix, ax in zip(panels, matrices, axes):
            image = _draw_matrix(ax, panel, matrix, top=top, cell=cell, font=font)
        _add_color_bar(figure, image, axes)
        if title:
            _plain(figure.suptitle(title, fontsize=12))
        return _save(figure, out_stem)


def _add_color_bar(figure: Figure, image: Any, axes: Sequence[Axes]) -> None:
    """Add the common scale to the right, level with the top of the matrices."""
    bar = figure.colorbar(
        image, ax=list(axes), shrink=0.5, aspect=25, pad=0.015, anchor=(0.0, 0.8), panchor=False
    )
    bar.set_label("attention weight")
    bar.outline.set_visible(False)


def _checked(panel: AttentionPanel) -> np.ndarray:
    """Return the weights as (T, S) floats, refusing what cannot be drawn."""
    matrix = np.asarray(panel.weights, dtype=float)
    expected = (len(panel.rows), len(panel.columns))
    if matrix.shape != expected:
        raise ValueError(
            f"panel {panel.title!r}: weights of shape {matrix.shape} do not fit "
            f"{expected[0]} target and {expected[1]} source subwords"
        )
    if matrix.size == 0:
        raise ValueError(f"panel {panel.title!r}: nothing to draw, shape {matrix.shape}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError(f"panel {panel.title!r}: weights must be finite and not negative")
    return matrix


def _measures(panels: Sequence[AttentionPanel]) -> tuple[float, float, tuple[float, float]]:
    """Return side of a cell (inches), label size (points) and (width, height) of the figure."""
    wide = sum(len(panel.columns) for panel in panels)
    high = max(len(panel.rows) for panel in panels)
    cell = min(CELL, LONGEST_SIDE * len(panels) / wide, LONGEST_SIDE / high)
    font = max(3.5, min(11.0, cell * 72 * 0.6))
    letter = font / 72 * 0.62  # width of an average letter, inches
    row_labels = [letter * max(map(len, map(_shorten, panel.rows))) for panel in panels]
    column_label = letter * max(len(_shorten(label)) for p in panels for label in p.columns)
    width = cell * wide + sum(row_labels) + 0.35 * len(panels) + 1.2
    return cell, font, (max(width, 3.5), max(cell * high + column_label + 1.2, 2.2))


def _draw_matrix(
    ax: Axes, panel: AttentionPanel, matrix: np.ndarray, *, top: float, cell: float, font: float
) -> Any:
    """Draw one panel: source subwords above, target subwords to the left, light cell borders."""
    T, S = matrix.shape
    image = ax.pcolormesh(
        matrix, cmap="Blues", vmin=0.0, vmax=top, edgecolors="0.9", linewidth=cell * 2
    )
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(S) + 0.5, [_shorten(label) for label in panel.columns], rotation=90)
    ax.set_yticks(np.arange(T) + 0.5, [_shorten(label) for label in panel.rows])
    ax.tick_params(length=0, pad=2, labelsize=font)
    for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        _plain(label)
    for spine in ax.spines.values():
        spine.set_visible(False)
    _plain(ax.set_title(panel.title, pad=8, fontweight="bold"))
    ax.set_ylabel("target subwords")
    ax.set_anchor("N")
    return image


def _shorten(label: str) -> str:
    """Bound a label's length and keep it on one line."""
    label = " ".join(label.split()) or "\u2423"
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "\u2026"


def plot_curves(
    rows: Sequence[Mapping[str, Any]],
    out_stem: str | Path,
    *,
    metric: str = "BLEU",
    title: str | None = None,
) -> list[Path]:
    """Draw a score against the share of training data, one line a system, logarithmic in data.

    Args:
        rows: each with ``system`` (name), ``fraction`` (in (0, 1]) and ``score``; several rows of
            one system and fraction (seeds) are drawn as their mean with their range.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.
        metric: label of the vertical axis.
        title: above the figure.

    Returns:
        The two files written.

    Raises:
        ValueError: no rows, a row without one of the keys, a fraction outside (0, 1] or a score
            that is not finite.
    """
    series = _series(rows)
    with _style():
        figure = Figure(figsize=(5.6, 3.8), layout="constrained")
        ax = figure.subplots()
        for k, (system, points) in enumerate(series.items()):
            _draw_line(ax, system, points, COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)])
        if len(series) == 2:
            _label_gaps(ax, *series.items())
        fractions = sorted({fraction for points in series.values() for fraction in points})
        _style_curves(ax, fractions, metric)
        if title:
            _plain(ax.set_title(title))
        for text in ax.legend(frameon=False, loc="upper left").get_texts():
            _plain(text)
        return _save(figure, out_stem)


def _series(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[float, list[float]]]:
    """Group rows: system (in order of appearance) -> fraction -> scores."""
    if not rows:
        raise ValueError("no rows to draw")
    series: dict[str, dict[float, list[float]]] = {}
    for number, row in enumerate(rows):
        missing = [key for key in ("system", "fraction", "score") if key not in row]
        if missing:
            raise ValueError(f"row {number} has no {', '.join(missing)}: {dict(row)}")
        fraction, score = float(row["fraction"]), float(row["score"])
        if not 0 < fraction <= 1 or not math.isfinite(score):
            raise ValueError(
                f"row {number}: fraction must be in (0, 1] and score finite: {dict(row)}"
            )
        series.setdefault(str(row["system"]), {}).setdefault(fraction, []).append(score)
    return series


def _draw_line(
    ax: Axes, system: str, points: Mapping[float, Sequence[float]], color: str, marker: str
) -> None:
    """Draw one system: the mean at each fraction, and the range where there are several scores."""
    x = sorted(points)
    means = [float(np.mean(points[fraction])) for fraction in x]
    if any(len(points[fraction]) > 1 for fraction in x):
        low, high = ([side(points[fraction]) for fraction in x] for side in (min, max))
        ax.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(x, means, color=color, marker=marker, markersize=5, linewidth=1.6, label=system)


def _label_gaps(ax: Axes, first: _Named, second: _Named) -> None:
    """Write the difference of two systems above each shared fraction, and what it is below."""
    for fraction in sorted(first[1].keys() & second[1].keys()):
        one, two = (float(np.mean(points[fraction])) for _, points in (first, second))
        ax.annotate(
            f"{two - one:+.1f}",
            (fraction, max(one, two)),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color="0.35",
        )
    legend = f"numbers: {second[0]} minus {first[0]}"
    _plain(
        ax.text(0.99, 0.02, legend, transform=ax.transAxes, ha="right", fontsize=7.5, color="0.35")
    )


def _style_curves(ax: Axes, fractions: Sequence[float], metric: str) -> None:
    """Set a logarithmic percent axis with one tick a fraction."""
    ax.set_xscale("log")
    ax.set_xticks(fractions, [f"{100 * fraction:g} %" for fraction in fractions])
    ax.minorticks_off()
    ax.set_xlabel("share of the training data")
    ax.set_ylabel(metric)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.margins(x=0.07, y=0.14)
    if all(value >= 0 for line in ax.lines for value in line.get_ydata()):
        ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _plain(text: Text) -> None:
    """Draw a text as it is: a dollar sign in a subword is no formula."""
    text.set_parse_math(False)


@contextmanager
def _style() -> Iterator[None]:
    """Set fonts and a fixed salt for SVG ids, leaving the caller's settings alone."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    families = ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in known)]
    settings = {
        "font.family": families,
        "font.size": 10.0,
        "axes.titlesize": 12.0,
        "svg.hashsalt": "fairseq_plugins",
        "svg.fonttype": "none",
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def _save(figure: Figure, out_stem: str | Path) -> list[Path]:
    """Write PNG and SVG under temporary names and rename them."""
    stem = Path(out_stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, options in (("png", {"dpi": 200}), ("svg", {"metadata": {"Date": None}})):
        path = stem.with_name(f"{stem.name}.{kind}")
        temporary = path.with_name(f"{path.name}.tmp")
        figure.savefig(temporary, format=kind, facecolor="white", bbox_inches="tight", **options)
        os.replace(temporary, path)
        written.append(path)
    logger.info("wrote %s", ", ".join(map(str, written)))
    return written
