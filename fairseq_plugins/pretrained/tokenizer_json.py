"""A tokeniser as ``tokenizer.json`` has it, taken apart, checked, and written in one normal form.

Two kinds are known: byte-level byte-pair encoding (Radford et al. 2019, as RoBERTa uses it) and
sentencepiece's unigram model (Kudo 2018, as XLM-R and ALBERT use it). Whatever the file claims
beside these is refused, not passed over: the same text must give the same ids as elsewhere.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..messages import quoted
from ..text_reading import decode
from .families import BYTE_BPE, Family

Body = dict[str, Any]

MARK = "\u2581"  # what sentencepiece writes for a blank
SPLIT = {"type": "WhitespaceSplit"}
MODELS = {BYTE_BPE: "BPE"}  # by scheme; otherwise a unigram model
NEUTRAL = (None, "", False, 0)  # values of options that then change nothing
BPE_OPTIONS = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk")
BPE_OPTIONS += ("byte_fallback", "ignore_merges")
NORMALIZERS = ("Precompiled", "Replace", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase")
NORMALIZERS += ("StripAccents", "Strip")
REQUIRED = 4  # special tokens of a family: the mask may be missing
BLANKS = " {2,}"  # the one regular expression that converted models have


@dataclass(frozen=True)
class Parts:
    """What decides which ids a text gets.

    Args:
        model: kind, subwords by id and how they join; see `byte_bpe` and `unigram`.
        normalizer: what is done to the text before, or None.
        pre_tokenizer: how it is cut into words.
        specials: subwords that no text has.
    """

    model: Body
    normalizer: Body | None
    pre_tokenizer: Body
    specials: tuple[str, ...]

    @property
    def pieces(self) -> list[str]:
        """The subwords in the order of their ids."""
        vocabulary = self.model["vocab"]
        return [*vocabulary] if self.model["type"] == "BPE" else [one for one, _ in vocabulary]

    @classmethod
    def read(cls, body: Body, family: Family, place: str) -> Parts:
        """Take a ``tokenizer.json`` apart.

        Raises:
            ValueError: it holds another kind of tokeniser than the family has, or says something
                that is not done here; names ``place``, key and value.
        """
        model, normalizer = body.get("model"), body.get("normalizer")
        wanted = MODELS.get(family.scheme, "Unigram")
        if not isinstance(model, dict) or model.get("type", wanted) != wanted:
            kind = model.get("type") if isinstance(model, dict) else model
            raise ValueError(f"{place}: model is {quoted(kind)}, {family.name} has {wanted}")
        added = _added(body.get("added_tokens") or [], family, place)
        if wanted == "BPE":
            pairs = _bpe_pairs(model, place)
            vocabulary = [*_ordered(model.get("vocab"), place)]
            model = byte_bpe(_joined(vocabulary, added, place), pairs, model.get("unk_token"))
            if normalizer is not None:
                raise ValueError(f"{place}: normalizer is {quoted(normalizer)}, expected none")
            before = byte_level(prefix=_prefix(body.get("pre_tokenizer"), place))
        else:
            scores = _scores(model, place)
            names = _joined([piece for piece, _ in scores], added, place)
            scores += [(name, 0.0) for name in names[len(scores) :]]
            model = unigram(scores, model.get("unk_id"))
            normalizer = _normalizer(normalizer, place)
            before = _metaspace(body.get("pre_tokenizer"), place)
        return cls.of(model, normalizer, before, family, [*added]).checked(place)

    @classmethod
    def of(
        cls,
        model: Body,
        normalizer: Body | None,
        pre_tokenizer: Body,
        family: Family,
        others: Sequence[str] = (),
    ) -> Parts:
        """Put parts together; ``others`` are special beside the family's own."""
        return cls(model, normalizer, pre_tokenizer, _specials(family, others))

    def checked(self, place: str) -> Parts:
        """Return itself.

        Raises:
            ValueError: a special token is missing, a merge is none, or would make one of text.
        """
        pieces = {*self.pieces}
        lacking = [one for one in self.specials[:REQUIRED] if one not in pieces]
        if lacking:
            raise ValueError(f"{place}: the vocabulary lacks {', '.join(lacking)}")
        if self.model["type"] == "BPE":
            known, special = self.model["vocab"].keys(), {*self.specials}
            for pair in self.model["merges"]:
                if not known >= {*pair, "".join(pair)}:
                    raise ValueError(f"{place}: no vocabulary for the merge {' '.join(pair)!r}")
                if "".join(pair) in special:
                    raise ValueError(f"{place}: the merge {' '.join(pair)!r} makes a special token")
        elif type(self.model["unk_id"]) is not int or not 0 <= self.model["unk_id"] < len(
            self.pieces
        ):
            raise ValueError(f"{place}: unk_id is {quoted(self.model['unk_id'])}, no subword's")
        return self

    @property
    def options(self) -> dict[str, bool]:
        """What transformers' own tokenisers ask for beside the file."""
        last = _last(self.pre_tokenizer)
        if "add_prefix_space" in last:
            return {"add_prefix_space": last["add_prefix_space"]}
        steps = {step["type"] for step in _steps(self.normalizer)}
        found = {"add_prefix_space": last.get("prepend_scheme", "always") != "never"}
        if "Replace" in steps:  # ALBERT's
            found["do_lower_case"] = "Lowercase" in steps
            found["keep_accents"] = "StripAccents" not in steps
        return found

    def body(self) -> Body:
        """Return the tokeniser for text, in which the names of special tokens are text as well."""
        model = self.model
        if model["type"] != "BPE":
            hidden = {*self.specials}
            # what stands behind a blank is never found: blanks are marks by then
            rows = [[f" {p}" if p in hidden else p, score] for p, score in model["vocab"]]
            model = model | {"vocab": rows}
        return _EMPTY | {
            "normalizer": self.normalizer,
            "pre_tokenizer": self.pre_tokenizer,
            "model": model,
        }

    def content(self, family: Family) -> bytes:
        """Return the whole file: with special tokens and rows, as other programs want it."""
        indices = {piece: i for i, piece in enumerate(self.pieces)}
        byte_level = self.model["type"] == "BPE"
        decoder = self.pre_tokenizer if byte_level else _last(self.pre_tokenizer)
        body = self.body() | {
            "added_tokens": [
                _token(indices[name], name, is_mask=name == family.specials.mask)
                for name in sorted({*self.specials} & indices.keys(), key=indices.__getitem__)
            ],
            "model": self.model,
            "post_processor": _rows(family, indices),
            "decoder": decoder,
        }
        return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


