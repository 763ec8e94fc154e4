"""Parts of ``tokenizer.json``: models and pre-tokenisers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Body = dict[str, Any]

MARK = "\u2581"  # sentencepiece's blank
SPLIT = {"type": "WhitespaceSplit"}
SIGNS = {"type": "Punctuation", "behavior": "Isolated"}


def byte_bpe(pieces: Sequence[str], merges: Sequence[Sequence[str]], unknown: Any = None) -> Body:
    """Return a model of byte-pair encoding, with subwords by id and merges by rank."""
    options = {"dropout": None, "unk_token": unknown, "continuing_subword_prefix": ""}
    options |= {"end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False}
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    pairs = [list(pair) for pair in merges]
    return {"type": "BPE", **options, "vocab": vocabulary, "merges": pairs}


def byte_level(*, prefix: bool) -> Body:
    """Return its pre-tokeniser; ``prefix`` adds a blank before a text."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": True,
        "use_regex": True,
    }


def unigram(scores: Sequence[tuple[str, float]], unknown: Any) -> Body:
    """Return a unigram model with subwords by id, each with its log probability."""
    rows = [[piece, score] for piece, score in scores]
    return {"type": "Unigram", "unk_id": unknown, "vocab": rows, "byte_fallback": False}


def marked_words(*, prefix: bool = True, signs: bool = False) -> Body:
    """Return its pre-tokeniser: splits at white space, with a mark before every word.

    With ``signs`` every punctuation sign is a word.
    """
    scheme = "always" if prefix else "never"
    mark = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": True}
    return {"type": "Sequence", "pretokenizers": [*[SIGNS] * signs, SPLIT, mark]}


def normalizers(*steps: Body | None) -> Body | None:
    """Return steps of normalisation as one; None for no step."""
    found = [step for step in steps if step is not None]
    return {"type": "Sequence", "normalizers": found} if len(found) > 1 else (found or [None])[0]


def steps_of(normalizer: Body | None) -> list[Body]:
    return [] if normalizer is None else normalizer.get("normalizers", [normalizer])
