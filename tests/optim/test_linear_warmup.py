"""The straight-line schedule, update by update."""

from __future__ import annotations

import math

import pytest
import torch
from fairseq.optim.lr_scheduler import LR_SCHEDULER_REGISTRY
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.optim import BertAdamW, LinearWarmupSchedule
from fairseq_plugins.optim.bert_adamw import BertAdamWConfig
from fairseq_plugins.optim.linear_warmup import LinearWarmupConfig


def schedule(
    total: int | None, ratio: float = 0.1, end: float = 0.0, lr=(2e-5,), max_update: int = 0
) -> LinearWarmupSchedule:
    parameter = torch.nn.Parameter(torch.zeros(2, 2))
    adam = BertAdamW(BertAdamWConfig(lr=list(lr)), [parameter])
    cfg = LinearWarmupConfig(
        warmup_ratio=ratio,
        end_learning_rate=end,
        total_num_update=total,
        max_update=max_update,
        lr=list(lr),
    )
    return LinearWarmupSchedule(cfg, adam)


@pytest.mark.parametrize(("total", "ratio"), [(1, 0.1), (7, 0.0), (50, 0.1), (33, 0.25), (5, 1.0)])
def test_rates_equal_those_of_transformers(total, ratio):
    transformers = pytest.importorskip("transformers")
    ours = schedule(total, ratio)
    adam = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=2e-5)
    theirs = transformers.get_linear_schedule_with_warmup(adam, math.ceil(ratio * total), total)
    for number in range(total + 3):
        assert ours.step_update(number) == pytest.approx(adam.param_groups[0]["lr"], abs=1e-12)
        assert {g["lr"] for g in ours.optimizer.param_groups} == {ours.optimizer.get_lr()}
        adam.step()
        theirs.step()


@given(st.integers(1, 500), st.floats(0, 1), st.floats(0, 1e-5))
def test_rate_rises_to_the_peak_and_falls_to_the_end(total, ratio, end):
    ours = schedule(total, ratio, end)
    rates = [ours.rate(number) for number in range(total + 1)]
    warmup = math.ceil(ratio * total)
    assert max(rates) <= 2e-5 * (1 + 1e-12)
    assert rates[:warmup] == sorted(rates[:warmup])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)
    assert rates[warmup] == pytest.approx(2e-5 if warmup < total else end)
    assert rates[-1] == pytest.approx(end)
    assert ours.rate(total + 10) == pytest.approx(end)


def test_first_rate_is_set_at_once():
    assert schedule(10, 0.5).optimizer.get_lr() == 0.0
    assert schedule(10, 0.0).optimizer.get_lr() == 2e-5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"total": None}, "--max-update"),
        ({"total": 0}, "--max-update"),
        ({"total": 9, "ratio": 1.5}, "--warmup-ratio 1.5"),
        ({"total": 9, "lr": (1e-5, 2e-5)}, "takes one --lr"),
    ],
)
def test_schedule_names_what_is_wrong(options, message):
    with pytest.raises(InputError, match=message):
        schedule(**options)


def test_length_is_max_update_unless_another_is_given():
    assert schedule(None, max_update=20).rate(15) == schedule(20).rate(15)
    assert schedule(30, max_update=20).rate(15) == schedule(30).rate(15) != schedule(20).rate(15)


def test_schedule_is_registered():
    assert LR_SCHEDULER_REGISTRY["linear_warmup"] is LinearWarmupSchedule
