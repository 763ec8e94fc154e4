"""Learnt inventories of a preparation: counted in the workers' training chunks, then applied.

A worker knows no inventory: its chunk has the values themselves, numbered by its own list.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..data.manifest import Manifest
from ..errors import InputError
from ..syntax.labels import NO_VALUE, UNKNOWN, Inventory
from ..syntax.layers import Layer, layers_of
from ..syntax.rows import Rows
from .chunks import Chunk, EncodedChunk, open_chunk


def bind_layers(
    names: Iterable[str],
    given: Mapping[str, Layer],
    chunks: Iterable[Chunk],
    options: Any,
    manifest: Manifest,
    folder: Path,
) -> list[Layer]:
    """Return layers with their values: inventories are given, or learnt from the training text.

    Args:
        names: of the layers.
        given: layers with given inventories, by name.
        chunks: all of a preparation, with their ``tallies``.
        options: with ``layer_min_count`` and ``layer_max_size``.
        manifest, folder: the folder for inventories, with the number of training words per value.
    """
    layers = [given.get(layer.name, layer) for layer in layers_of(names)]
    counts: dict[str, Counter[str]] = {layer.name: Counter() for layer in layers if layer.learnt}
    if counts:
        for chunk in chunks:
            if chunk.split.startswith("train"):
                with open_chunk(chunk.encoded) as (header, _):
                    for name in counts:
                        counts[name].update(header["tallies"][name])
    bound = []
    for layer in layers:
        if layer.is_open:
            layer = layer.bound(_learn(layer, counts[layer.name], options))
        if layer.learnt:
            found = counts[layer.name]
            known = {*layer.inventory.labels}
            found[UNKNOWN] = sum(number for value, number in found.items() if value not in known)
            layer.inventory.save(folder / manifest.inventory_file(layer), found)
        bound.append(layer)
    return bound


def _learn(layer: Layer, counts: Counter[str], options: Any) -> Inventory:
    most = None if options.layer_max_size < 0 else options.layer_max_size
    found = Inventory.learn(layer.name, counts, options.layer_min_count, most)
    if not {*found.labels} - {NO_VALUE}:
        what = "of training has one: does the annotator give it?"
        if {*counts} - {NO_VALUE}:
            least, size = options.layer_min_count, options.layer_max_size
            what = f"has one that --layer-min-count {least} and --layer-max-size {size} let in"
        raise InputError(f"layer {layer.name!r}: no word {what}")
    return found


def look_up(chunk: EncodedChunk, layers: Mapping[str, Layer]) -> dict[str, Rows]:
    """Return the streams of a chunk with ids in place of its own numbers."""
    found = dict(chunk.streams)
    for stream, layer in layers.items():
        ids = np.array(layer.inventory.ids(chunk.symbols[stream]), np.int64)
        rows = chunk.streams[stream]
        found[stream] = Rows(ids[rows.values], rows.lengths)
    return found
