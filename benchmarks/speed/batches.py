"""Batches of texts for speed: random ones of equal or drawn lengths, or a prepared folder's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq.utils import apply_to_sample

from benchmarks.gpu.batches import CLASSES, KNOWN, Draw, Sentence, Subwords, draw_sentence
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.tasks.extractive_qa import ExtractiveQAConfig, ExtractiveQATask
from fairseq_plugins.tasks.text_labels import TextClassificationConfig, TextClassificationTask

from .turns import Batch, Setting

VOCABULARY = 30522  # of BERT
DRAWN = {"cola": (2.37, 0.33), "rte": (4.13, 0.53)}  # mean, deviation of log lengths in wordpieces
LONGEST = 512
TEXTS: Any = (TextClassificationTask, TextClassificationConfig)
QUESTIONS: Any = (ExtractiveQATask, ExtractiveQAConfig)


@dataclass(frozen=True)
class Sized(Draw):
    """What batches of rows of given lengths are drawn from."""

    lengths: tuple[tuple[int, ...], ...] = ()  # of the texts of each row, without special tokens

    def rows(self, dice: random.Random) -> Iterator[list[Sentence]]:
        """Draw the texts of every row."""
        ids = range(self.vocabulary.first, len(self.vocabulary))
        layers = [KNOWN[name] for name in self.layers]
        for row in self.lengths:
            yield [draw_sentence(length, ids, layers, dice) for length in row]


def batches(setting: Setting) -> list[Batch]:
    """Make batches such as ``8x128``, ``32xcola``, of pairs ``8x16+112``, or take a folder's."""
    torch.manual_seed(1)
    if Path(setting.batches).is_dir():
        return [_finished(batch, size, setting) for batch, size in _of_folder(setting)]
    dice = random.Random(1)
    count, _, length = setting.batches.partition("x")
    if length in DRAWN:
        drawn = (dice.lognormvariate(*DRAWN[length]) for _ in range(setting.steps * int(count)))
        rows = [(min(max(round(size), 4), LONGEST) - 2,) for size in drawn]
    else:  # two special tokens belong to the first text, and one to the second
        texts = [int(text) - (1 if place else 2) for place, text in enumerate(length.split("+"))]
        rows = [(*texts,)] * int(count)
    how = {"target": "spans"} if setting.asks else {"layers": ("heads",), "words": True}
    how |= {"vocabulary": Subwords(FAMILIES[setting.family], VOCABULARY), "texts": len(rows[0])}
    made = []
    for step in range(len(rows) // int(count)):
        part = rows[step * int(count) :][: int(count)]
        drawn = Sized(batch=len(part), shortest=0, longest=0, lengths=(*part,), **how)
        made.append(_finished(drawn.sample(step), VOCABULARY, setting))
    return made


def _of_folder(setting: Setting) -> list[tuple[Batch, int]]:
    """Take batches of a training set in its own order, evenly spread, and the vocabulary's size."""
    kind, config = QUESTIONS if setting.asks else TEXTS
    task = kind.setup_task(config(data=setting.batches))
    layers = ("heads",) if "heads" in task.manifest.layers else ()
    pairs = not setting.asks and task.manifest.sentences == 2
    task.inputs.serve(Needs(layers=layers, words=not setting.asks, pairs=pairs), LONGEST)
    task.load_dataset("train")
    dataset, size = task.dataset("train"), setting.batch_size
    if (whole := len(dataset) // size) < setting.steps:
        have = f"{setting.batches} has {whole} batches of {size}"
        raise ValueError(f"{have}, --steps is {setting.steps}")
    starts = [i * whole // setting.steps * size for i in range(setting.steps)]
    found = [dataset.collater([dataset[i] for i in range(at, at + size)]) for at in starts]
    return [(batch, len(task.source_dictionary.vocabulary)) for batch in found]


def _finished(batch: Batch, vocabulary: int, setting: Setting) -> Batch:
    """Add random classes, or [CLS] as answers, the trees, and what Hugging Face's model takes."""
    inputs = batch["net_input"]
    tokens = inputs["src_tokens"]
    real = torch.arange(tokens.shape[1]) < inputs["src_lengths"][:, None]
    padded = {"input_ids": tokens, "attention_mask": real.long()}
    padded["token_type_ids"] = inputs["segments"]
    target = torch.randint(len(CLASSES), (len(tokens),))
    target = target.new_zeros(len(tokens), 2) if setting.asks else target
    own = {"padded": padded, "target": target, "vocabulary": vocabulary}
    if "heads" in inputs:
        own["trees"] = [(h.numpy(), w.numpy()) for h, w in zip(inputs["heads"], inputs["word_of"])]
    return apply_to_sample(lambda tensor: tensor.to(setting.device), {**batch, **own})
