"""What a layer of annotation is: the protocol of its kinds (`columns`, `tags`, `trees`, `tables`).

A layer is one kind of knowledge about a text. Its methods read values, check them, lay them out in
streams and batches, and exchange them under a control, so that no other file asks for the kind of a
layer. Here stands what most kinds do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from .controls import Controls
from .labels import SPECIAL_ID, Inventory
from .rows import AGAIN, Rows

WORD, SUBWORD, WORD_PAIR = "word", "subword", "pair of words"
WORD_OF = "word_of"  # the word of each subword, among the layers of a text
PARSED = "DEP"  # spaCy's name of trees and of the relations in them
Row = tuple[int, list[str]]  # a word in CoNLL-U: number of its line, ten fields
Known = Mapping[str, list[Any]]  # name of a layer -> the values of words


@dataclass(frozen=True)
class Layer:
    """One kind of knowledge about a text.

    Args:
        name: in options, manifests and file names.
        about: what a model with the layer reads, for messages.
        unit: what has a value: `WORD`, `SUBWORD` or `WORD_PAIR`.
        standard: whether every prepared folder of texts has the layer, without being asked.
        requires: what annotation needs, for messages; empty for nothing.
        lacking: what is said of a text without the layer.
        set_by: spaCy's name of the annotation, which tells whether a pipeline gives it.
        components: parts of spaCy pipelines that run for such layers alone.
    """

    width: ClassVar[int] = 0  # number of columns that models of parallel text read
    end: ClassVar[int] = SPECIAL_ID  # the value of ``</s>`` in these columns

    name: str
    about: str
    _: KW_ONLY
    unit: str = WORD
    standard: bool = False
    requires: str = ""
    lacking: str = "was not annotated"
    set_by: str = ""
    components: tuple[str, ...] = ()

    @property
    def asks(self) -> tuple[str, ...]:
        """The layers that an annotator (a spaCy pipeline, or CoNLL-U) gives for this one."""
        return ()

    @property
    def annotated(self) -> bool:
        """Whether an annotator gives the values."""
        return bool(self.asks)

    @property
    def is_open(self) -> bool:
        """Whether each folder has labels of its own, which are not known yet; see `bound`."""
        return False

    @property
    def learnt(self) -> bool:
        """Whether the labels are those of a folder's training text."""
        return False

    @property
    def inventory(self) -> Inventory:
        """The labels of a column; InputError for a layer that has none, or none yet."""
        raise InputError(f"{self.name!r} has no inventory of labels")

    def bound(self, inventory: Inventory) -> Layer:
        """Return an open layer with a folder's own labels."""
        raise InputError(f"{self.name!r} cannot have the labels of {inventory.name!r}")

    def file(self, language: str = "") -> str:
        """Name the file of the inventory in a folder; empty for a layer without labels."""
        return ""

    @property
    def cure(self) -> str:
        """What a preparation needs to give the layer, for messages."""
        return f" ({self.requires})" if self.requires else ""

    def of_doc(self, doc: Any, places: Sequence[int], made: dict[Any, Any]) -> list[Any]:
        """Return the values of the tokens at ``places`` of a spaCy document.

        ``made`` is kept from document to document: labels that were made, by spaCy's numbers.
        """
        raise InputError(f"no annotator gives {self.name!r}")

    def of_conllu(self, rows: Sequence[Row], runs: Sequence[range], path: Path) -> list[Any]:
        """Return the values of words in CoNLL-U, each a run of the ``rows`` of ``path``."""
        raise InputError(f"CoNLL-U does not give {self.name!r}")

    def joined(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the values of sentences as those of one text."""
        return [*chain.from_iterable(parts)]

    def carried(self, values: Sequence[Any], tokens: Sequence[int]) -> list[Any]:
        """Give words the values of their tokens, whose indices rise; -1 is no token."""
        return [*values]

    def of_words(self, words: Sequence[str], known: Known) -> list[Any] | None:
        """Return the values of words, of what is known; None for a layer of no words."""
        return None

    def _told(self, name: str, words: Sequence[str], known: Known) -> list[Any]:
        if name not in known:
            raise InputError(f"nothing annotated the words {words[:5]} with {self.name!r}")
        return known[name]

    def of_spelling(self, subwords: Sequence[str]) -> list[Any] | None:
        """Return the values of subwords, as the text spells them; None for a layer of others."""
        return None

    def ids(self, values: Sequence[Any]) -> list[Any]:
        """Return values as a folder stores them; those of open layers stay labels."""
        return [*values]

    def of_row(
        self, values: Any, words: np.ndarray, length: int | None = None
    ) -> Sequence[np.ndarray]:
        """Return the columns of the first ``length`` subwords of a sentence, (length,) each.

        Args:
            values: of the sentence as its stream has them; None where there is none.
            words: S word indices, -1 where a subword has no word.
            length: S if it is None.
        """
        raise InputError(f"{self.name!r} is nothing that subwords carry")

    def sides(self, sentences: int) -> range:
        """Return which of an example's texts have a stream of the layer."""
        return range(sentences)

    def id_count(self, words: int) -> int:
        """Return the number of ids of a stream, of texts of at most so many words."""
        return len(self.inventory)

    def checked(self, what: object, rows: Rows, cure: str = AGAIN, row: str = "example") -> Rows:
        """Return a stream as items read it.

        Args:
            what, rows: its place, for messages; its rows.
            cure, row: what to do about a wrong row, and what it is called.
        """
        return rows

    def controlled(self, held: Mapping[str, Rows], how: Controls, key: str) -> Mapping[str, Any]:
        """Return those streams that change under controls, as rows.

        Args:
            held: all layers, and `WORD_OF`, the word of each subword.
            how, key: the controls; what the texts are, such as their split.
        """
        return {}

    def collated(self, values: Sequence[Any]) -> np.ndarray:
        """Return the batch of the values of several items."""
        raise InputError(f"{self.name!r} is a column of the features")
