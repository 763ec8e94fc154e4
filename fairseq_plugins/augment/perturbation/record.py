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
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...corpora.examples import Example
from ...files import new_folder, own_folder, refuse_link, sync
from ...messages import named, quoted
from .pairs import Change
from .rows import RawRows

RECORD, CHANGES, ORIGINAL = "perturbation.json", "changes.jsonl", "original"
PerturbedPair = tuple[Example, tuple[Change, str] | None]
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


def write_set(
    folder: Path, record: PerturbationRecord, rows: RawRows, pairs: Sequence[PerturbedPair]
) -> None:
    """Write the set's folder; every file of it is complete when it appears.

    Args:
        folder: where to.
        record: from what and how.
        rows: the split's file.
        pairs: its examples; for each the change and the new label, or None.
    """
    work = new_folder(folder)
    (work / ORIGINAL).mkdir()
    try:
        shown = [(pair, done) for pair, done in pairs if done or record.kept]
        before = [rows.row(pair.line) for pair, _ in shown]
        now = [_row(rows, pair, done) for pair, done in shown]
        changes = (json.dumps(_described(*pair), ensure_ascii=False) + "\n" for pair in pairs)
        contents = {
            f"{ORIGINAL}/{record.file}": rows.head + b"".join(before),
            record.file: rows.head + b"".join(now),
            CHANGES: "".join(changes).encode(),
            RECORD: (json.dumps(asdict(record), indent=2, ensure_ascii=False) + "\n").encode(),
        }
        for name, content in contents.items():
            (work / name).write_bytes(content)
        for name in (*contents, ORIGINAL, "."):
            sync(work / name)
        _appear(work, folder, contents)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _appear(work: Path, folder: Path, names: Iterable[str]) -> None:
    """Put the files in their place: all at once, or one by one where they were before."""
    if not folder.exists():
        os.replace(work, folder)
        sync(folder.parent)
        return
    own_folder(folder / ORIGINAL)
    for name in names:
        os.replace(work / name, folder / name)


def _row(rows: RawRows, pair: Example, done: tuple[Change, str] | None) -> bytes:
    if done is None:
        return rows.row(pair.line)
    change, label = done
    return rows.edited(pair.line, change.texts, None if label == pair.label else label)


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
