"""A perturbed set on disk: a raw folder of the dataset, the pairs before, and what was done.

    OUTPUT/SwapAnt/test.tsv              in the dataset's own format
    OUTPUT/SwapAnt/original/test.tsv     the same pairs before, in the same order
    OUTPUT/SwapAnt/changes.jsonl         a line for every pair of the input, changed or not
    OUTPUT/SwapAnt/perturbation.json     from what and how

A folder appears under its name when it is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...corpora.examples import Example
from ...files import new_folder, own_folder, refuse_link, sync
from ...messages import named, quoted
from .pairs import Change
from .rows import RawRows

RECORD, CHANGES, ORIGINAL = "perturbation.json", "changes.jsonl", "original"
COUNTS = ("pairs", "changed", "untouched")  # what the rest of a record leads to


@dataclass(frozen=True)
class PerturbationRecord:
    """What ``perturbation.json`` says.

    Args:
        dataset: its name.
        split: its name.
        transformation: its name.
        short: its name in the paper's Table 3.
        seed: of all choices.
        file: name of the perturbed file.
        source: name, lines and SHA-256 of the file that was perturbed.
        fields: ``first``, ``second`` or ``both``: which sentences were to be changed.
        max_pairs: size of the sample, 0 for all.
        kept: whether pairs to which nothing applied are in the file.
        labels: ``kept``, or the label that all changed pairs have now.
        wordnet: version of the database; None where none was read.
        annotator: name, version and hash of the pipeline; None where none was used.
        translation: what translated there and back; None where nothing did.
        note: what a reader of figures should know.
        pairs: how many pairs were read.
        changed: how many were changed.
        untouched: to how many nothing applied.
    """

    dataset: str
    split: str
    transformation: str
    short: str
    seed: int
    file: str
    source: dict[str, Any]
    fields: str
    max_pairs: int
    kept: bool
    labels: str
    wordnet: str | None = None
    annotator: str | None = None
    translation: str | None = None
    note: str = ""
    pairs: int = 0
    changed: int = 0
    untouched: int = 0

    def job(self) -> dict[str, Any]:
        """All but the counts: what decides the folder's content."""
        return {name: value for name, value in asdict(self).items() if name not in COUNTS}


@dataclass(frozen=True)
class PerturbedSet:
    """A perturbed split, ready to be written.

    Args:
        record: from what and how.
        rows: the split's file.
        pairs: its examples; for each the change and the new label, or None.
    """

    record: PerturbationRecord
    rows: RawRows
    pairs: Sequence[tuple[Example, tuple[Change, str] | None]] = field(repr=False)


def check_free(folder: Path, record: PerturbationRecord) -> None:
    """Refuse a folder that holds anything but the result of the same job.

    Raises:
        ValueError: it does, or its folder of originals is a link.
    """
    refuse_link(folder / ORIGINAL)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        body = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        found = {name: value for name, value in body.items() if name not in COUNTS}
    except (OSError, ValueError, AttributeError):
        raise ValueError(
            f"{folder} is there and holds no {RECORD}: choose another --output"
        ) from None
    job = record.job()
    other = sorted(name for name in {*job, *found} if job.get(name) != found.get(name))
    if other:
        said = named(
            (f"{name} {quoted(found.get(name))}, now {quoted(job.get(name))}" for name in other),
            between="; ",
            longest=400,
        )
        raise ValueError(f"{folder} holds another perturbation ({said}): choose another --output")


def write_set(folder: Path, made: PerturbedSet) -> None:
    """Write the set's folder; every file of it is complete when it appears."""
    work = new_folder(folder)
    (work / ORIGINAL).mkdir()
    try:
        head = made.rows.head
        shown = [(pair, done) for pair, done in made.pairs if done or made.record.kept]
        now = (
            made.rows.edited(pair.line, done[0].texts, _if_other(done[1], pair.label))
            if done
            else made.rows.row(pair.line)
            for pair, done in shown
        )
        before = (made.rows.row(pair.line) for pair, _ in shown)
        name = made.record.file
        (work / name).write_bytes(head + b"".join(now))
        (work / ORIGINAL / name).write_bytes(head + b"".join(before))
        lines = (_json(_described(pair, done)) + "\n" for pair, done in made.pairs)
        (work / CHANGES).write_text("".join(lines), encoding="utf-8", newline="\n")
        text = json.dumps(asdict(made.record), indent=2, ensure_ascii=False) + "\n"
        (work / RECORD).write_text(text, encoding="utf-8", newline="\n")
        names = (f"{ORIGINAL}/{name}", name, CHANGES, RECORD)
        for path in (*names, ORIGINAL, "."):
            sync(work / path)
        _appear(work, folder, names)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _appear(work: Path, folder: Path, names: Sequence[str]) -> None:
    """Put the files in their place: all at once, or one by one where they were before."""
    if not folder.exists():
        os.replace(work, folder)
        sync(folder.parent)
        return
    own_folder(folder / ORIGINAL)
    for name in names:
        os.replace(work / name, folder / name)


def _if_other(label: str, old: str | None) -> str | None:
    return None if label == old else label


def _described(pair: Example, done: tuple[Change, str] | None) -> dict[str, Any]:
    """Describe what was done to a pair."""
    change, label = done or (Change((pair.texts[0], pair.texts[1]), ()), pair.label)
    return {
        "id": pair.id,
        "line": pair.line,
        "changed": done is not None,
        "texts": pair.texts,
        "new_texts": change.texts,
        "label": pair.label,
        "new_label": label,
        "what": change.what,
    }


def _json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
