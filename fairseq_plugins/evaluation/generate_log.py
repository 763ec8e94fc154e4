"""Files of system outputs and references, read as corpora of equal length for scoring.

A system is a plain file or the output of ``fairseq-generate`` and ``fairseq-interactive``,
recognised by content; the reference is a plain file or, by default, the T- lines of the logs, which
must agree. A sentence with id i is printed, in any order of ids, as::

    S-i <tab> source            T-i <tab> reference (generate only)
    H-i <tab> score <tab> hypothesis tokens      D-i <tab> score <tab> detokenised hypothesis
    P-i <tab> token scores                       A-i <tab> alignment

with one H, D, P (A) group for each of ``--nbest`` hypotheses, best first. All other lines are
ignored, except ``Translated N sentences``, which shows whether the log is complete.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from ..errors import InputError
from ..messages import named
from ..text_reading import read_lines
from .translation import Corpus, TextForm, check_equal_counts, prepare

_UNKNOWN = "<<unk>>"  # fairseq's mark of a reference word outside the dictionary
_RECORD = re.compile(r"([STHDPA])-(\d{1,18})\t(.*)", re.DOTALL)
_TOTAL = re.compile(r"\bTranslated (\d[\d,]{0,20}) sentences\b")
SGML = (".sgm", ".sgml")
_SEGMENT = re.compile(r"<seg\b[^<>]*>", re.IGNORECASE)
_END = re.compile("</seg>", re.IGNORECASE)
_NAME = re.compile(r" *([STHDPA]-\d+)")

Entry = dict[str, list[tuple[int, str]]]  # of one sentence: kind -> line numbers and payloads


@dataclass(frozen=True)
class SystemOutput:
    """The best translation of every sentence, from any kind of file."""

    name: str  # the file's name
    # best hypotheses in the order of the test set: D- lines, or else H- lines; of equal scores the
    # first
    lines: list[str]
    sources: list[str] | None = None  # S- lines, or None for plain text
    targets: list[str] | None = None  # T- lines, or None for plain text and interactive logs


def is_generate_log(lines: Iterable[str]) -> bool:
    """Return whether lines are a generation log: ``H-12<tab>-0.53<tab>...`` is enough."""
    return any(re.match(r"[HD]-\d+\t-?[\d.einfa+-]+\t", line) for line in lines)


def parse_generate_log(lines: Sequence[str], *, name: str = "log") -> SystemOutput:
    """Parse the lines of a generation log; sentences are sorted by id, 0 to n - 1."""
    entries, total = _collect(lines, name)
    if not entries:
        raise InputError(f"{name}: no hypotheses; expected lines like 'H-0<tab>score<tab>tokens'")
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
    """Read a system's translations from a generation log or a plain file, recognised by content."""
    lines = read_sentences(path)
    if not lines:
        raise InputError(f"{path}: empty file")
    if not is_generate_log(lines):
        return SystemOutput(str(path), lines)
    return parse_generate_log(lines, name=str(path))


def read_sentences(path: str | Path) -> list[str]:
    """Return the lines of a file, or the segments of SGML (``.sgm``), the form of WMT's sets."""
    lines = read_lines(path)
    if Path(path).suffix not in SGML:
        return lines
    parts = [_END.split(part, maxsplit=1) for part in _SEGMENT.split("\n".join(lines))[1:]]
    found = [" ".join(part[0].split()) for part in parts if len(part) > 1]
    if not found or len(found) < len(parts):
        raise InputError(f"{path}: no whole segments, as in '<seg id=\"1\">text</seg>'")
    return found


def _collect(lines: Sequence[str], name: str) -> tuple[dict[int, Entry], int | None]:
    """Group the lines by id and kind, and find the stated total."""
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
            raise InputError(
                f"{name}, line {number}: a progress bar cuts through {kind}-{sentence_id}; keep "
                "standard error out of the log or generate with --no-progress-bar"
            )
        found = entries.setdefault(sentence_id, {}).setdefault(kind, [])
        if found and kind in "ST":
            raise InputError(
                f"{name}, line {number}: {kind}-{sentence_id} again (first in line {found[0][0]}); "
                "are these two logs in one file?"
            )
        found.append((number, payload))
    return entries, total


