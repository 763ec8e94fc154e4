"""How far running cells are: a line each in a terminal, plain lines in a log from time to time."""

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ..results.training_log import updates_so_far
from ..run_files import LOG
from .run import Run

EVERY = 60.0  # seconds between lines in a log
logger = logging.getLogger(__name__)


class Progress:
    """Shows the updates of all runs together, and of each that runs.

    Args:
        runs: that are to be brought to their end.
        every: seconds between looks that leave lines in a log.
    """

    def __init__(self, runs: Sequence[Run], every: float = EVERY) -> None:
        total = sum(run.updates for run in runs)
        self._whole = tqdm(total=total, desc="all runs", unit=" updates", disable=None)
        self._every, self._told = every, time.monotonic()
        self._bars: dict[Path, tqdm] = {}
        self._begun: dict[Path, tuple[int, float]] = {}  # updates at the first look, and when
        self._seen: dict[Path, int] = {}

    def look(self, running: Sequence[Run], ended: Sequence[Run]) -> None:
        """Show how far runs are; those that ended have a line no longer."""
        for run in (*running, *ended):
            self._advance(run, run.updates if run in ended else updates_so_far(run.folder / LOG))
        for run in ended:
            self._bars.pop(run.folder).close()
        if self._whole.disable and time.monotonic() - self._told >= self._every:
            self._told = time.monotonic()
            for run in running:
                logger.info("%s: %s", name_of(run), self._how_far(run))

    def close(self) -> None:
        """Take all lines away but the one of all runs."""
        for bar in (*self._bars.values(), self._whole):
            bar.close()

    def _advance(self, run: Run, updates: int) -> None:
        done, before = min(updates, run.updates), self._seen.get(run.folder, 0)
        if run.folder not in self._bars:
            bar = tqdm(total=run.updates, desc=name_of(run), leave=False, disable=None)
            self._bars[run.folder] = bar
            self._begun[run.folder] = (done, time.monotonic())
        self._seen[run.folder] = done
        for bar in (self._whole, self._bars[run.folder]):
            bar.update(done - before)

    def _how_far(self, run: Run) -> str:
        """Say it in words, with the time that is left if the run goes on as fast."""
        done, (first, begun) = self._seen[run.folder], self._begun[run.folder]
        told = f"{done:,} of {run.updates:,} updates"
        if done <= first:
            return told
        seconds = (run.updates - done) * (time.monotonic() - begun) / (done - first)
        return f"{told}, {max(1, round(seconds / 60))} min left"


def name_of(run: Run) -> str:
    """Return what a run is called in a line: its part and its cell."""
    return "/".join(filter(None, (run.part, run.cell.folder.as_posix())))
