"""The attention layer against a slow twin, and its masks."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from trees import Row, context_of, on_an_accelerator, run

from fairseq_plugins.nn.attention import GlobalMixer, Mixer, SelfAttention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.masks import allowed_keys, masked_softmax
from fairseq_plugins.nn.packing import BatchLayout, SentenceBlock


def twin(module: SelfAttention, sentence: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One sentence (S, D) by loops over heads and queries."""
    heads, width = module.heads, sentence.shape[1]
    size = width // heads
    query, key, value = (sentence @ module.qkv.weight.T + module.qkv.bias).split(width, dim=1)
    weights = torch.zeros(heads, len(sentence), len(sentence), dtype=sentence.dtype)
    mixed = torch.zeros_like(sentence)
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        for t in range(len(sentence)):
            scores = torch.stack([query[t, part] @ k[part] for k in key]) / math.sqrt(size)
            weights[h, t] = scores.exp() / scores.exp().sum()
            mixed[t, part] = weights[h, t] @ value[:, part]
    return mixed @ module.out.weight.T + module.out.bias, weights


@pytest.fixture
def batch():
    torch.manual_seed(1)
    mask = torch.tensor([[False] * 5, [False] * 3 + [True] * 2, [True] * 4 + [False]])
    layout = BatchLayout.of(mask)
    rows = torch.randn(9, 8, dtype=torch.float64, requires_grad=True)
    return rows, AttentionContext(layout)


@pytest.fixture
def module():
    torch.manual_seed(2)
    return SelfAttention(8, 2).double()


@pytest.mark.parametrize("need_weights", [False, True])
def test_attention_equals_its_twin_sentence_by_sentence(batch, module, need_weights):
    rows, context = batch
    found, weights = run(module, rows, context, need_weights)
    for number, sentence in enumerate(torch.split(rows, [5, 3, 1])):
        wanted, table = twin(module, sentence)
        first = [0, 5, 8][number]
        torch.testing.assert_close(found[first : first + len(sentence)], wanted)
        if need_weights:
            real = ~context.layout.padding_mask[number]
            torch.testing.assert_close(weights[0][number][:, real][:, :, real], table)


def test_weights_are_given_only_on_request_and_sum_to_one(batch, module):
    rows, context = batch
    module(rows, context)
    assert context.outputs.weights == []
    (weights,) = run(module, rows, context)[1]
    padding = context.layout.padding_mask
    wanted = (~padding)[:, None].expand(3, 2, 5).double()
    torch.testing.assert_close(weights.sum(-1), wanted)
    assert weights[padding[:, None, None].expand_as(weights)].eq(0).all()


def test_dropout_acts_in_training_alone(batch):
    rows, context = batch
    module = SelfAttention(8, 2, GlobalMixer(0.5)).double()
    module.eval()
    assert torch.equal(module(rows, context), module(rows, context))
    module.train()
    for need in (False, True):  # the fused way and the open one
        first, second = (run(module, rows, context, need)[0] for _ in range(2))
        assert not torch.equal(first, second)


@pytest.mark.parametrize("need_weights", [False, True])
def test_dropout_acts_on_an_accelerator_too(batch, need_weights):
    """There `mix` is reached in training as well; on a processor it is not."""
    context = replace(batch[1], need_weights=need_weights)
    states, mixer = torch.randn(2, 3, 4, 5), GlobalMixer(0.5)
    block = SentenceBlock(slice(None), slice(None), 4)

    def mixed():
        return mixer.mix((states, states, states), None, block, context)[0]

    assert not torch.equal(mixed(), mixed())
    mixer.eval()
    assert torch.equal(mixed(), mixed())


def test_another_mixer_changes_the_output_and_gets_what_it_needs(batch, module):
    rows, context = batch

    class Nearest(Mixer):
        def extras(self, rows, context):
            return 2 * rows

        def packs(self, context):
            return False

        def mix(self, qkv, extras, block, context, bias=None):
            assert torch.equal(block.give(extras), 2 * rows[block.rows])
            return qkv[2], None

    changed = SelfAttention(8, 2, Nearest()).double()
    changed.load_state_dict(module.state_dict())
    found = changed(rows, context)
    value = rows @ module.qkv.weight[16:].T + module.qkv.bias[16:]
    torch.testing.assert_close(found, module.out(value))
    assert not torch.allclose(found, module(rows, context))


def test_every_parameter_gets_gradient(batch, module):
    rows, context = batch
    module(rows, context).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="3 attention heads do not divide a hidden size of 8"):
        SelfAttention(8, 3)


def test_masked_softmax_gives_zero_where_nothing_is_allowed():
    scores = torch.randn(2, 3)
    allowed = torch.tensor([[True, False, True], [False, False, False]])
    weights = masked_softmax(scores, allowed)
    torch.testing.assert_close(weights[0, [0, 2]], scores[0, [0, 2]].softmax(0))
    assert weights[1].tolist() == [0.0, 0.0, 0.0]
    assert torch.equal(masked_softmax(scores, None), scores.softmax(-1))


def test_allowed_keys_close_padding_for_every_query():
    allowed = allowed_keys(torch.tensor([[False, True]]))
    assert allowed.shape == (1, 1, 1, 2)
    assert allowed.flatten().tolist() == [True, False]


@pytest.mark.parametrize("need_weights", [False, True])
def test_one_padded_block_equals_blocks_without_padding(batch, module, need_weights, monkeypatch):
    rows, context = batch
    wanted, table = run(module, rows, context, need_weights)
    on_an_accelerator(monkeypatch)
    context = AttentionContext(BatchLayout.of(context.layout.padding_mask))  # blocks are kept
    found, other = run(module, rows, context, need_weights)
    assert len(context.layout.blocks) == 1
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(other, table)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("padded_block", [True, False])
def test_tokens_have_the_similarity_of_their_words(left, padded_block, monkeypatch):
    """Special tokens have 1 with all tokens, both ways; loops over the real tokens say so."""
    if padded_block:
        on_an_accelerator(monkeypatch)
    rows = [Row([0, 1], [0], pieces=[[2, 1], [3]]), Row([0], [0, 1, 1]), Row([0], [0])]
    laid_out = context_of(rows, left=left)
    words = laid_out.heads.shape[1]
    table = torch.rand(len(rows), words, words)
    context = replace(laid_out, similarity=table)
    seen = 0
    for block in context.layout.blocks:
        found = context.similarity_of(block)  # (n, l, l)
        for number, square in zip(range(len(rows))[block.sentences], found):
            own = rows[number].words
            start = block.length - len(own) if left else 0
            for i, j in product(range(len(own)), repeat=2):
                wanted = 1.0
                if own[i] >= 0 and own[j] >= 0:
                    wanted = table[number, own[i], own[j]].item()
                assert square[start + i, start + j].item() == wanted
            seen += 1
    assert seen == len(rows)
