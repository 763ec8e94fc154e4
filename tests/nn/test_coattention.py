"""Directed coattention: the printed equations in loops, what reaches what, padding, gradients."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from question_pairs import HEADS, PAIRS, WIDTH, shape, states
from torch.nn import functional
from trees import context_of, on_an_accelerator

from fairseq_plugins.nn.bert import BertLayer
from fairseq_plugins.nn.coattention import LOCAL, SKIPS, WIRINGS, DirectedCoattention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.packing import Sides

BLOCKS = 3
VARIANTS = [
    *itertools.product(WIRINGS, SKIPS, ["none"], ["none"]),
    *itertools.product(WIRINGS, ["simple"], LOCAL[1:], ["gelu"]),
]


def coattention(wiring="query", skip="simple", local="none", activation="none", **changes):
    torch.manual_seed(1)
    module = DirectedCoattention(shape(**changes), BLOCKS, wiring, skip, local, activation).double()
    for parameter in module.parameters():
        parameter.data.normal_(std=0.4)
    return module


def attend_in_loops(layer: BertLayer, queries, memory, keys: list[int]) -> torch.Tensor:
    """Eq. 3 and 4 of one sentence: all rows of ``queries`` to the rows ``keys`` of ``memory``."""
    attention, size = layer.attention, WIDTH // HEADS
    query = attention.query(queries)
    key, value = attention.key_value(memory).chunk(2, dim=1)
    mixed = torch.zeros_like(query)
    for i, head in itertools.product(range(len(queries)), range(HEADS)):
        at = slice(head * size, (head + 1) * size)
        scores = [(query[i, at] @ key[j, at] / math.sqrt(size)).exp() for j in keys]
        mixed[i, at] = sum(s / sum(scores) * value[j, at] for s, j in zip(scores, keys))
    return attention.out(mixed)


def join_in_loops(layer: BertLayer, rows, attended) -> torch.Tensor:
    norm = layer.attention_norm(rows + attended)
    return layer.output_norm(norm + layer.outer(functional.gelu(layer.inner(norm))))


def convolve_in_loops(stack, rows) -> torch.Tensor:
    for number, layer in enumerate(stack.layers):
        rows = stack.activation(rows) if number else rows
        weight = layer.map.weight  # (E, C, width)
        half = weight.shape[2] // 2
        rows = torch.stack(
            [
                layer.map.bias
                + sum(
                    weight[:, :, k] @ rows[i + k - half]
                    for k in range(weight.shape[2])
                    if 0 <= i + k - half < len(rows)
                )
                for i in range(len(rows))
            ]
        )
    return rows


def streams_in_loops(module: DirectedCoattention, rows, segments) -> torch.Tensor:
    """Both streams of one sentence as the paper prints them, (S, 2 D)."""
    places = {side: (segments == side).nonzero().squeeze(1).tolist() for side in (0, 1)}
    masks = [(segments == side).double()[:, None] for side in (0, 1)]
    context, question = rows * masks[1], rows * masks[0]
    for number, block in enumerate(module.blocks):
        context, question = context * masks[1], question * masks[0]
        local = 0.0
        if module.local:
            local = convolve_in_loops(module.local[number % len(module.local)], rows)
        if module.parted:
            c2q = attend_in_loops(block.context, context, question, places[0])
            q2c = attend_in_loops(block.question, question, context, places[1])
            context, question = (
                join_in_loops(block.context, context, c2q + local),
                join_in_loops(block.question, question, q2c + local),
            )
        else:
            q2c = attend_in_loops(block.context, question, context, places[1])
            c2q = attend_in_loops(block.question, context, question, places[0])
            context, question = (
                join_in_loops(block.context, context, q2c + local),
                join_in_loops(block.question, question, c2q + local),
            )
    if module.parted:
        context, question = context * masks[1], question * masks[0]
    return torch.cat([context, question], dim=1)


def coattend_in_loops(module: DirectedCoattention, rows, segments) -> torch.Tensor:
    merged = convolve_in_loops(module.merge, streams_in_loops(module, rows, segments))
    if module.skip == "none":
        return merged
    if module.skip == "highway":
        gate = torch.sigmoid(module.gate(rows))
        return gate * merged + (1 - gate) * rows
    if module.skip == "transformer":
        layer = module.path
        query, key, value = layer.attention.qkv(rows).unflatten(1, (3, HEADS, -1)).unbind(1)
        scores = torch.einsum("thk,shk->hts", query, key) / math.sqrt(WIDTH // HEADS)
        mixed = torch.einsum("hts,shk->thk", scores.softmax(-1), value).flatten(1)
        rows = join_in_loops(layer, rows, layer.attention.out(mixed))
    return module.norm(merged + rows)


@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_equations_in_loops(variant):
    module, context = coattention(*variant), context_of(PAIRS, extra=2)
    rows = states(context)
    found, _ = module(rows, context)
    sentences = rows.split([len(row.words) for row in PAIRS])
    wanted = [
        coattend_in_loops(module, own, torch.tensor(row.segments))
        for own, row in zip(sentences, PAIRS)
    ]
    torch.testing.assert_close(found, torch.cat(wanted), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("left", [False, True])
def test_does_not_depend_on_the_batch(variant, left):
    module, context = coattention(*variant), context_of(PAIRS, left=left, extra=3)
    rows = states(context)
    found, _ = module(rows, context)
    sizes = [len(row.words) for row in PAIRS]
    alone = [module(own, context_of([row]))[0] for own, row in zip(rows.split(sizes), PAIRS)]
    torch.testing.assert_close(found, torch.cat(alone), rtol=1e-9, atol=1e-9)


def context_rows_at_every_depth(module, context, rows) -> list[torch.Tensor]:
    """The context's rows of its stream behind every block."""
    sides, depths = Sides.of(context.layout, context.segments), []
    first, second = sides.context.take(rows), sides.question.take(rows)
    for block in module.blocks:
        first, second, _ = block(first, second, sides, None, show=False)
        depths.append(first if len(first) == len(sides.context.rows) else sides.context.take(first))
    return depths


