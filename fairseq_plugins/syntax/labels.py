"""Inventories of the values of layers, and their ids: closed, or learnt from a corpus.

An inventory gives id 0 to padding, id 1 to ``<special>`` (``</s>`` and every other token outside
words), and the following ids to its labels in a fixed order; in a learnt inventory id 2 is
``<unknown>``, for all other labels. On disk an inventory is a text file of ``label count`` lines in
id order, like fairseq's dictionaries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import InputError
from ..files import write_text
from ..messages import named
from ..text_reading import read_lines

PAD = "<pad>"
SPECIAL = "<special>"
UNKNOWN = "<unknown>"
PAD_ID = 0
SPECIAL_ID = 1
UNKNOWN_ID = 2
NO_VALUE = "_"  # a missing value, as in CoNLL-U

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
FOREIGN_UPOS = {"SPACE": "X", "EOL": "X", "": "X", "_": "X", "CONJ": "CCONJ"}
CASES = ("lower", "upper")
SUBWORD_POSITIONS = ("B", "M", "E", "O")
FARTHEST = 5  # longest distance of arcs
ROOT = "root"
ARCS = (ROOT, *(f"{side}{d}" for side in "LR" for d in range(1, FARTHEST + 1)))
RESERVED = (PAD, SPECIAL, UNKNOWN)


def digest_of(symbols: Iterable[str]) -> str:
    """Return a digest of a vocabulary's symbols and ids: 16 hex digits of SHA-256."""
    return hashlib.sha256("\n".join(symbols).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Inventory:
    """The label set of one layer.

    Args:
        name: the layer's name, as in ``--features``.
        labels: labels in id order, without the reserved ones.
        learnt: whether other labels are ``<unknown>``, not errors.
    """

    name: str
    labels: tuple[str, ...]
    learnt: bool = False

    @classmethod
    def learn(
        cls, name: str, counts: Mapping[str, int], least: int = 1, most: int | None = None
    ) -> Inventory:
        """Keep the most frequent labels, by falling count, ties in alphabetical order.

        Args:
            counts: label -> its count.
            least: rarer labels are unknown.
            most: largest number of kept labels; None for any.
        """
        known = [item for item in counts.items() if item[1] >= least and item[0] not in RESERVED]
        ranked = sorted(known, key=lambda item: (-item[1], item[0]))
        return cls(name, tuple(label for label, _ in ranked[:most]), learnt=True)

    @classmethod
    def load(cls, name: str, path: Path) -> Inventory:
        """Read a learnt inventory that `save` wrote."""
        found, whole = _read_symbols(path)
        if not whole or found[: len(RESERVED)] != RESERVED or len({*found}) != len(found):
            raise InputError(
                f"{path} is no learnt inventory: expected {' '.join(RESERVED)}, then labels that "
                f"differ; found {named(found)}"
            )
        return cls(name, found[len(RESERVED) :], learnt=True)

    @property
    def symbols(self) -> tuple[str, ...]:
        """All symbols in id order: padding, special, perhaps unknown, labels."""
        return (PAD, SPECIAL, *((UNKNOWN,) if self.learnt else ()), *self.labels)

    @property
    def digest(self) -> str:
        """Digest of symbols and ids; see `digest_of`."""
        return digest_of(self.symbols)

    def __len__(self) -> int:
        """Number of ids, the reserved ones included (the rows of an embedding table)."""
        return len(self.labels) + (3 if self.learnt else 2)

    def ids(self, labels: Iterable[str]) -> list[int]:
        """Return the ids of ``labels``, in order.

        A text's own ``<pad>`` is unknown in a learnt inventory.
        """
        table = self._table
        if self.learnt:
            return [table.get(label, UNKNOWN_ID) for label in labels]
        try:
            return [table[label] for label in labels]
        except KeyError as error:
            raise InputError(
                f"{error.args[0]!r} is no value of feature {self.name!r}; "
                f"choices: {', '.join(self.symbols)}"
            ) from None

    @cached_property
    def _table(self) -> dict[str, int]:
        known = {symbol: i for i, symbol in enumerate(self.symbols)}
        return {label: known[label] for label in (SPECIAL, *self.labels)} if self.learnt else known

    def save(self, path: Path, counts: Mapping[str, int]) -> None:
        """Write ``symbol count`` lines in id order."""
        lines = [f"{symbol} {counts.get(symbol, 0)}\n" for symbol in self.symbols]
        write_text(path, "".join(lines))

    def check_file(self, path: Path) -> None:
        """Refuse a file with a wrong format or other labels."""
        found, whole = _read_symbols(path)
        if found != self.symbols or not whole:
            raise InputError(
                f"{path} lists other labels than this release knows for {self.name!r}: found "
                f"{named(found[2:])}; expected {' '.join(self.labels)}"
            )


def _read_symbols(path: Path) -> tuple[tuple[str, ...], bool]:
    """Read the symbols of ``symbol count`` lines; say whether all lines have this form."""
    rows = [line.rpartition(" ") for line in read_lines(path)]
    return tuple(symbol for symbol, *_ in rows), all(count.isdecimal() for *_, count in rows)


def upos_label(tag: str) -> str:
    """Return ``tag`` as one of the 17 universal parts of speech.

    spaCy's own extra values and "no value" become X, its older CONJ becomes CCONJ.
    """
    tag = FOREIGN_UPOS.get(tag, tag)
    if tag not in UPOS:
        raise InputError(f"{tag!r} is no universal part of speech; choices: {', '.join(UPOS)}")
    return tag


def plain_label(tag: str) -> str:
    """Return a tag of a learnt inventory as one word; ``_`` without a value, as in CoNLL-U."""
    return "_".join(tag.split()) or NO_VALUE


def relation_label(tag: str) -> str:
    """Return a dependency relation without its subtype (``nsubj`` of ``nsubj:pass``), or root."""
    return ROOT if tag.upper() == "ROOT" else plain_label(tag.partition(":")[0])  # spaCy's is ROOT


def arc_labels(heads: Sequence[int]) -> list[str]:
    """Return the place of the head of each of W words: ``root``, or side and distance, from 1 to 5.

    ``R2`` means the second word to the right; 5 stands for 5 and more.

    Args:
        heads: W numbers of heads from 1, 0 at a root.
    """
    distances = [head and head - word for word, head in enumerate(heads, 1)]
    return [f"{'R' if d > 0 else 'L'}{min(abs(d), FARTHEST)}" if d else ROOT for d in distances]


def ordered_feats(feats: str) -> str:
    """Return morphological features in UD's order, which differs from spaCy's."""
    pairs = (pair.partition("=") for pair in feats.split("|"))
    named_values = ((name, equals, ordered_value(values)) for name, equals, values in pairs)
    return "|".join(map("".join, sorted(named_values, key=lambda pair: pair[0].casefold())))


def ordered_value(values: str) -> str:
    """Return the values of one feature in alphabetical order."""
    return ",".join(sorted(values.split(",")))
