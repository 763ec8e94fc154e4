"""Inventories of the values of layers, and their ids: closed ones, and those learnt from a corpus.

An inventory gives id 0 to padding, id 1 to ``<special>`` (``</s>`` and every other token that is
no part of a word), and the following ids to its labels in a fixed order; in a learnt one id 2 is
``<unknown>``, every label that it does not have. On disk it is a text file of ``label count`` lines
in id order, in the manner of fairseq's dictionaries.
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
NO_VALUE = "_"  # of a word of which an annotator says nothing, as in CoNLL-U

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
FOREIGN_UPOS = {"SPACE": "X", "EOL": "X", "": "X", "_": "X", "CONJ": "CCONJ"}
CASES = ("lower", "upper")
SUBWORD_POSITIONS = ("B", "M", "E", "O")
FARTHEST = 5  # of arcs
ROOT = "root"
ARCS = (ROOT, *(f"{side}{d}" for side in "LR" for d in range(1, FARTHEST + 1)))
RESERVED = (PAD, SPECIAL, UNKNOWN)


def digest_of(symbols: Iterable[str]) -> str:
    """Return what two vocabularies share that give the same ids, 16 hex digits of SHA-256."""
    return hashlib.sha256("\n".join(symbols).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Inventory:
    """The label set of one layer.

    Args:
        name: the layer's name, as in ``--features``.
        labels: its labels in id order, without the reserved ones.
        learnt: whether labels that it does not have are ``<unknown>``, instead of an error.
    """

    name: str
    labels: tuple[str, ...]
    learnt: bool = False

    @classmethod
    def learn(
        cls, name: str, counts: Mapping[str, int], least: int = 1, most: int | None = None
    ) -> Inventory:
        """Keep the commonest labels, by falling count, ties in alphabetical order.

        Args:
            name: the layer's name.
            counts: how often each label occurs.
            least: rarer labels are unknown.
            most: how many are kept at most; None for any number.
        """
        known = [item for item in counts.items() if item[1] >= least and item[0] not in RESERVED]
        ranked = sorted(known, key=lambda item: (-item[1], item[0]))
        return cls(name, tuple(label for label, _ in ranked[:most]), learnt=True)

    @classmethod
    def load(cls, name: str, path: Path) -> Inventory:
        """Read a learnt inventory that `save` wrote.

        Raises:
            InputError: it is none.
        """
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
        """What identifies its symbols and their ids; see `digest_of`."""
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
        """Refuse a file that is none of `save`, or one of other labels; InputError names these."""
        found, whole = _read_symbols(path)
        if found != self.symbols or not whole:
            raise InputError(
                f"{path} lists other labels than this release knows for {self.name!r}: found "
                f"{named(found[2:])}; expected {' '.join(self.labels)}"
            )


def _read_symbols(path: Path) -> tuple[tuple[str, ...], bool]:
    """Read the symbols of ``symbol count`` lines; say whether all lines are such."""
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
    """Return a tag of a learnt inventory as one word of text; no value is ``_``, as in CoNLL-U."""
    return "_".join(tag.split()) or NO_VALUE


def relation_label(tag: str) -> str:
    """Return a dependency relation without its subtype (``nsubj`` of ``nsubj:pass``), or root."""
    return ROOT if tag.upper() == "ROOT" else plain_label(tag.partition(":")[0])  # spaCy's is ROOT


def arc_labels(heads: Sequence[int]) -> list[str]:
    """Return where each of W words has its head: ``root``, or side and distance, from 1 to 5.

    ``R2`` says that the head is the second word to the right; 5 stands for 5 and more.

    Args:
        heads: W numbers of heads from 1, 0 at a root.
    """
    distances = [head and head - word for word, head in enumerate(heads, 1)]
    return [f"{'R' if d > 0 else 'L'}{min(abs(d), FARTHEST)}" if d else ROOT for d in distances]


def ordered_feats(feats: str) -> str:
    """Return morphological features in the order of UD, which is not spaCy's."""
    pairs = (pair.partition("=") for pair in feats.split("|"))
    named_values = ((name, equals, ordered_value(values)) for name, equals, values in pairs)
    return "|".join(map("".join, sorted(named_values, key=lambda pair: pair[0].casefold())))


def ordered_value(values: str) -> str:
    """Return the values of one feature in alphabetical order."""
    return ",".join(sorted(values.split(",")))
