"""A translation bundle: from raw text to translations without fairseq.

Its folder ``ctranslate2`` holds the model (`bundles.ctranslate2_model`), ``text`` the files that
raw text needs: a manifest with the parts of the prepared folder's that decide how to read text,
subword models, inventories of layers, and the subwords of both sides in the order of their ids.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..data.inventories import bound_layers
from ..data.manifests import read_manifest
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..files import write_text
from ..messages import named, quoted
from ..syntax.layers import given_names
from ..syntax.sentence import EncodedSentence
from ..text import unanswered
from ..text.beginnings import Beginnings, beginnings_of, check_known
from ..text.protected import misfits, report, with_spans
from ..text.source_encoder import SourceEncoder, TargetDecoder
from ..text_reading import read_text
from .ctranslate2_model import END_ID, FOLDER, SPECIALS, UNKNOWN_ID, Model, Row, Search
from .folder import pipeline_of
from .index import TRANSLATION, Bundle, open_bundle
from .transformer_layout import Layout

TEXT = "text"
SIDES = ("source", "target")


@dataclass(frozen=True)
class Contents:
    """The index's description of a translation model."""

    layout: Layout  # its sizes
    features: tuple[str, ...]  # of its input, in the order of its tables
    int8: bool  # whether its matrices are stored as bytes

    def as_json(self) -> dict[str, Any]:
        return {"layout": asdict(self.layout), "features": [*self.features], "int8": self.int8}

    @classmethod
    def of(cls, bundle: Bundle) -> Contents:
        said, where = bundle.content, bundle.folder
        if bundle.kind != TRANSLATION:
            raise InputError(
                f"{where} is a bundle for {bundle.kind}; one for translation is wanted (others are "
                "read by fairseq-plugins predict, answer or ask)"
            )
        features = said.get("features")
        is_list = isinstance(features, list) and {*map(type, features)} <= {str}
        if type(said.get("int8")) is not bool or not is_list:
            raise InputError(f"{where}: {quoted(said)} does not describe a model")
        layout = Layout.of(said.get("layout"), where)
        if len(features) != len(layout.factors):
            raise InputError(f"{where}: {len(layout.factors)} tables for {len(features)} features")
        return cls(layout, tuple(features), said["int8"])


@dataclass(frozen=True)
class Hypothesis:
    """A translation."""

    text: str  # plain text
    subwords: tuple[str, ...]  # output of the model, without an end mark
    score: float  # logarithm of its probability, divided by a power of its length
    misfits: tuple[str, ...] = ()  # protected spans that are not as in the source


@dataclass(frozen=True)
class Attended:
    """A model's attention during the translation of one sentence."""

    source: tuple[str, ...]  # S source subwords, an end mark last
    best: Hypothesis  # the translation, T subwords
    weights: np.ndarray  # (T, S), rows sum to 1; see `Model.attention`


