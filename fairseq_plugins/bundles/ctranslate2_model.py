"""CTranslate2's part of a bundle: write, verify, open and call its folder.

CTranslate2 (Klein et al. 2020, "The OpenNMT Neural Machine Translation Toolkit") reads several
embedding tables of the source and adds them. Its tokens are named by their numbers here (fairseq's
four symbols by their names), so that no subword looks like an end mark, like padding, or like the
bar between a subword and its features.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, model_spec, transformer_spec

from ..errors import InputError
from ..files import write_text
from ..messages import named
from ..text_reading import read_text
from .transformer_layout import Layout, Side
from .weight_files import FLOAT32, INT8, Kinds, check_weights

FOLDER, WEIGHTS, SETTINGS = "ctranslate2", "model.bin", "config.json"
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")  # in the order of their ids
PAD_ID, END_ID, UNKNOWN_ID = 1, 2, 3
ENCODED = 1000  # subwords of a batch without search
BAR = "\uffe8"  # between a subword and each of its features
ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu_tanh": "GELUTanh", "tanh": "Tanh"}
CONFIGURATION = {
    **{f"{name}_token": SPECIALS[k] for k, name in ((0, "bos"), (END_ID, "eos"))},
    "unk_token": SPECIALS[UNKNOWN_ID],
    "decoder_start_token": SPECIALS[END_ID],
    "add_source_bos": False,
    "add_source_eos": False,  # the input has its own, with features
    "layer_norm_epsilon": None,  # 1e-5, as torch's
    "multi_query_attention": False,
}

Row = tuple[Sequence[int], Sequence[Sequence[int]]]  # ids (S,), features (F, S)


@dataclass(frozen=True)
class Search:
    """Options of beam search."""

    beam: int = 4  # size of the beam
    lenpen: float = 0.6  # exponent of the length that divides scores
    nbest: int = 1  # translations of each sentence, at most the beam
    max_tokens: int = 500  # subwords of a batch with padding; on CPUs small batches are fastest
    longest: int = 200  # subwords of a translation, as in fairseq; at this limit both may differ

    def __post_init__(self) -> None:
        least = {"beam": 1, "nbest": 1, "max_tokens": 1, "longest": 1}
        for name, number in least.items():
            if getattr(self, name) < number:
                raise InputError(f"{name} is {getattr(self, name)}; it is {number} at least")
        if self.nbest > self.beam:
            raise InputError(f"nbest is {self.nbest}, but a beam of {self.beam} finds no more")


def token(number: int) -> str:
    return SPECIALS[number] if number < len(SPECIALS) else str(number)


def _number(name: str) -> int:
    return SPECIALS.index(name) if name in SPECIALS else int(name)


def write_model(
    folder: Path, layout: Layout, weights: Mapping[str, np.ndarray], *, int8: bool = False
) -> None:
    """Write CTranslate2's folder.

    Args:
        folder: to make.
        weights: by the names of `Layout.shapes`, in float32.
        int8: whether to store matrices as bytes, with a scale per row.
    """
    shapes = layout.shapes()
    if weights.keys() != shapes.keys():
        raise InputError(f"weights {named(sorted(weights.keys() ^ shapes.keys()))} do not fit")
    spec = _empty_spec(layout)
    for name, shape in shapes.items():
        found = np.array(weights[name], dtype=FLOAT32, order="C")  # quantised in place
        if found.shape != shape:
            raise InputError(f"{name} has shape {found.shape}, not {shape}")
        scope, _, leaf = name.rpartition("/")
        setattr(model_spec.index_spec(spec, scope), leaf, found)
    for side in ("source", "target"):
        for names in _vocabularies(layout, side):
            getattr(spec, f"register_{side}_vocabulary")(names)
    spec.validate()
    spec.optimize("int8" if int8 else None)
    folder.mkdir()
    model_spec.ModelSpec.save(spec, str(folder))
    for name, content in _texts(layout).items():
        write_text(folder / name, json.dumps(content, indent=1) + "\n")


def _empty_spec(layout: Layout) -> Any:
    ours = {"activation": getattr(common_spec.Activation, ACTIVATIONS[layout.activation])}
    ours["layernorm_embedding"] = layout.embedding_norm

    def of(side: Side) -> dict[str, Any]:
        how = {"pre_norm": side.pre_norm, "no_final_norm": not side.final_norm}
        return {"num_layers": side.layers, "num_heads": side.heads, **how, **ours}

    add = common_spec.EmbeddingsMerge.ADD
    factors = {"num_source_embeddings": 1 + len(layout.factors), "embeddings_merge": add}
    encoder: Any = transformer_spec.TransformerEncoderSpec(**of(layout.source), **factors)
    projected = layout.output != layout.target.width
    of_target = of(layout.target)
    decoder: Any = transformer_spec.TransformerDecoderSpec(**of_target, project_in_out=projected)
    if projected:
        del decoder.project_in
    encoder.scale_embeddings = np.float32(layout.source.scale)
    decoder.scale_embeddings = np.float32(layout.target.scale)
    decoder.alignment_heads = np.int16(layout.target.heads)  # attention is their mean
    return transformer_spec.TransformerSpec(encoder, decoder)


def _vocabularies(layout: Layout, side: str) -> list[list[str]]:
    """Return the token names of the tables of a side: subwords, then features."""
    words = [token(i) for i in range(getattr(layout, side).size)]
    factors = layout.factors if side == "source" else ()
    return [words, *([str(i) for i in range(size)] for size in factors)]


def _texts(layout: Layout) -> dict[str, Any]:
    source, target = (_vocabularies(layout, side) for side in ("source", "target"))
    found = {SETTINGS: CONFIGURATION, "target_vocabulary.json": target[0]}
    return found | dict(zip(_source_names(layout), source))


def _source_names(layout: Layout) -> list[str]:
    """Return the file names of a source's vocabularies: subwords, then features."""
    if not layout.factors:
        return ["source_vocabulary.json"]
    return [f"source_{k}_vocabulary.json" for k in range(1, len(layout.factors) + 2)]


