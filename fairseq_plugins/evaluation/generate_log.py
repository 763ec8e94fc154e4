"""What ``fairseq-generate`` and ``fairseq-interactive`` print, in test set order.

A sentence with id i is printed, in no particular order of ids, as::

    S-i <tab> source            T-i <tab> reference (generate only)
    H-i <tab> score <tab> hypothesis tokens      D-i <tab> score <tab> detokenised hypothesis
    P-i <tab> token scores                       A-i <tab> alignment

with one H, D, P (A) group for each of ``--nbest`` hypotheses, best first. Everything else in the
log is ignored, except ``Translated N sentences``, which tells whether the log is complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from ..messages import named
from ..text_reading import read_lines

_RECORD = re.compile(r"([STHDPA])-(\d+)\t(.*)", re.DOTALL)
_TOTAL = re.compile(r"\bTranslated ([\d,]+) sentences\b")
_NAME = re.compile(r" *([STHDPA]-\d+)")

Entry = dict[str, list[tuple[int, str]]]  # of one sentence: kind -> line numbers and payloads


@dataclass(frozen=True)
class SystemOutput:
    """The best translation of every sentence, whatever kind of file it came from.

    Attributes:
        name: the file's name, for tables and messages.
        lines: best hypotheses in the order of the test set: D- lines, or H- lines where there are
            none; of equal scores the first.
        sources: S- lines, or None for plain text.
        targets: T- lines, or None for plain text and interactive logs.
    """

    name: str
    lines: list[str]
    sources: list[str] | None = None
    targets: list[str] | None = None


def is_generate_log(lines: Iterable[str]) -> bool:
    """Tell a generation log from plain text: one line like ``H-12<tab>-0.53<tab>...`` is enough."""
    return any(re.match(r"[HD]-\d+\t-?[\d.einfa+-]+\t", line) for line in lines)


def parse_generate_log(lines: Sequence[str], *, name: str = "log") -> SystemOutput:
    """Parse the lines of a generation log; sentences come in the order of their ids, 0 to n - 1.

    Raises:
        ValueError: no hypotheses at all, an id missing or twice, a malformed line, an incomplete
            group of lines, or fewer sentences than the stated total; names log, line and id.
    """
    entries, total = _collect(lines, name)
    if not entries:
        raise ValueError(f"{name}: no hypotheses; expected lines like 'H-0<tab>score<tab>tokens'")
    _check_ids(entries, total, name)
    kinds = set().union(*entries.values())
    for number in sorted(entries):
        _check_whole(number, entries[number], kinds, name)
    best = [_best(number, entries[number], name) for number in sorted(entries)]
    sources, targets = (
        [entries[number][kind][0][1] for number in sorted(entries)] if kind in kinds else None
        for kind in "ST"
    )
    return SystemOutput(name, best, sources, targets)


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
    return parse_generate_log(lines, name=str(path))


def _collect(lines: Sequence[str], name: str) -> tuple[dict[int, Entry], int | None]:
    """Sort the lines by id and kind, and find the stated total."""
    entries: dict[int, Entry] = {}
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
        found = entries.setdefault(sentence_id, {}).setdefault(kind, [])
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


def _check_ids(entries: Mapping[int, Entry], total: int | None, name: str) -> None:
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


def _check_whole(number: int, entry: Entry, kinds: set[str], name: str) -> None:
    """Refuse a sentence that lacks lines of a kind."""
    main = "H" if "H" in kinds else "D"
    found = {kind: len(entry.get(kind, ())) for kind in sorted(kinds)}
    if not found.get(main):
        raise ValueError(
            f"{name}: sentence {number} has no hypothesis ({main}- line); truncated log?"
        )
    for kind, count in found.items():
        if kind in "ST" and not count:
            raise ValueError(
                f"{name}: sentence {number} has no {kind}- line, others have; truncated log?"
            )
        if kind not in "ST" and count != found[main]:
            raise ValueError(
                f"{name}: sentence {number} has {found[main]} {main}- line(s) but "
                f"{count} {kind}- line(s); truncated or joined log?"
            )


def _best(number: int, entry: Entry, name: str) -> str:
    columns = [
        [_scored(line, f"{kind}-{number}", name) for line in entry[kind]]
        for kind in "HD"
        if kind in entry
    ]
    for (line, _), pair in zip(entry.get("D", ()), zip(*columns)):
        if len({repr(score) for score, _ in pair}) > 1:
            raise ValueError(
                f"{name}, line {line}: D-{number} has another score than the H-{number} line it "
                "should follow; was the log sorted?"
            )
    return max(columns[-1], key=itemgetter(0))[1]


def _scored(line: tuple[int, str], kind: str, name: str) -> tuple[float, str]:
    number, payload = line
    score, tab, text = payload.partition("\t")
    try:
        if not tab:
            raise ValueError
        return float(score), text
    except ValueError:
        raise ValueError(
            f"{name}, line {number}: expected '{kind}<tab>score<tab>text', got {payload[:60]!r}"
        ) from None
