"""Random batches in memory, made by the package's own datasets: texts, pairs, questions, entities,
parallel text.

Sentences have words of one to three subwords, random trees, and random values of every layer that
is wanted; lengths are drawn, so that rows have padding unless shortest and longest agree.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary, LanguagePairDataset

from fairseq_plugins.data.entity_dataset import EntityDataset
from fairseq_plugins.data.factored_pair_dataset import FactoredPairDataset
from fairseq_plugins.data.folder_names import ANSWERABLE, UNANSWERABLE
from fairseq_plugins.data.label_questions import LabelQuestions
from fairseq_plugins.data.pair_columns import FactorRows
from fairseq_plugins.data.qa_columns import NOWHERE, QuestionColumns, SpanGold
from fairseq_plugins.data.qa_dataset import QuestionDataset
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.data.text_dataset import TextDataset
from fairseq_plugins.data.text_folders import take_sentences
from fairseq_plugins.data.text_items import InputFormat
from fairseq_plugins.pretrained.families import Family
from fairseq_plugins.syntax.labels import UNKNOWN_ID, Inventory
from fairseq_plugins.syntax.layer import SUBWORD, WORD
from fairseq_plugins.syntax.layers import LAYERS, TREES, Layer, layer_of
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.targets.gold import WordIds
from fairseq_plugins.targets.table import target_of

ROLES = [
    layer_of(name).bound(Inventory(name, ("O", "B-V", "B-ARG0")))
    for name in ("given.srl1", "given.srl2", "given.srl3")
]
KNOWN = {layer.name: layer for layer in [*LAYERS.values(), *ROLES] if not layer.is_open}
CLASSES = ("0", "1", "2")
ENTITIES = ("O", "B-PER", "B-LOC")
SIGNS = "!,.;?"
Sample = dict[str, Any]


class Subwords:
    """A vocabulary of so many subwords without a file; five of them are punctuation signs."""

    def __init__(self, family: Family, size: int) -> None:
        own = family.specials
        first = [own.pad, own.cls, own.sep, own.unk, own.mask, *SIGNS]
        if family.row.separators == 2:  # these count positions from behind the padding's id
            first[:2] = [own.cls, own.pad]
        self.family, self.pieces = family, [*first, *(f"w{i}" for i in range(size - len(first)))]
        self.cls, self.sep, self.pad = map(self.pieces.index, (own.cls, own.sep, own.pad))
        self.first = len(first) - len(SIGNS)  # of what texts consist of

    def __len__(self) -> int:
        return len(self.pieces)


@dataclass(frozen=True)
class Sentence:
    """A text as the package's encoders make it, and the number of its words."""

    tokens: list[int]
    word_of: list[int]
    words: int
    layers: dict[str, list[int]]


def draw_tree(size: int, dice: random.Random) -> list[int]:
    """Draw the heads of words: 0 at the root, else the head's number from 1."""
    order, heads = dice.sample(range(size), size), [0] * size
    for place, word in enumerate(order[1:], 1):
        heads[word] = dice.choice(order[max(0, place - 4) : place]) + 1
    return heads


def draw_sentence(
    length: int, ids: range, layers: Sequence[Layer], dice: random.Random
) -> Sentence:
    """Draw a sentence of ``length`` subwords, and what its words or these carry."""
    word_of: list[int] = []
    while len(word_of) < length:
        word_of += [word_of[-1] + 1 if word_of else 0] * dice.choice((1, 1, 2, 3))
    word_of = word_of[:length]
    words, carried = word_of[-1] + 1, {}
    for layer in layers:
        if layer.name in TREES:
            carried[layer.name] = draw_tree(words, dice)
        elif layer.unit in (WORD, SUBWORD) and layer.sides(1):
            found = range(UNKNOWN_ID, len(layer.inventory))
            carried[layer.name] = dice.choices(found, k=words if layer.unit == WORD else length)
    return Sentence(dice.choices(ids, k=length), word_of, words, carried)