def check_folder(folder: Path, layout: Layout, *, int8: bool) -> None:
    """Refuse a folder that differs from a result of `write_model`."""
    names = {SETTINGS, "target_vocabulary.json", *_source_names(layout)}
    held = {path.name for path in folder.iterdir()}
    if held != {WEIGHTS, *names}:
        wrong = named(sorted(held ^ {WEIGHTS, *names}))
        raise InputError(f"{folder}: {wrong} should not be there, or is missing")
    _check_weights(folder / WEIGHTS, layout, int8=int8)  # before any allocation by its sizes
    for name, content in _texts(layout).items():
        try:
            found = json.loads(read_text(folder / name))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{folder / name} is no JSON: {error}") from None
        if json.dumps(found, sort_keys=True) != json.dumps(content, sort_keys=True):  # 0 == False
            raise InputError(f"{folder / name} does not fit the model that the bundle describes")


def _check_weights(path: Path, layout: Layout, *, int8: bool) -> None:
    """Compare a file of weights with a layout, without trusting the file's own sizes."""
    with path.open("rb") as stream:
        try:
            spec = _empty_spec(layout)
            kinds = _wanted(layout, int8=int8)
            check_weights(stream, (spec.name, spec.revision), kinds, _settings(spec))
        except InputError as error:
            raise InputError(f"{path} is no model of its bundle: {error}") from None


def _wanted(layout: Layout, *, int8: bool) -> Kinds:
    """Return shapes and types of a layout's stored weights."""
    shapes = layout.shapes()
    found: Kinds = {name: (shape, FLOAT32) for name, shape in shapes.items()}
    if int8:
        tables = {name: shape for name, shape in shapes.items() if name.endswith("/weight")}
        found |= {name: (shape, INT8) for name, shape in tables.items()}
        found |= {f"{name}_scale": (shape[:1], FLOAT32) for name, shape in tables.items()}
    return found


def _settings(spec: Any) -> dict[str, Any]:
    """Return the numbers that are no weights, as in NumPy."""
    held = {name: value for name, value in spec.variables().items() if value is not None}
    return {k: np.int8(v) if isinstance(v, bool) else v for k, v in held.items()}


