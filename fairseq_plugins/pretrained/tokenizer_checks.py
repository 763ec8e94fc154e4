"""Checks of a ``tokenizer.json``: every entry has its known meaning, or is refused."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Container, Mapping
from math import isfinite
from typing import Any

from ..errors import InputError
from ..messages import quoted
from ..text_reading import decode
from .character_table import is_table
from .families import Family
from .sentencepiece_model import table_reader
from .tokenizer_models import MARK, Body, byte_level, steps_of

NEUTRAL = (None, "", False, 0)  # values of options without effect
BPE_OPTIONS = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk")
BPE_OPTIONS += ("byte_fallback", "ignore_merges")
NORMALIZERS = ("Precompiled", "Replace", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase")
NORMALIZERS += ("StripAccents", "Strip")
BLANKS = (" {2,}", r"\s{2,}|[\n\r\t]")  # the only regular expressions in converted models
CUTS = (["Metaspace"], ["WhitespaceSplit", "Metaspace"], ["Punctuation", "Metaspace"])
CUTS += (["Punctuation", "WhitespaceSplit", "Metaspace"],)  # what may come before unigram models


def parse(content: bytes, place: str) -> Body:
    try:
        body = json.loads(decode(content, place, 1))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not readable JSON: {error}") from None
    if not isinstance(body, dict):
        raise InputError(f"{place} holds no JSON object")
    return body


def ordered_pieces(vocabulary: Any, place: str, *, gaps: bool = False) -> list[str]:
    """Return subwords in the order of their ids: 0, 1, ... unless gaps are allowed."""
    if not isinstance(vocabulary, dict) or not all(type(i) is int for i in vocabulary.values()):
        raise InputError(f"{place}: ids of the vocabulary are not numbers")
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    if not gaps and [vocabulary[piece] for piece in pieces] != list(range(len(pieces))):
        raise InputError(f"{place}: ids of the vocabulary are not 0 to {len(pieces) - 1}")
    return pieces


def added_tokens(tokens: Any, place: str) -> dict[str, tuple[int, bool]]:
    """Return the added tokens with their ids, and whether each is special."""
    found = {}
    for token in tokens if isinstance(tokens, list) else [tokens]:
        told = token if isinstance(token, dict) else {}
        name, number = told.get("content"), told.get("id")
        if not isinstance(name, str) or type(number) is not int:
            raise InputError(f"{place}: an added token is {quoted(token)}")
        found[name] = number, bool(token.get("special"))
    return found


def runs_of_blanks(tokens: list[Body], place: str) -> tuple[str, ...]:
    """Return the added tokens of blanks alone, which text matches before it is cut."""
    for token in (runs := [token for token in tokens if token["content"].isspace()]):
        if any(token.get(flag) for flag in ("single_word", "lstrip", "rstrip")):
            raise InputError(f"{place}: an added token is {quoted(token)}, expected plain blanks")
    return tuple(token["content"] for token in runs)


def with_added(
    pieces: list[str], added: Mapping[str, tuple[int, bool]], learnt: Container[str], place: str
) -> tuple[list[str], list[str]]:
    """Return all subwords, with new added tokens at the end, and those that never match text.

    The latter are new tokens, and special tokens that were not ``learnt`` from text.
    """
    indices = {piece: i for i, piece in enumerate(pieces)}
    kept = {n for n, (_, special) in added.items() if n in learnt or (n in indices and not special)}
    hidden = [name for name in added if name not in kept]
    for name, (number, _) in sorted(added.items(), key=lambda pair: pair[1]):
        if indices.setdefault(name, len(pieces)) != number:
            raise InputError(f"{place}: the added token {name!r} has the id {number}")
        pieces += [name] * (number == len(pieces))
    return pieces, hidden


def special_pieces(family: Family, added: Any) -> tuple[str, ...]:
    """Return a family's special tokens, the mask last, followed by added ones."""
    own = family.specials
    return tuple(dict.fromkeys((own.cls, own.sep, own.pad, own.unk, own.mask, *added)))


def merge_pairs(model: Body, place: str) -> list[list[str]]:
    """Return the merges as pairs; refuse options that change the result."""
    for key in BPE_OPTIONS:
        if model.get(key) not in NEUTRAL:
            raise InputError(f"{place}: {key} is {quoted(model[key])}, expected none")
    merges = model.get("merges")
    pairs = [one.split(" ") if isinstance(one, str) else one for one in merges or ()]
    texts = (len(p) == 2 and all(isinstance(t, str) for t in p) for p in pairs)
    if not pairs or not all(texts):
        raise InputError(f"{place}: it has no merges (pairs of subwords), so nothing can be joined")
    return pairs


def piece_scores(model: Body, place: str) -> list[tuple[str, float]]:
    """Return the subwords of a unigram model with their log probabilities."""
    if model.get("byte_fallback"):
        raise InputError(f"{place}: byte_fallback is not done here")
    rows: Any = model.get("vocab")
    for row in rows if isinstance(rows, list) else [rows]:
        pair = [type(value) for value in row] if isinstance(row, list) else []
        if pair not in ([str, float], [str, int]) or not isfinite(row[1]):
            raise InputError(f"{place}: {quoted(row)} is no subword with its score")
    return [(piece, float(score)) for piece, score in rows]


def has_prefix(before: Any, place: str) -> bool:
    """Return whether a byte-level pre-tokeniser adds a blank before a text."""
    wanted = byte_level(prefix=False)
    found = {**wanted, **before} if isinstance(before, dict) else {}
    prefix = found.get("add_prefix_space")
    if found | {"add_prefix_space": False, "trim_offsets": True} != wanted or prefix not in (0, 1):
        raise InputError(f"{place}: pre_tokenizer is {quoted(before)}, expected ByteLevel alone")
    return bool(prefix)


def marking(before: Any, place: str) -> Body:
    """Return a sentencepiece pre-tokeniser of a known kind unchanged."""
    inner = before.get("pretokenizers") if isinstance(before, dict) else None
    steps = [before] if inner is None else inner
    kinds = [step.get("type") for step in steps] if all(isinstance(s, dict) for s in steps) else []
    if kinds not in CUTS or steps[-1].get("replacement", MARK) != MARK:
        raise InputError(
            f"{place}: pre_tokenizer is {quoted(before)}, expected WhitespaceSplit and Metaspace"
        )
    return before


def known_normalizer(found: Any, place: str) -> Body | None:
    """Return a normaliser with only known steps unchanged."""
    if found is None:
        return None
    for step in steps_of(found) if isinstance(found, dict) else [found]:
        kind = step.get("type") if isinstance(step, dict) else step
        pattern = step.get("pattern") if isinstance(step, dict) else None
        regex = pattern.get("Regex") if isinstance(pattern, dict) else None
        if kind not in NORMALIZERS or regex not in (None, *BLANKS):
            raise InputError(
                f"{place}: normalizer {quoted(step)} is not known; "
                f"choices: {', '.join(NORMALIZERS)}"
            )
        if kind == "Precompiled" and not _is_table(step.get("precompiled_charsmap")):
            raise InputError(f"{place}: precompiled_charsmap is no table of characters")
    return found


def _is_table(text: Any) -> bool:
    """Return whether a text is a table of sentencepiece's, in base64."""
    try:
        table = b64decode(text, validate=True)
        return is_table(table) and bool(table_reader(table))
    except (TypeError, ValueError):
        return False
