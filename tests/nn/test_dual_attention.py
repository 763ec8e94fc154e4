"""Difference attention: distances against loops, what degenerates and what does not, padding."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from trees import Row, context_of, on_an_accelerator, random_heads

from fairseq_plugins.nn import dual_attention
from fairseq_plugins.nn.attention import GlobalMixer, SelfAttention
from fairseq_plugins.nn.dual_attention import (
    DIFFERENCES,
    DifferenceMixer,
    DualAttention,
    distances,
)
from fairseq_plugins.nn.fusion import GUIDES, AdaptiveFusion, Guide
from fairseq_plugins.nn.local_attention import Gate, LocalMixer
from fairseq_plugins.nn.tree_masks import CrossRule, TreeRule

PAIRS = [
    Row(random_heads(3, 1), random_heads(4, 2), pieces=[[1, 2, 1], [1, 1, 3, 1]]),
    Row(random_heads(2, 3), random_heads(2, 4)),
    Row(random_heads(1, 5), random_heads(5, 6)),
]
SIZES = [len(row.words) for row in PAIRS]
WIDTH, HEADS = 8, 2
LOOPS = {
    "l1": lambda q, k: sum(abs(a - b) for a, b in zip(q, k)),
    "l2": lambda q, k: math.sqrt(sum((a - b) ** 2 for a, b in zip(q, k))),
    "squared": lambda q, k: sum((a - b) ** 2 for a, b in zip(q, k)),
    "signed": lambda q, k: sum(a - b for a, b in zip(q, k)),
}


def layer(
    difference: str = "l1", scope: str = "all", *, dropout: float = 0.0, seed: int = 1, **fusion
) -> SelfAttention:
    torch.manual_seed(seed)
    joined = AdaptiveFusion(WIDTH, guide_dim=3, **fusion)
    dual = DualAttention(DifferenceMixer(difference, scope, dropout), joined, layer=5)
    module = SelfAttention(WIDTH, HEADS, GlobalMixer(dropout), dual=dual).double()
    for parameter in module.parameters():
        parameter.data.normal_(std=0.5)
    return module


def states(seed: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(SIZES), WIDTH, dtype=torch.float64, generator=generator)


def differences(mixer: DifferenceMixer, rows: list[Row] = PAIRS, *, need_weights: bool = False):
    """Mix random queries, keys and values; values (N, D) and weights (B, H, S, S)."""
    count = sum(len(row.words) for row in rows)
    generator = torch.Generator().manual_seed(3)
    qkv = torch.randn(count, 3 * WIDTH, dtype=torch.float64, generator=generator)
    context = replace(context_of(rows), need_weights=need_weights)
    return mixer(qkv, HEADS, qkv[:, :WIDTH], context)


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_distances_equal_loops(difference):
    torch.manual_seed(1)
    query = torch.randn(2, 2, 3, 4, dtype=torch.float64)
    key = torch.randn(2, 2, 5, 4, dtype=torch.float64)
    found = distances(query, key, difference)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in found.shape)).tolist():
        n, h, t, s = place
        wanted = LOOPS[difference](query[n, h, t].tolist(), key[n, h, s].tolist())
        assert found[n, h, t, s].item() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_gradients_of_distances_are_those_of_finite_differences(difference):
    torch.manual_seed(1)
    shapes = ((1, 2, 3, 4), (1, 2, 2, 4))
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda q, k: distances(q, k, difference), given)


def test_distance_of_equal_queries_and_keys_has_finite_gradients():
    for difference in DIFFERENCES:
        same = torch.ones(1, 1, 3, 4, requires_grad=True)
        distances(same, same, difference).sum().backward()
        assert same.grad.isfinite().all()


def test_portions_of_an_accelerator_change_nothing(monkeypatch):
    torch.manual_seed(1)
    query, key = torch.randn(2, 2, 7, 4), torch.randn(2, 2, 5, 4)
    whole = distances(query, key, "l1")
    monkeypatch.setattr(
        dual_attention, "_portions", lambda query, key: query.contiguous().split(2, -2)
    )
    torch.testing.assert_close(distances(query, key, "l1"), whole)


def test_half_precision_sums_in_single():
    torch.manual_seed(1)
    query = torch.randn(1, 2, 4, 64, dtype=torch.float16)
    for difference in DIFFERENCES:
        assert distances(query, query, difference).dtype == torch.float32


def test_autocast_takes_no_digits_from_scores():
    torch.manual_seed(1)
    query, key = torch.randn(2, 1, 2, 4, 64) + 9
    guides = [Guide(64, 64, kind) for kind in GUIDES]
    for work in (
        *(partial(distances, query, key, difference) for difference in DIFFERENCES),
        *(partial(guide._scores, key[:, 0], query[:, 0]) for guide in guides[:1]),
        *(partial(guide._scores, key[:, 0], None) for guide in guides),
    ):
        plain = work()
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(work(), plain)


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_only_the_signed_difference_makes_all_rows_equal(difference):
    mixed, weights = differences(DifferenceMixer(difference), PAIRS[:1], need_weights=True)
    apart = (weights[0] - weights[0, :, :1]).abs().max()
    values = (mixed - mixed[:1]).abs().max()
    if difference == "signed":
        assert apart < 1e-12
        assert values < 1e-12
    else:
        assert apart > 1e-2
        assert values > 1e-2


@pytest.mark.parametrize("difference", DIFFERENCES)
@pytest.mark.parametrize("scope", ["all", "cross"])
def test_values_do_not_depend_on_whether_weights_are_asked_for(difference, scope):
    mixer = DifferenceMixer(difference, scope)
    quick, nothing = differences(mixer)
    shown, weights = differences(mixer, need_weights=True)
    torch.testing.assert_close(quick, shown)
    assert weights.shape == (3, HEADS, max(SIZES), max(SIZES))
    assert nothing is None


def test_greater_distance_gets_more_attention():
    _, weights = differences(DifferenceMixer("l1"), PAIRS[:1], need_weights=True)
    generator = torch.Generator().manual_seed(3)
    qkv = torch.randn(SIZES[0], 3 * WIDTH, dtype=torch.float64, generator=generator)
    query, key = qkv[:, :4], qkv[:, WIDTH : WIDTH + 4]  # of the first head
    far = torch.cdist(query, key, p=1)
    assert torch.equal(weights[0, 0].argsort(-1), far.argsort(-1))


def test_cross_scope_closes_the_own_sentence():
    context = context_of(PAIRS)
    allowed = CrossRule()(context.words, context.segments)
    for b, row in enumerate(PAIRS):
        size = len(row.words)
        for i in range(size):
            for j in range(size):
                special = row.words[i] < 0 or row.words[j] < 0
                assert allowed[b, i, j] == (special or row.segments[i] != row.segments[j])
    _, weights = differences(DifferenceMixer("l1", "cross"), need_weights=True)
    assert (weights[~allowed[:, None].expand_as(weights)] == 0).all()
    row_sums = weights.sum(-1)[~context.layout.padding_mask[:, None].expand(-1, HEADS, -1)]
    torch.testing.assert_close(row_sums, torch.ones_like(row_sums))


def test_signed_rows_of_two_sentences_differ_under_the_cross_scope():
    mixed, _ = differences(DifferenceMixer("signed", "cross"), PAIRS[:1])
    assert (mixed - mixed[:1]).abs().max() > 1e-2


@pytest.mark.parametrize("fusion", [{}, {"guide": "concat", "output": "replace"}])
@pytest.mark.parametrize("difference", ["l1", "signed"])
@pytest.mark.parametrize("scope", ["all", "cross"])
@pytest.mark.parametrize("padded_block", [False, True])
def test_padding_and_company_change_nothing(fusion, difference, scope, padded_block, monkeypatch):
    module, rows = layer(difference, scope, **fusion).eval(), states()
    if padded_block:
        on_an_accelerator(monkeypatch)
    together = module(rows, context_of(PAIRS, extra=2))
    left = module(rows, context_of(PAIRS, left=True))
    alone = [module(part, context_of([row])) for part, row in zip(rows.split(SIZES), PAIRS)]
    torch.testing.assert_close(together, torch.cat(alone))
    torch.testing.assert_close(left, together)


@pytest.mark.parametrize("difference", DIFFERENCES)
@pytest.mark.parametrize("guide", ["additive", "concat"])
def test_permuting_the_tokens_permutes_the_output(difference, guide):
    module, row = layer(difference, guide=guide).eval(), Row(random_heads(6, 1))
    rows = states()[: len(row.words)]
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(4))
    found = module(rows, context_of([row]))
    permuted = module(rows[order], context_of([row]))
    torch.testing.assert_close(permuted, found[order])
    assert (found - found[order]).abs().max() > 1e-2


def test_the_layers_own_attention_may_be_local():
    torch.manual_seed(1)
    local = LocalMixer((TreeRule(1, "none"),), Gate(WIDTH), layer=5)
    dual = DualAttention(DifferenceMixer(), AdaptiveFusion(WIDTH, guide_dim=3), layer=5)
    module = SelfAttention(WIDTH, HEADS, local, dual=dual).double()
    for parameter in module.parameters():
        parameter.data.normal_(std=0.5)
    plain = SelfAttention(WIDTH, HEADS, GlobalMixer(), dual=dual).double()
    plain.load_state_dict(module.state_dict(), strict=False)
    context = context_of(PAIRS)
    found = module(states(), context)
    assert set(context.outputs.gates) == set(context.outputs.fusions) == {5}
    other = plain(states(), context_of(PAIRS))
    assert (found - other).abs().max() > 1e-3
    found.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())


def test_weights_and_gates_are_told():
    module, context = layer().eval(), replace(context_of(PAIRS), need_weights=True)
    module(states(), context)
    (weights,) = context.outputs.weights
    told = context.outputs.differences[5]
    assert told.shape == weights.shape == (3, HEADS, max(SIZES), max(SIZES))
    assert (told - weights).abs().max() > 1e-2
    gates = context.outputs.fusions[5]
    assert gates.shape == (sum(SIZES), 2)
    assert not gates.requires_grad
    assert ((gates > 0) & (gates < 1)).all()
    module(states(), quiet := context_of(PAIRS))
    assert quiet.outputs.differences == {}


def test_dropout_falls_in_training_alone():
    module = layer(dropout=0.5)
    first, second = (module(states(), context_of(PAIRS)) for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    module.eval()
    first, second = (module(states(), context_of(PAIRS)) for _ in range(2))
    assert torch.equal(first, second)
