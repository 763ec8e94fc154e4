"""A dataset of questions to passages, with the answer's place in each row of a question."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .passages import AskedPassage, Texts
from .qa_columns import ANSWERABLE, NOWHERE, QuestionColumns
from .text_dataset import TextDataset
from .text_items import InputFormat, joined
from .text_windows import knowing_windows

IGNORED = -100  # ignored by cross-entropy


class QuestionDataset(TextDataset):
    """Batches of questions, each with all windows of its passage.

    Args:
        columns: questions and passages.
        form: input format, with ``WINDOWS``.
        texts: without texts, batches hold no passages.
        name_of: see `TextDataset`.
    """

    def __init__(
        self,
        columns: QuestionColumns,
        form: InputFormat,
        *,
        texts: Texts | None = None,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        sentences = [columns.questions, columns.contexts]
        super().__init__(sentences, form, gold=columns.gold, name_of=name_of)
        self.texts: Any = texts

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return an item of `TextItems`, with ``target`` (K, 2) and ``passage`` if known."""
        item = super().__getitem__(index)
        if self.texts is not None:
            item["passage"] = self.passage(int(index))
        return item

    def passage(self, index: int) -> AskedPassage:
        """Return a question with its passage and windows."""
        spans, kept = self._windows(index)
        length = int(self.items.sentences[1].tokens.lengths[index])
        questions = np.full((len(spans), 1), kept)
        windows = np.concatenate([questions, spans, knowing_windows(spans, length)], axis=1)
        return self.texts.passage(index, windows, self.form.row)

    def _windows(self, index: int) -> tuple[np.ndarray, int]:
        """Return the windows of a question's passage, (K, 2), and the question's wordpieces."""
        rows = self.items.rows(index)
        spans = [(begin, end) for _, (_, begin, end) in rows]
        return np.array(spans, dtype=np.int64), int(rows[0][0][2])

    def _target(self, index: int) -> np.ndarray:
        """Return the first and last position of the answer in every row, (K, 2).

        The positions are 0 in rows without the whole answer, `IGNORED` if no row has it.
        """
        spans, kept = self._windows(index)
        if self.gold.states[index] != ANSWERABLE:
            return np.zeros_like(spans)
        answer = self.gold.first[index]  # (2,)
        held = (spans[:, :1] <= answer[0]) & (answer[1] < spans[:, 1:])  # (K, 1)
        if answer[0] == NOWHERE or not held.any():
            return np.full_like(spans, IGNORED)
        return np.where(held, answer + self.form.row.begin(1, kept) - spans[:, :1], 0)

    def _targets(self, targets: list[Any]) -> Tensor:
        return torch.from_numpy(joined(targets))  # (B, 2)

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """Make a batch of n questions in B rows.

        Beside the values of `TextDataset`: ``windows_per_example`` (n,), the rows of each question;
        ``target`` (B, 2), see `_target`, with ``counted`` (m,), the rows to learn from; and with
        texts ``passages``, one per question.
        """
        batch = super().collater(samples)
        if not batch:
            return batch
        items = {item["id"]: item for item in samples}
        items = [items[number] for number in batch["id"].tolist()]
        batch["windows_per_example"] = torch.tensor([len(item["lengths"]) for item in items])
        if self.labelled:
            batch["counted"] = (batch["target"][:, 0] != IGNORED).nonzero().squeeze(1)
        if self.texts is not None:
            batch["passages"] = [item["passage"] for item in items]
        return batch

    @property
    def unreachable(self) -> int:
        """Number of questions with an answer in no row, which are not learnt."""
        if self.gold is None:
            return 0
        asked = self.gold.states == ANSWERABLE
        maybe = asked & (self.gold.first[:, 0] == NOWHERE)
        maybe[self.items.refitted] |= asked[self.items.refitted]
        return sum(int(self._target(i)[0, 0] == IGNORED) for i in np.flatnonzero(maybe).tolist())
