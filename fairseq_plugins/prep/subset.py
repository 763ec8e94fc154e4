"""A fraction of a prepared training set: seeded, nested, same subwords and dictionaries.

The lines or examples of a smaller fraction are all in a larger one with the same seed (one
permutation is cut at different lengths), as the data-fraction experiment of Sundararaman et al.
2019, Table 1, asks. Of questions, all paragraphs stay.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..data.folder_names import CONTEXTS, SPANS
from ..data.manifest import FILE_NAME, TRANSLATION, Manifest
from ..data.products import check_whole, faults
from ..data.rows import Rows, stream_layout
from ..data.streams import write_stream
from ..data.text_folders import count_examples
from ..files import copy, write_text
from ..messages import named
from .workspace import finish, locked, open_work


def choose_lines(lines: int, fraction: float, seed: int) -> np.ndarray:
    """Return the sorted indices of a fraction of ``lines`` (at least one line).

    Raises:
        ValueError: a fraction outside (0, 1].
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction {fraction}: must be above 0 and at most 1")
    count = max(1, round(lines * fraction))
    return np.sort(np.random.RandomState(seed).permutation(lines)[:count])


def write_subset(
    folder: str | Path, destination: str | Path, fraction: float, seed: int
) -> Manifest:
    """Write a folder with a fraction of the training data and everything else unchanged.

    Args:
        folder: a prepared folder.
        destination: the folder to write; one that holds this very subset is left as it is.
        fraction, seed: of the training lines or examples, above 0 and at most 1; of the choice.

    Raises:
        ValueError: a bad fraction, no training split, a folder that is not as it was written, or
            a destination that holds other data.
    """
    folder, destination = Path(folder), Path(destination)
    manifest = Manifest.load(folder)
    parts = [split for split in manifest.splits if split.startswith("train")]
    if not parts:
        raise ValueError(f"{folder} has no training split (splits: {named(manifest.splits)})")
    if "subset" in manifest.options:
        raise ValueError(f"{folder} is itself a subset: choose from the whole folder")
    manifest.options["subset"] = {"fraction": fraction, "seed": seed}
    if (destination / FILE_NAME).is_file():
        found = Manifest.load(destination, manifest.kind)
        if (found.inputs, found.options) != (manifest.inputs, manifest.options):
            raise ValueError(f"{destination} holds other data; name another folder")
        if not any(faults(destination, found)):
            return found
    check_whole(folder, manifest, hashes=True)  # damage would be as good as new in the subset
    chosen = {split: choose_lines(manifest.count(split), fraction, seed) for split in parts}
    with locked(destination):
        open_work(destination, manifest.fingerprint(), overwrite=False)
        own = {name for split in parts for name in _example_files(manifest, split)}
        for path in manifest.files(folder):
            if path.name not in own:
                copy(path, destination / path.name)
        for split, rows in chosen.items():
            _write_split(folder, destination, manifest, split, rows)
        finish(destination, manifest)
    return manifest


def _of_examples(manifest: Manifest, names: Iterable[str]) -> list[str]:
    """Leave out streams and texts of paragraphs, which a subset shares with the whole."""
    if manifest.target != SPANS:
        return [*names]
    return [name for name in names if not name.endswith("1") and name != CONTEXTS]


def _example_files(manifest: Manifest, split: str) -> list[str]:
    streams = _of_examples(manifest, manifest.split_streams(split))
    names = [f"{name}.{ext}" for name in streams for ext in ("bin", "idx")]
    names += _of_examples(manifest, manifest.split_texts(split))
    return [f"{manifest.prefix(split)}.{name}" for name in names]


def _write_split(
    folder: Path, destination: Path, manifest: Manifest, split: str, chosen: np.ndarray
) -> None:
    """Write some rows of a split, whose numbers rise, and their counts into the manifest."""
    prefix, rows = manifest.prefix(split), {}
    streams = _of_examples(manifest, manifest.split_streams(split))
    for name in tqdm(streams, desc=f"subset of {folder.name}"):
        stream = f"{prefix}.{name}"
        rows[name] = Rows.read(folder / stream).gather(chosen)
        width = stream_layout(folder / stream)[1].itemsize
        write_stream(destination / stream, rows[name], 1 << (8 * width - 1))  # of the same width
    for name in _of_examples(manifest, manifest.split_texts(split)):
        with open(folder / f"{prefix}.{name}", encoding="utf-8", newline="\n") as text:
            lines = list(text)
        write_text(destination / f"{prefix}.{name}", "".join(lines[i] for i in chosen))
    manifest.splits[split].pop("unknown", None)  # was counted over the whole split
    if manifest.kind is TRANSLATION:
        tokens = {name: int(found.lengths.sum()) for name, found in rows.items()}
        manifest.splits[split] |= {"lines": len(chosen), "tokens": tokens}
        return
    manifest.splits[split] |= count_examples(destination, manifest, split)
