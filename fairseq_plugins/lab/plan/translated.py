"""How an experiment translates, so that no other command replaces the results of its tables."""

from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from typing import Any

from ..run_files import AVERAGE, BEST, SETTINGS
from ..safe_files import read_json
from .allowed import command_line

BEAM = ["--beam", "4", "--lenpen", "0.6", "--max-tokens", "8000"]
# options of fairseq-generate that change no translation
UNDECISIVE = ("--max-tokens", "--batch-size", "--cpu", "--num-workers")


@dataclass(frozen=True)
class Translated:
    """How a run translates."""

    words: list[str]  # options of fairseq-generate
    checkpoint: str = BEST  # file name in the folder of the run
    # file of raw references; None for the target side of the prepared folder
    reference: str | None = None

    def departures(self, other: "Translated") -> list[str]:
        """Return the options of ``other`` that change text or scores, for a message."""
        found = [name for name, value in _searched(other.words) - _searched(self.words)]
        if other.checkpoint != self.checkpoint:
            found.append(other.checkpoint)
        if not _same_text(other.reference, self.reference):
            found.append(f"--reference {other.reference}")
        return found


def as_planned(
    run: Path, split: str, given: Translated, *, elsewhere: bool
) -> tuple[Translated, list[str]]:
    """Return how a run translates a split: as in its experiment, with the given options on top.

    Args:
        run: its folder.
        split: of the prepared folder.
        given: options that replace or extend the experiment's.
        elsewhere: whether the translations go to another file than the run's own.

    Returns:
        The translation, and the options that depart from the experiment.
    """
    told: dict[str, Any] = read_json(run / SETTINGS).get("translated") or {}
    usual = command_line(told.get("generate") or {}) or BEAM
    words = [*usual, *given.words]
    if not told or told["split"] != split:
        return Translated(words, given.checkpoint, given.reference), []
    averaged = AVERAGE if told.get("average") else BEST
    planned = Translated(usual, averaged, told.get("reference") or None)
    if planned.reference and not (given.reference or Path(planned.reference).is_file()):
        raise FileNotFoundError(
            f"{planned.reference}, the reference of the experiment, is not there: name it with "
            "--reference"
        )
    checkpoint = averaged if given.checkpoint == BEST and not elsewhere else given.checkpoint
    found = Translated(words, checkpoint, given.reference or planned.reference)
    return found, planned.departures(found)


def _searched(words: list[str]) -> set[tuple[str, str]]:
    """Return the options of fairseq-generate that change translations, with their values."""
    found, name = {}, ""
    for word in words:
        name, _, value = word.partition("=") if word.startswith("--") else (name, "", word)
        found[name] = value
    return {(name, value) for name, value in found.items() if name not in UNDECISIVE}


def _same_text(one: str | None, other: str | None) -> bool:
    """Return whether both references have the same text, or cannot be compared."""
    if None in (one, other):
        return one == other
    paths = Path(str(one)), Path(str(other))
    if not all(path.is_file() for path in paths):
        return paths[0].is_file()
    return cmp(*paths, shallow=False)
