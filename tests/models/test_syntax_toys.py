"""Toy tasks where only the parse decides, or only the words decide the parse."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import torch
from bert_models import build, manifest
from torch.nn import functional
from trees import Row, context_of

from fairseq_plugins.nn.parent_attention import parent_targets

pytestmark = pytest.mark.long
CLS, SEP, X, A, B, ROOT, FILLER = range(1, 8)
SENTENCE = 10
Batch = dict[str, torch.Tensor]


def attachment(dice: random.Random) -> tuple[list[int], list[int], int, int]:
    """Draw words, heads, the place of x, and what x depends on: a (0) or b (1).

    Every sentence has the same words, in any order with a filler between any two of x, a and b, so
    that no word near x tells; the tree alone says where x is attached.
    """
    while True:
        words = [X, A, B, ROOT] + [FILLER] * (SENTENCE - 4)
        dice.shuffle(words)
        x, a, b, root = (words.index(word) for word in (X, A, B, ROOT))
        if min(abs(x - a), abs(x - b), abs(a - b)) > 2:
            break
    label = dice.randrange(2)
    heads = [root + 1] * SENTENCE
    heads[root] = 0
    heads[x] = (b if label else a) + 1
    return words, heads, x, label


def batches(seed: int, count: int, size: int) -> Iterator[tuple[Batch, torch.Tensor]]:
    """Yield batches of the task: inputs with one labelled word a sentence, and labels."""
    dice = random.Random(seed)
    for _ in range(count):
        drawn = [attachment(dice) for _ in range(size)]
        context = context_of([Row(heads) for _, heads, _, _ in drawn])
        tokens = torch.tensor([[CLS, *words, SEP] for words, _, _, _ in drawn])
        rows = torch.tensor([i * (SENTENCE + 2) + x + 1 for i, (_, _, x, _) in enumerate(drawn)])
        inputs = {"word_rows": rows, "word_of": context.words, "heads": context.heads}
        yield {"src_tokens": tokens, **inputs}, torch.tensor([label for *_, label in drawn])


def learn(arch: str, steps: int, **options) -> float:
    """Train on the task; return the share of right answers on new sentences."""
    about = manifest(target="word_labels")
    model = build(arch, about, dropout=0.0, attention_dropout=0.0, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for inputs, labels in batches(1, steps, 48):
        logits, extra = model(**inputs)
        loss = functional.cross_entropy(logits, labels) + sum(extra["losses"].values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = total = 0
    with torch.no_grad():
        for inputs, labels in batches(2, 10, 200):
            right += (model(**inputs)[0].argmax(-1) == labels).sum().item()
            total += len(labels)
    return right / total


@pytest.mark.parametrize(
    ("arch", "options"),
    [("bert_sla", {"tree_threshold": 1}), ("bert_sgnet", {}), ("bert_syntax_masks", {})],
)
def test_what_reads_trees_solves_what_trees_decide(arch, options):
    assert learn(arch, 150, **options) > 0.83


@pytest.mark.parametrize("arch", ["bert_plain", "bert_wla", "bert_lisa"])
def test_what_reads_no_trees_stays_at_chance(arch):
    assert learn(arch, 150) < 0.67


def chains(seed: int, count: int, size: int) -> Iterator[Batch]:
    """Yield sentences of words 2 to 9 in any order, where each depends on the next higher one."""
    dice = random.Random(seed)
    for _ in range(count):
        orders = [dice.sample(range(2, 10), 8) for _ in range(size)]
        rows = [Row([order.index(w + 1) + 1 if w < 9 else 0 for w in order]) for order in orders]
        context = context_of(rows)
        tokens = torch.tensor([[CLS, *order, 10] for order in orders])
        yield {"src_tokens": tokens, "word_of": context.words, "heads": context.heads}


def test_lisas_heads_find_the_parents_that_words_determine():
    model = build("bert_lisa", dropout=0.0, attention_dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for inputs in chains(1, 200, 48):
        loss = model(**inputs)[1]["losses"]["parent"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    (inputs,) = chains(2, 1, 200)
    targets, taught = parent_targets(inputs["word_of"], inputs["heads"])
    del inputs["heads"]  # no parse is needed to predict
    for table in model(**inputs, need_weights=True)[1]["attention"]:
        found = table[:, -1].argmax(-1)  # (B, T)
        assert (found == targets)[taught].float().mean() > 0.7  # by chance 0.1
