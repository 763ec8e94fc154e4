"""The examples of one split, or of raw text, of an understanding task, with their gold labels.

`text_items` makes arrays of examples, `text_batches` makes batches; `training_datasets` adapts them
to fairseq.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from ..errors import InputError
from .text_batches import lay_out
from .text_columns import SentenceColumns
from .text_items import InputFormat, TextItems


class TextDataset:
    """Examples, with batches by `collater`.

    Args:
        sentences, form: see `TextItems`.
        gold: labels, a `Gold` or a `SpanGold`; None for raw text.
        name_of: names an example in messages, by its number.

    Attributes:
        levels: number of labels of a labelled word.
    """

    levels = 1

    def __init__(
        self,
        sentences: Sequence[SentenceColumns],
        form: InputFormat,
        *,
        gold: Any = None,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        self.name_of = name_of or "example {}".format
        self.items = TextItems(sentences, form, self.name_of)
        self.form, self.gold = form, gold
        if gold is not None:
            self._check_gold(gold)

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of each example over all its rows, (n,)."""
        return self.items.sizes

    @property
    def word_counts(self) -> np.ndarray:
        """Words of each example's first sentence, (n,)."""
        return self.items.sentences[0].word_counts

    @property
    def refitted(self) -> int:
        """Number of truncated or split examples."""
        return len(self.items.refitted)

    @property
    def unreachable(self) -> int:
        """Number of examples with gold that cannot be learnt."""
        return 0

    @property
    def labelled(self) -> bool:
        """Whether every example has its gold label."""
        return self.gold is not None and self.gold.complete

    def _check_gold(self, gold: Any) -> None:
        if len(gold) != len(self):
            raise InputError(f"{len(gold)} labels of {len(self)} examples; prepare again")
        if not gold.of_words:
            return
        words, labels = self.word_counts, gold.values.lengths
        wrong = np.flatnonzero(gold.present & (labels != self.levels * words))
        if len(wrong):
            at = int(wrong[0])
            each = f" of {self.levels} labels each" if self.levels > 1 else ""
            raise InputError(
                f"{self.name_of(at)} has {labels[at]} labels for {words[at]} words{each}; prepare "
                "again"
            )

    def __len__(self) -> int:
        return len(self.items)

    def known(self, index: int) -> Any:
        """Return the gold of an example; None if unknown."""
        return None if self.gold is None else self.gold[index]

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return an item of `TextItems`, with ``target`` in a labelled split."""
        item = self.items[int(index)]
        if self.labelled:
            item["target"] = self._target(int(index))
        return item

    def _target(self, index: int) -> Any:
        return self.gold.values[index]

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """Make a batch: `lay_out`, the ``total`` number of examples, and ``target``.

        Examples stand in falling order of their length; ``id`` names them. ``target`` is (n,)
        classes or scores, or (W,) labels of words, for labelled splits. No samples make an empty
        batch.
        """
        if not samples:
            return {}
        samples = sorted(samples, key=lambda item: -len(item["tokens"]))
        batch = {**lay_out(samples, self.form.pad), "total": len(self)}
        if self.labelled:
            batch["target"] = self._targets([item["target"] for item in samples])
        return batch

    def _targets(self, targets: list[Any]) -> Tensor:
        return self.gold.tensor(targets)
