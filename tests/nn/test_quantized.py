"""Linear maps in 8 bits: near the maps that they are of, with whole numbers as weights."""

from __future__ import annotations

import copy
import io

import pytest
import torch
from torch import nn

from fairseq_plugins.nn import quantized
from fairseq_plugins.nn.quantized import LEVELS, QuantizedLinear, quantize_


def by_hand(linear: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """The rounded weights, multiplied in float64."""
    weight = linear.weight.detach().double()
    scale = weight.abs().amax(1, keepdim=True) / LEVELS
    return nn.functional.linear(
        rows.double(), (weight / scale).round() * scale, linear.bias.detach().double()
    )


@pytest.mark.parametrize("fast", sorted({False, quantized.FAST}))
@pytest.mark.parametrize("shape", [(7, 16), (3, 5, 16)])
def test_it_is_near_the_map_and_nearer_its_rounded_weights(shape, fast, monkeypatch) -> None:
    monkeypatch.setattr(quantized, "FAST", fast)
    torch.manual_seed(1)
    linear, rows = nn.Linear(16, 9), torch.randn(shape)
    found = QuantizedLinear.of(linear)(rows)
    assert found.shape == (*shape[:-1], 9)
    # inputs are rounded to 8 or 7 bits: half a step of their range, by 16 weights
    step = (rows.max() - rows.min()) / (255 if fast else 127)
    bound = float(step / 2 * linear.weight.detach().abs().sum(1).max())
    assert (found - by_hand(linear, rows)).abs().max() <= bound
    exact = linear(rows)
    assert not torch.equal(found, exact)
    assert (found - exact).abs().max() < 0.1 * exact.abs().max()


def test_torchs_engine_stays_what_it_was() -> None:
    before = torch.backends.quantized.engine
    QuantizedLinear.of(nn.Linear(4, 3))(torch.randn(5, 4))
    assert torch.backends.quantized.engine == before


def test_a_row_of_zeros_stays_zero() -> None:
    linear = nn.Linear(4, 3)
    nn.init.zeros_(linear.weight)
    found = QuantizedLinear.of(linear)(torch.randn(5, 4))
    torch.testing.assert_close(found, linear.bias.detach().expand(5, 3))


def test_without_bias() -> None:
    torch.manual_seed(2)
    linear = nn.Linear(8, 3, bias=False)
    made = QuantizedLinear.of(linear)
    assert made.bias is None
    assert not made(torch.zeros(2, 8)).any()
    assert made(torch.randn(2, 8)).any()


def test_saved_and_loaded_it_gives_the_same() -> None:
    torch.manual_seed(3)
    made, rows = QuantizedLinear.of(nn.Linear(8, 6)), torch.randn(4, 8)
    wanted = made(rows)
    other = QuantizedLinear(8, 6)
    assert not torch.equal(other(rows), wanted)  # packed before it is filled
    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(rows), wanted)
    assert torch.equal(copy.deepcopy(made)(rows), wanted)
    assert other.weight.dtype == torch.int8


def test_all_maps_of_a_model_are_replaced_and_shared_ones_stay_shared() -> None:
    inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    model = nn.ModuleDict({"a": inner, "b": nn.Sequential(nn.Linear(4, 4))})
    model["b"].__dict__["unregistered"] = inner[0]
    model["c"] = inner
    rows = torch.randn(3, 4)
    wanted = model["a"](rows)
    assert quantize_(model) is model
    kinds = {type(part) for part in model.modules()}
    assert nn.Linear not in kinds
    assert QuantizedLinear in kinds
    assert model["b"].unregistered is model["a"][0] is model["c"][0]
    torch.testing.assert_close(model["a"](rows), wanted, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf])
def test_what_is_no_number_is_refused(wrong) -> None:
    made, rows = QuantizedLinear.of(nn.Linear(8, 6)), torch.randn(4, 8)
    rows[1, 2] = wrong
    with pytest.raises(ValueError, match="what is no number"):
        made(rows)
