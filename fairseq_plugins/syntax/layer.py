"""The protocol of layers of annotation (kinds: `columns`, `tags`, `trees`, `tables`).

A layer is one kind of knowledge about a text. Its methods read values, check them, lay them out in
streams and batches, and replace them under a control, so that no other file distinguishes kinds of
layers. This file has the defaults of most kinds.
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
PARSED = "DEP"  # spaCy's name of trees and their relations
Row = tuple[int, list[str]]  # a word in CoNLL-U: number of its line, ten fields
Known = Mapping[str, list[Any]]  # name of a layer -> values of words


@dataclass(frozen=True)
class Layer:
    """One kind of knowledge about a text.

    Args:
        name: in options, manifests and file names.
        about: a model's input from the layer, for messages.
        unit: the unit with a value: `WORD`, `SUBWORD` or `WORD_PAIR`.
        standard: whether every prepared folder of texts has the layer.
        requires: requirement of annotation, for messages; empty for nothing.
        lacking: message about a text without the layer.
        set_by: spaCy's name of the annotation, which shows whether a pipeline gives the layer.
        components: parts of spaCy pipelines that run only for such layers.
    """

    width: ClassVar[int] = 0  # number of columns in models of parallel text
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
        """The layers from an annotator (a spaCy pipeline, or CoNLL-U) that this one needs."""
        return ()

    @property
    def annotated(self) -> bool:
        """Whether an annotator gives the values."""
        return bool(self.asks)

    @property
    def is_open(self) -> bool:
        """Whether each folder has its own labels, still unknown; see `bound`."""
        return False

    @property
    def learnt(self) -> bool:
        """Whether the labels come from a folder's training text."""
        return False

    @property
    def inventory(self) -> Inventory:
        """The labels of a column; an error for layers without labels."""
        raise InputError(f"{self.name!r} has no inventory of labels")

    def bound(self, inventory: Inventory) -> Layer:
        """Return an open layer with a folder's own labels."""
        raise InputError(f"{self.name!r} cannot have the labels of {inventory.name!r}")

    def file(self, language: str = "") -> str:
        """Return the file name of the inventory in a folder; empty for a layer without labels."""
        return ""

    @property
    def cure(self) -> str:
        """Requirement for a preparation with the layer, for messages."""
        return f" ({self.requires})" if self.requires else ""

    def of_doc(self, doc: Any, places: Sequence[int], made: dict[Any, Any]) -> list[Any]:
        """Return the values of the tokens at ``places`` of a spaCy document.

        ``made`` is a cache over documents: labels by spaCy's numbers.
        """
        raise InputError(f"no annotator gives {self.name!r}")

    def of_conllu(self, rows: Sequence[Row], runs: Sequence[range], path: Path) -> list[Any]:
        """Return the values of words in CoNLL-U, each a run of the ``rows`` of ``path``."""
        raise InputError(f"CoNLL-U does not give {self.name!r}")

    def joined(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """Join the values of sentences to the values of one text."""
        return [*chain.from_iterable(parts)]

    def carried(self, values: Sequence[Any], tokens: Sequence[int]) -> list[Any]:
        """Give words the values of their tokens, by rising indices; -1 means no token."""
        return [*values]

    def of_words(self, words: Sequence[str], known: Known) -> list[Any] | None:
        """Return the values of words from known layers; None for a layer of other units."""
        return None

    def _told(self, name: str, words: Sequence[str], known: Known) -> list[Any]:
        if name not in known:
            raise InputError(f"nothing annotated the words {words[:5]} with {self.name!r}")
        return known[name]

    def of_spelling(self, subwords: Sequence[str]) -> list[Any] | None:
        """Return the values of subwords from their spelling; None for other layers."""
        return None

    def ids(self, values: Sequence[Any]) -> list[Any]:
        """Return values as stored in a folder; values of open layers stay labels."""
        return [*values]

    def of_row(
        self, values: Any, words: np.ndarray, length: int | None = None
    ) -> Sequence[np.ndarray]:
        """Return the columns of the first ``length`` subwords of a sentence, (length,) each.

        Args:
            values: of the sentence, as in its stream; None without one.
            words: S word indices, -1 for a subword without a word.
            length: None for S.
        """
        raise InputError(f"{self.name!r} is nothing that subwords carry")

    def sides(self, sentences: int) -> range:
        """Return the texts of an example that have a stream of the layer."""
        return range(sentences)

    def id_count(self, words: int) -> int:
        """Return the number of ids of a stream, for texts with at most so many words."""
        return len(self.inventory)

    def checked(self, what: object, rows: Rows, cure: str = AGAIN, row: str = "example") -> Rows:
        """Check a stream and return its rows for items.

        Args:
            what, rows: its name, for messages; its rows.
            cure, row: advice about a wrong row, and the name of a row.
        """
        return rows

    def controlled(self, held: Mapping[str, Rows], how: Controls, key: str) -> Mapping[str, Any]:
        """Return the streams that controls change, as rows.

        Args:
            held: all layers, and `WORD_OF`, the word of each subword.
            how, key: the controls; the identity of the texts, such as their split.
        """
        return {}

    def collated(self, values: Sequence[Any]) -> np.ndarray:
        """Return the batch of the values of several items."""
        raise InputError(f"{self.name!r} is a column of the features")
