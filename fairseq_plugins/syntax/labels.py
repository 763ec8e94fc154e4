"""Closed inventories of the token features and their ids.

An inventory gives id 0 to padding, id 1 to ``<special>`` (``</s>`` and every other token that is
no part of a word), and the following ids to its labels in a fixed order. On disk it is a text
file of ``label count`` lines in id order, in the manner of fairseq's dictionaries.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..files import write_text
from ..messages import named
from ..text_reading import read_lines

PAD = "<pad>"
SPECIAL = "<special>"
PAD_ID = 0
SPECIAL_ID = 1

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
FOREIGN_UPOS = {"SPACE": "X", "EOL": "X", "": "X", "_": "X", "CONJ": "CCONJ"}
CASES = ("lower", "upper")
SUBWORD_POSITIONS = ("B", "M", "E", "O")


@dataclass(frozen=True)
class Inventory:
    """The closed label set of one feature.

    Args:
        name: the feature's name, as in ``--features``.
        labels: its labels in id order, without the two reserved ones.
    """

    name: str
    labels: tuple[str, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """All symbols in id order: padding, special, labels."""
        return (PAD, SPECIAL, *self.labels)

    def __len__(self) -> int:
        """Number of ids, the two reserved ones included (the rows of an embedding table)."""
        return len(self.labels) + 2

    def ids(self, labels: Iterable[str]) -> list[int]:
        """Return the ids of ``labels``, in order; ValueError names an unknown one."""
        table = self._table
        try:
            return [table[label] for label in labels]
        except KeyError as error:
            raise ValueError(
                f"{error.args[0]!r} is no value of feature {self.name!r}; "
                f"choices: {', '.join(self.symbols)}"
            ) from None

    @cached_property
    def _table(self) -> dict[str, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def save(self, path: Path, counts: Mapping[str, int]) -> None:
        """Write ``symbol count`` lines in id order."""
        lines = [f"{symbol} {counts.get(symbol, 0)}\n" for symbol in self.symbols]
        write_text(path, "".join(lines))

    def check_file(self, path: Path) -> None:
        """Refuse a file that is none of `save`, or one of other labels; ValueError names these."""
        rows = [line.rpartition(" ") for line in read_lines(path)]
        found = tuple(symbol for symbol, _, count in rows if count.isdigit())
        if found != self.symbols or len(found) != len(rows):
            raise ValueError(
                f"{path} lists other labels than this release knows for {self.name!r}: found "
                f"{named(symbol for symbol, *_ in rows[2:])}; expected {' '.join(self.labels)}"
            )


def upos_label(tag: str) -> str:
    """Return ``tag`` as one of the 17 universal parts of speech.

    spaCy's own extra values and "no value" become X, its older CONJ becomes CCONJ.

    Raises:
        ValueError: anything else, with the choices.
    """
    tag = FOREIGN_UPOS.get(tag, tag)
    if tag not in UPOS:
        raise ValueError(f"{tag!r} is no universal part of speech; choices: {', '.join(UPOS)}")
    return tag
