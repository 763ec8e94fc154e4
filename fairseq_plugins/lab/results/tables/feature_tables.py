"""Translation with several source features, and with features of several widths, as tables.

Sundararaman et al. (2019), "Experimental Results": all three features do better than any two, and
a width of 20 better than the others from 8 to 64, be they summed or set side by side. The paper
prints no figures of either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ....evaluation.metrics import LOWER_IS_BETTER
from ...report.model import Cell, Heading, Table
from ...report.tables import NONE
from ..outcomes import Outcome, Outcomes
from ..seeds import Summary, chosen_settings, summarize
from .variants import (
    NO_FEATURES,
    Pair,
    Shown,
    Test,
    baseline_of,
    chosen,
    gain_cell,
    gain_note,
    label_of,
    score_of,
    shown,
)

_SUM = "sum"  # how features are combined unless an option says otherwise
_WIDTH = 20  # of summed features, likewise
_BARE = ("", 0)  # way and width of no features


def feature_table(found: Outcomes, test: Test) -> Table:
    """Lay systems out by the features they read, few first.

    Args:
        found: runs of translation.
        test: of the difference to the system without features.

    Raises:
        ValueError: no run used all of the training data.
    """
    _whole(found)
    what, systems = shown(found), chosen(found)
    first = systems.get(baseline_of(found))
    order = sorted(systems.values(), key=_features)
    headings = [Heading("features", is_number=False), Heading("system", is_number=False)]
    headings += [Heading("parameters"), Heading(what.title), Heading("gain"), _chosen_by(found)]
    rows = [
        [
            Cell(", ".join(_features(summary)[1]) or NO_FEATURES, value=number),
            Cell(summary.setting.system),
            parameters_cell(summary.outcomes[0].parameters),
            score_of(summary, what),
            Cell(NONE) if summary is first else gain_cell(first, summary, what, test),
            Cell(f"{summary.mean:.3f}", value=summary.mean),
        ]
        for number, summary in enumerate(order)
    ]
    title = f"{label_of(found)}: {what.metric} by source features"
    return Table(title, headings, rows, f"{what.caption} {gain_note(test)}")


def feature_pairs(found: Outcomes) -> list[Pair]:
    """Return everything in that table with its baseline."""
    systems = chosen(found)
    return [Pair(summary, systems.get(baseline_of(found))) for summary in systems.values()]


def _features(summary: Summary) -> tuple[int, Sequence[str]]:
    """Return how many features a system reads, and their names."""
    text = str(summary.outcomes[0].options.get("features", NO_FEATURES))
    names = [name for name in text.split(",") if name != NO_FEATURES]
    return len(names), names


def _chosen_by(found: Outcomes) -> Heading:
    return Heading(found.metric, f"{found.validation}, best checkpoint")


def parameters_cell(count: int) -> Cell:
    """Show a number of parameters."""
    return Cell(f"{count / 1e6:.2f}M" if count else NONE, value=count)


def width_table(found: Outcomes, test: Test) -> Table:
    """Lay runs out by the width of their features, one pair of columns a way of combining them.

    Args:
        found: runs of translation; every width stands, whatever is best on validation.
        test: of the difference to the system without features.

    Raises:
        ValueError: no run used all of the training data.
    """
    what, by_place = shown(found), _by_place(found)
    ways = sorted({way for way, _ in by_place if way}, key=lambda way: (way != _SUM, way))
    first = by_place.get(_BARE)
    headings = [Heading("width")]
    for way in ways:
        headings += [Heading(way, what.title), Heading("gain", way), _chosen_by(found)]
    rows = []
    for width in sorted({width for _, width in by_place}):
        here = [by_place.get((way if width else "", width)) for way in ways]
        cells = (_cells(one, first, what, test) for one in here)
        rows.append([Cell(str(width or NONE), value=width), *(c for group in cells for c in group)])
    notes = tuple(_best(by_place, way, found.metric) for way in ways)
    title = f"{label_of(found)}: {what.metric} by width of the source features"
    return Table(title, headings, rows, f"{what.caption} {gain_note(test)}", notes)


def width_pairs(found: Outcomes) -> list[Pair]:
    """Return everything in that table with its baseline."""
    by_place = _by_place(found)
    return [Pair(summary, by_place.get(_BARE)) for summary in by_place.values()]


def _by_place(found: Outcomes) -> dict[tuple[str, int], Summary]:
    """Return way and width of the features -> runs with the setting that is best on validation."""
    groups: dict[tuple[str, int], list[Summary]] = defaultdict(list)
    for one in summarize(_whole(found), found.metric):
        groups[_place(one.outcomes[0])].append(one)
    choose = min if found.metric in LOWER_IS_BETTER else max
    return {
        place: choose(chosen_settings(group, found.metric).values(), key=lambda one: one.mean)
        for place, group in groups.items()
    }


def _whole(found: Outcomes) -> list[Outcome]:
    """Return the runs on all of the training data.

    Raises:
        ValueError: there are none; names the shares that there are.
    """
    whole = [run for run in found.runs if run.setting.fraction == 1]
    if not whole:
        shares = sorted({run.setting.fraction for run in found.runs})
        raise ValueError(
            f"{found.root}: a table of features is of runs on 100 % of the training data; these "
            f"are on {', '.join(f'{100 * share:g} %' for share in shares)}"
        )
    return whole


def _cells(one: Summary | None, first: Summary | None, what: Shown, test: Test) -> Iterable[Cell]:
    if one is None:
        return [Cell(NONE)] * 3
    gain = Cell(NONE) if one is first else gain_cell(first, one, what, test)
    return [score_of(one, what), gain, Cell(f"{one.mean:.3f}", value=one.mean)]


def _place(run: Outcome) -> tuple[str, int]:
    """Return how a run combines its features and how wide they are together; no way for none."""
    options = run.options
    if options.get("features") == NO_FEATURES:
        return _BARE
    way = str(options.get("feature-combine", _SUM))
    widths = options.get("feature-embed-dims")
    if widths:
        return way, sum(int(width) for width in str(widths).split(","))
    return way, int(options.get("feature-embed-dim", _WIDTH))


def _best(by_place: dict[tuple[str, int], Summary], way: str, metric: str) -> str:
    """Say which width is best on the validation set."""
    widths = {width: one.mean for (name, width), one in by_place.items() if name == way}
    choose = min if metric in LOWER_IS_BETTER else max
    return f"{way}: best {metric} on validation with width {choose(widths, key=widths.__getitem__)}"