@pytest.mark.parametrize("wiring", WIRINGS)
def test_what_of_the_question_reaches_the_contexts_rows(wiring):
    """With the context's states fixed, ``literal`` gives it nothing, exactly; ``query`` does."""
    module, context = coattention(wiring), context_of(PAIRS)
    question = context.layout.pack(context.segments) == 0
    rows = states(context)
    other = torch.where(question[:, None], states(context, seed=9), rows)
    pairs = zip(*(context_rows_at_every_depth(module, context, r) for r in (rows, other)))
    changes = [float((one - two).abs().max()) for one, two in pairs]
    assert len(changes) == BLOCKS
    if wiring == "literal":
        assert changes == [0.0] * BLOCKS
    else:
        assert min(changes) > 1e-3


@pytest.mark.parametrize("wiring", WIRINGS)
def test_the_question_matters_to_the_result(wiring):
    module, context = coattention(wiring, "none"), context_of(PAIRS)
    question = context.layout.pack(context.segments) == 0
    rows = states(context)
    other = torch.where(question[:, None], states(context, seed=9), rows)
    (one, _), (two, _) = module(rows, context), module(other, context)
    assert (one - two)[~question].abs().max() > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_reach_every_parameter(variant):
    """But for what the published wiring provably loses: the queries of all blocks but the last."""
    module, context = coattention(*variant), context_of(PAIRS)
    found, _ = module(states(context), context)
    (found * states(context, seed=4)).sum().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name  # distributed training wants every one
        lost = variant[0] == "literal" and name.startswith(("blocks.0", "blocks.1"))
        if lost and name.endswith("attention.query.weight"):
            assert not parameter.grad.any(), name
        elif not name.endswith(("attention.key_value.bias", "attention.qkv.bias")):
            assert parameter.grad.any(), name


@pytest.mark.parametrize("wiring", WIRINGS)
def test_gradients_are_right(wiring):
    module, context = coattention(wiring, local="shared"), context_of(PAIRS[1:2])
    rows = states(context).requires_grad_()
    assert torch.autograd.gradcheck(lambda r: module(r, context)[0], (rows,))


@pytest.mark.parametrize("wiring", WIRINGS)
def test_weights_are_those_that_are_used(wiring):
    module, context = coattention(wiring), context_of(PAIRS, extra=1)
    rows = states(context)
    plain, none = module(rows, context)
    shown, weights = module(rows, context, need_weights=True)
    assert none == []
    assert len(weights) == BLOCKS
    torch.testing.assert_close(plain, shown, rtol=1e-9, atol=1e-9)
    sizes = [(row.segments.count(0), row.segments.count(1)) for row in PAIRS]
    width, height = (max(column) for column in zip(*sizes))
    for c2q, q2c in weights:
        assert c2q.shape == (len(PAIRS), HEADS, height, width)
        assert q2c.shape == (len(PAIRS), HEADS, width, height)
        for sentence, (question, passage) in enumerate(sizes):
            ones = torch.ones(HEADS, passage, dtype=torch.float64)
            torch.testing.assert_close(c2q[sentence, :, :passage, :question].sum(-1), ones)
            assert not c2q[sentence, :, passage:].any()
            assert not c2q[sentence, :, :, question:].any()
            ones = torch.ones(HEADS, question, dtype=torch.float64)
            torch.testing.assert_close(q2c[sentence, :, :question, :passage].sum(-1), ones)
    for layer in (module.blocks[0].context, module.blocks[0].question):
        layer.attention.key_value.weight.data *= 3
    _, others = module(rows, context, need_weights=True)
    assert not any(torch.equal(*pair) for pair in zip(weights[0], others[0]))


def test_weights_of_the_contexts_first_token_by_hand():
    module, context = coattention(), context_of(PAIRS[:1])
    rows, first = states(context), PAIRS[0].segments.index(1)
    _, weights = module(rows, context, need_weights=True)
    attention, size = module.blocks[0].context.attention, WIDTH // HEADS
    query = attention.query(rows[first])[:size]
    scores = attention.key_value(rows[:first])[:, :size] @ query / math.sqrt(size)
    torch.testing.assert_close(weights[0][0][0, 0, 0], scores.softmax(0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_dropout_changes_training_alone(variant):
    module = coattention(*variant, dropout=0.3, attention_dropout=0.3)
    context = context_of(PAIRS)
    rows = states(context)
    one, two = (module(rows, context)[0] for _ in range(2))
    assert not torch.equal(one, two)
    one, two = (module.eval()(rows, context)[0] for _ in range(2))
    assert torch.equal(one, two)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_an_accelerators_way_is_the_same(wiring, monkeypatch):
    module, context = coattention(wiring, "transformer"), context_of(PAIRS, extra=2)
    rows = states(context)
    wanted, _ = module(rows, context)
    on_an_accelerator(monkeypatch)
    found, _ = module(rows, context_of(PAIRS, extra=2))
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_each_block_is_worth_two_layers(blocks):
    def count(module):
        return sum(p.numel() for p in module.parameters())

    layer = count(coattention(skip="transformer").path)
    more = count(DirectedCoattention(shape(), blocks + 1)) - count(
        DirectedCoattention(shape(), blocks)
    )
    assert more == 2 * layer


def test_refuses_single_sentences():
    context = context_of(PAIRS)
    with pytest.raises(ValueError, match="no segments"):
        coattention()(states(context), AttentionContext(context.layout))
