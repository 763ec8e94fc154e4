"""What tables of one dataset share: which metric is shown, which setting of a system stands for it,
what it gains over the baseline, and whether that is more than chance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..plan.prepare_options import TRANSLATION
from .comparisons import SEEDS, SENTENCE_METRICS, Significance, Tested
from .layouts import PLAIN, SIGNIFICANT
from .paper_tables import score_line
from .run_frame import EVALUATION, found_scores
from .runs import Outcomes
from .seeds import Shown, Summary
from .tables import (
    DOWN,
    NONE,
    UP,
    Cell,
    Heading,
    Table,
    mark_of,
    number_cell,
    p_text,
    scale_of,
    score_cell,
)

NO_FEATURES = "none"


class Pair(NamedTuple):
    """Runs of a system, those that they are compared with, and the paper's figure (or nan)."""

    summary: Summary
    baseline: Summary | None
    tested: Tested
    paper: float = math.nan


@dataclass(frozen=True)
class Compared(Table):
    """A table of one dataset, with all that it compares, and what it shows of it."""

    pairs: tuple[Pair, ...] = ()
    dataset: str = ""
    shown: Shown = Shown("", "")

    def score_lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for every score, as the papers' tables have them."""
        for summary, _, tested, paper in self.pairs:
            system = summary.setting.system
            yield {
                **score_line(self.title, system, summary, self.shown, tested),
                "dataset": self.dataset,
                "marked": int(mark_of(tested, self.shown) == UP),
                "paper": paper,
            }


def shown_of(found: Outcomes) -> Shown:
    """Return what a table shows: of translation BLEU; the evaluation if all runs have it."""
    splits = set(found.runs.evaluated)
    for metric in (*SENTENCE_METRICS[:1], found.metric):
        if len(splits) == 1 and None not in found_scores(found.runs, EVALUATION, metric):
            return Shown(metric, splits.pop(), EVALUATION)
    return Shown(found.metric, found.validation)


def label_of(found: Outcomes) -> str:
    """Return what a dataset is called; parallel text as its folder is."""
    return found.root.resolve().name if found.dataset == TRANSLATION else found.dataset


def baseline_of(found: Outcomes) -> str:
    """Return the system that others are compared with: one without features, or the first."""
    last = {run.system: run for run in found.runs.itertuples()}
    if found.dataset == TRANSLATION:
        bare = [name for name, run in last.items() if run.options.get("features") == NO_FEATURES]
    else:
        bare = [name for name in last if name.startswith((PLAIN, "plain_"))]
    return [*bare, *last][0]


class About(NamedTuple):
    """What a table of one dataset is about: its runs, what is shown, how it is tested.

    Args:
        found: the runs.
        shown: of them.
        test: of differences to the baseline.
        printed: how a figure of the paper is introduced.
    """

    found: Outcomes
    shown: Shown
    test: Significance
    printed: str = "paper"

    def pairs(self, systems: Mapping[Any, Summary], first: Summary | None) -> dict[Any, Pair]:
        """Return all systems with the baseline, tested against it."""
        return {
            name: Pair(one, first, self.test(first, one, self.shown))
            if first and one is not first
            else Pair(one, first, Tested())
            for name, one in systems.items()
        }

    def table(
        self,
        by: str,
        leads: Sequence[Heading],
        groups: Mapping[str, str | None],
        rows: Iterable[tuple[Sequence[Cell], Sequence[Pair | None]]],
        *,
        chosen: bool = True,
    ) -> Compared:
        """Put a table together.

        Args:
            by: what its rows differ in.
            leads: heads of the first columns.
            groups: head of a score -> what is said of the gain beside it; None for no gain.
            rows: cells of the first columns, and for each group what stands in it.
            chosen: whether the metric that chose stands beside each score.
        """
        headings = list(leads)
        for name, against in groups.items():
            own = Heading(name, self.shown.title) if name else Heading(self.shown.title)
            headings += [own, *([] if against is None else [Heading("gain", against)])]
            split = f"{self.found.validation}, best checkpoint"
            headings += [Heading(self.found.metric, split)] if chosen else []
        gains, lines = [against is not None for against in groups.values()], list(rows)
        cells = [
            [*first, *(cell for at in zip(pairs, gains) for cell in self._cells(*at, chosen))]
            for first, pairs in lines
        ]
        label, every = label_of(self.found), [pair for _, pairs in lines for pair in pairs if pair]
        title = f"{label}: {self.shown.metric} by {by}"
        about = {"pairs": tuple(every), "dataset": label, "shown": self.shown}
        return Compared(title, headings, cells, self._caption(), **about)

    def _cells(self, pair: Pair | None, gains: bool, chosen: bool) -> Iterator[Cell]:
        """Yield a score, what it gains, and the metric that chose."""
        if pair is None:
            yield from [Cell(NONE)] * (1 + gains + chosen)
            return
        paper = "" if math.isnan(pair.paper) else f"{self.printed}: {pair.paper:.2f}"
        yield score_cell(self.shown.values(pair.summary), self.shown.metric, paper)
        yield from [gain_of(pair, self.shown)] if gains else []
        yield from [number_cell(pair.summary.mean, "{:.3f}")] if chosen else []

    def _caption(self) -> str:
        """Say what a reader has to know of the scores and arrows."""
        metric, split = self.shown[:2]
        unit = "" if scale_of(metric) == 1 else " in %"
        return (
            f"{metric} on split {split!r}{unit}: mean ± standard deviation over seeds; each system "
            "at the setting that is best on the validation set. "
            f"{UP} better, {DOWN} worse with p < {SIGNIFICANT}: {self.test.name}"
        )


def gain_of(pair: Pair, shown: Shown) -> Cell:
    """Show what a system gains over the baseline, with an arrow where it is more than chance."""
    if pair.baseline is None or pair.baseline is pair.summary:
        return Cell(NONE)
    summary, first, tested, _ = pair
    means = [statistics.fmean(shown.values(one)) for one in (summary, first)]
    scale = scale_of(shown.metric)
    gain, below = scale * (means[0] - means[1]), tested.remark
    if not math.isnan(tested.p_value):
        below = f"{p_text(tested.p_value)} over {tested.drawn}"
        is_part = tested.drawn != SEEDS and max(summary.count, first.count) > 1
        below += f" of one seed ({scale * tested.difference:+.2f})" if is_part else ""
    return Cell(f"{gain:+.2f}", below, gain, mark_of(tested, shown))
