"""Kinds of models on an accelerator: how they are built, and what is noticed when they differ."""

from __future__ import annotations

import pytest

from benchmarks.gpu.cases import CASES, TINY


@pytest.mark.parametrize("name", CASES)
def test_batch_of_a_case_trains_all_its_parameters(name):
    trial = CASES[name].trial(TINY)
    loss, _ = trial.loss()
    loss.backward()
    gradients = {name: part.grad for name, part in trial.model.named_parameters()}
    assert loss.isfinite()
    assert [name for name, found in gradients.items() if found is None] == []
    dead = {name for name, found in gradients.items() if not found.any()}
    # [CLS] sees all locally, too; see `nn.local_attention` and `nn.coattention`
    assert all(".gate." in name or ".attention.query." in name for name in dead)