_EMPTY: Body = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
}


def byte_bpe(pieces: Sequence[str], merges: Sequence[Sequence[str]], unknown: Any = None) -> Body:
    """Return a model of byte-pair encoding, of subwords by id and merges by rank."""
    options = {"dropout": None, "unk_token": unknown, "continuing_subword_prefix": ""}
    options |= {"end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False}
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    pairs = [list(pair) for pair in merges]
    return {"type": "BPE", **options, "vocab": vocabulary, "merges": pairs}


def byte_level(*, prefix: bool) -> Body:
    """Return how text is cut for it; ``prefix``: a text begins as if there were a blank before."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": True,
        "use_regex": True,
    }


def unigram(scores: Sequence[tuple[str, float]], unknown: Any) -> Body:
    """Return a unigram model of subwords by id, each with its log probability."""
    rows = [[piece, score] for piece, score in scores]
    return {"type": "Unigram", "unk_id": unknown, "vocab": rows, "byte_fallback": False}


def marked_words(*, prefix: bool = True) -> Body:
    """Return how text is cut for it: at white space, with a mark before every word."""
    scheme = "always" if prefix else "never"
    mark = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": True}
    return {"type": "Sequence", "pretokenizers": [SPLIT, mark]}


def normalizers(*steps: Body | None) -> Body | None:
    """Return steps of normalisation as one; None for no step."""
    found = [step for step in steps if step is not None]
    return {"type": "Sequence", "normalizers": found} if len(found) > 1 else (found or [None])[0]


def parse(content: bytes, place: str) -> Body:
    """Return the JSON object of a file; ValueError names the ``place``."""
    try:
        body = json.loads(decode(content, place, 1))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not readable JSON: {error}") from None
    if not isinstance(body, dict):
        raise ValueError(f"{place} holds no JSON object")
    return body


def ordered_pieces(vocabulary: Any, place: str) -> list[str]:
    """Return subwords in the order of their ids, which must be 0, 1, ... without gaps."""
    return [*_ordered(vocabulary, place)]


def _ordered(vocabulary: Any, place: str) -> Iterator[str]:
    if not isinstance(vocabulary, dict) or not all(type(i) is int for i in vocabulary.values()):
        raise ValueError(f"{place}: ids of the vocabulary are not numbers")
    for number, piece in enumerate(sorted(vocabulary, key=vocabulary.__getitem__)):
        if vocabulary[piece] != number:
            raise ValueError(f"{place}: ids of the vocabulary are not 0 to {len(vocabulary) - 1}")
        yield piece


def _added(tokens: Any, family: Family, place: str) -> dict[str, int]:
    """Return the added tokens with their ids, which must be special."""
    found = {}
    for token in tokens if isinstance(tokens, list) else [tokens]:
        told = token if isinstance(token, dict) else {}
        name, number = told.get("content"), told.get("id")
        if not isinstance(name, str) or type(number) is not int:
            raise ValueError(f"{place}: an added token is {quoted(token)}")
        if name not in _specials(family, ()) and not token.get("special"):
            raise ValueError(
                f"{place}: the added token {name!r} is no special token of {family.name}; such "
                "tokens are not read here"
            )
        found[name] = number
    return found


def _joined(pieces: list[str], added: Mapping[str, int], place: str) -> list[str]:
    """Return all subwords, added tokens that are new to them behind."""
    indices = {piece: i for i, piece in enumerate(pieces)}
    for name, number in sorted(added.items(), key=lambda pair: pair[1]):
        if indices.setdefault(name, len(pieces)) != number:
            raise ValueError(f"{place}: the added token {name!r} has the id {number}")
        pieces += [name] * (number == len(pieces))
    return pieces


def _specials(family: Family, added: Any) -> tuple[str, ...]:
    own = family.specials
    return tuple(dict.fromkeys((own.cls, own.sep, own.pad, own.unk, own.mask, *added)))


def _bpe_pairs(model: Body, place: str) -> list[list[str]]:
    """Return the merges as pairs; ValueError for options that change what is done."""
    for key in BPE_OPTIONS:
        if model.get(key) not in NEUTRAL:
            raise ValueError(f"{place}: {key} is {quoted(model[key])}, expected none")
    merges = model.get("merges")
    pairs = [one.split(" ") if isinstance(one, str) else one for one in merges or ()]
    texts = (len(p) == 2 and all(isinstance(t, str) for t in p) for p in pairs)
    if not pairs or not all(texts):
        raise ValueError(f"{place}: it has no merges (pairs of subwords), so nothing can be joined")
    return pairs


def _scores(model: Body, place: str) -> list[tuple[str, float]]:
    if model.get("byte_fallback"):
        raise ValueError(f"{place}: byte_fallback is not done here")
    rows = model.get("vocab")
    for row in rows if isinstance(rows, list) else [rows]:
        pair = [type(value) for value in row] if isinstance(row, list) else []
        if pair not in ([str, float], [str, int]) or not isfinite(row[1]):
            raise ValueError(f"{place}: {quoted(row)} is no subword with its score")
    return [(piece, float(score)) for piece, score in rows]


def _prefix(before: Any, place: str) -> bool:
    """Return whether a blank is thought before a text, of a byte-level pre-tokeniser."""
    wanted = byte_level(prefix=False)
    found = {**wanted, **before} if isinstance(before, dict) else {}
    prefix = found.get("add_prefix_space")
    if found | {"add_prefix_space": False, "trim_offsets": True} != wanted or prefix not in (0, 1):
        raise ValueError(f"{place}: pre_tokenizer is {quoted(before)}, expected ByteLevel alone")
    return bool(prefix)


def _metaspace(before: Any, place: str) -> Body:
    """Return a sentencepiece pre-tokeniser of the kinds that are known, as it is."""
    inner = before.get("pretokenizers") if isinstance(before, dict) else None
    steps = [before] if inner is None else inner
    kinds = [step.get("type") for step in steps] if all(isinstance(s, dict) for s in steps) else []
    if kinds not in (["Metaspace"], ["WhitespaceSplit", "Metaspace"]) or (
        steps[-1].get("replacement", MARK) != MARK
    ):
        raise ValueError(
            f"{place}: pre_tokenizer is {quoted(before)}, expected WhitespaceSplit and Metaspace"
        )
    return before


def _normalizer(found: Any, place: str) -> Body | None:
    """Return a normaliser whose steps are all known, as it is."""
    if found is None:
        return None
    for step in _steps(found) if isinstance(found, dict) else [found]:
        kind = step.get("type") if isinstance(step, dict) else step
        pattern = step.get("pattern") if isinstance(step, dict) else None
        regex = pattern.get("Regex", BLANKS) if isinstance(pattern, dict) else BLANKS
        if kind not in NORMALIZERS or regex != BLANKS:
            raise ValueError(
                f"{place}: normalizer {quoted(step)} is not known; "
                f"choices: {', '.join(NORMALIZERS)}"
            )
        if kind == "Precompiled" and not _is_table(step.get("precompiled_charsmap")):
            raise ValueError(f"{place}: precompiled_charsmap is no table of characters")
    return found


def _is_table(text: Any) -> bool:
    """Whether a text is a table of sentencepiece's: a size, a trie of it, and UTF-8."""
    try:
        table = b64decode(text, validate=True)
        size = int.from_bytes(table[:4], "little")
        table[4 + size :].decode("utf-8")
    except (TypeError, ValueError):
        return False
    return len(table) >= 4 + size and size % 4 == 0


def _steps(normalizer: Body | None) -> list[Body]:
    return [] if normalizer is None else normalizer.get("normalizers", [normalizer])


def _last(before: Body) -> Body:
    return before["pretokenizers"][-1] if "pretokenizers" in before else before


def _token(number: int, name: str, *, is_mask: bool) -> Body:
    flags = {"single_word": False, "lstrip": is_mask, "rstrip": False, "normalized": False}
    return {"id": number, "content": name, **flags, "special": True}


def _rows(family: Family, indices: Mapping[str, int]) -> Body:
    """Return how rows of one and of two texts are made, in the way of ``tokenizer.json``."""
    own, row = family.specials, family.row
    second = int(row.separators == 1)

    def special(name: str, side: int = 0) -> Body:
        return {"SpecialToken": {"id": name, "type_id": side}}

    def text(name: str, side: int = 0) -> Body:
        return {"Sequence": {"id": name, "type_id": side}}

    single = [special(own.cls), text("A"), special(own.sep)]
    extra = [special(own.sep)] * (row.separators - 1)
    ids = {
        name: {"id": name, "ids": [indices[name]], "tokens": [name]} for name in (own.cls, own.sep)
    }
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *extra, text("B", second), special(own.sep, second)],
        "special_tokens": ids,
    }
