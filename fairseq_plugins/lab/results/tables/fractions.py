"""Runs on several shares of the training data, as a table and as points of a curve.

Sundararaman et al. (2019), Table 1: a row a share, the baseline and the syntax-infused Transformer,
what the second gains. Any number of systems and any task will do; the first is the baseline: the
one without source features, or else the one that comes first.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...report.model import Cell, Heading, Table
from ...report.tables import NONE
from ..outcomes import Outcomes
from ..seeds import Summary
from .syntax_tables import SHARES, SOURCE
from .variants import (
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

_PRINTED = "paper, newstest2014:"  # what its figures are of, whatever ours are
_SYSTEMS = ("baseline", "syntax")  # whose figures the paper prints


def shares_of(found: Outcomes) -> list[float]:
    """Return the shares of the training data, rising."""
    return sorted({run.setting.fraction for run in found.runs})


def fraction_table(found: Outcomes, test: Test, *, paper: bool = True) -> Table:
    """Lay runs out by the share of the training data.

    Args:
        found: runs on one dataset.
        test: of the difference to the baseline.
        paper: whether the paper's figures stand beside ours.
    """
    what, by_share = shown(found), {share: chosen(found, share) for share in shares_of(found)}
    systems = list(dict.fromkeys(name for here in by_share.values() for name in here))
    first = baseline_of(found)
    others = [name for name in systems if name != first]
    headings = [Heading("share"), Heading("examples"), Heading(first, what.title)]
    for name in others:
        headings += [Heading(name, what.title), Heading("gain", f"{name} minus {first}")]
    rows = [
        [
            Cell(f"{share * 100:g} %", value=share),
            _examples(here),
            _score(here.get(first), what, _paper(what, share, first) if paper else math.nan),
            *(
                cell
                for name in others
                for cell in (
                    _score(here.get(name), what, _paper(what, share, name) if paper else math.nan),
                    gain_cell(here.get(first), here.get(name), what, test),
                )
            ),
        ]
        for share, here in by_share.items()
    ]
    printed = any(not math.isnan(pair.paper) for pair in pairs(found, paper=paper))
    source = [f"Paper: {SOURCE}, WMT14 English-German, newstest2014."] if printed else []
    caption = " ".join([what.caption, gain_note(test), *source])
    return Table(
        f"{label_of(found)}: {what.metric} by share of the training data", headings, rows, caption
    )


def _score(summary: Summary | None, what: Shown, paper: float) -> Cell:
    if summary is None:
        return Cell(NONE)
    return score_of(summary, what, "" if math.isnan(paper) else f"{_PRINTED} {paper:.2f}")


def _paper(what: Shown, share: float, name: str) -> float:
    """Return the paper's figure; nan if it has none."""
    if what.metric != "bleu" or name not in _SYSTEMS or share not in SHARES:
        return math.nan
    return SHARES[share][_SYSTEMS.index(name)]


def _examples(here: dict[str, Summary]) -> Cell:
    """Return the size of the training set; of seeds the mean."""
    sizes = [size for one in here.values() for run in one.outcomes if (size := _size(run.data))]
    if not sizes:
        return Cell(NONE)
    size = round(statistics.fmean(sizes))
    return Cell(f"{size:,}", value=size)


def _size(data: str) -> int:
    """Return the number of training examples of a prepared folder; 0 if it is not there."""
    path = Path(data) / "manifest.json"
    if not (data and path.is_file()):
        return 0
    train = json.loads(path.read_text(encoding="utf-8"))["splits"]["train"]
    return int(train.get("lines", train.get("examples", 0)))


def curve_points(found: Outcomes) -> tuple[list[dict[str, Any]], Shown]:
    """Return one point a run for `plots.plot_curves`, and what they show.

    A system stands at each share with the setting that is best on validation.
    """
    what, points = shown(found), []
    for share in shares_of(found):
        for name, summary in chosen(found, share).items():
            for value in what.values(summary):
                points.append({"system": name, "fraction": share, "score": what.scale * value})
    return points, what


def pairs(found: Outcomes, *, paper: bool = True) -> Iterator[Pair]:
    """Yield everything in the table with its baseline and, where wanted, the paper's figure."""
    what, first = shown(found), baseline_of(found)
    for share in shares_of(found):
        here = chosen(found, share)
        for name, summary in here.items():
            figure = _paper(what, share, name) if paper else math.nan
            yield Pair(summary, here.get(first), figure)
