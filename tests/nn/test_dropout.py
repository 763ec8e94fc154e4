"""Dropout with bits of our own, and attention with it, against open computations."""

from __future__ import annotations

import pytest
import torch

from fairseq_plugins.nn.attention import GlobalMixer
from fairseq_plugins.nn.dropout import Dropout, factors
from fairseq_plugins.nn.packed_attention import PackedAttention
from fairseq_plugins.nn.packing import BatchLayout


def attend(qkv, blocks, heads, drop):
    """One softmax alone, everything open."""
    return PackedAttention.apply(qkv, None, blocks, [(None,)] * len(blocks), heads, drop, True)


def kept(count, drop):
    return factors(torch.zeros(0, dtype=torch.float64), count, drop)


@pytest.mark.parametrize("drop", [0.1, 0.5, 0.9])
def test_rate_and_expectation_are_those_asked_for(drop):
    torch.manual_seed(1)
    n = 200_000
    share = (kept(n, drop) > 0).double().mean().item()
    assert abs(share - (1 - drop)) < 5 * (drop * (1 - drop) / n) ** 0.5
    values = Dropout(drop)(torch.ones(n))
    assert values.unique().tolist() == pytest.approx([0.0, 1 / (1 - drop)])
    assert values.mean().item() == pytest.approx(1.0, abs=0.03)


def test_neighbours_are_independent():
    torch.manual_seed(2)
    mask = kept(400_000, 0.5) / 2 - 0.5
    for lag in (1, 2, 3, 4, 8):
        assert abs((mask[lag:] * mask[:-lag]).mean().item()) < 0.25 * 5 / 400_000**0.5


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5])
def test_any_number_can_be_drawn(count):
    assert kept(count, 0.5).shape == (count,)


def test_seed_decides_and_evaluation_drops_nothing():
    dropout, values = Dropout(0.3), torch.randn(5, 7)
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        results.append(dropout(values))
    assert torch.equal(*results)
    assert not torch.equal(dropout(values), results[0])
    dropout.eval()
    assert torch.equal(dropout(values), values)
    assert torch.equal(dropout.add(values, values), 2 * values)


@pytest.mark.parametrize(("drop", "share"), [(1e-9, 1.0), (1e-6, 1.0), (1 - 1e-6, 0.0)])
def test_rates_beyond_the_bits_do_not_turn_around(drop, share):
    found = (Dropout(drop)(torch.ones(10_000)) > 0).double().mean().item()
    assert found == pytest.approx(share, abs=0.01)


def test_rate_of_zero_drops_nothing():
    values = torch.randn(4)
    assert torch.equal(Dropout(0.0)(values), values)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, float("nan")])
@pytest.mark.parametrize("module", [Dropout, GlobalMixer])
def test_rates_that_are_none_are_refused(module, rate):
    with pytest.raises(ValueError, match=f"a dropout of {rate} is not between 0 and 1"):
        module(rate)


def test_add_is_addition_of_the_dropped_and_gradients_follow():
    dropout = Dropout(0.4)
    values, change = (torch.randn(6, 5, dtype=torch.float64, requires_grad=True) for _ in "ab")
    torch.manual_seed(4)
    found = dropout.add(values, change)
    torch.manual_seed(4)
    wanted = values + dropout(change)
    torch.testing.assert_close(found, wanted)
    weight = torch.randn_like(found)
    gradients = torch.autograd.grad((found * weight).sum(), (values, change))
    for ours, theirs in zip(
        gradients, torch.autograd.grad((wanted * weight).sum(), (values, change))
    ):
        torch.testing.assert_close(ours, theirs)


def packed(lengths, heads=2, size=3):
    torch.manual_seed(5)
    mask = torch.arange(max(lengths))[None] >= torch.tensor(lengths)[:, None]
    qkv = torch.randn(sum(lengths), 3 * heads * size, dtype=torch.float64, requires_grad=True)
    return qkv, BatchLayout.of(mask).blocks, heads


def openly(qkv, blocks, heads, masks):
    """The same attention by ordinary operations, with given dropout masks."""
    outputs = []
    for block, mask in zip(blocks, masks):
        query, key, value = block.take(qkv).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5).softmax(-1)
        if mask is not None:
            weights = weights * mask.view(weights.shape)
        outputs.append(block.give((weights @ value).transpose(1, 2)).flatten(1))
    return torch.cat(outputs)


@pytest.mark.parametrize("lengths", [[3, 3], [2, 4, 4, 1], [5]])
@pytest.mark.parametrize("drop", [0.0, 0.4])
def test_packed_attention_equals_ordinary_operations(lengths, drop):
    qkv, blocks, heads = packed(lengths)
    torch.manual_seed(6)
    found = attend(qkv, blocks, heads, drop)
    torch.manual_seed(6)
    counts = [heads * b.length * (b.rows.stop - b.rows.start) for b in blocks]
    masks = kept(sum(counts), drop).split(counts) if drop else [None] * len(blocks)
    wanted = openly(qkv, blocks, heads, masks)
    torch.testing.assert_close(found, wanted)
    weight = torch.randn_like(found)
    ours, theirs = (torch.autograd.grad((x * weight).sum(), qkv)[0] for x in (found, wanted))
    torch.testing.assert_close(ours, theirs)
    if drop:
        other = attend(qkv, blocks, heads, drop)
        assert not torch.allclose(other, found)


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_packed_attention_has_the_gradient_of_its_values(drop):
    qkv, blocks, heads = packed([2, 3, 3])

    def mixed(values):
        torch.manual_seed(7)  # the same weights are dropped each time
        return attend(values, blocks, heads, drop)

    assert torch.autograd.gradcheck(mixed, qkv)


def test_packed_attention_takes_rows_and_gradients_that_are_views():
    qkv, blocks, heads = packed([2, 3])
    wide = torch.cat([torch.zeros_like(qkv[:2]), qkv]).detach()
    turned = qkv.detach().T.contiguous().T
    wanted = attend(qkv, blocks, heads, 0.0)
    (gradient,) = torch.autograd.grad(wanted.sum(), qkv)
    for view in (wide[2:], turned):
        view.requires_grad_()
        found = attend(view, blocks, heads, 0.0)
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(torch.autograd.grad(found.sum(), view)[0], gradient)
