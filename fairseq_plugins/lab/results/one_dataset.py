"""Tables of one dataset: by share of the training data, by source features, by their width.

At each place, a row and a group of columns, stands the setting that is best on the validation set,
with what it gains over a baseline and whether that is more than chance. Sundararaman et al. (2019):

fractions     Table 1: a row a share, the baseline and the syntax-infused Transformer, and what the
              second gains. Any number of systems and any task will do; the baseline is the one
              without source features, or else the one that comes first.
features      "Experimental Results": all three features do better than any two.
feature_dims  the same: a width of 20 does better than others from 8 to 64, be the features summed
              or set side by side. The paper prints no figures of either.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from ..plan.prepare import TRANSLATION
from .choice import NO_FEATURES, baseline_of, best_of, chosen_at, shown_of
from .compare import SEEDS, Difference, Significance
from .frame import Shown
from .layouts import DOWN, SIGNIFICANT, UP, Entries, special
from .paper_tables import score_line
from .tables import (
    NONE,
    Heading,
    ResultTable,
    TableCell,
    mark_of,
    millions,
    name_of,
    number_cell,
    p_text,
    scale_of,
    score_cell,
    share_cell,
    words,
)

_SUM, _WIDTH = "sum", 20  # how features are combined, and how wide, unless an option says otherwise
_Place = tuple[Any, str]  # row, group of columns; of no group for all of them


class PrintedFractions(Entries):
    """The paper's figures: of a metric on a split, by share of the training data, of systems."""

    source: str
    data: str  # how folders of runs on the paper's data begin; beside others no figure stands
    split: str
    metric: str
    systems: tuple[str, ...]
    paper: dict[float, tuple[float, ...]]

    def figure(self, metric: str, share: float, system: str) -> float:
        """Return a figure; nan where the paper has none."""
        row = self.paper.get(share, ()) if metric == self.metric else ()
        return dict(zip(self.systems, row)).get(system, math.nan)


@cache
def figures() -> PrintedFractions:
    """Return the paper's figures."""
    return special("fractions", PrintedFractions)


class _Arranged(NamedTuple):
    """How runs stand in a table."""

    by: str  # what its rows differ in
    leads: list[Heading]  # heads of the first columns
    cells: Callable[
        [Any, list[pd.DataFrame]], list[TableCell]
    ]  # row, the runs in it -> its first cells
    best: dict[_Place, pd.DataFrame]  # the runs that stand at each place
    baseline: Callable[[Any], pd.DataFrame | None]  # row -> what its runs are compared with
    gain: Callable[[str], str | None] = str  # group -> what is said of its gain; None for no gain
    figure: Callable[[str, Any, str], float] = lambda *_: math.nan  # metric, row, group -> paper's
    first: str = ""  # the group that stands first
    chosen: bool = True  # whether the metric that chose stands beside each score


def fraction_table(found: pd.DataFrame, test: Significance, paper: bool = True) -> ResultTable:
    """Lay runs out by the share of the training data.

    Args:
        found: runs on one dataset.
        test: of the difference to the baseline.
        paper: whether the paper's figures stand beside ours.
    """
    first, best = baseline_of(found), _by_share(found)
    arranged = _Arranged(
        "share of the training data",
        [Heading("share"), Heading("examples")],
        lambda share, summaries: [share_cell(share), _examples(summaries)],
        best,
        lambda share: best.get((share, first)),
        gain=lambda name: None if name == first else f"{name} minus {first}",
        first=first,
        chosen=False,
    )
    if paper and label_of(found).startswith(figures().data):
        arranged = arranged._replace(figure=figures().figure)
    table = _table(found, test, arranged)
    if all(math.isnan(line["paper"]) for line in table.scores):
        return table
    return replace(table, caption=f"{table.caption} Paper: {figures().source}.")


