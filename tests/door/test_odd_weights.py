"""Checkpoints whose names are no text, or whose weights are no numbers, are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from full_disks import full_disk
from inference.test_export import checkpoint
from prepared import config, make_task, prepare, random_pairs

from fairseq_plugins.door.model_trial import try_model
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.averaging import average_checkpoints, average_states
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.text_checkpoints import load_models
from fairseq_plugins.lab.execution.checkpoints import strip
from fairseq_plugins.models.checkpoints import build, read_checkpoint, set_up, task_options

NAMES: list[Any] = [
    0,
    -1,
    10**30,
    1.5,
    True,
    None,
    b"encoder",
    (),
    ("a", 1),
    ("文", "🙂"),
    b"\x1b[",
]
WHOLE = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]
TRIES = 80


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """What checkpoints of a text model and of a translation model hold."""
    root = tmp_path_factory.mktemp("saved")
    path, _ = checkpoint(root)
    folder = prepare(root / "pairs", {"train": random_pairs(20)})
    words = f"{folder} --task syntax_translation --arch syntax_transformer_tiny --optimizer adam"
    cfg = config(*words.split())
    model = make_task(folder).build_model(cfg.model)
    parts = {name: dict(cfg[name]) for name in ("task", "model")}
    pairs = {"cfg": parts, "args": None, "model": model.state_dict()}
    texts = torch.load(path, weights_only=True) | {"last_optimizer_state": {}}
    return {"texts": texts, "pairs": pairs}


def load_pairs(path: Any) -> Any:
    found = read_checkpoint(path)
    return build(found, set_up(task_options(found)))


OPEN: dict[str, Callable] = {"texts": lambda path: load_models([path]), "pairs": load_pairs}


def renamed(state: dict[str, Any], dice: random.Random) -> str:
    """Give a part of a checkpoint, or a parameter, a name that is no text."""
    at = dice.choice([state, state["model"]])
    key = dice.choice([*at]) if at is not state else "last_optimizer_state"
    at[dice.choice(NAMES)] = at.pop(key, None)
    return "is no name, names are text"


def disturbed(state: dict[str, Any], dice: random.Random) -> str:
    name = dice.choice([*state["model"]])
    value = state["model"][name].clone().to(dice.choice([torch.float16, torch.float32]))
    value.view(-1)[dice.randrange(value.numel())] = dice.choice(NO_NUMBERS)
    state["model"][name] = value
    return f"'{name}' holds a value that is no finite number"


@pytest.mark.parametrize("change", [renamed, disturbed])
@pytest.mark.parametrize("kind", OPEN)
def test_what_no_model_has_is_refused(saved, tmp_path, kind, change):
    dice, path = random.Random(21), tmp_path / "a.pt"
    for _ in range(TRIES):
        state = {**saved[kind], "model": dict(saved[kind]["model"])}
        reason = change(state, dice)
        torch.save(state, path)
        with pytest.raises(InputError, match=f"{path}: .*{reason}"):
            OPEN[kind](path)
        if change is renamed:
            with pytest.raises(InputError, match=reason):
                average_states([path])


@pytest.mark.parametrize("kind", OPEN)
def test_whole_numbers_are_no_weights(saved, tmp_path, kind):
    dice, path, weights = random.Random(22), tmp_path / "a.pt", saved[kind]["model"]
    torch.save(saved[kind], path)
    found = OPEN[kind](path)
    model = (found if kind == "pairs" else found[1][0]).to("meta")
    for number in range(TRIES):
        name, form = dice.choice([*weights]), dice.choice(WHOLE)
        changed = {**weights, name: weights[name].to(form)}
        reason = f"'{name}' is of {form}, not of torch.float32"
        with pytest.raises(InputError, match=reason):
            try_model(lambda: model, changed)
        if not number:
            torch.save(saved[kind] | {"model": changed}, path)
            with pytest.raises(InputError, match=f"{path} does not fit its own options: {reason}"):
                OPEN[kind](path)


@pytest.mark.parametrize("kind", OPEN)
def test_every_kind_of_floating_number_is_taken(saved, tmp_path, kind):
    for number in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        weights = {name: value.to(number) for name, value in saved[kind]["model"].items()}
        torch.save(saved[kind] | {"model": weights}, tmp_path / "a.pt")
        assert OPEN[kind](tmp_path / "a.pt")


@pytest.mark.parametrize("most", [0, 100, 3000])
def test_a_full_disk_is_said_and_leaves_nothing(saved, tmp_path, most):
    path, old = tmp_path / "a.pt", tmp_path / "mean.pt"
    torch.save(saved["texts"], path)
    old.write_text("before")
    for write in (lambda: average_checkpoints([path], old), lambda: strip(path)):
        with (
            full_disk(most),
            pytest.raises(OSError, match="could not be written; is the disk full"),
        ):
            write()
    assert {one.name for one in tmp_path.iterdir()} == {"a.pt", "mean.pt"}
    assert old.read_text() == "before"
    assert "last_optimizer_state" in read_checkpoint(path).path.read_bytes().decode("latin-1")


@pytest.mark.parametrize("most", [0, 100, 3000])
def test_a_full_disk_leaves_no_bundle(saved, tmp_path, most):
    torch.save(saved["texts"], tmp_path / "a.pt")
    with full_disk(most), pytest.raises(OSError, match="could not be written|File too large"):
        export_checkpoint(tmp_path / "a.pt", tmp_path / "bundle")
    assert [one.name for one in tmp_path.iterdir()] == ["a.pt"]
