"""A fraction of the examples of a split of texts; of questions with all paragraphs of the split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..data.manifest import FolderManifest
from ..data.streams import write_stream
from ..data.text_manifest import CONTEXTS, SPANS, VOCABULARY, TextManifest
from ..data.text_rows import Rows
from ..syntax.layers import STANDARD
from ..text.squad_alignment import ANSWERABLE, UNKNOWN
from .text_binarize import ANY_NUMBER, TextWriter, stream_sizes

EXAMPLES, SCORES = "examples.jsonl", "score.txt"


def whole_files(manifest: FolderManifest, split: str) -> list[str]:
    """Return the files of a split that a subset shares with the whole: those of paragraphs."""
    if not isinstance(manifest, TextManifest) or manifest.target != SPANS:
        return []
    streams = [name for name in manifest.streams() if name.endswith("1")]
    files = [f"{split}.{name}.{ext}" for name in streams for ext in ("bin", "idx")]
    return [*files, f"{split}.{CONTEXTS}"]


def write_split(
    folder: Path, destination: Path, manifest: TextManifest, split: str, chosen: np.ndarray
) -> None:
    """Write some examples of a split, and their counts into the manifest.

    Args:
        folder: the whole.
        destination: folder of the subset, which has the `whole_files` already.
        manifest: of the subset.
        split: its name.
        chosen: numbers of the examples, rising.
    """
    rows = {name: Rows.read(folder / f"{split}.{name}") for name in _sizes(folder, manifest, split)}
    shared = whole_files(manifest, split)
    for name, size in _sizes(folder, manifest, split).items():
        if f"{split}.{name}.bin" not in shared:
            rows[name] = rows[name].gather(chosen)
            write_stream(destination / f"{split}.{name}", _each(rows[name]), size)
    labelled = None
    for name in (EXAMPLES, SCORES):
        if (folder / f"{split}.{name}").is_file():
            lines = _chosen_lines(folder / f"{split}.{name}", chosen)
            labelled = sum(map(bool, map(str.strip, lines))) if name == SCORES else labelled
            _write_lines(destination / f"{split}.{name}", lines)
    counts = _counts(manifest, rows, len(chosen))
    if manifest.target != SPANS:
        has_label = rows["label"].lengths > 0 if "label" in rows else ()
        counts["labelled"] = int(np.sum(has_label)) if labelled is None else labelled
    manifest.splits[split] |= counts
    manifest.splits[split].pop("unknown", None)  # was counted over the whole split


def _sizes(folder: Path, manifest: TextManifest, split: str) -> dict[str, int]:
    """Return the streams of a split, each with the number of its ids."""
    pieces = len((folder / VOCABULARY).read_text(encoding="utf-8").splitlines())
    sizes = stream_sizes(manifest, pieces)
    if manifest.target == SPANS:
        return sizes | dict.fromkeys(("paragraph", "answers"), ANY_NUMBER)
    is_labelled = manifest.splits[split]["labelled"] and manifest.target != "score"
    return sizes | ({"label": len(manifest.labels)} if is_labelled else {})


def _each(rows: Rows) -> Iterator[np.ndarray]:
    return (rows[number] for number in range(len(rows)))


def _chosen_lines(path: Path, chosen: Iterable[int]) -> list[str]:
    """Return some lines of a file."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        lines = list(stream)
    return [lines[number] for number in chosen]


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    writer = TextWriter(path)
    writer.add("".join(lines))
    writer.close()


def _counts(manifest: TextManifest, rows: dict[str, Rows], examples: int) -> dict[str, int]:
    """Count what a preparation counts, gold labels apart."""
    sides = range(manifest.sentences)
    lengths = [rows[f"tokens{k}"].lengths for k in sides]
    found = {
        "examples": examples,
        "tokens": sum(int(side.sum()) for side in lengths),
        "words": sum(int(rows[f"{STANDARD[0]}{k}"].lengths.sum()) for k in sides),
    }
    if manifest.target == SPANS:
        answers = rows["answers"]
        states = answers.values[answers.ends - answers.lengths]
        lengths[1] = lengths[1][[int(row[0]) for row in _each(rows["paragraph"])]]
        found["labelled"] = int((states != UNKNOWN).sum())
        found["answerable"] = int((states == ANSWERABLE).sum())
    longest = int(np.sum(lengths, axis=0).max(initial=0))
    return found | {"longest": longest + 1 + manifest.sentences}
