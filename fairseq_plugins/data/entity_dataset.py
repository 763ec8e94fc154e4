"""A dataset of sentences, each with the question of every label (BERT-MRC).

An item is a sentence with a row for each label, ``[CLS] question [SEP] sentence [SEP]``, or several
rows for a long sentence. A batch has the rows in falling order of their length, and its words in
the order of its pairs of question and sentence; ``asked`` names these pairs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..targets.gold import Gold
from .label_questions import LabelQuestions, Span
from .text_batches import lay_out
from .text_columns import SentenceColumns
from .text_dataset import TextDataset
from .text_items import InputFormat, TextItems


class EntityDataset(TextDataset):
    """Batches of sentences with the question of every label.

    Args:
        sentences: the column of n sentences.
        form: input format, with `by_word`.
        questions: of L labels.
        word_labels: names of the labels of words, by their ids.
        levels: number of labels of a word.
        gold, name_of: see `TextDataset`.
    """

    def __init__(
        self,
        sentences: Sequence[SentenceColumns],
        form: InputFormat,
        *,
        questions: LabelQuestions,
        word_labels: Sequence[str] = (),
        levels: int = 1,
        gold: Gold | None = None,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        self.name_of = name_of or "example {}".format
        self.questions, self.word_labels, self.levels = questions, list(word_labels), levels
        (self.sentence,) = sentences
        count, asked = len(self.sentence.tokens), len(questions.labels)
        encoded = questions.encode(tuple(form.layers))
        how = {"controls": form.controls, "key": "label questions"}
        question = SentenceColumns.of(encoded, form.layers, name_of=self._name_question, **how)
        numbers = np.arange(count * asked)
        columns = [question.gather(numbers % asked), self.sentence.gather(numbers // asked)]
        self.items = TextItems(columns, form, self._name_row)
        self.form, self.gold = form, gold
        self._sizes = self.items.sizes.reshape(count, asked).sum(1)
        if gold is not None:
            self._check_gold(gold)

    def _name_question(self, number: int) -> str:
        return f"the question of label {self.questions.labels[number]!r}"

    def _name_row(self, number: int) -> str:
        index, label = divmod(number, len(self.questions.labels))
        return f"{self.name_of(index)} with {self._name_question(label)}"

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of each sentence with all its questions, (n,)."""
        return self._sizes

    @property
    def word_counts(self) -> np.ndarray:
        """Words of each sentence, (n,)."""
        return self.sentence.word_counts

    @property
    def refitted(self) -> int:
        """Number of sentences too long for one row per question."""
        return len({number // len(self.questions.labels) for number in self.items.refitted})

    def __len__(self) -> int:
        return len(self._sizes)

    def known(self, index: int) -> list[Span] | None:
        """Return the gold entities of a sentence, in rising order; None if missing."""
        if self.gold is None or not self.gold.present[index]:
            return None
        row = [self.word_labels[label] for label in self.gold.values[index]]
        return sorted(self.questions.read(row, len(row) // self.levels))

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a sentence's ``id``, ``rows`` (an item of `TextItems` per label), ``words``.

        A labelled split also has ``target``, the entities.
        """
        index, asked = int(index), len(self.questions.labels)
        rows = [self.items[number] for number in range(index * asked, (index + 1) * asked)]
        item = {"id": index, "rows": rows, "words": int(self.sentence.words.lasts[index]) + 1}
        return {**item, "target": self.known(index)} if self.labelled else item

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """Make a batch of n sentences and L questions, G = n L.

        Returns:
            The batch of `lay_out` with G rows of questions; ``net_input`` and its ``known`` have
            ``word_counts`` (G,), the words of each. ``id`` (n,) are the sentences; ``asked`` (G, 2)
            holds each question's sentence, by its place in ``id``, and label. For a labelled split,
            ``target`` and in ``net_input`` ``marks`` (W, 2) mark where entities begin and end,
            ``spans`` (E, 2) are the first and last words of entities, and ``gold`` lists the
            entities of each sentence.
        """
        if not samples:
            return {}
        found = [
            (place, label, row)
            for place, item in enumerate(samples)
            for label, row in enumerate(item["rows"])
        ]
        found.sort(key=lambda one: -len(one[2]["tokens"]))
        batch = lay_out([row for *_, row in found], self.form.pad)
        counts = batch.pop("words_per_example")
        batch["net_input"]["word_counts"] = counts
        batch["net_input"]["known"]["word_counts"] = counts.numpy()
        batch |= {"id": torch.tensor([item["id"] for item in samples]), "total": len(self)}
        batch["nsentences"] = len(samples)
        batch["asked"] = torch.tensor([(place, label) for place, label, _ in found])
        if self.labelled:
            batch["gold"] = [item["target"] for item in samples]
            batch |= self._marked(batch, counts)
            batch["net_input"]["marks"] = batch["target"]
        return batch

    def _marked(self, batch: dict[str, Any], counts: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return ``target`` and ``spans`` of a batch."""
        begins = (counts.cumsum(0) - counts).tolist()
        spans = []
        for begin, (place, label) in zip(begins, batch["asked"].tolist()):
            own = self.questions.labels[label]
            entities = batch["gold"][place]
            spans += [(begin + i, begin + j) for kind, i, j in entities if kind == own]
        found = torch.tensor(spans, dtype=torch.long).reshape(-1, 2)  # (E, 2)
        marks = torch.zeros(int(counts.sum()), 2, dtype=torch.long)
        for side in range(2):
            marks[found[:, side], side] = 1
        return {"target": marks, "spans": found}