@dataclass(frozen=True)
class Draw:
    """What batches are drawn from.

    Args:
        vocabulary: of texts.
        batch: number of examples.
        shortest, longest: bounds of the tokens of a row, special tokens included.
        layers: names of the layers that the model reads.
        words: whether it reads the word of each token.
        texts: texts in a row, 1 or 2.
        target: as in the manifest of a folder.
    """

    vocabulary: Subwords
    batch: int
    shortest: int
    longest: int
    layers: tuple[str, ...] = ()
    words: bool = False
    texts: int = 1
    target: str = "classes"

    @property
    def form(self) -> InputFormat:
        """How rows are read."""
        by_word = self.target in ("word_labels", "entities")
        known = self.vocabulary
        how = {"row": known.family.row, "layers": self.layers, "words": self.words}
        return InputFormat(known.cls, known.sep, known.pad, by_word=by_word, **how)

    def rows(self, dice: random.Random) -> Iterator[list[Sentence]]:
        """Draw the texts of every row."""
        layers = [KNOWN[name] for name in self.layers]
        ids = range(self.vocabulary.first, len(self.vocabulary))
        for _ in range(self.batch):
            room = dice.randint(self.shortest, self.longest)
            room -= self.vocabulary.family.row.specials(self.texts)
            first = max(1, room // 3) if self.texts == 2 else room
            sizes = [first, max(1, room - first)][: self.texts]
            yield [draw_sentence(size, ids, layers, dice) for size in sizes]

    def sample(self, seed: int = 1) -> Sample:
        """Draw a batch as the collater of its task makes it."""
        dice = random.Random(seed)
        rows = list(self.rows(dice))
        if self.target == "spans":
            dataset = _questions(rows, self.form, dice)
        elif self.target == "entities":
            dataset = _entities(rows, self.form, dice)
        else:
            dataset = self._texts(rows, dice)
        return dataset.collater([dataset[i] for i in range(len(dataset))])

    def _texts(self, rows: list[list[Sentence]], dice: random.Random) -> TextDataset:
        if "similarity" in self.layers:
            for first, second in rows:
                pairs = first.words * second.words
                second.layers["similarity"] = [dice.randrange(256) for _ in range(pairs)]
        names = [str(i) for i in range(len(rows))]
        columns = take_sentences(rows, self.texts, self.layers, names)
        if self.target == "score":
            values: Any = np.array([dice.uniform(0, 5) for _ in rows])
        elif self.target == "word_labels":
            values = _word_labels([row[-1] for row in rows], len(CLASSES), dice)
        else:
            values = np.array([dice.randrange(len(CLASSES)) for _ in rows])
        return TextDataset(columns, self.form, gold=target_of(self.target).gold(values))


def _word_labels(sentences: list[Sentence], count: int, dice: random.Random) -> Rows:
    return Rows.of([dice.randrange(count) for _ in range(one.words)] for one in sentences)


def _questions(
    rows: list[list[Sentence]], form: InputFormat, dice: random.Random
) -> QuestionDataset:
    """Ask each first text about the second; every third question has no answer."""
    questions, passages = zip(*rows)
    offsets = [np.array([(i, i + 1) for i in range(len(one.tokens))]) for one in passages]
    columns = QuestionColumns.of(questions, passages, range(len(rows)), offsets, names=form.layers)
    states = np.array([UNANSWERABLE if i % 3 == 2 else ANSWERABLE for i in range(len(rows))])
    places = [sorted(dice.choices(range(len(one.tokens)), k=2)) for one in passages]
    first = np.where(states[:, None] == ANSWERABLE, np.array(places), NOWHERE)
    return QuestionDataset(replace(columns, gold=SpanGold(states, first)), form)


def _entities(rows: list[list[Sentence]], form: InputFormat, dice: random.Random) -> EntityDataset:
    """Ask of each text which entities it has; the questions are drawn like texts."""
    (texts,), names = zip(*rows), [str(i) for i in range(len(rows))]
    types = [label[2:] for label in ENTITIES[1:]]
    asked = [draw_sentence(4, range(form.sep + 3, 30), (), dice) for _ in types]

    def read(labels: Sequence[str], words: int) -> list[tuple[str, int, int]]:
        runs = [[*run] for _, run in groupby(range(words), labels.__getitem__)]
        return [(labels[run[0]][2:], run[0], run[-1]) for run in runs if labels[run[0]] != "O"]

    questions = LabelQuestions(dict.fromkeys(types, ""), lambda _: asked, read)
    gold = WordIds(_word_labels(list(texts), len(ENTITIES), dice))
    columns = take_sentences([[text] for text in texts], 1, form.layers, names)
    return EntityDataset(columns, form, questions=questions, word_labels=ENTITIES, gold=gold)


def dictionary(size: int) -> Dictionary:
    """Make a dictionary of translation of so many symbols."""
    found = Dictionary()
    for i in range(size - len(found)):
        found.add_symbol(f"w{i}")
    return found


def _rows(sentence: Sentence, layers: Sequence[Layer]) -> torch.Tensor:
    """Return what the subwords of a sentence and its ``</s>`` carry, (S, columns)."""
    columns = SentenceColumns.of([sentence], [layer.name for layer in layers], first_word=1)
    return FactorRows(columns, layers)[0]


def parallel_sample(
    task: SimpleNamespace, batch: int, shortest: int, longest: int, seed: int = 1
) -> Sample:
    """Draw a batch of sentence pairs with the columns of both sides' layers.

    Args:
        task: with dictionaries and layers of both sides.
        batch: number of pairs.
        shortest, longest: bounds of the tokens of a sentence, ``</s>`` included.
        seed: of all that is drawn.
    """
    dice, sides = random.Random(seed), []
    for words, layers in (
        (task.source_dictionary, task.source_layers),
        (task.target_dictionary, task.target_layers),
    ):
        ids = range(words.nspecial, len(words))
        sizes = [dice.randint(shortest, longest) for _ in range(batch)]
        found = [draw_sentence(size - 1, ids, layers, dice) for size in sizes]
        tokens = [torch.tensor([*one.tokens, words.eos()]) for one in found]
        factors = [_rows(one, layers) for one in found] if layers else None
        sides.append(((tokens, np.array(sizes), words), factors))
    (source, factors), (target, target_factors) = sides
    pairs = LanguagePairDataset(*source, *target, shuffle=False)
    dataset = FactoredPairDataset(pairs, factors, targets=target_factors)
    return dataset.collater([dataset[i] for i in range(batch)])