def feature_table(found: pd.DataFrame, test: Significance, paper: bool = True) -> ResultTable:
    """Lay runs of translation out by the features they read, few first; see `fraction_table`.

    Raises:
        ValueError: no run used all of the training data.
    """

    def place(run: Any) -> _Place:
        names = str(run.options.get("features", NO_FEATURES)).split(",")
        names = tuple(name for name in names if name != NO_FEATURES)
        return (len(names), names or (NO_FEATURES,), run.system), ""

    def cells(row: Any, summaries: list[pd.DataFrame]) -> list[TableCell]:
        count = summaries[0].parameters.iloc[0]
        return [TableCell(", ".join(row[1]), value=row[0]), TableCell(row[2]), millions(count)]

    whole = _whole(found)
    chosen = chosen_at(whole, whole.system)
    places = {place(one.iloc[0]): one for one in chosen.values()}
    best = {each: places[each] for each in sorted(places)}
    baseline = chosen.get(baseline_of(found))
    leads = [*words("features", "system"), Heading("parameters")]
    return _table(found, test, _Arranged("source features", leads, cells, best, lambda _: baseline))


def width_table(found: pd.DataFrame, test: Significance, paper: bool = True) -> ResultTable:
    """Lay runs of translation out by the width of their features; see `fraction_table`.

    A group of columns is a way of combining them. Every width stands, whatever is best.

    Raises:
        ValueError: no run used all of the training data.
    """
    best, chooses = _best_at(_whole(found), _way), _chooses(found)
    arranged = _Arranged(
        "width of the source features",
        [Heading("width")],
        lambda width, _: [TableCell(str(width or NONE), value=width)],
        best,
        lambda _: best.get((0, "")),
        first=_SUM,
    )
    notes = []
    for way in filter(None, _groups(best, _SUM)):
        means = {k: fmean(chooses.values(one)) for (k, name), one in best.items() if name == way}
        width = best_of(chooses.metric)(means, key=means.__getitem__)
        notes.append(f"{way}: best {chooses.metric} on validation with width {width}")
    return replace(_table(found, test, arranged), notes=tuple(notes))


def share_curves(found: pd.DataFrame) -> tuple[dict[str, dict[float, list[float]]], Shown]:
    """Return system -> share of the data -> scores of its seeds, and what scores they are.

    A system stands at each share with the setting that is best on validation.
    """
    shown, curves = shown_of(found), {}
    for (share, name), summary in _by_share(found).items():
        scores = [scale_of(shown.metric) * value for value in shown.values(summary)]
        curves.setdefault(name, {})[share] = scores
    return curves, shown


def label_of(found: pd.DataFrame) -> str:
    """Return what a dataset is called; parallel text as its folder is."""
    first = found.iloc[0]
    return first.root.resolve().name if first.dataset == TRANSLATION else first.dataset


def _chooses(found: pd.DataFrame) -> Shown:
    """Return what chose the settings."""
    return Shown(found.metric.iloc[0], found.validation.iloc[0])


