"""Prepacked linear maps: the maps that they are of, activations included, and gradients still."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from fairseq_plugins.nn import prepacked
from fairseq_plugins.nn.bert import ACTIVATIONS, BertEncoder, BertShape
from fairseq_plugins.nn.prepacked import FUSED, PrepackedLinear, prepack_

pytestmark = pytest.mark.skipif(not prepacked.AVAILABLE, reason="torch has no oneDNN here")


@pytest.mark.parametrize("shape", [(1, 16), (7, 16), (3, 5, 16), (0, 16)])
@pytest.mark.parametrize("activation", [None, *FUSED])
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_the_map_with_its_activation(shape, activation, bias) -> None:
    torch.manual_seed(1)
    linear, rows = nn.Linear(16, 9, bias=bias), torch.randn(shape)
    wanted = copy.deepcopy(linear).double()(rows.double())
    wanted = wanted if activation is None else ACTIVATIONS[activation](wanted)
    with torch.no_grad():
        found = PrepackedLinear(linear).activated(rows, activation)
    torch.testing.assert_close(found.double(), wanted.detach(), rtol=1e-5, atol=1e-6)


def test_its_weights_are_kept_bit_for_bit() -> None:
    linear = nn.Linear(33, 17)
    made = copy.deepcopy(PrepackedLinear(linear))
    assert torch.equal(made.weight, linear.weight)
    assert torch.equal(made.bias, linear.bias)


def test_gradients_pass_and_other_types_are_taken() -> None:
    linear, rows = nn.Linear(8, 3), torch.randn(4, 8, requires_grad=True)
    made = PrepackedLinear(linear)
    (found,) = torch.autograd.grad(made(rows).sum(), rows)
    torch.testing.assert_close(found, linear.weight.sum(0).expand_as(rows))
    with torch.no_grad():
        torch.testing.assert_close(made(rows.double()), linear.double()(rows.double()))


def test_saved_weights_are_those_of_the_map() -> None:
    linear = nn.Linear(8, 3)
    saved = nn.Sequential(PrepackedLinear(linear)).state_dict()
    other = nn.Sequential(nn.Linear(8, 3))
    other.load_state_dict(saved)
    assert torch.equal(other[0].weight, linear.weight)
    assert torch.equal(other[0].bias, linear.bias)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_encoder_answers_as_before(activation, shared) -> None:
    torch.manual_seed(2)
    sizes = {"vocabulary": 20, "hidden": 8, "layers": 2, "heads": 2, "intermediate": 12}
    encoder = BertEncoder(BertShape(**sizes, activation=activation, shared=shared)).eval()
    tokens = torch.randint(1, 20, (3, 6))
    with torch.no_grad():
        wanted = encoder.pool(encoder(tokens))
        assert prepack_(encoder) is encoder
        torch.testing.assert_close(encoder.pool(encoder(tokens)), wanted, rtol=1e-5, atol=1e-6)
    maps = [part for part in encoder.modules() if isinstance(part, PrepackedLinear)]
    assert len(maps) == (4 if shared else 8) + 1
    assert nn.Linear not in {type(part) for part in encoder.modules()}


def test_without_onednn_nothing_changes(monkeypatch) -> None:
    monkeypatch.setattr(prepacked, "AVAILABLE", False)
    model = nn.Sequential(nn.Linear(4, 4))
    assert type(prepack_(model)[0]) is nn.Linear
