"""Prepared folders of parallel text in the form of older releases: a value a subword."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.pair_columns import FactorRows, read_side
from fairseq_plugins.data.products import with_products
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.data.translation_folders import load_layers
from fairseq_plugins.data.translation_manifest import TranslationManifest


def make_older(folder: Path) -> Path:
    """Write the streams of a folder as older releases wrote them; return the folder."""
    manifest = read_manifest(folder, TranslationManifest)
    most = manifest.options.get("max_characters", 1000)
    splits = {name: {**counts, "tokens": {}} for name, counts in manifest.splits.items()}
    for split, counts in manifest.splits.items():
        written = splits[split]["tokens"]
        written |= {name: n for name, n in counts["tokens"].items() if "." not in name}
        for of_target, lang in enumerate((manifest.source_lang, manifest.target_lang)):
            layers = load_layers([str(folder)], manifest, of_target=bool(of_target))
            if not layers:
                continue
            side = read_side(folder, manifest, split, layers, of_target=bool(of_target))
            rows, place = FactorRows(side, layers), 0
            rows = [row.T.tolist() for row in rows]
            for old in folder.glob(f"{split}.{manifest.pair}.{lang}.words.*"):
                old.unlink()
            for layer in layers:
                for name in ("words", "heads") if layer.width == 2 else (layer.name,):
                    prefix = stream_prefix(folder, split, manifest.pair, f"{lang}.{name}")
                    write_stream(prefix, [row[place] for row in rows], layer.id_count(most))
                    written[f"{lang}.{name}"], place = sum(len(r[0]) for r in rows), place + 1
    with_products(folder, replace(manifest, by_word=False, splits=splits)).save(folder)
    return folder
