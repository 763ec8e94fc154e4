"""Verification of a whole prepared folder: bytes of every file, numbers of every stream."""

from itertools import islice
from pathlib import Path

from ..data.dictionaries import load_dictionary
from ..data.manifests import read_manifest
from ..data.pair_columns import check_tokens, read_side
from ..data.passages import Texts, read_ids
from ..data.products import faults
from ..data.text_folders import open_folder, read_gold, read_questions, read_sentences
from ..data.text_manifest import TextManifest, load_vocabulary
from ..data.translation_folders import load_layers, shared_manifest
from ..errors import InputError
from ..targets.entities import ENTITIES

SHOWN = 10  # faults in a message


def check_folder(folder: str | Path) -> str:
    """Verify a prepared folder of any kind without changing it.

    Returns:
        A summary in one line.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if found := [str(fault) for fault in faults(folder, manifest, hashes=True)]:
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise InputError("; ".join(islice(found, SHOWN)) + more)
    if isinstance(manifest, TextManifest):
        _check_texts(folder, manifest)
    else:
        _check_translation(folder)
    files, splits = len(manifest.files(folder)), ", ".join(manifest.splits)
    if not manifest.products:
        return (
            f"{folder}: the numbers of {splits} are sound; its manifest is of an older release and "
            f"holds no sizes and hashes, so that nothing more is known of its {files} files "
            "(prepare it again to have them)"
        )
    return f"{folder}: all {files} files are as they were written, the numbers of {splits} sound"


def _check_translation(folder: Path) -> None:
    """Check all splits as a task does when it opens them."""
    manifest = shared_manifest([str(folder)])
    layers = load_layers([str(folder)], manifest)
    target_layers = load_layers([str(folder)], manifest, of_target=True)
    for split, counts in manifest.splits.items():
        languages = {manifest.source_lang, manifest.target_lang} & counts["tokens"].keys()
        files = {name: folder / f"dict.{name}.txt" for name in sorted(languages)}
        known = {name: load_dictionary(path) for name, path in files.items()}
        check_tokens(folder, manifest, split, known)
        for of_target, own in enumerate((layers, target_layers)):
            if own:
                read_side(folder, manifest, split, own, of_target=bool(of_target))


def _check_texts(folder: Path, manifest: TextManifest) -> None:
    """Check all splits as a task does when it opens them, for any model."""
    open_folder(folder, ENTITIES.task if manifest.levels else manifest.task)
    pieces = len(load_vocabulary(folder, manifest))
    for split in manifest.splits:
        where = (folder, manifest, split)
        streams = (*where, manifest.layers)
        if manifest.by_paragraph:
            columns = read_questions(*streams, pieces=pieces, required=False)
            Texts.read(folder, split, columns.paragraph, columns.offsets)
            continue
        sentences = read_sentences(*streams, pieces=pieces)
        read_gold(*where, required=False)
        if len(read_ids(folder, split)) != len(sentences[0].tokens):
            raise InputError(f"{folder}/{split}.examples.jsonl has another number of examples")
