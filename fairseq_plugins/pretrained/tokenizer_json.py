"""The parts of a ``tokenizer.json``, checked, and written in one normal form.

Two kinds are supported: byte-level byte-pair encoding (Radford et al. 2019, as in RoBERTa and
ModernBERT) and sentencepiece's unigram model (Kudo 2018, as in XLM-R, ALBERT and DeBERTa). All
other content is refused, not ignored: a text must have the same ids here as elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..messages import quoted
from . import tokenizer_checks as checks
from .families import BYTE_BPE, Family
from .tokenizer_models import SIGNS, Body, byte_bpe, byte_level, steps_of, unigram

MODELS = {BYTE_BPE: "BPE"}  # by scheme; else a unigram model
NFC = {"type": "NFC"}
REQUIRED = 4  # special tokens of a family: the mask may be missing


@dataclass(frozen=True)
class Parts:
    """The parts that decide the ids of a text."""

    model: Body  # kind, subwords by id and their merges or scores; see `byte_bpe` and `unigram`
    normalizer: Body | None  # changes the text first, or None
    pre_tokenizer: Body  # cuts it into words
    specials: tuple[str, ...]  # subwords that never match text
    runs: tuple[str, ...] = ()  # subwords of blanks alone, which match text before it is cut

    @property
    def pieces(self) -> list[str]:
        vocabulary = self.model["vocab"]
        return [*vocabulary] if self.model["type"] == "BPE" else [one for one, _ in vocabulary]

    @classmethod
    def read(cls, body: Body, family: Family, place: str) -> Parts:
        """Read the parts of a ``tokenizer.json``."""
        try:
            return cls._read(body, family, place)
        except (AttributeError, LookupError, TypeError) as error:  # of another form
            raise InputError(f"{place} is no tokeniser: {quoted(error)}") from None

    @classmethod
    def _read(cls, body: Body, family: Family, place: str) -> Parts:
        model, normalizer = body.get("model"), body.get("normalizer")
        wanted = MODELS.get(family.scheme, "Unigram")
        if not isinstance(model, dict) or model.get("type", wanted) != wanted:
            kind = model.get("type") if isinstance(model, dict) else model
            raise InputError(f"{place}: model is {quoted(kind)}, {family.name} has {wanted}")
        added = checks.added_tokens(body.get("added_tokens") or [], place)
        runs: tuple[str, ...] = ()
        if wanted == "BPE":
            pairs = checks.merge_pairs(model, place)
            runs = checks.runs_of_blanks(body.get("added_tokens") or [], place)
            pieces = checks.ordered_pieces(model.get("vocab"), place)
            names, hidden = checks.with_added(pieces, added, {*pieces}, place)
            model = byte_bpe(names, pairs, model.get("unk_token"))
            if normalizer not in (None, NFC):
                raise InputError(f"{place}: normalizer is {quoted(normalizer)}, expected NFC alone")
            hidden = [name for name in hidden if name not in runs]
            before = byte_level(prefix=checks.has_prefix(body.get("pre_tokenizer"), place))
        else:
            scores = checks.piece_scores(model, place)
            learnt = {piece for piece, score in scores if score}
            names, hidden = checks.with_added([p for p, _ in scores], added, learnt, place)
            scores += [(name, 0.0) for name in names[len(scores) :]]
            model = unigram(scores, model.get("unk_id"))
            normalizer = checks.known_normalizer(normalizer, place)
            before = checks.marking(body.get("pre_tokenizer"), place)
        return cls.of(model, normalizer, before, family, hidden, runs=runs).checked(place)

    @classmethod
    def of(
        cls,
        model: Body,
        normalizer: Body | None,
        pre_tokenizer: Body,
        family: Family,
        others: Sequence[str] = (),
        *,
        runs: tuple[str, ...] = (),
    ) -> Parts:
        """Combine parts; ``others`` are special beside the family's own."""
        return cls(model, normalizer, pre_tokenizer, checks.special_pieces(family, others), runs)

    def checked(self, place: str) -> Parts:
        """Return itself if the parts fit each other."""
        pieces = {*self.pieces}
        lacking = [one for one in self.specials[:REQUIRED] if one not in pieces]
        if lacking:
            raise InputError(f"{place}: the vocabulary lacks {', '.join(lacking)}")
        if self.model["type"] == "BPE":
            known, special = self.model["vocab"].keys(), {*self.specials}
            for pair in self.model["merges"]:
                if not known >= {*pair, "".join(pair)}:
                    raise InputError(f"{place}: no vocabulary for the merge {' '.join(pair)!r}")
                if "".join(pair) in special:
                    raise InputError(f"{place}: the merge {' '.join(pair)!r} makes a special token")
        elif type(self.model["unk_id"]) is not int or not 0 <= self.model["unk_id"] < len(
            self.pieces
        ):
            raise InputError(f"{place}: unk_id is {quoted(self.model['unk_id'])}, no subword's")
        return self

    @property
    def options(self) -> dict[str, bool]:
        """Options of transformers' own tokenisers beside the file."""
        last = _last(self.pre_tokenizer)
        if "add_prefix_space" in last:
            return {"add_prefix_space": last["add_prefix_space"]}
        steps = {step["type"] for step in steps_of(self.normalizer)}
        found = {"add_prefix_space": last.get("prepend_scheme", "always") != "never"}
        if "Replace" in steps:  # ALBERT's
            found["do_lower_case"] = "Lowercase" in steps
            found["keep_accents"] = "StripAccents" not in steps
        if SIGNS in self.pre_tokenizer.get("pretokenizers", ()):
            found["split_by_punct"] = True
        return found

    def body(self) -> Body:
        """Return the tokeniser for text, in which the names of special tokens are text."""
        model = self.model
        if model["type"] != "BPE":
            hidden = {*self.specials}
            # a subword after a blank never matches, because blanks are marks by then
            rows = [[f" {p}" if p in hidden else p, score] for p, score in model["vocab"]]
            model = model | {"vocab": rows}
        return _EMPTY | {
            "added_tokens": self._added(self.runs),
            "normalizer": self.normalizer,
            "pre_tokenizer": self.pre_tokenizer,
            "model": model,
        }

    def content(self, family: Family) -> bytes:
        """Return the complete file, with special tokens and rows, for other programs."""
        indices = {piece: i for i, piece in enumerate(self.pieces)}
        byte_level = self.model["type"] == "BPE"
        decoder = self.pre_tokenizer if byte_level else _last(self.pre_tokenizer)
        body = self.body() | {
            "added_tokens": self._added((*self.specials, *self.runs), family.specials.mask),
            "model": self.model,
            "post_processor": _rows(family, indices),
            "decoder": decoder,
        }
        return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode("utf-8")

    def _added(self, names: Sequence[str], mask: str | None = None) -> list[Body]:
        """Return the subwords that are matched before a text is cut, in the order of their ids."""
        indices = {piece: i for i, piece in enumerate(self.pieces)} if names else {}
        return [
            {"id": indices[name], "content": name, "single_word": False, "lstrip": name == mask}
            | {"rstrip": False, "normalized": name in self.runs, "special": name not in self.runs}
            for name in sorted({*names} & indices.keys(), key=indices.__getitem__)
        ]


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


def _last(before: Body) -> Body:
    return before["pretokenizers"][-1] if "pretokenizers" in before else before


def _rows(family: Family, indices: Mapping[str, int]) -> Body:
    """Return the post-processor for rows of one and two texts."""
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
