"""The manifest of a prepared folder of parallel text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..errors import InputError
from ..messages import quoted
from ..syntax.forms import Form
from ..syntax.layers import (
    Layer,
    held_layers,
    layers_of,
    parse_features,
    parse_targets,
)
from .manifest import Manifest, is_count, outside

SETTINGS = ("tokenizer", "normalizer", "subwords")  # of the segmentation of a side
MODELS = ("model", "vocabulary")  # its files
PROTECTED = "protected"  # stream of code points: the texts of a source line's protected spans
CHARACTERS = 0x110000  # code points
CODES, PIECES = "codes.bpe", "sentencepiece.model"  # a model's file, by its method
TRANSLATION_FILE = re.compile(  # of such a folder, without its manifest
    rf"({re.escape(CODES)}|{re.escape(PIECES)}|vocab\.[^.]+|dict\..+\.txt"
    r"|(train|valid|test)\d*\.[^.]+-[^.]+\..+\.(bin|idx))"
)


@dataclass(frozen=True, kw_only=True)
class TranslationManifest(Manifest):
    """The manifest of pairs of lines; a split has ``lines`` and ``tokens`` (stream -> number)."""

    FORM: ClassVar[str] = "fairseq_plugins.translation"
    COMMAND: ClassVar[str] = "prepare translation"
    UNIT: ClassVar[str] = "lines"
    PATHS: ClassVar[tuple[str, ...]] = (
        *("trainpref", "validpref", "testpref", "bpe_codes", "sentencepiece_model"),
        *("srcdict", "tgtdict", "srcvocab", "tgtvocab"),
    )
    RARE: ClassVar[tuple[str, ...]] = ("target_features", "by_word")

    # names of the data for tasks and results, as fields of `TextManifest`
    dataset: ClassVar[str] = "translation"
    task: ClassVar[str] = "syntax_translation"
    target: ClassVar[str] = "translation"
    positive: ClassVar[str] = ""
    metric: ClassVar[str] = "loss"

    source_lang: str  # source language code, e.g. ``en``
    target_lang: str  # target language code
    features: list[str]  # names of the feature streams beside the source, in column order
    # the segmentation of raw text of both sides; read by `text.source_encoder`
    segmentation: dict[str, Any]
    heads: bool = False  # whether the head of every source word is stored
    # names of the feature streams beside the target, in column order
    target_features: list[str] = field(default_factory=list)
    # whether the streams of layers hold a value per word, and the stream ``words`` the word of each
    # subword; for older releases see `older_streams`
    by_word: bool = False

    @property
    def pair(self) -> str:
        """The language pair in file names, e.g. ``en-de``."""
        return f"{self.source_lang}-{self.target_lang}"

    def form(self, side: str) -> Form:
        """Return the form of the sentences of the ``source`` or ``target``."""
        return Form.read(self.segmentation.get(side, {}).get("form", ""))

    @property
    def protect(self) -> Any:
        """The preparation's entry of what it protects, if anything; see `text.protected`."""
        return self.options.get("protect")

    @property
    def cutting(self) -> str:
        """The option of the preparation that defines words."""
        return f"--tokenizer {self.segmentation['source']['tokenizer']}"

    @property
    def layers(self) -> list[str]:
        """Names of the layers for models, in column order."""
        return held_layers(self.features, self.heads)

    def inventory_file(self, layer: Layer, *, of_target: bool = False) -> str:
        """Return the file name of a column's inventory; trees have none."""
        return layer.file(self.target_lang if of_target else self.source_lang)

    def labelled(self, split: str) -> int:
        """Return the number of a split's pairs: each is a translation."""
        return self.count(split)

    def prefix(self, split: str) -> str:
        """Return fairseq's part of file names before the languages of a split."""
        return f"{split}.{self.pair}"

    def split_streams(self, split: str) -> list[str]:
        """Name all streams of a split."""
        return [*self.splits[split]["tokens"]]

    def common_files(self) -> set[str]:
        """Name dictionaries, inventories and subword models."""
        held = {name for counts in self.splits.values() for name in counts["tokens"]}
        sides = (self.source_lang, self.target_lang)  # for source text alone, one has no files
        names = {f"dict.{side}.txt" for side in sides if side in held or not self.splits}
        names |= {self.inventory_file(layer) for layer in layers_of(self.layers)}
        targets = layers_of(self.target_features)
        names |= {self.inventory_file(layer, of_target=True) for layer in targets}
        for side in self.segmentation.values():
            names |= {side.get(k) for k in MODELS}
        return set(filter(None, names))

    def problems(self) -> Iterator[str]:
        """Yield the problems."""
        yield from super().problems()
        for split, counts in self.splits.items():
            if not is_count(counts.get("lines")) or "tokens" not in counts:
                yield f"split {split!r} lacks its counts"
        for side in ("source", "target"):
            settings: Any = self.segmentation.get(side)
            if not isinstance(settings, dict) or not {*SETTINGS, *MODELS} <= settings.keys():
                yield f"segmentation lacks {side!r}, or part of it"
            for name in SETTINGS:
                if not isinstance(settings[name], str):
                    yield f"segmentation of {side!r} says {quoted(settings[name])} for {name!r}"
            if not isinstance(settings.get("form", ""), str):
                yield f"segmentation of {side!r} says {quoted(settings['form'])} for 'form'"
            if not isinstance(settings.get("sequences", False), bool):
                said = quoted(settings["sequences"])
                yield f"segmentation of {side!r} says {said} for 'sequences'"
        names = [self.source_lang, self.target_lang, *self.features, *self.splits]
        names += self.target_features
        names += [name for counts in self.splits.values() for name in counts["tokens"]]
        for side in self.segmentation.values():
            names += [side[key] for key in MODELS if side.get(key)]
        yield from outside(names)
        try:
            parse_features(",".join(self.features))
        except InputError as error:
            yield f"'features': {error}"
        try:
            parse_targets(",".join(self.target_features))
        except InputError as error:
            yield f"'target_features': {error}"
