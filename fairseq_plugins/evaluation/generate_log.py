"""What ``fairseq-generate`` and ``fairseq-interactive`` print, as records in test set order.

A sentence with id i is printed, in no particular order of ids, as::

    S-i <tab> source            T-i <tab> reference (generate only)
    H-i <tab> score <tab> hypothesis tokens      D-i <tab> score <tab> detokenised hypothesis
    P-i <tab> token scores                       A-i <tab> alignment

with one H, D, P (A) group for each of ``--nbest`` hypotheses, best first. Everything else in the
log is ignored, except ``Translated N sentences``, which tells whether the log is complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..messages import named
from ..text_reading import read_lines

_RECORD = re.compile(r"([STHDPA])-(\d+)\t(.*)", re.DOTALL)
_TOTAL = re.compile(r"\bTranslated ([\d,]+) sentences\b")
_NAME = re.compile(r" *([STHDPA]-\d+)")
_SCORED = "HD"


@dataclass(frozen=True)
class Hypothesis:
    """One hypothesis of one sentence.

    Attributes:
        score: length-normalised log-probability, base 2, as printed.
        tokens: the H- line; subwords unless fairseq removed them.
        text: the D- line, or the H- line where the log has no D- lines.
    """

    score: float
    tokens: str
    text: str


@dataclass(frozen=True)
class LoggedSentence:
    """One sentence of the test set; ``hypotheses`` are best first and never empty."""

    id: int
    source: str | None
    target: str | None
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class SystemOutput:
    """The best translation of every sentence, whatever kind of file it came from.

    Attributes:
        name: the file's name, for tables and messages.
        lines: best hypotheses in the order of the test set.
        sources: S- lines, or None for plain text.
        targets: T- lines, or None for plain text and interactive logs.
    """

    name: str
    lines: list[str]
    sources: list[str] | None = None
    targets: list[str] | None = None


@dataclass
class _Entry:
    """The raw lines of one id while the log is read: kind -> [(line number, payload)]."""

    lines: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def of(self, kind: str) -> list[tuple[int, str]]:
        """Return the lines of one kind in the order printed."""
        return self.lines.get(kind, [])

    def single(self, kind: str) -> str | None:
        """Return the payload of a line that occurs at most once."""
        found = self.of(kind)
        return found[0][1] if found else None


def is_generate_log(lines: Iterable[str]) -> bool:
    """Tell a generation log from plain text: one line like ``H-12<tab>-0.53<tab>...`` is enough."""
    return any(re.match(r"[HD]-\d+\t-?[\d.einfa+-]+\t", line) for line in lines)


def parse_generate_log(lines: Sequence[str], *, name: str = "log") -> list[LoggedSentence]:
    """Parse the lines of a generation log into records ordered by id, 0 to n - 1.

    Raises:
        ValueError: no hypotheses at all, an id missing or twice, a malformed line, an incomplete
            group of lines, or fewer sentences than the stated total; names log, line and id.
    """
    entries, total = _collect(lines, name)
    if not entries:
        raise ValueError(f"{name}: no hypotheses; expected lines like 'H-0<tab>score<tab>tokens'")
    _check_ids(entries, total, name)
    kinds = {kind for entry in entries.values() for kind in entry.lines}
    return [_sentence(i, entries[i], kinds, name) for i in sorted(entries)]


def read_system(path: str | Path) -> SystemOutput:
    """Read a system's translations from a generation log or a plain file, told apart by content.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, or a log that :func:`parse_generate_log` refuses.
    """
    lines = read_lines(path)
    if not lines:
        raise ValueError(f"{path}: empty file")
    if not is_generate_log(lines):
        return SystemOutput(str(path), lines)
    records = parse_generate_log(lines, name=str(path))
    return SystemOutput(
        name=str(path),
        lines=[record.hypotheses[0].text for record in records],
        sources=_column([record.source for record in records]),
        targets=_column([record.target for record in records]),
    )


def _column(values: list[str | None]) -> list[str] | None:
    """Return the values when every sentence has one, else None."""
    present = [value for value in values if value is not None]
    return present if len(present) == len(values) else None


def _collect(lines: Sequence[str], name: str) -> tuple[dict[int, _Entry], int | None]:
    """Sort the lines by id and kind, and find the stated total."""
    entries: dict[int, _Entry] = {}
    total = None
    for number, line in enumerate(lines, start=1):
        match = _RECORD.match(_without_progress(line))
        if match is None:
            stated = _TOTAL.search(line)
            total = int(stated.group(1).replace(",", "")) if stated else total
            continue
        kind, sentence_id, payload = match.group(1), int(match.group(2)), match.group(3)
        if "\r" in payload and "%|" in payload:
            raise ValueError(
                f"{name}, line {number}: a progress bar cuts through {kind}-{sentence_id}; keep "
                "standard error out of the log or generate with --no-progress-bar"
            )
        found = entries.setdefault(sentence_id, _Entry()).lines.setdefault(kind, [])
        if found and kind in "ST":
            raise ValueError(
                f"{name}, line {number}: {kind}-{sentence_id} again (first in line {found[0][0]}); "
                "are these two logs in one file?"
            )
        found.append((number, payload))
    return entries, total


def _without_progress(line: str) -> str:
    """Cut off a progress bar (``50%|#### | 1/2 [00:01<00:01] ``) that stands before a record."""
    head, tab, payload = line.partition("\t")
    bar, _, name = head.rpartition("]")
    found = _NAME.fullmatch(name)
    return f"{found[1]}{tab}{payload}" if found and tab and "%|" in bar else line


def _check_ids(entries: dict[int, _Entry], total: int | None, name: str) -> None:
    """Refuse gaps in the ids and a number of sentences other than the stated one."""
    count = max(entries) + 1
    missing = [i for i in range(count) if i not in entries]
    hint = (
        "fairseq drops the last batch of a set unless --required-batch-size-multiple is 1, and "
        "over-long sentences under --skip-invalid-size-inputs-valid-test"
    )
    if missing:
        stated = f"; the log states {total:,} sentences" if total is not None else ""
        raise ValueError(
            f"{name}: {len(missing):,} of {count:,} sentences are missing "
            f"(ids {named(missing, 5)}){stated}; {hint}"
        )
    if total is not None and total != len(entries):
        raise ValueError(
            f"{name}: states {total:,} sentences but holds {len(entries):,}; "
            "truncated or joined log"
        )


def _sentence(sentence_id: int, entry: _Entry, kinds: set[str], name: str) -> LoggedSentence:
    """Build one record, checking that its groups of lines are whole."""
    main = "H" if "H" in kinds else "D"
    count = len(entry.of(main))
    if count == 0:
        raise ValueError(
            f"{name}: sentence {sentence_id} has no hypothesis ({main}- line); truncated log?"
        )
    for kind in kinds - {"S", "T"}:
        if len(entry.of(kind)) != count:
            raise ValueError(
                f"{name}: sentence {sentence_id} has {count} {main}- line(s) but "
                f"{len(entry.of(kind))} {kind}- line(s); truncated or joined log?"
            )
    for kind in kinds & {"S", "T"}:
        if not entry.of(kind):
            raise ValueError(
                f"{name}: sentence {sentence_id} has no {kind}- line, others have; truncated log?"
            )
    hypotheses = [_hypothesis(entry, k, sentence_id, name) for k in range(count)]
    hypotheses.sort(key=lambda hypothesis: -hypothesis.score)  # stable: ties stay as printed
    return LoggedSentence(sentence_id, entry.single("S"), entry.single("T"), tuple(hypotheses))


def _hypothesis(entry: _Entry, k: int, sentence_id: int, name: str) -> Hypothesis:
    """Join the k-th H and D lines of a sentence."""
    scored = {
        kind: _scored(entry.of(kind)[k], kind, sentence_id, name)
        for kind in _SCORED
        if entry.of(kind)
    }
    if len({repr(score) for score, _ in scored.values()}) > 1:
        raise ValueError(
            f"{name}, line {entry.of('D')[k][0]}: D-{sentence_id} has another score than the "
            f"H-{sentence_id} line it should follow; was the log sorted?"
        )
    score, tokens = scored.get("H", scored.get("D", (0.0, "")))
    text = scored["D"][1] if "D" in scored else tokens
    return Hypothesis(score, tokens, text)


def _scored(line: tuple[int, str], kind: str, sentence_id: int, name: str) -> tuple[float, str]:
    """Split ``score<tab>text``."""
    number, payload = line
    score, tab, text = payload.partition("\t")
    try:
        if not tab:
            raise ValueError
        return float(score), text
    except ValueError:
        raise ValueError(
            f"{name}, line {number}: expected '{kind}-{sentence_id}<tab>score<tab>text', "
            f"got {payload[:60]!r}"
        ) from None
