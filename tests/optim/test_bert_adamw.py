"""AdamW that leaves biases and LayerNorm alone."""

from __future__ import annotations

import copy
from argparse import ArgumentParser

import pytest
import torch
from fairseq.optim import OPTIMIZER_REGISTRY, FP16Optimizer, build_optimizer
from fairseq.optim.adam import Adam
from fairseq.optim.fp16_optimizer import MemoryEfficientFP16Optimizer
from omegaconf import OmegaConf
from torch import nn

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.layer_depths import ABOVE
from fairseq_plugins.optim import BertAdamW
from fairseq_plugins.optim.bert_adamw import BertAdamWConfig


def model() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 2))


def optimizer(net: nn.Module, **options) -> BertAdamW:
    cfg = OmegaConf.structured(BertAdamWConfig(lr=[0.1]))
    cfg._name = "bert_adamw"
    cfg.update(options)
    return build_optimizer(cfg, list(net.parameters()))


def steps(net: nn.Module, ours, count: int, zero: bool = False) -> list[torch.Tensor]:
    for number in range(count):
        torch.manual_seed(number)
        ours.zero_grad()
        loss = net(torch.randint(7, (5,))).square().sum() * (0 if zero else 1)
        ours.backward(loss)
        ours.step()
    return [p.detach().clone() for p in net.parameters()]


def test_weight_decay_shrinks_matrices_only():
    net = model()
    before = [p.detach().clone() for p in net.parameters()]
    nn.init.constant_(net[1].bias, 3.0)
    before[2] = net[1].bias.detach().clone()
    after = steps(net, optimizer(net, weight_decay=0.5), 1, zero=True)
    for old, new in zip(before, after):
        if old.ndim >= 2:
            torch.testing.assert_close(new, old * (1 - 0.1 * 0.5))
        else:
            assert torch.equal(new, old)


def test_step_equals_fairseqs_adam_without_decay_and_moves():
    ours, theirs = model(), model()
    start = [p.detach().clone() for p in ours.parameters()]
    moved = steps(ours, optimizer(ours, weight_decay=0.0), 5)
    reference = Adam(theirs.parameters(), lr=0.1)
    for number in range(5):
        torch.manual_seed(number)
        reference.zero_grad()
        theirs(torch.randint(7, (5,))).square().sum().backward()
        reference.step()
    for one, other in zip(moved, theirs.parameters()):
        torch.testing.assert_close(one, other.detach(), atol=1e-3, rtol=0)  # eps differs
    assert not torch.equal(moved[0], start[0])


@pytest.mark.parametrize("name", ["fused", "foreach"])
def test_resumed_steps_equal_straight_ones_whatever_the_checkpoint_used(name, tmp_path):
    straight = model()
    whole = steps(straight, optimizer(straight), 4)
    net = model()
    first = optimizer(net)
    steps(net, first, 2)
    state = copy.deepcopy(first.state_dict())
    for group in state["param_groups"]:
        group.update(fused=name == "fused", foreach=name == "foreach")
    torch.save(state, tmp_path / "state.pt")
    second = optimizer(net)
    second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert [group["fused"] for group in second.param_groups] == [True, True]
    for number in (2, 3):
        torch.manual_seed(number)
        second.zero_grad()
        second.backward(net(torch.randint(7, (5,))).square().sum())
        second.step()
    for one, other in zip(whole, net.parameters()):
        assert torch.equal(one, other.detach())


RATES = {"layer_lr_decay": 0.5, "weight_decay": 0.1}


def layers() -> nn.Module:
    """Return embeddings, a layer and a head in float64, marked as in an encoder of one layer."""
    net = model().double()
    for above, number in ((2, 0), (1, 1), (1, 2)):
        for weight in net[number].parameters():
            setattr(weight, ABOVE, above)
    return net


