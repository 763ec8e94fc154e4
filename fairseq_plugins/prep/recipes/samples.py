"""Folders in a prepared folder, each with a sample of the training text's subwords.

``DESTDIR/sample1`` to ``sampleN`` differ from DESTDIR in the training split alone. fairseq-train
reads folders that are joined by ``:`` in turn, one an epoch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...data.manifest import FILE_NAME
from ...data.manifests import read_manifest
from ...data.products import faults
from ...data.translation_manifest import TranslationManifest
from ...errors import InputError
from ...files import copy, own_folder
from ...text.sampled import SAMPLERS, Sampled, check_sampling
from ...text.segment import Segmenter, load_segmenter
from .. import engine
from ..chunks import Chunk
from ..engine import ChunkStep
from ..shards import WorkLayout
from ..workspace import finish, is_finished, open_work
from .translation_chunks import SOURCE, TARGET, encode_chunk
from .translation_options import TranslationOptions

FOLDER = "sample"


def sample_folder(folder: Path, number: int) -> Path:
    return folder / f"{FOLDER}{number}"


def check_samples(options: TranslationOptions) -> None:
    """Refuse a folder with more samples than are to be written, and a model that cannot sample."""
    if options.samples and options.sentencepiece_model:
        check_sampling(load_segmenter("sentencepiece", Path(options.sentencepiece_model)))
    later = sample_folder(Path(options.destdir), options.samples + 1)
    if (later / FILE_NAME).is_file():
        raise InputError(f"{later} is a sample of an earlier preparation: remove it")


def training_folders(options: TranslationOptions) -> str:
    """Return the folders of samples as fairseq takes several; each must be there."""
    numbers = range(1, options.samples + 1)
    folders = [sample_folder(Path(options.destdir), number) for number in numbers]
    for folder in folders:
        if not (folder / FILE_NAME).is_file():
            raise FileNotFoundError(f"no {folder / FILE_NAME}: give --overwrite to write it again")
        for fault in faults(folder, read_manifest(folder)):
            raise type(fault)(f"{fault}: give --overwrite to write the samples again")
    return os.pathsep.join(map(str, folders))


def write_sample(
    recipe: engine.Recipe,
    number: int,
    samplers: tuple[Sampled, Sampled],
    chunks: list[Chunk],
    manifest: TranslationManifest,
    layout: WorkLayout,
) -> None:
    """Write a sample, unless it is finished."""
    options, folder = recipe.options, sample_folder(layout.folder, number)
    manifest = replace(manifest, options=manifest.options | {"sample": number})
    if is_finished(folder, manifest, overwrite=options.overwrite):
        return
    open_work(own_folder(folder), manifest.fingerprint(), overwrite=options.overwrite)
    sampled = [
        replace(chunk, encoded=layout.work / f"{FOLDER}{number}.{chunk.encoded.name}")
        for chunk in chunks
        if chunk.split.startswith("train")
    ]
    work = partial(encode_chunk, options, samplers)
    engine.carry(
        ChunkStep(f"{FOLDER} {number}", work, lambda chunk: chunk.encoded), sampled, recipe
    )
    own = {name for chunk in sampled for name in manifest.split_files(chunk.split)}
    for path in manifest.files(layout.folder):
        if path.name not in own:
            copy(path, folder / path.name)
    manifest = engine.write_splits(recipe, sampled, manifest, folder)
    recipe.end(sampled, manifest, folder)
    finish(folder, manifest)


def samplers_of(
    options: TranslationOptions, segmenters: Iterable[Segmenter], dictionaries: Any, number: int
) -> tuple[Sampled, Sampled]:
    """Return what cuts both sides in a sample; a side without a dictionary has no text."""
    kind, found = SAMPLERS[options.subwords], []
    for side, segmenter in zip((SOURCE, TARGET), segmenters):
        known = frozenset(dictionaries[side].symbols) if side in dictionaries else ()
        found.append(kind(segmenter, known, options.sample_rate, number))
    return found[0], found[1]
