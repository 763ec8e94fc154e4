"""A perturbed set on disk: a raw folder of the dataset, the original pairs, and the changes.

    OUTPUT/SwapAnt/test.tsv              in the dataset's own format
    OUTPUT/SwapAnt/original/test.tsv     the same pairs before, in the same order
    OUTPUT/SwapAnt/changes.jsonl         a line for every pair of the input, changed or not
    OUTPUT/SwapAnt/perturbation.json     source and options

A folder appears when complete. Rows have other sentences and another label; other columns stay
unchanged, byte for byte, even if they describe the original sentences (the parses of SNLI and MNLI,
the second label of SICK).
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...corpora.examples import Example
from ...corpora.readers.dataset import Dataset
from ...corpora.readers.options import JSON_SUFFIXES
from ...corpora.readers.tables import Table, table_for
from ...errors import InputError
from ...files import own_folder, refuse_link, sync, working_folder
from ...messages import named, quoted
from .sentences import Change

RECORD, CHANGES, ORIGINAL = "perturbation.json", "changes.jsonl", "original"
PerturbedPair = tuple[Example, Change | None]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANKS = re.compile(r"[ \t\r\n]*")
COUNTS = ("pairs", "changed", "untouched")  # results of a record


@dataclass(frozen=True)
class RawRows:
    """The rows of a file that `corpora.datasets.read_split` can read."""

    table: Table  # meaning of its columns
    columns: tuple[str, ...]  # their names in order; empty for JSON lines
    head: bytes  # the header with its end, or nothing
    lines: Mapping[int, bytes]  # all lines with their ends, by number from 1

    def row(self, line: int) -> bytes:
        """Return a row with a line end."""
        raw = self.lines[line].removeprefix(BYTE_ORDER_MARK if line == 1 else b"")
        return raw if raw.endswith(b"\n") else raw + b"\n"

    def edited(self, line: int, texts: Sequence[str], label: str | None) -> bytes:
        """Return a row with other sentences, and another label unless None."""
        row = self.row(line).decode("utf-8")
        body = row.rstrip("\r\n")
        cells = dict(zip(self.table.texts, texts))
        if label is not None:
            names = self.columns or json.loads(body)
            column = next(name for name in self.table.label if name in names)
            cells[column] = cell_of(self.table, label)
        if self.columns:
            old = zip(self.columns, body.split("\t"))
            put = "\t".join(cells.get(name, cell) for name, cell in old)
        else:
            put = members_edited(body, cells)
        return (put + row[len(body) :]).encode()


def open_rows(dataset: Dataset, path: Path) -> RawRows:
    """Read the rows of a file; its first line decides its table."""
    with open(path, "rb") as stream:
        lines = dict(enumerate(stream, 1))
    if path.suffix in JSON_SUFFIXES:
        return RawRows(dataset.tables[0], (), b"", lines)
    header = lines[1].removeprefix(BYTE_ORDER_MARK).decode("utf-8").rstrip("\r\n").split("\t")
    table, has_header = table_for(dataset.tables, header)
    columns, head = (tuple(header), lines[1]) if has_header else (table.headerless, b"")
    return RawRows(table, columns, head, lines)


def cell_of(table: Table, label: str) -> str:
    """Return the cell of a label in a table."""
    cell = table.cells.get(label, label)
    if not table.to_label(cell) == label:
        raise InputError(f"no cell of column {table.label[0]!r} says {label!r}")
    return cell


def _behind_blanks(text: str, place: int) -> int:
    blanks = BLANKS.match(text, place)  # the pattern also matches nothing
    return blanks.end() if blanks else place


def members_edited(body: str, cells: Mapping[str, str]) -> str:
    """Replace members of a JSON object by texts; all other characters stay."""
    found: dict[str, tuple[int, int]] = {}
    decoder, place = json.JSONDecoder(), _behind_blanks(body, 0) + 1  # after "{"
    while True:
        name, place = decoder.raw_decode(body, _behind_blanks(body, place))
        start = _behind_blanks(body, _behind_blanks(body, place) + 1)  # after ":"
        _, end = decoder.raw_decode(body, start)
        found[name] = start, end  # of members with one name the last counts
        place = _behind_blanks(body, end)
        if body[place] != ",":
            break
        place += 1
    for name, (start, end) in sorted(found.items(), key=lambda item: -item[1][0]):
        if name in cells:
            value = json.dumps(cells[name], ensure_ascii=body.isascii())
            body = body[:start] + value + body[end:]
    return body


def file_name(dataset: Dataset, split: str, path: Path) -> str:
    """Return the file name of a split: another one than of a file with all splits (SICK)."""
    others = {name for other, names in dataset.splits.items() if other != split for name in names}
    own = [name for name in dataset.splits[split] if name not in others and "/" not in name]
    return path.name if path.name in own or not own else own[0]


def check_free(folder: Path, job: Mapping[str, Any]) -> None:
    """Refuse a folder with any content except the result of the same job.

    Args:
        folder: of the set.
        job: content of ``perturbation.json`` without `COUNTS`.
    """
    refuse_link(folder / ORIGINAL)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        body = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        found = {name: value for name, value in body.items() if name not in COUNTS}
    except (OSError, ValueError, AttributeError):
        raise InputError(
            f"{folder} is there and holds no {RECORD}: choose another --output"
        ) from None
    other = sorted(name for name in {*job, *found} if job.get(name) != found.get(name))
    if other:
        said = named(
            (f"{name} {quoted(found.get(name))}, now {quoted(job.get(name))}" for name in other),
            between="; ",
            longest=400,
        )
        raise InputError(f"{folder} holds another perturbation ({said}): choose another --output")


def write_set(
    folder: Path, job: dict[str, Any], rows: RawRows, pairs: Sequence[PerturbedPair]
) -> None:
    """Write the set's folder; every file appears when complete.

    Args:
        folder: to write.
        job: source and options; see `check_free`.
        rows: the split's file.
        pairs: its examples; for each the change with the new label, or None.
    """
    with working_folder(folder) as work:
        (work / ORIGINAL).mkdir()
        shown = [(pair, done) for pair, done in pairs if done or job["kept"]]
        before = [rows.row(pair.line) for pair, _ in shown]
        now = [_row(rows, pair, done) for pair, done in shown]
        changes = (json.dumps(_described(*pair), ensure_ascii=False) + "\n" for pair in pairs)
        changed = sum(done is not None for _, done in pairs)
        record = job | dict(zip(COUNTS, (len(pairs), changed, len(pairs) - changed)))
        contents = {
            f"{ORIGINAL}/{job['file']}": rows.head + b"".join(before),
            job["file"]: rows.head + b"".join(now),
            CHANGES: "".join(changes).encode(),
            RECORD: (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode(),
        }
        for name, content in contents.items():
            (work / name).write_bytes(content)
        for name in (*contents, ORIGINAL, "."):
            sync(work / name)
        _appear(work, folder, contents)


def _appear(work: Path, folder: Path, names: Iterable[str]) -> None:
    """Move the files to their place: all at once, or one by one over existing ones."""
    if not folder.exists():
        os.replace(work, folder)
        sync(folder.parent)
        return
    own_folder(folder / ORIGINAL)
    for name in names:
        os.replace(work / name, folder / name)


def _row(rows: RawRows, pair: Example, done: Change | None) -> bytes:
    if done is None:
        return rows.row(pair.line)
    return rows.edited(pair.line, done.texts, None if done.label == pair.label else done.label)


def _described(pair: Example, done: Change | None) -> dict[str, Any]:
    now = done or Change((pair.texts[0], pair.texts[1]), (), pair.label or "")
    return {
        "id": pair.id,
        "line": pair.line,
        "changed": done is not None,
        "texts": pair.texts,
        "new_texts": now.texts,
        "label": pair.label,
        "new_label": now.label,
        "what": now.what,
    }
