"""The examples of an understanding task as fairseq's datasets: their order, and their batches."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from fairseq.data import FairseqDataset

from ..errors import InputError
from .entity_dataset import EntityDataset
from .qa_dataset import QuestionDataset
from .text_dataset import TextDataset

FILE, RANDOM, LENGTH, BALANCED = "file", "random", "length", "balanced"


class _Batched(FairseqDataset):
    """Examples in fairseq's batches.

    As in `factored_pair_dataset`, no batch is dropped, unlike in fairseq, and every epoch makes its
    own batches, so that a resumed run has the batches of an uninterrupted run.

    Attributes:
        order: `FILE`; `RANDOM`, a permutation; `LENGTH`, examples of similar length side by
            side; or `BALANCED`, see `balanced_order`.
    """

    order = FILE
    gold: Any
    sizes: np.ndarray
    name_of: Callable[[int], str]

    def num_tokens(self, index: int) -> int:
        """Return an example's number of tokens, over all its rows."""
        return int(self.sizes[index])

    size = num_tokens

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """Return the number of tokens of several examples."""
        return self.sizes[indices]

    def ordered_indices(self) -> np.ndarray:
        """Return the order of the examples; fairseq first seeds NumPy by the epoch.

        (fairseq 0.12.2 does so only with ``--update-ordered-indices-seed``.)
        """
        if self.order == FILE:
            return np.arange(len(self))
        if self.order == BALANCED:
            return balanced_order(self.gold.values)
        shuffled = np.random.permutation(len(self))
        if self.order == RANDOM:
            return shuffled
        return shuffled[np.argsort(self.sizes[shuffled], kind="stable")]

    def filter_indices_by_size(
        self, indices: np.ndarray, max_sizes: Any
    ) -> tuple[np.ndarray, list[int]]:
        """Leave nothing out: long examples were truncated, split or refused on loading."""
        return indices, []

    def batch_by_size(
        self,
        indices: np.ndarray,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> Sequence[np.ndarray]:
        """Make batches as fairseq does, but in multiples of one.

        fairseq's multiple is for padded computation, unlike ours; with a multiple fairseq splits
        the last examples into several batches and drops the last batch.
        """
        if len(indices) == 0:
            return []
        longest = int(indices[self.sizes[indices].argmax()])
        if max_tokens is not None and self.sizes[longest] > max_tokens:
            raise InputError(
                f"{self.name_of(longest)} has {self.sizes[longest]} tokens, more than "
                f"--max-tokens {max_tokens}"
            )
        return super().batch_by_size(indices, max_tokens, max_sentences, 1)

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """False: a resumed epoch must have the batches of an uninterrupted run."""
        return False


def balanced_order(classes: np.ndarray) -> np.ndarray:
    """Draw as many examples as there are, of all classes equally many, by NumPy's seed.

    Every round has one example of each occurring class, in random order. Examples of a class come
    in random order; when all are used, they come anew.

    Args:
        classes: of the examples, (n,).
    """
    found = np.unique(classes)
    rounds = -(-len(classes) // max(1, len(found)))
    columns = []
    for one in found:
        own = np.flatnonzero(classes == one)
        again = [np.random.permutation(own) for _ in range(-(-rounds // len(own)))]
        columns.append(np.concatenate(again)[:rounds])
    table = np.stack(columns, axis=1) if columns else np.zeros((0, 0), dtype=np.int64)
    places = np.random.random(table.shape).argsort(axis=1)
    return np.take_along_axis(table, places, axis=1).ravel()[: len(classes)]


class TrainingTexts(TextDataset, _Batched):
    """Texts in ``order``; see `TextDataset`."""


class TrainingQuestions(QuestionDataset, _Batched):
    """Questions in ``order``; see `QuestionDataset`."""


class TrainingEntities(EntityDataset, _Batched):
    """Sentences with questions in ``order``; see `EntityDataset`."""
