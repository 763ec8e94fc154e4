"""A fraction of a prepared training set: seeded, nested, same subwords and dictionaries.

The lines or examples of a smaller fraction are all in a larger fraction with the same seed (one
permutation is cut at different lengths), for the data-fraction experiment of Sundararaman et al.
2019, Table 1. Of questions, all paragraphs stay. First, a share of the training set may be held out
as the split ``select``, which chooses checkpoints and rates, so that nothing is chosen on the
reported split; all questions about a paragraph are held out together, except for the last
paragraph.
"""

from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..data.folder_names import CONTEXTS
from ..data.manifest import FILE_NAME, Manifest
from ..data.manifests import read_manifest
from ..data.products import check_whole, faults
from ..data.streams import write_stream
from ..data.text_folders import count_examples
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..files import copy, write_text
from ..messages import named
from ..syntax.rows import Rows, stream_layout
from .shares import SELECT, Share
from .workspace import finish, locked, open_work


def choose_lines(lines: int, share: Share) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted indices of kept and of held-out lines."""
    return _parted(np.arange(lines), share)


def _parted(group: np.ndarray, share: Share) -> tuple[np.ndarray, np.ndarray]:
    """Split rows; rows of one group are held out together, except for one group."""
    counts = share.counts(len(group))
    drawn = np.random.RandomState(share.seed).permutation(len(group))
    rank = np.full(group.max(initial=-1) + 1, len(group))  # a group's first place
    np.minimum.at(rank, group[drawn], np.arange(len(group)))
    held = drawn[np.argsort(rank[group[drawn]], kind="stable")[: counts.get(SELECT, 0)]]
    rest = drawn[~np.isin(drawn, held)]
    return np.sort(rest[: counts["train"]]), np.sort(held)


def write_subset(folder: str | Path, destination: str | Path, share: Share) -> Manifest:
    """Write a folder with a share of the training data and everything else unchanged.

    Args:
        destination: the folder to write; unchanged if it already holds this subset.
        share: the kept part, and the part that becomes the split `SELECT`.
    """
    folder, destination = Path(folder), Path(destination)
    manifest = read_manifest(folder)
    parts = [split for split in manifest.splits if split.startswith("train")]
    if not parts:
        raise InputError(f"{folder} has no training split (splits: {named(manifest.splits)})")
    if "subset" in manifest.options:
        raise InputError(f"{folder} is itself a subset: choose from the whole folder")
    if share.select and SELECT in manifest.splits:
        raise InputError(f"{folder} has a split {SELECT!r} already")
    own = share._asdict()
    manifest.options["subset"] = own if share.select else {k: own[k] for k in ("fraction", "seed")}
    if (destination / FILE_NAME).is_file():
        found = read_manifest(destination, type(manifest))
        if differences := found.differences(manifest):
            raise InputError(
                f"{destination} holds other data ({differences[0]}); name another folder"
            )
        if not any(faults(destination, found)):
            return found
    check_whole(folder, manifest, hashes=True)  # the subset would hide damage
    rows = {split: _choose(folder, manifest, split, share) for split in parts}
    with locked(destination):
        open_work(destination, manifest.fingerprint(), overwrite=False)
        _write_all(folder, destination, manifest, rows)
        return finish(destination, manifest)


def _choose(
    folder: Path, manifest: Manifest, split: str, share: Share
) -> tuple[np.ndarray, np.ndarray]:
    """Split a split; of several training parts only the first has held-out rows."""
    if split != "train":
        return choose_lines(manifest.count(split), share._replace(select=0.0))
    if share.select and manifest.by_paragraph:
        return _parted(Rows.read(folder / f"{split}.paragraph").values.astype(int), share)
    return choose_lines(manifest.count(split), share)


def _write_all(
    folder: Path,
    destination: Path,
    manifest: Manifest,
    rows: dict[str, tuple[np.ndarray, np.ndarray]],
) -> None:
    """Copy unchanged files; write the kept and held-out rows of each split."""
    own = {name for split in rows for name in manifest.split_files(split)}
    for path in manifest.files(folder):
        if path.name not in own:
            copy(path, destination / path.name)
    for split, (_, held) in rows.items():
        if len(held):
            manifest.splits[SELECT] = {**manifest.splits[split]}
            _write_split(folder, destination, manifest, split, held, SELECT)
    for split, (chosen, _) in rows.items():
        _write_split(folder, destination, manifest, split, chosen, split)


def _write_split(
    folder: Path, destination: Path, manifest: Manifest, split: str, chosen: np.ndarray, into: str
) -> None:
    """Write some rows of a split, in rising order, as a split, and count them.

    Streams and texts of paragraphs stay whole.
    """
    prefix, written, rows = manifest.prefix(split), manifest.prefix(into), {}
    for name in tqdm(manifest.split_streams(split), desc=f"subset of {folder.name}"):
        stream = f"{prefix}.{name}"
        if manifest.by_paragraph and name.endswith("1"):
            for ext in ("bin", "idx"):
                copy(folder / f"{stream}.{ext}", destination / f"{written}.{name}.{ext}")
            continue
        rows[name] = Rows.read(folder / stream).gather(chosen)
        bound = 1 << (8 * stream_layout(folder / stream)[1].itemsize - 1)  # of the same width
        write_stream(destination / f"{written}.{name}", rows[name], bound)
    for name in manifest.split_texts(split):
        with open(folder / f"{prefix}.{name}", encoding="utf-8", newline="\n") as text:
            lines = list(text)
        kept = range(len(lines)) if name == CONTEXTS else chosen
        write_text(destination / f"{written}.{name}", "".join(lines[i] for i in kept))
    manifest.splits[into].pop("unknown", None)  # was counted over the whole split
    if isinstance(manifest, TextManifest):
        manifest.splits[into] |= count_examples(destination, manifest, into)
        return
    tokens = {name: int(found.lengths.sum()) for name, found in rows.items()}
    manifest.splits[into] |= {"lines": len(chosen), "tokens": tokens}
