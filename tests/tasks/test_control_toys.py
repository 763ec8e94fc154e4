"""Toys. One in which the parse decides one word and tags all others: what each control takes away.

The label of "cat" follows from its head, "old" or "bad", which stand in any order and never near;
that of any other word from its part of speech, which is drawn. So a model that reads both solves
all of it, and under a control of the one it guesses there and solves the rest. And one in
which a passage has several words, and the question says which it asks for.
"""

from __future__ import annotations

import random

import numpy as np
import prepared_questions
import prepared_text
import pytest
from prepared_questions import Asked, Told
from prepared_text import prepare, train

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.question_answering import load as load_reader

WORDS = ["cat", "old", "bad", "by"] + ["the"] * 4
SIZES = {"train": 1500, "valid": 250}
TREES, TAGS = "trees", "tags"


def drawn(dice: random.Random) -> tuple[list[str], list[int], list[int]]:
    """Draw words, heads, and the bit that each word's label follows from."""
    while True:
        words = dice.sample(WORDS, len(WORDS))
        cat, old, bad, root = (words.index(word) for word in WORDS[:4])
        if min(abs(cat - old), abs(cat - bad), abs(old - bad)) > 1:
            break
    bits = [dice.randrange(2) for _ in words]
    heads = [root + 1] * len(words)
    heads[root], heads[cat] = 0, (bad if bits[cat] else old) + 1
    return words, heads, bits


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """The folder, and of each sentence of its valid split words and labels."""
    dice, folder, splits, heads = random.Random(1), tmp_path_factory.mktemp("toy"), {}, []
    bits = {}
    for split, count in SIZES.items():
        found = [drawn(dice) for _ in range(count)]
        bits[split] = [row for *_, row in found]
        heads += [row for _, row, _ in found]
        labels = [tuple("ci"[bit] for bit in row) for row in bits[split]]
        splits[split] = [
            Example(str(i), (" ".join(words),), words=tuple(words), word_labels=said)
            for i, ((words, *_), said) in enumerate(zip(found, labels))
        ]
    with pytest.MonkeyPatch.context() as patch:
        rows = iter(heads)
        patch.setattr(prepared_text, "heads_of", lambda words: next(rows))
        prepare(folder, "errors", splits, annotations=("pos", "heads"))
    for split, part in splits.items():
        tags = [
            [2 if word == "cat" else 2 + bit for word, bit in zip(example.words, row)]
            for example, row in zip(part, bits[split])
        ]
        write_stream(folder / f"{split}.pos0", tags, 20)
    return folder, splits["valid"]


def shares(toy, save, *options) -> dict[str, float]:
    """Train; return how often what the parse decides is right, and what tags decide."""
    folder, examples = toy
    how = "--arch bert_sla_tiny --features pos --tree-threshold 1 --tree-neighbours none"
    how += " --num-attention-heads 4 --hidden-size 32 --lr 0.004 --batch-size 50 --max-update 150"
    how += " --disable-validation --no-epoch-checkpoints --seed 1"
    run = train(folder, save, *how.split(), *options)
    found = list(load(run / "checkpoint_last.pt", cpu=True).predict_split("valid"))
    hits = {TREES: [], TAGS: []}
    for example, prediction in zip(examples, found, strict=True):
        for word, gold, label in zip(example.words, example.word_labels, prediction.labels):
            hits[TREES if word == "cat" else TAGS].append(gold == label)
    return {what: float(np.mean(rows)) for what, rows in hits.items()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("control", "guessed"),
    [
        ("", ()),
        ("--tree-source shuffled", (TREES,)),
        ("--tree-source random --feature-source constant", (TREES, TAGS)),
        ("--tree-source chain", (TREES,)),
        ("--tree-source full", (TREES,)),
        ("--feature-source shuffled", (TAGS,)),
    ],
)
def test_a_control_takes_away_what_its_part_decides(toy, tmp_path, control, guessed):
    found = shares(toy, tmp_path, *control.split())
    for what, share in found.items():
        assert share < 0.67 if what in guessed else share > 0.83, found


def asked_passages(count: int, seed: int) -> list[Told]:
    """Make passages of three words, one of which the question says and wants to be found."""
    dice, made = random.Random(seed), []
    for number in range(count):
        words = dice.sample(["cat", "by", "the", "new", "bad", "teh"], 3)
        context, answer = " ".join(words), dice.choice(words)
        found = ((answer, context.index(answer)),)
        made.append(Told(context, (Asked(f"{seed}-{number}", answer, found),)))
    return made


@pytest.mark.long
@pytest.mark.parametrize(("source", "solves"), [("given", True), ("shuffled", False)])
def test_without_its_question_a_passage_leaves_a_guess(tmp_path, source, solves):
    splits = {"train": asked_passages(1500, 1), "valid": asked_passages(250, 2)}
    folder = prepared_questions.prepare(tmp_path / "data", splits)
    how = "--arch bert_plain_tiny --num-attention-heads 4 --hidden-size 32 --lr 0.004"
    how += " --batch-size 50 --max-update 250 --disable-validation --no-epoch-checkpoints --seed 1"
    run = train(folder, tmp_path / "run", *how.split(), "--question-source", source)
    reader = load_reader(run / "checkpoint_last.pt", cpu=True)
    replies = [*reader.answer_split("valid")]
    share = np.mean([reply.text in reply.passage.answers for reply in replies])
    assert share > 0.8 if solves else share < 0.55, share  # a guess is right in 1/3
