"""What tables of one dataset share: which metric is shown, which setting of a system stands for it,
what it gains over the baseline, and whether that is more than chance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..plan.grid import TRANSLATION
from .comparisons import SEEDS, SENTENCE_METRICS, Significance, Tested
from .layouts import PLAIN, SIGNIFICANT
from .paper_tables import score_line
from .run_frame import EVALUATION, found_scores
from .runs import Outcomes
from .seeds import Shown, Summary
from .tables import DOWN, NONE, UP, Cell, Heading, Table, mark_of, p_text, scale_of, score_cell

NO_FEATURES = "none"


class Pair(NamedTuple):
    """Runs of a system, those that they are compared with, and the paper's figure (or nan)."""

    summary: Summary
    baseline: Summary | None
    tested: Tested
    paper: float = math.nan

    @property
    def is_baseline(self) -> bool:
        """Whether this is what the others are compared with."""
        return self.baseline is self.summary


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
    """What a table of one dataset is about: its runs, what is shown, how it is tested."""

    found: Outcomes
    shown: Shown
    test: Significance

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
        headings: list[Heading],
        rows: list[list[Cell]],
        pairs: Iterable[Pair],
        **more: Any,
    ) -> Compared:
        """Put a table together, with what a reader has to know of its scores and arrows."""
        metric, split = self.shown[:2]
        unit = "" if scale_of(metric) == 1 else " in %"
        caption = (
            f"{metric} on split {split!r}{unit}: mean ± standard deviation over seeds; each system "
            "at the setting that is best on the validation set. "
            f"{UP} better, {DOWN} worse with p < {SIGNIFICANT}: {self.test.name}"
        )
        name = label_of(self.found)
        own = {"caption": caption, "pairs": tuple(pairs), "dataset": name, "shown": self.shown}
        return Compared(f"{name}: {metric} by {by}", headings, rows, **own, **more)


def score_of(pair: Pair | None, shown: Shown, *details: str) -> Cell:
    """Show a metric over seeds."""
    if pair is None:
        return Cell(NONE)
    return score_cell(shown.values(pair.summary), shown.metric, *details)


def gain_of(pair: Pair | None, shown: Shown) -> Cell:
    """Show what a system gains over the baseline, with an arrow where it is more than chance."""
    if pair is None or pair.baseline is None or pair.is_baseline:
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
