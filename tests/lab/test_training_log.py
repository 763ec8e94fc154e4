"""Reading fairseq's training log."""

from __future__ import annotations

import json
import math

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.results.training_log import (
    Validation,
    best,
    device,
    gates,
    parameters,
    speed,
    updates_so_far,
    validations,
)


def line(tag, **values):
    record = {"epoch": 1, **{key: str(value) for key, value in values.items()}}
    return f"2026-01-01 10:00:00 | INFO | {tag} | {json.dumps(record)}\n"


def valid(updates, subset="valid", **values):
    named = {f"{subset}_{key}": value for key, value in values.items()}
    return line(subset, **named, **{f"{subset}_num_updates": updates})


def test_validations_are_read_once_each_with_bare_names(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(
        line("train_inner", update=1.0, loss=3, num_updates=5)
        + valid(10, loss=0.5, mcc=0.25, **{"token_f0.5": 0.1})
        + "Traceback\n"
        + valid(20, mcc=0.5, best_mcc=0.5)
        + valid(10, loss=0.4, mcc=0.25)  # a resumed run validates again
        + line("train", train_loss=0.2, train_num_updates=20)
        + "x | INFO | valid | {broken}\n"
    )
    assert validations(path) == [
        Validation(10, {"loss": 0.4, "mcc": 0.25, "token_f0.5": 0.1}),
        Validation(20, {"mcc": 0.5}),
    ]


@pytest.mark.parametrize("value", [None, [1], 1e999, "x"])
def test_what_is_no_number_in_a_log_is_named(tmp_path, value):
    path = tmp_path / "train.log"
    record = json.dumps({"valid_num_updates": value, "loss": "1"})
    path.write_text(f"x | valid | {record}\n")
    with pytest.raises(InputError, match="is no number"):
        validations(path)


def test_further_splits_keep_their_names(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(valid(7, accuracy=0.5) + valid(7, "valid_mismatched", accuracy=0.25))
    assert validations(path) == [
        Validation(7, {"accuracy": 0.5, "valid_mismatched_accuracy": 0.25})
    ]
    path.write_text(valid(7, "test", accuracy=0.75))
    assert validations(path, "test") == [Validation(7, {"accuracy": 0.75})]


def test_best_is_the_last_of_equals_and_may_be_the_lowest():
    found = [Validation(n, {"mcc": value}) for n, value in ((1, 0.2), (2, 0.4), (3, 0.4), (4, 0.1))]
    assert best(found, "mcc", maximize=True).updates == 3
    assert best(found, "mcc", maximize=False).updates == 4
    odd = [Validation(0, {"mcc": math.nan}), *found, Validation(9, {"mcc": -math.inf})]
    assert [best(odd, "mcc", maximize=one).updates for one in (True, False)] == [3, 4]
    assert best(odd[:1], "mcc", maximize=True).updates == 0
    with pytest.raises(InputError, match="no validation has 'f1'; there are mcc"):
        best(found, "f1", maximize=True)
    with pytest.raises(InputError, match="there are none"):
        best([], "f1", maximize=True)


def test_progress_is_read_off_the_end_of_a_growing_log(tmp_path):
    path = tmp_path / "train.log"
    assert updates_so_far(path) == 0
    path.write_text("starting\n")
    assert updates_so_far(path) == 0
    inner = [line("train_inner", update=n, num_updates=n) for n in range(0, 400, 20)]
    path.write_text("".join(inner) + "more\n" + '{"num_upd')
    assert updates_so_far(path) == 380
    path.write_text("".join(inner) + line("train", train_loss=1, train_num_updates=400))
    assert updates_so_far(path) == 400


def test_gates_are_read_by_layer(tmp_path):
    path = tmp_path / "train.log"
    shares = {f"gate_{layer}": layer / 100 for layer in (10, 2, 0)}
    path.write_text(valid(7, mcc=0.5, gate_bias=3, **shares) + valid(9, mcc=0.4))
    found = validations(path)
    assert [*gates(found[0]).items()] == [(0, 0.0), (2, 0.02), (10, 0.1)]
    assert gates(found[1]) == {}


def test_what_a_log_says_of_model_and_machine_is_read(tmp_path):
    path = tmp_path / "train.log"
    assert (parameters(path), device(path), speed(path)) == (0, "cpu", None)
    path.write_text(
        "x | INFO | fairseq_cli.train | num. shared model params: 22,570,381 (num\n"
        "rank   0: capabilities = 9.0 ; total memory = 79.1 GB ; name = H100\n"
        + "".join(line("train_inner", ups=ups) for ups in (0, 4, 8, 6))
    )
    assert (parameters(path), device(path), speed(path)) == (22570381, "H100", 6)
    long = '"num_updates": "' + "9" * 5000
    path.write_text(f'num. shared model params: ,,\n{long}"\nx | valid | {{"a": {"9" * 5000}}}\n')
    assert (parameters(path), updates_so_far(path), validations(path)) == (0, 0, [])