def _whole(found: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on all of the training data."""
    whole = found[found.fraction == 1]
    if whole.empty:
        shares = sorted(set(found.fraction))
        raise ValueError(
            f"{found.root.iloc[0]}: a table of features is of runs on 100 % of the training data; "
            f"these are on {', '.join(f'{100 * share:g} %' for share in shares)}"
        )
    return whole


def _by_share(found: pd.DataFrame) -> dict[_Place, pd.DataFrame]:
    """Return share of the training data and system -> its runs."""
    return _best_at(found, lambda run: (run.fraction, run.system))


def _best_at(runs: pd.DataFrame, place: Callable[[Any], _Place]) -> dict[_Place, pd.DataFrame]:
    """Return place -> runs with the setting that is best on validation, row by row."""
    places = [(place(run), run.system) for run in runs.itertuples()]
    chooses, best = _chooses(runs), {}
    for (one, _), own in chosen_at(runs, places).items():
        best.setdefault(one, []).append(own)
    mean = lambda own: fmean(chooses.values(own))  # noqa: E731
    return {one: best_of(chooses.metric)(best[one], key=mean) for one in sorted(best)}


def _way(run: Any) -> _Place:
    """Return how wide a run's features are together, and how it combines them; no way for none."""
    if run.options.get("features") == NO_FEATURES:
        return 0, ""
    way, widths = run.options.get("feature-combine", _SUM), run.options.get("feature-embed-dims")
    if widths:
        return sum(int(width) for width in str(widths).split(",")), str(way)
    return int(run.options.get("feature-embed-dim", _WIDTH)), str(way)


def _examples(summaries: Iterable[pd.DataFrame]) -> TableCell:
    """Return the size of the training set; of seeds the mean."""
    sizes = [size for one in summaries for size in one.examples if size]
    return number_cell(round(fmean(sizes)), "{:,}") if sizes else TableCell(NONE)


def _groups(best: dict[_Place, pd.DataFrame], first: str) -> list[str]:
    """Return the groups of columns; an empty one where there are none."""
    names = dict.fromkeys(group for _, group in best if group)
    return sorted(names, key=lambda name: name != first) or [""]


def _table(found: pd.DataFrame, test: Significance, at: _Arranged) -> ResultTable:
    """Put a table together."""
    shown, groups, label = shown_of(found), _groups(at.best, at.first), label_of(found)
    chooses = _chooses(found)
    title = f"{label}: {shown.metric} by {at.by}"
    headings, rows, cells, scores = list(at.leads), [], {}, []
    for (row, group), one in at.best.items():
        first, figure = at.baseline(row), at.figure(shown.metric, row, group)
        tested = Difference() if first is None or first is one else test(first, one, shown)
        paper = "" if math.isnan(figure) else f"paper, {figures().split}: {figure:.2f}"
        own = [score_cell(shown.values(one), shown.metric, paper)]
        own += [] if at.gain(group) is None else [_gain(one, first, tested, shown)]
        cells[row, group] = own + [number_cell(fmean(chooses.values(one)), "{:.3f}")] * at.chosen
        line = score_line(title, one.system.iloc[0], one, shown, tested)
        marked = int(mark_of(tested, shown) == UP)
        scores.append({**line, "marked": marked, "paper": figure, "dataset": label})
    for group in groups:
        headings.append(Heading(group, shown.title) if group else Heading(shown.title))
        headings += [] if (gain := at.gain(group)) is None else [Heading("gain", gain)]
        chosen_on = f"{chooses.split}, best checkpoint"
        headings += [Heading(chooses.metric, chosen_on)] * at.chosen
    for row in dict.fromkeys(row for row, _ in cells):
        line = at.cells(row, [one for (other, _), one in at.best.items() if other == row])
        for group in groups:
            lacking = [TableCell(NONE)] * (1 + (at.gain(group) is not None) + at.chosen)
            line += cells.get((row, group), cells.get((row, ""), lacking))
        rows.append(line)
    caption = (
        f"{name_of(shown.metric)} on split {shown.split!r}: mean ± standard deviation over seeds; "
        "each system at the setting that is best on the validation set. "
        f"{UP} better, {DOWN} worse with p < {SIGNIFICANT}: {test.name}"
    )
    return ResultTable(title, headings, rows, caption, scores=tuple(scores))


def _gain(
    one: pd.DataFrame, first: pd.DataFrame | None, tested: Difference, shown: Shown
) -> TableCell:
    """Show what is gained over the baseline, with an arrow where it is more than chance."""
    if first is None or first is one:
        return TableCell(NONE)
    means, scale = [fmean(shown.values(side)) for side in (one, first)], scale_of(shown.metric)
    gain, below = scale * (means[0] - means[1]), tested.untested
    if not math.isnan(tested.p_value):
        below = f"{p_text(tested.p_value)} over {tested.over}"
        shared = {*one.seed} & {*first.seed}
        is_part = tested.over != SEEDS and len(shared) == 1 < max(len(one), len(first))
        below += f" of one seed ({scale * tested.difference:+.2f})" if is_part else ""
    return TableCell(f"{gain:+.2f}", below, gain, mark_of(tested, shown))
