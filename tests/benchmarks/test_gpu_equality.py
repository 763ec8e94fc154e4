"""Kinds of models on an accelerator: how they are built, and what is noticed when they differ."""

from __future__ import annotations

import warnings
from unittest import mock

import pytest
import torch

from benchmarks.gpu import equality, method_memory
from benchmarks.gpu.cases import CASES, TINY
from benchmarks.gpu.equality import main, waits
from benchmarks.gpu.figures import read
from benchmarks.gpu.gaps import SINGLE, Gap, compared, computed
from benchmarks.gpu.padded_way import padded
from fairseq_plugins.nn import masks, packed_attention
from fairseq_plugins.nn.packing import BatchLayout


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


@pytest.fixture
def measured(tmp_path):
    """Measure cases here at tiny size; return the status, and figures by their words."""

    def run(*only: str) -> tuple[int, dict[str, dict]]:
        path = tmp_path / "figures.jsonl"
        status = main(["--device", "cpu", "--tiny", "--output", str(path), "--only", *only])
        return status, {line["what"]: line for line in read(path)}

    return run


@pytest.fixture
def quick(monkeypatch):
    """Leave half precision to the slow test."""
    monkeypatch.setattr(equality, "LOW", ())
    monkeypatch.setattr(equality, "train", lambda *how: 0)


@pytest.mark.usefixtures("quick")
def test_both_ways_of_a_processor_are_equal(measured, capsys):
    status, found = measured("SGNet, span")
    assert status == 0, capsys.readouterr().out
    assert found["SGNet, span: packed against padded"]["figure"] < 1e-12
    assert found["SGNet, span: tokens that see nothing, not finite"]["figure"] == 0
    assert found["SGNet, span: host waits"]["figure"] is None


def test_padded_way_is_the_one_of_accelerators():
    layout = BatchLayout.of(torch.tensor([[False, True], [False, False]]))
    with padded():
        told = layout.by_length, torch.zeros(1).device.type
    assert told == (False, "cpu")
    assert layout.by_length


@pytest.mark.slow
def test_every_case_is_equal_both_ways(measured, capsys):
    status, found = measured("")
    assert status == 0, capsys.readouterr().out
    assert all(found[f"{name}: packed against padded"]["figure"] < 1e-9 for name in CASES)


@pytest.mark.usefixtures("quick")
def test_a_kernel_that_errs_a_little_misses_its_bar(measured, monkeypatch, capsys):
    right = packed_attention._used
    monkeypatch.setattr(packed_attention, "_used", lambda *how: right(*how) * 1.0002)
    status, found = measured("WLA")
    assert status == 1
    assert "1 numbers" not in capsys.readouterr().out
    assert found["WLA: packed against padded"]["figure"] > 1e-5


@pytest.mark.usefixtures("quick")
def test_rows_of_nan_are_counted(measured, monkeypatch):
    monkeypatch.setattr(masks.AdditiveMask, "of", lambda allowed, dtype: _bare(allowed, dtype))
    status, found = measured("WLA")
    assert status == 1
    assert found["WLA: tokens that see nothing, not finite"]["figure"] > 0


def _bare(allowed, dtype):
    """A mask that does not care for rows that see nothing."""
    return masks.AdditiveMask(torch.where(allowed, 0.0, -torch.inf).to(dtype))


@pytest.mark.usefixtures("quick")
def test_a_case_that_fails_is_a_missed_bar(measured, monkeypatch):
    monkeypatch.setattr(equality, "computed", mock.Mock(side_effect=RuntimeError("no kernel")))
    status, found = measured("WLA")
    assert status == 1
    assert found["WLA: fails"]["note"] == "RuntimeError: no kernel"


def test_a_gradient_is_compared_with_its_own_size():
    trial = CASES["plain"].trial(TINY)
    reference = computed(trial, "cpu", SINGLE)
    changed = {**reference, "head.out.bias": reference["head.out.bias"] * 1.5}
    gap = compared(changed, reference)
    assert (gap.lost, gap.place) == (0, "head.out.bias")
    assert gap.worst == pytest.approx(0.5)


def test_median_of_draws_is_judged():
    add = mock.Mock()
    gaps = [Gap(0, 0.5, "jump"), Gap(0, 1e-6, "middle"), Gap(0, 1e-7, "least")]
    equality.Report("WLA", add).differs("float32", gaps, "<= 1e-4")
    (what, figure, _), how = add.call_args
    assert (what, figure, how["note"]) == ("WLA: float32", 1e-6, "middle")
    assert how["spread"] == (1e-7, 0.5)


@pytest.mark.filterwarnings("ignore:called")
def test_waits_are_told_by_where_they_are(monkeypatch):
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: None)
    trial, message = CASES["plain"].trial(TINY), "called a synchronizing CUDA operation"
    right = masks.allowed_keys
    monkeypatch.setattr(
        "fairseq_plugins.nn.packing.allowed_keys",
        lambda mask: (warnings.warn(message, stacklevel=1), right(mask))[1],
    )
    with padded():
        (found,) = waits(trial, "cpu").items()
    assert found[0].startswith("fairseq_plugins/nn/packing.py:")
    assert found[1] > 0


def test_memory_is_compared_at_the_batch_that_fits(monkeypatch):
    fits = {"plain": 8, "SLA, dropout mixture": 2}

    def memory(case, sizes, device):
        return 100.0 / sizes.batch if sizes.batch <= fits.get(case.name, 8) else None

    monkeypatch.setattr(method_memory, "memory", memory)
    add = mock.Mock()
    method_memory.memories(TINY, "cuda", add)
    found = {call.args[0]: call for call in add.call_args_list}
    ratio = found["memory of SLA, dropout mixture, S = 512, over plain"]
    assert (ratio.args[1], ratio.kwargs["bar"]) == (1, "<= 1.3")
    assert "2 rows" in ratio.kwargs["note"]
