"""The curve of a search for the learning rate: the metric and the loss against the rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from ..results.rate_trials import Trial
from .drawing import COLORS, MARKERS, legend, save, style, tidy


def plot_rates(trials: Sequence[Trial], out_stem: str | Path) -> list[Path]:
    """Draw the metric, and below it the loss, one line a system, logarithmic in the rate.

    The best rate of each system is ringed; rates at which training broke down are crosses at the
    foot.

    Args:
        trials: of all systems and rates.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.

    Returns:
        The two files written.

    Raises:
        ValueError: nothing to draw.
        OSError: the files cannot be written.
    """
    if not trials:
        raise ValueError("no trials to draw")
    with style():
        figure = Figure(figsize=(5.6, 5.2), layout="constrained")
        axes = figure.subplots(2, 1, sharex=True)
        for k, system in enumerate(dict.fromkeys(trial.system for trial in trials)):
            group = [trial for trial in trials if trial.system == system]
            look = {"color": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)]}
            whole = sorted((t for t in group if t.is_whole), key=lambda trial: trial.rate)
            rates = [trial.rate for trial in whole]
            peak = max(whole, key=lambda trial: trial.merit, default=None)
            for ax, name in zip(axes, ("score", "loss")):
                values = [getattr(trial, name) for trial in whole]
                ax.plot(rates, values, label=system, markersize=5, linewidth=1.6, **look)
                broken = [trial.rate for trial in group if not trial.is_whole]
                foot = {"transform": ax.get_xaxis_transform(), "linestyle": "none"}
                ax.plot(broken, [0.03] * len(broken), marker="x", color=look["color"], **foot)
                if peak:
                    ring = {"marker": "o", "markersize": 12, "fillstyle": "none"}
                    ax.plot([peak.rate], [getattr(peak, name)], color=look["color"], **ring)
        _finish(axes, [trial.rate for trial in trials], trials[0].metric)
        return save(figure, out_stem)


def _finish(axes: Sequence, rates: Sequence[float], metric: str) -> None:
    """Set axes, a tick a rate, and the legend."""
    ticks = sorted(set(rates))
    for ax, name in zip(axes, (metric, "loss")):
        ax.set_xscale("log")
        ax.set_ylabel(name)
        tidy(ax, 0.06, 0.12)
    axes[1].set_xticks(ticks, [f"{rate:g}" for rate in ticks], rotation=45, ha="right")
    axes[1].minorticks_off()
    axes[1].set_xlabel("learning rate")
    legend(axes[0])