class Model:
    """A model that translates ids; several threads may call it at once.

    Args:
        folder, layout, int8: see `check_folder`.
        threads: for one batch; 0 lets CTranslate2 choose.
        workers: parallel batches.
        compute_type: of CTranslate2; ``default`` computes in the stored type.
    """

    def __init__(
        self,
        folder: Path,
        layout: Layout,
        *,
        int8: bool = False,
        threads: int = 0,
        workers: int = 1,
        compute_type: str = "default",
    ) -> None:
        check_folder(folder, layout, int8=int8)
        how = {"compute_type": compute_type, "intra_threads": threads, "inter_threads": workers}
        try:
            self._translator = ctranslate2.Translator(str(folder), "cpu", **how)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"{folder}: CTranslate2 cannot read it: {error}") from None
        self.layout = layout

    def translate(
        self, rows: Sequence[Row], search: Search, begun: Sequence[Sequence[int]] = ()
    ) -> list[list[tuple[list[int], float]]]:
        """Return each sentence's translations, best first: ids without an end mark, and scores.

        Args:
            rows, search: the sentences, and how to search.
            begun: ids that the translation of each sentence begins with.
        """
        batch, given = [_names(row) for row in rows], [[*map(token, ids)] for ids in begun]
        found = self._search(batch, search, **({"target_prefix": given} if given else {}))
        # fairseq never selects padding; CTranslate2 may, so these sentences are searched again
        padded = [i for i, beam in enumerate(found) if any(PAD_ID in ids for ids, _ in beam)]
        without: dict[str, Any] = {"suppress_sequences": [[SPECIALS[PAD_ID]]]}
        without |= {"target_prefix": [given[i] for i in padded]} if given else {}
        repeated = self._search([batch[i] for i in padded], search, **without)
        for i, beam in zip(padded, repeated, strict=True):
            found[i] = beam
        for i, (beam, left) in enumerate(zip(found, self._left(batch), strict=True)):
            ids = [one for one, _ in beam]
            known = i not in padded and not (begun and begun[i])  # CTranslate2's scores are of all
            if not known or max(map(len, ids)) >= self._longest(search):
                scores = self._full_scores(rows[i], ids, search.lenpen)
            else:
                scores = [score + left / (len(one) + 1) ** search.lenpen for one, score in beam]
            found[i] = sorted(zip(ids, scores), key=lambda one: -one[1])
        return [beam[: search.nbest] for beam in found]

    def _left(self, batch: list[list[str]]) -> list[float]:
        """Return the log probability that sentences are not empty.

        Both searches exclude empty translations; fairseq keeps their probability, CTranslate2
        distributes it over the others.
        """
        nothing: list[list[str]] = [[] for _ in batch]
        how = {"max_batch_size": ENCODED, "batch_type": "tokens", "max_input_length": 0}
        found = self._translator.score_batch(batch, nothing, **how) if batch else []
        return [log1p(-min(exp(one.log_probs[0]), 1 - 1e-7)) for one in found]

    def _full_scores(self, row: Row, beam: list[list[int]], lenpen: float) -> list[float]:
        """Score translations of a sentence with their end marks, also the longest ones."""
        return [sum(one) / len(one) ** lenpen for one in self.score([row] * len(beam), beam)]

    def _longest(self, search: Search) -> int:
        return min(search.longest, self.layout.target.positions - 1)

    def _search(self, batch: list[list[str]], search: Search, **more: Any) -> list[Any]:
        how = {
            "max_batch_size": search.max_tokens,
            "batch_type": "tokens",
            "beam_size": search.beam,
            "num_hypotheses": search.beam,
            "length_penalty": search.lenpen,
            "max_input_length": 0,
            "min_decoding_length": 1,
            "max_decoding_length": self._longest(search),
            "return_scores": True,
        }
        results = self._translator.translate_batch(batch, **{**how, **more}) if batch else []
        return [
            [([_number(name) for name in names], score) for names, score in zip(*beam)]
            for beam in ((one.hypotheses, one.scores) for one in results)
        ]

    def attention(self, row: Row, ids: Sequence[int]) -> np.ndarray:
        """Return the attention of each token of a translation.

        Args:
            row: the sentence.
            ids: of its translation, T of them, without an end mark.

        Returns:
            (T, S), the mean over the heads of the last decoder layer; rows sum to 1.
        """
        source = _names(row)
        if not ids:
            return np.zeros((0, len(source)))
        given = {"target_prefix": [[token(i) for i in ids]], "max_decoding_length": len(ids)}
        how = {"beam_size": 1, "max_input_length": 0, "return_attention": True}
        (found,) = self._translator.translate_batch([source], **given, **how)
        return np.array(found.attention[0][: len(ids)])

    def score(self, rows: Sequence[Row], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log probability of every token of given translations, with end marks."""
        wanted = [[token(i) for i in ids] for ids in targets]
        batch = [_names(row) for row in rows]
        found = self._translator.score_batch(batch, wanted, max_input_length=0)
        return [one.log_probs for one in found]


def _names(row: Row) -> list[str]:
    ids, factors = row
    return [BAR.join((token(i), *map(str, more))) for i, *more in zip(ids, *factors, strict=True)]