def _without_progress(line: str) -> str:
    """Remove a progress bar (``50%|#### | 1/2 [00:01<00:01] ``) before a record."""
    head, tab, payload = line.partition("\t")
    bar, _, name = head.rpartition("]")
    found = _NAME.fullmatch(name)
    return f"{found[1]}{tab}{payload}" if found and tab and "%|" in bar else line


def _check_ids(entries: Mapping[int, Entry], total: int | None, name: str) -> None:
    """Refuse gaps in the ids, and a number of sentences different from the stated total."""
    count = max(entries) + 1
    missing = [i for i in range(count) if i not in entries]
    hint = (
        "fairseq drops the last batch of a set unless --required-batch-size-multiple is 1, and "
        "over-long sentences under --skip-invalid-size-inputs-valid-test"
    )
    if missing:
        stated = f"; the log states {total:,} sentences" if total is not None else ""
        raise InputError(
            f"{name}: {len(missing):,} of {count:,} sentences are missing "
            f"(ids {named(missing, 5)}){stated}; {hint}"
        )
    if total is not None and total != len(entries):
        raise InputError(
            f"{name}: states {total:,} sentences but holds {len(entries):,}; "
            "truncated or joined log"
        )


def _check_whole(number: int, entry: Entry, kinds: set[str], name: str) -> None:
    """Refuse a sentence that lacks lines of a kind."""
    main = "H" if "H" in kinds else "D"
    found = {kind: len(entry.get(kind, ())) for kind in sorted(kinds)}
    if not found.get(main):
        raise InputError(
            f"{name}: sentence {number} has no hypothesis ({main}- line); truncated log?"
        )
    for kind, count in found.items():
        if kind in "ST" and not count:
            raise InputError(
                f"{name}: sentence {number} has no {kind}- line, others have; truncated log?"
            )
        if kind not in "ST" and count != found[main]:
            raise InputError(
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
            raise InputError(
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
        raise InputError(
            f"{name}, line {number}: expected '{kind}<tab>score<tab>text', got {payload[:60]!r}"
        ) from None


@dataclass(frozen=True)
class Inputs:
    """Systems and reference of equal length; ``outputs`` are the files before preparation.

    ``notes`` describe the origin of the text for readers of the figures.
    """

    systems: list[Corpus]
    reference: Corpus
    outputs: list[SystemOutput]
    notes: list[str]


def load(paths: Sequence[str | Path], references: Sequence[str | Path], form: TextForm) -> Inputs:
    """Read systems, one file each, and references: plain files, or without files the T- lines."""
    outputs = [read_system(path) for path in paths]
    if not references:
        gold, notes = _target_lines(outputs, form)
    else:
        other = replace(form, tokenized=form.reference_tokenized)
        found = [prepare(str(path), read_sentences(path), other) for path in references]
        gold, notes = replace(found[0], others=tuple(found[1:])), []
    systems = [prepare(output.name, output.lines, form, output.targets) for output in outputs]
    for corpus in systems:
        for one in gold.versions:
            check_equal_counts((corpus.name, corpus.text), (one.name, one.text))
    notes += [
        f"{corpus.name}: Moses tokens, detokenised ({form.lang}) for BLEU and chrF"
        for corpus in [*systems, *gold.versions]
        if corpus.tokens is not None
    ]
    return Inputs(systems, gold, outputs, notes)


def _target_lines(outputs: Sequence[SystemOutput], form: TextForm) -> tuple[Corpus, list[str]]:
    """Return the references from the T- lines of the first log, checked against the other logs."""
    corpora = []
    for output in outputs:
        if output.targets is None:
            raise InputError(f"{output.name} has no references (T- lines); give a reference file")
        name = f"T- lines of {output.name}"
        corpora.append(prepare(name, output.targets, form, output.lines))
    first = corpora[0]
    for corpus in corpora[1:]:
        check_equal_counts((corpus.name, corpus.text), (first.name, first.text))
        for i, (line, expected) in enumerate(zip(corpus.text, first.text)):
            if line != expected:
                raise InputError(
                    f"{corpus.name} differ from {first.name} at sentence {i}: {line[:60]!r} "
                    f"against {expected[:60]!r}; give a reference file"
                )
    notes = [f"references are the {first.name}, as the model's dictionary renders them"]
    unknown = sum(_UNKNOWN in line for line in first.text)
    if unknown:
        notes.append(
            f"{unknown:,} of these references hold {_UNKNOWN}: give the reference file for "
            "figures that compare with others"
        )
    return first, notes