class Translator:
    """Translate raw text; several threads may do so at once.

    Args:
        model: translates ids.
        folder: files that raw text needs.
        contents: of the bundle.
        spacy_model: see `open`.
    """

    def __init__(
        self, model: Model, folder: Path, contents: Contents, spacy_model: str | None = None
    ) -> None:
        self.model, self.folder, self.features = model, folder, contents.features
        self.manifest = _read_manifest(folder)
        self.layers = self._layers(contents)
        sizes = contents.layout.source.size, contents.layout.target.size
        self.source, self.target = (
            read_subwords(folder / f"{side}.json", size) for side, size in zip(SIDES, sizes)
        )
        self._ids = {word: i for i, word in enumerate(self.source)}
        self._decoder = TargetDecoder.from_folder(folder, self.manifest)
        self.spacy_model = spacy_model
        self._lock = Lock()  # pipelines and subword caches serve one thread at a time

    @classmethod
    def open(
        cls,
        bundle: Bundle | str | Path,
        *,
        spacy_model: str | None = None,
        threads: int = 0,
        workers: int = 1,
        compute_type: str = "default",
    ) -> Translator:
        """Open a bundle.

        Args:
            bundle: a bundle, or its folder.
            spacy_model: annotator of raw text (default: the bundle's own pipeline, or the pipeline
                of the training data, if bundled with this package or installed).
            threads: for the translation of one batch; 0 lets CTranslate2 choose.
            workers: number of batches to translate at once, for several calling threads.
            compute_type: of CTranslate2; ``default`` computes in the stored type.

        Raises:
            FileNotFoundError: a file is missing.
            InputError: a file that was changed, or does not fit the others.
        """
        bundle = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
        contents = Contents.of(bundle)
        layout, folder = contents.layout, bundle.folder
        for part in (FOLDER, TEXT):
            if not bundle.inside(part):
                raise InputError(f"{folder} names no files in {part!r}: it is incomplete")
        how = {"int8": contents.int8, "threads": threads, "workers": workers}
        model = Model(folder / FOLDER, layout, **how, compute_type=compute_type)
        return cls(model, folder / TEXT, contents, spacy_model or pipeline_of(bundle))

    def _layers(self, contents: Contents) -> list[Any]:
        """Return the layers that the model reads, in its order; refuse layers that do not fit."""
        held = {layer.name: layer for layer in bound_layers(self.folder, self.manifest)}
        for name, size in zip(self.features, contents.layout.factors):
            found = len(held[name].inventory) if name in held and held[name].inventory else 0
            if found != size:
                raise InputError(
                    f"{self.folder}: the model knows {size} values of {quoted(name)}, raw text has "
                    f"{found} (of {named(held)})"
                )
        return [held[name] for name in self.features]

    @cached_property
    def encoder(self) -> SourceEncoder:
        """The encoder of raw text into subwords and features; made at first use.

        Raises:
            FileNotFoundError, InputError: there is no pipeline, see `SourceEncoder.from_folder`, or
                the model reads layers that raw text lacks.
        """
        if given := given_names(self.features):
            raise InputError(f"the model reads {', '.join(given)}, which raw text has not")
        return SourceEncoder.from_folder(self.folder, self.manifest, self.spacy_model)

    def translate(
        self, lines: Sequence[str], *, first: int = 1, prefix: Beginnings = "", **search: Any
    ) -> list[str]:
        """Translate raw lines; see `hypotheses`.

        Returns:
            Plain text, one translation per line.
        """
        found = self.hypotheses(lines, first=first, prefix=prefix, **search)
        return [nbest[0].text for nbest in found]

    def hypotheses(
        self, lines: Sequence[str], *, first: int = 1, prefix: Beginnings = "", **search: Any
    ) -> list[list[Hypothesis]]:
        """Translate raw lines; empty and too long ones get empty translations.

        Args:
            lines: raw text.
            first: number of the first line, for messages.
            prefix: beginning of all translations, or a list with that of each; it ends with a word.
            search: ``beam``, ``lenpen``, ``nbest``, ``max_tokens``; see `Search`.

        Returns:
            ``nbest`` translations of each line, best first.

        Raises:
            InputError: no list of lines, or invalid search options.
        """
        if isinstance(lines, str):
            raise InputError("one text was given; give a list of lines")
        how = Search(**search)
        rows, marks, held = self._rows(lines, first)
        kept = [i for i, mark in enumerate(marks) if not mark]
        begun = self._begun(beginnings_of(prefix, 1, len(lines)), held, how) if prefix else []
        own = [rows[i] for i in kept], how, [held[i] for i in kept]
        found = iter(self.of_ids(*own, [begun[i] for i in kept] if begun else []))
        nothing = {mark: [Hypothesis("", (), score)] for mark, score in unanswered.SCORES.items()}
        return [nothing[mark] * how.nbest if mark else next(found) for mark in marks]

    def attend(self, line: str, **search: Any) -> Attended:
        """Translate a raw line, and return the translation's attention.

        Args:
            line: raw text.
            search: see `hypotheses`.

        Raises:
            InputError: a line that is empty or too long.
        """
        (row,), (mark,), (held,) = self._rows([line])
        if mark:
            raise InputError(
                f"there is nothing to translate in {line[:40]!r}: it is empty, or longer than the "
                "model takes"
            )
        ((ids, score), *_) = self.model.translate([row], Search(**search))[0]
        source = tuple(self.source[i] for i in row[0])
        weights = self.model.attention(row, ids)[[i for i, one in enumerate(ids) if one]]
        return Attended(source, self._hypothesis(ids, score, held[1]), weights)

    def of_ids(
        self,
        rows: Sequence[Row],
        search: Search,
        held: Sequence[tuple[int, Sequence[str]]] = (),
        begun: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Translate sentences of known ids and features.

        Args:
            rows, search, begun: see `Model.translate`.
            held: number of the line of each, and its protected spans.
        """
        held = held or [(i, ()) for i in range(1, len(rows) + 1)]
        found = [
            [self._hypothesis(ids, score, spans) for ids, score in nbest]
            for (_, spans), nbest in zip(held, self.model.translate(rows, search, begun))
        ]
        report([f"line {i}: {x}" for (i, _), best in zip(held, found) for x in best[0].misfits])
        return found

    def _begun(
        self, texts: Sequence[str], held: Sequence[tuple[int, Sequence[str]]], search: Search
    ) -> list[list[int]]:
        """Return the ids of beginnings, cut as the target was cut."""
        known, found = {word: i for i, word in enumerate(self.target)}, []
        for text, (number, spans) in zip(texts, held):
            with self._lock:
                subwords = self._decoder.begin(text, spans)[0] if text.strip() else []
            lacking = [one for one in subwords if known.get(one, UNKNOWN_ID) <= UNKNOWN_ID]
            check_known(number, subwords, lacking, search.longest)
            found.append([known[one] for one in subwords])
        return found

    def encode(self, lines: Sequence[str], limit: int | None = None) -> list[EncodedSentence]:
        """Return the words and subwords of raw lines with their features."""
        with self._lock:
            return self.encoder.encode(lines, limit)

    def ids_of(self, subwords: Sequence[str]) -> list[int]:
        """Return the ids of source subwords and an end mark.

        A subword spelt like one of fairseq's own symbols is text, and unknown.
        """
        found = (self._ids.get(word, UNKNOWN_ID) for word in subwords)
        return [*(i if i >= len(SPECIALS) else UNKNOWN_ID for i in found), END_ID]

    def _rows(
        self, lines: Sequence[str], first: int = 1
    ) -> tuple[list[Row], list[int], list[tuple[int, Sequence[str]]]]:
        """Return ids and features of raw lines, the reason of each untranslated line, and spans."""
        longest = self.manifest.options.get("max_characters", unanswered.LONGEST_LINE)
        limit = self.model.layout.source.positions
        read, whole = unanswered.taken(lines, first, longest)
        encoded = self.encode(read, limit)
        rows = [self._row(sentence) for sentence in encoded]
        marks = [
            unanswered.mark_of(len(ids), limit, whole=is_whole and not line.left_out)
            for (ids, _), is_whole, line in zip(rows, whole, encoded)
        ]
        limits = f"{limit} subwords or {longest} characters"
        unanswered.report(marks, first, limits, "cut such lines before")
        return rows, marks, [(i, line.protected) for i, line in enumerate(encoded, first)]

    def _row(self, sentence: EncodedSentence) -> Row:
        columns = [[*sentence.ids(layer), layer.end] for layer in self.layers]
        return self.ids_of(sentence.tokens), columns

    def _hypothesis(self, ids: Sequence[int], score: float, spans: Sequence[str]) -> Hypothesis:
        subwords = tuple(self.target[i] for i in ids if i)  # fairseq leaves <s> out
        tokens, told = subwords, []
        if self.manifest.protect:
            tokens, found = with_spans(subwords, spans)
            told = misfits(spans, found)
        text = self._decoder.remove_subwords(" ".join(tokens))
        return Hypothesis(self._decoder.detokenize(text), subwords, score, tuple(told))


def _read_manifest(folder: Path) -> TranslationManifest:
    found = read_manifest(folder, TranslationManifest)
    longest = found.options.get("max_characters", 1)
    if type(longest) is not int or longest < 1:
        raise InputError(f"{folder}: the manifest says {quoted(longest)} for 'max_characters'")
    return found


def write_subwords(path: Path, subwords: Sequence[str]) -> None:
    """Write subwords in the order of their ids."""
    write_text(path, json.dumps([*subwords], ensure_ascii=False, indent=0) + "\n")


def read_subwords(path: Path, size: int) -> list[str]:
    """Read subwords written by `write_subwords`."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: the bundle is incomplete")
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    is_list = isinstance(found, list) and {*map(type, found)} <= {str}
    if not is_list or len(found) != size or tuple(found[: len(SPECIALS)]) != SPECIALS:
        raise InputError(f"{path} is no list of {size} subwords, {' '.join(SPECIALS)} the first")
    return found


def check_single(bundles: Sequence[str | Path]) -> str | Path:
    """Return the only bundle; refuse several."""
    if len(bundles) != 1:
        raise InputError(
            f"{len(bundles)} bundles: CTranslate2 decodes with one model; average the checkpoints "
            "(fairseq-plugins average) and export the result, or give them to fairseq-generate "
            "(--path A.pt:B.pt)"
        )
    return bundles[0]
