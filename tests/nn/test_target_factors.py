"""Factors of target words against loops over places."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from fairseq_plugins.nn.target_factors import TargetFactors, decided, delayed, factor_losses

SIZES = {"truecase": 7, "morph.Case": 5}


@pytest.fixture
def factors():
    torch.manual_seed(0)
    made = TargetFactors(SIZES, (2, 0), 8, 6).double()
    made.reset_parameters(0.3)
    return made


def test_inputs_are_those_of_the_word_before():
    ids = torch.randint(0, 5, (3, 4, 2))
    found = delayed(ids)
    for row in range(3):
        for place in range(4):
            wanted = ids[row, place - 1] if place else torch.zeros(2).long()
            assert torch.equal(found[row, place], wanted)


def test_losses_are_those_of_a_loop_over_words(factors):
    scores = factors(torch.randn(3, 4, 6).double())
    ids = torch.stack([torch.randint(0, n, (3, 4)) for n in SIZES.values()], dim=-1)
    best = decided(scores)
    for k, (loss, right) in enumerate(factor_losses(scores, ids)):
        wanted, hits = 0.0, 0
        for row in range(3):
            for place in range(4):
                label = int(ids[row, place, k]) - 2  # padding and special come first
                if label >= 0:
                    wanted -= functional.log_softmax(scores[k][row, place].float(), -1)[
                        label
                    ].item()
                    hits += int(best[row, place, k]) == label + 2
        assert loss.item() == pytest.approx(wanted, rel=1e-5)
        assert int(right) == hits


def test_every_parameter_has_a_gradient_and_padding_none(factors):
    data = torch.stack([torch.randint(2, 5, (3, 9)) for _ in range(3)], dim=-1)
    data[0, :3] = 0
    chosen = factors.chosen(data)
    assert torch.equal(chosen, data[..., [2, 0]])
    states = factors.embed(chosen)
    assert torch.equal(states[0, :3], torch.zeros(3, 8).double())
    losses = factor_losses(factors(states[..., :6]), chosen)
    sum(loss for loss, _ in losses).backward()
    for table in factors.embedding.tables.values():
        assert table.weight.grad[2:5, :6].abs().sum(1).gt(0).all()
        assert table.weight.grad[0].eq(0).all()
    for head in factors.heads:
        assert head.weight.grad.abs().sum(1).gt(0).all()
        assert head.bias.grad.ne(0).all()
