"""A fraction of a prepared training set: seeded, nested, same subwords and dictionaries.

Of a folder of parallel text, or of texts (`text_subset`). The lines of a smaller fraction are all
in a larger one with the same seed (one permutation is cut at different lengths), as the
data-fraction experiment of Sundararaman et al. 2019, Table 1, asks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..data.dictionaries import load_dictionary
from ..data.manifest import FILE_NAME, FolderManifest, Manifest
from ..data.products import check_whole, faults
from ..data.streams import read_stream, stream_prefix, write_stream
from ..data.text_manifest import TextManifest
from ..files import copy
from ..messages import named
from ..syntax.layers import FEATURES
from ..syntax.subword_tree import COLUMNS
from ..text_reading import read_text
from . import text_subset
from .binarize import word_numbers
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
) -> Manifest | TextManifest:
    """Write a folder with a fraction of the training data and everything else unchanged.

    Args:
        folder: a prepared folder.
        destination: the folder to write; one that holds this very subset is left as it is.
        fraction: of the training lines or examples, above 0 and at most 1.
        seed: of the choice.

    Raises:
        ValueError: a bad fraction, no training split, a folder that is not as it was written, or
            a destination that holds other data.
    """
    folder, destination = Path(folder), Path(destination)
    kind = kind_of(folder)
    manifest = kind.load(folder)
    parts = [split for split in manifest.splits if split.startswith("train")]
    if not parts:
        raise ValueError(f"{folder} has no training split (splits: {named(manifest.splits)})")
    if "subset" in manifest.options:
        raise ValueError(f"{folder} is itself a subset: choose from the whole folder")
    manifest.options["subset"] = {"fraction": fraction, "seed": seed}
    if (destination / FILE_NAME).is_file():
        found = kind.load(destination)
        if (found.inputs, found.options) != (manifest.inputs, manifest.options):
            raise ValueError(f"{destination} holds other data; name another folder")
        if not any(faults(destination, found)):
            return found
    check_whole(folder, manifest, hashes=True)  # damage would be as good as new in the subset
    counts = {split: examples_of(manifest, split) for split in parts}
    chosen = {split: choose_lines(count, fraction, seed) for split, count in counts.items()}
    with locked(destination):
        open_work(destination, manifest.fingerprint(), overwrite=False)
        whole = {name for split in parts for name in text_subset.whole_files(manifest, split)}
        for path in manifest.files(folder):
            if path.name.partition(".")[0] not in parts or path.name in whole:
                copy(path, destination / path.name)
        write = _write_split if isinstance(manifest, Manifest) else text_subset.write_split
        for split, rows in chosen.items():
            write(folder, destination, manifest, split, rows)
        finish(destination, manifest)
    return manifest


def kind_of(folder: Path) -> type[Manifest] | type[TextManifest]:
    """Return the kind of a folder's manifest; one that is none is refused when it is loaded."""
    path = Path(folder) / FILE_NAME
    is_text = path.is_file() and f'"{TextManifest.FORMAT}"' in read_text(path)
    return TextManifest if is_text else Manifest


def examples_of(manifest: FolderManifest, split: str) -> int:
    """Return how many lines or examples a split has."""
    return manifest.splits[split]["lines" if isinstance(manifest, Manifest) else "examples"]


def _write_split(
    folder: Path, destination: Path, manifest: Manifest, split: str, lines: np.ndarray
) -> None:
    """Write the chosen lines of every stream of a split, and their counts into the manifest."""
    tokens = {}
    for name in tqdm(manifest.splits[split]["tokens"], desc=f"subset of {folder.name}"):
        source = read_stream(stream_prefix(folder, split, manifest.pair, name))
        prefix = stream_prefix(destination, split, manifest.pair, name)
        rows = (source[int(i)] for i in lines)
        _, tokens[name] = write_stream(prefix, rows, _id_count(folder, manifest, name))
    manifest.splits[split] |= {"lines": len(lines), "tokens": tokens}
    manifest.splits[split].pop("unknown", None)  # was counted over the whole split


def _id_count(folder: Path, manifest: Manifest, stream: str) -> int:
    """Size of a stream's id space: an inventory's, a dictionary's (symbols on disk + own), …"""
    feature = stream.partition(".")[2]
    if feature in FEATURES:
        return len(FEATURES[feature].inventory)
    if feature in COLUMNS:
        longest = manifest.options.get("max_characters")
        if not isinstance(longest, int):
            raise ValueError(f"{folder / FILE_NAME}: 'options' lack the number 'max_characters'")
        return word_numbers(longest)
    return len(load_dictionary(folder / f"dict.{stream}.txt"))