def test_lower_layers_learn_more_slowly_as_the_formula_says():
    net = layers()
    ours, own = optimizer(net, **RATES), [p.detach().clone() for p in net.parameters()]
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in own]
    for step, rate in ((1, 0.1), (2, 0.03)):
        ours.set_lr(rate)
        assert ours.get_lr() == rate
        torch.manual_seed(step)
        ours.zero_grad()
        ours.backward(net(torch.randint(7, (5,))).square().sum())
        for weight, copy_, (first, second) in zip(net.parameters(), own, moments):
            lr = rate * 0.5 ** getattr(weight, ABOVE, 0)
            first += 0.1 * (weight.grad - first)
            second += 0.001 * (weight.grad**2 - second)
            copy_ *= 1 - lr * (0.1 if weight.ndim > 1 else 0)
            corrected = first / (1 - 0.9**step), second / (1 - 0.999**step)
            copy_ -= lr * corrected[0] / (corrected[1].sqrt() + 1e-8)
        ours.step()
    for weight, copy_ in zip(net.parameters(), own):
        torch.testing.assert_close(weight.detach(), copy_)


def test_a_checkpoint_of_other_groups_is_refused():
    plain = optimizer(layers()).state_dict()
    with pytest.raises(InputError, match="--layer-lr-decay 0.5: .* other groups of layers"):
        optimizer(layers(), **RATES).load_state_dict(plain)


def test_a_resumed_training_takes_its_own_rates():
    ours = optimizer(layers(), layer_lr_decay=0.9)
    ours.load_state_dict(optimizer(layers(), **RATES).state_dict())
    ours.set_lr(1.0)
    assert [group["lr"] for group in ours.param_groups[::2]] == [1.0, 0.9, 0.9**2]
    assert [group["weight_decay"] for group in ours.param_groups] == [0.1, 0.0] * 3


def test_models_without_layers_have_no_rates_by_layer():
    with pytest.raises(InputError, match="--layer-lr-decay 0.5 finds no encoder layers"):
        optimizer(model(), **RATES)
    with pytest.raises(InputError, match="--layer-lr-decay 1.5: must be from 0 to 1"):
        optimizer(layers(), layer_lr_decay=1.5)


def test_overridden_decay_stays_off_biases():
    net = model()
    ours = optimizer(net)
    steps(net, ours, 1)
    ours.load_state_dict(ours.state_dict(), {"weight_decay": 0.3, "lr": 0.7})
    assert [group["weight_decay"] for group in ours.param_groups] == [0.3, 0.0]
    assert [group["lr"] for group in ours.param_groups] == [0.7, 0.7]


def test_flattened_parameters_are_refused_with_the_cure(monkeypatch):
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    cfg = OmegaConf.create({"common": {"fp16_no_flatten_grads": False}})
    cfg.optimizer = OmegaConf.structured(BertAdamWConfig(lr=[0.1]))
    cfg.optimizer._name = "bert_adamw"
    with pytest.raises(InputError, match="--fp16-no-flatten-grads"):
        FP16Optimizer.build_optimizer(cfg, list(model().parameters()))


@pytest.mark.parametrize("bf16", [False, True])
def test_moments_of_half_precision_are_refused_with_the_cure(bf16):
    cfg = OmegaConf.create({"common": {"fp16_no_flatten_grads": False, "bf16": bf16}})
    cfg.optimizer = OmegaConf.structured(BertAdamWConfig(lr=[0.1]))
    cfg.optimizer._name = "bert_adamw"
    with pytest.raises(InputError, match="give --fp16 --fp16-no-flatten-grads"):
        MemoryEfficientFP16Optimizer.build_optimizer(cfg, list(model().half().parameters()))


@pytest.mark.parametrize("betas", ["(0.9,)", "0.9", "(0.9, 1.0)", "x", "(0.9, -0.1)"])
def test_betas_that_are_no_pair_are_refused(betas):
    with pytest.raises(InputError, match="--adam-betas"):
        optimizer(model(), adam_betas=betas)


@pytest.mark.parametrize("betas", ["(0.8, 0.9)", [0.8, 0.9]])
def test_betas_are_read_from_text_and_numbers(betas):
    assert optimizer(model(), adam_betas=betas).param_groups[0]["betas"] == (0.8, 0.9)


def test_command_line_has_the_names_of_adam():
    parser = ArgumentParser()
    OPTIMIZER_REGISTRY["bert_adamw"].add_args(parser)
    given = parser.parse_args(
        ["--adam-betas", "(0.8, 0.9)", "--adam-eps", "1e-6", "--weight-decay", "0.1"]
    )
    assert (given.adam_betas, given.adam_eps, given.weight_decay) == ("(0.8, 0.9)", 1e-6, 0.1)
