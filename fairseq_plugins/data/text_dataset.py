"""fairseq's dataset of one split, or of raw text, of an understanding task.

Examples become arrays in `text_items`, batches in `text_batches`; here are their order, their
cutting into batches and their gold labels.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data import FairseqDataset
from torch import Tensor

from .folder_names import WORD_LABELS
from .text_batches import lay_out
from .text_columns import SCORE, Gold, SentenceColumns
from .text_items import InputFormat, TextItems, joined

FILE, RANDOM, LENGTH = "file", "random", "length"


class TextDataset(FairseqDataset):
    """Examples in batches.

    Two habits of fairseq are undone, as in `factored_pair_dataset`: no batch is dropped, and every
    epoch makes its own batches, so that a resumed run has those of the straight one.

    Args:
        sentences, form: see `TextItems`.
        gold: their labels; None for raw text.
        order: `FILE`; `RANDOM`, a permutation; or `LENGTH`, examples of like length side by side.
        name_of: names an example in messages, by its number.

    Raises:
        ValueError: columns that disagree, or an example that is too long.
    """

    def __init__(
        self,
        sentences: Sequence[SentenceColumns],
        form: InputFormat,
        *,
        gold: Gold | None = None,
        order: str = FILE,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        self.name_of = name_of or "example {}".format
        self.items = TextItems(sentences, form, self.name_of)
        self.form, self.gold, self.order = form, gold, order
        if gold is not None:
            self._check_gold(gold)

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of each example over all its rows, (n,)."""
        return self.items.sizes

    @property
    def labelled(self) -> bool:
        """Whether every example has its gold label."""
        return self.gold is not None and self.gold.complete

    def _check_gold(self, gold: Gold) -> None:
        if len(gold) != len(self):
            raise ValueError(f"{len(gold)} labels of {len(self)} examples; prepare again")
        if gold.kind != WORD_LABELS:
            return
        words, labels = self.items.sentences[0].word_counts, gold.values.lengths
        wrong = np.flatnonzero(gold.present & (labels != words))
        if len(wrong):
            at = int(wrong[0])
            raise ValueError(
                f"{self.name_of(at)} has {labels[at]} labels for {words[at]} words; prepare again"
            )

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return an item of `TextItems`, with ``target`` when the split is labelled."""
        item = self.items[int(index)]
        if self.labelled:
            item["target"] = self._target(int(index))
        return item

    def _target(self, index: int) -> Any:
        return self.gold.values[index]

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """Make a batch: that of `lay_out`, the ``total`` number of examples, and ``target``.

        Examples stand in falling order of their length; ``id`` says which is which. ``target`` is
        (n,) classes or scores, or (W,) labels of words; it is there when the split is labelled. No
        samples make an empty batch.
        """
        if not samples:
            return {}
        samples = sorted(samples, key=lambda item: -len(item["tokens"]))
        batch = {**lay_out(samples, self.form.pad), "total": len(self)}
        if self.labelled:
            batch["target"] = self._targets([item["target"] for item in samples])
        return batch

    def _targets(self, targets: list[Any]) -> Tensor:
        if self.gold.kind == WORD_LABELS:
            return torch.from_numpy(joined(targets).astype(np.int64))  # (W,)
        # --fp16 would halve the digits of gold scores, were they of single precision.
        dtype = torch.float64 if self.gold.kind == SCORE else torch.int64
        return torch.tensor(np.array(targets), dtype=dtype)  # (n,)

    def num_tokens(self, index: int) -> int:
        """Return an example's number of tokens, over all its rows."""
        return int(self.sizes[index])

    size = num_tokens

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """Return the number of tokens of several examples."""
        return self.sizes[indices]

    def ordered_indices(self) -> np.ndarray:
        """Return the order of the examples; fairseq seeds NumPy by the epoch before it asks."""
        if self.order == FILE:
            return np.arange(len(self))
        shuffled = np.random.permutation(len(self))
        if self.order == RANDOM:
            return shuffled
        return shuffled[np.argsort(self.sizes[shuffled], kind="stable")]

    def filter_indices_by_size(
        self, indices: np.ndarray, max_sizes: Any
    ) -> tuple[np.ndarray, list[int]]:
        """Leave nothing out: what is too long was truncated, split or refused when loaded."""
        return indices, []

    def batch_by_size(
        self,
        indices: np.ndarray,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> Sequence[np.ndarray]:
        """Batch as fairseq does, but in multiples of one.

        The wanted multiple is for padded computation, which ours is not; with another one fairseq
        cuts the last examples into several batches and throws the last of them away.

        Raises:
            ValueError: an example alone exceeds ``--max-tokens``.
        """
        if len(indices) == 0:
            return []
        longest = int(indices[self.sizes[indices].argmax()])
        if max_tokens is not None and self.sizes[longest] > max_tokens:
            raise ValueError(
                f"{self.name_of(longest)} has {self.sizes[longest]} tokens, more than "
                f"--max-tokens {max_tokens}"
            )
        return super().batch_by_size(indices, max_tokens, max_sentences, 1)

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """False: a resumed epoch must have the batches that the straight run has."""
        return False
