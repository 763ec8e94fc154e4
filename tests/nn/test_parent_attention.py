"""LISA's loss: its targets, its value, and where its gradient goes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from trees import Row, context_of, on_an_accelerator, random_heads

from fairseq_plugins.nn.attention import SelfAttention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.parent_attention import ParentSupervision, parent_loss, parent_targets

ROWS = [
    Row([2, 0, 2], pieces=[[2, 1, 3]]),
    Row([0, 1], [0, 1, 2], pieces=[[1, 2], [1, 1, 2]]),
    Row([0]),
]


def test_targets_are_the_parents_first_subwords():
    row = ROWS[0]  # tokens: [CLS] 0 0 1 2 2 2 [SEP], parents: 0 -> 1, 1 is the root, 2 -> 1
    context = context_of([row])
    targets, taught = parent_targets(context.words, context.heads)
    assert taught[0].tolist() == [False, True, False, True, True, False, False, False]
    assert targets[0][taught[0]].tolist() == [3, 3, 3]


def test_the_second_sentence_has_parents_of_its_own():
    context = context_of([ROWS[1]])  # [CLS] 0 1 1 [SEP] 3 4 5 5 [SEP]
    targets, taught = parent_targets(context.words, context.heads)
    assert taught[0].nonzero().flatten().tolist() == [1, 2, 5, 6, 7]
    assert targets[0][taught[0]].tolist() == [1, 1, 5, 5, 6]


def test_a_word_whose_parent_is_cut_off_is_not_taught():
    words, heads = torch.tensor([[-1, 0, 2, -1]]), torch.tensor([[1, 1, 2]])
    targets, taught = parent_targets(words, heads)
    assert taught.tolist() == [[False, False, True, False]]
    assert targets[0, 2] == 2


def test_the_loss_is_zero_on_one_hot_parents_and_the_count_of_words_elsewhere():
    context = context_of(ROWS[:1])
    targets, taught = parent_targets(context.words, context.heads)
    scores = torch.nn.functional.one_hot(targets, 8) * 1e4
    assert parent_loss(scores.double(), targets, taught).item() == 0.0
    even = parent_loss(torch.zeros(1, 8, 8), targets, taught)
    torch.testing.assert_close(even, 3 * torch.tensor(8.0).log())


def supervised() -> tuple[SelfAttention, torch.Tensor]:
    torch.manual_seed(4)
    module = SelfAttention(8, 2, supervision=ParentSupervision()).double()
    return module, torch.randn(sum(len(r.words) for r in ROWS), 8, dtype=torch.float64)


def test_the_gradient_reaches_the_last_heads_query_and_key_rows_alone():
    module, rows = supervised()
    context = context_of(ROWS)
    module(rows, context)
    (loss,) = context.outputs.parent_losses
    loss.backward()
    touched = module.qkv.weight.grad.abs().sum(1) > 0  # queries, keys, values: 8 rows each
    assert touched.nonzero().flatten().tolist() == [4, 5, 6, 7, 12, 13, 14, 15]
    assert module.out.weight.grad is None


def test_the_loss_is_the_mean_over_words_of_plain_attention_of_the_last_head():
    module, rows = supervised()
    context = replace(context_of(ROWS), need_weights=True)
    module(rows, context)
    weights = context.outputs.weights[0][:, -1]  # (B, T, S)
    targets, taught = parent_targets(context.words, context.heads)
    chosen = weights.gather(2, targets[:, :, None])[:, :, 0][taught]
    torch.testing.assert_close(context.outputs.parent_losses[0], -chosen.log().mean())


def test_half_precision_counts_every_word():
    """From 2048 on, every second whole number is no half; blocks come one by one."""
    module, rows = supervised()
    context = context_of([Row([0])] * 2048 + [Row([0, 1])] * 700)
    torch.nn.init.zeros_(module.qkv.weight)
    tokens = len(context.layout.token_positions)
    for kind in (torch.float16, torch.bfloat16):
        module.to(kind)(rows[:1].to(kind).expand(tokens, -1), context)
        wanted = (2048 * torch.tensor(3.0).log() + 1400 * torch.tensor(4.0).log()) / 3448
        torch.testing.assert_close(context.outputs.parent_losses[-1], wanted, rtol=1e-5, atol=0)


def test_padding_and_the_device_change_nothing(monkeypatch):
    module, rows = supervised()

    def loss(**options):
        context = context_of(ROWS, **options)
        module(rows, context)
        return context.outputs.parent_losses[0]

    wanted = loss()
    torch.testing.assert_close(loss(left=True, extra=3), wanted)
    on_an_accelerator(monkeypatch)
    for left in (False, True):
        torch.testing.assert_close(loss(left=left, extra=1), wanted)


def test_without_trees_there_is_no_loss_and_the_same_attention():
    module, rows = supervised()
    context = context_of(ROWS)
    bare = AttentionContext(context.layout)
    assert torch.equal(module(rows, bare), module(rows, context))
    assert bare.outputs.parent_losses == []
    assert len(context.outputs.parent_losses) == 1


def test_a_batch_without_words_to_teach_has_no_loss():
    words, heads = torch.full((1, 3), -1), torch.zeros(1, 1, dtype=torch.long)
    context = AttentionContext(context_of([Row([0])]).layout, words=words, heads=heads)
    module, _ = supervised()
    module(torch.randn(3, 8, dtype=torch.float64), context)
    assert context.outputs.parent_losses[0].item() == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_every_word_of_a_tree_is_taught(seed):
    context = context_of([Row(random_heads(9, seed))])
    assert parent_targets(context.words, context.heads)[1].sum() == 9
