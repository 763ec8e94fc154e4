"""Checkpoint averaging: the mean, what is kept and dropped, and what is refused."""

from __future__ import annotations

import argparse
import os
import pickle
import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.averaging import (
    average_checkpoints,
    average_states,
    best_checkpoints,
    last_checkpoints,
    read_state,
)


def make_state(value: float, **changes: object) -> dict:
    """Return a small state in fairseq's layout, every weight equal to ``value``."""
    table = torch.full((3, 2), float(value))
    model = {
        "encoder.table": table,
        "decoder.table": table,
        "half": torch.full((2,), value, dtype=torch.float16),
        "steps": torch.tensor(int(10 * value)),
    }
    state = {
        "args": None,
        "cfg": {"model": argparse.Namespace(width=2, seed=value), "checkpoint": {}},
        "model": model,
        "optimizer_history": [{"num_updates": 7}],
        "last_optimizer_state": {"moment": torch.zeros(9)},
        "extra_state": {
            "ema": {key: tensor + 1 for key, tensor in model.items()},
            "epoch": 3,
        },
    }
    return {**state, **changes}


def save(folder: Path, name: str, state: object) -> Path:
    """Store a state and return its path."""
    torch.save(state, folder / name)
    return folder / name


@pytest.fixture
def files(tmp_path) -> list[Path]:
    """Three checkpoints with weights 1, 2 and 6."""
    return [save(tmp_path, f"checkpoint{i}.pt", make_state(v)) for i, v in enumerate((1, 2, 6))]


def test_weights_are_the_mean_and_integers_the_first(files) -> None:
    model = average_states(files)["model"]
    assert torch.equal(model["encoder.table"], torch.full((3, 2), 3.0))
    assert model["encoder.table"].dtype == torch.float32
    assert (model["half"].dtype, model["half"].tolist()) == (torch.float32, [3.0, 3.0])
    assert model["steps"].item() == 10


def test_order_of_inputs_does_not_change_the_mean(files) -> None:
    there, back = average_states(files)["model"], average_states(files[::-1])["model"]
    assert torch.equal(there["encoder.table"], back["encoder.table"])


def test_sum_is_taken_in_double_precision(tmp_path) -> None:
    values = [1.0, 2.0**-24, 2.0**-24, 2.0**-24 + 2.0**-25]
    paths = [
        save(tmp_path, f"{i}.pt", {"model": {"w": torch.tensor([v])}}) for i, v in enumerate(values)
    ]
    expected = torch.tensor([sum(values) / 4], dtype=torch.float64).float()
    single = sum(torch.tensor([v]) for v in values) / 4
    assert torch.equal(average_states(paths)["model"]["w"], expected)
    assert not torch.equal(single, expected)


def test_one_checkpoint_averages_to_itself(files) -> None:
    model = average_states(files[1:2])["model"]
    for key, value in make_state(2)["model"].items():
        assert torch.equal(model[key].to(value.dtype), value)


def test_result_keeps_the_configuration_and_drops_the_run(files, tmp_path) -> None:
    output = tmp_path / "new" / "average.pt"
    average_checkpoints(files, output)
    state = read_state(output)
    assert state["cfg"]["model"] == argparse.Namespace(width=2, seed=1)
    assert "last_optimizer_state" not in state
    assert state["extra_state"] == {"epoch": 3}
    assert state["optimizer_history"] == [{"num_updates": 7}]
    assert [path.name for path in output.parent.iterdir()] == ["average.pt"]


def test_tied_tables_stay_tied_and_untied_ones_apart(files, tmp_path) -> None:
    model = average_states(files)["model"]
    assert model["encoder.table"].data_ptr() == model["decoder.table"].data_ptr()
    other = make_state(6)
    other["model"]["decoder.table"] = torch.zeros(3, 2)
    mixed = average_states([files[0], save(tmp_path, "untied.pt", other)])["model"]
    assert mixed["encoder.table"][0, 0] == 3.5
    assert mixed["decoder.table"][0, 0] == 0.5


def test_ema_weights_are_averaged_instead(files, tmp_path) -> None:
    model = average_states(files, ema=True)["model"]
    assert torch.equal(model["encoder.table"], torch.full((3, 2), 4.0))
    full = make_state(1)
    full["extra_state"]["ema_fp32_params"] = {"half": torch.full((2,), 0.1)}
    precise = average_states([save(tmp_path, "fp32.pt", full)], ema=True)["model"]
    assert torch.equal(precise["half"], torch.full((2,), 0.1))
    without = save(tmp_path, "plain.pt", make_state(1, extra_state={}))
    with pytest.raises(InputError, match=r"plain\.pt: no EMA weights; .*--store-ema"):
        average_states([files[0], without], ema=True)


def test_parts_of_other_kinds_are_as_good_as_none(tmp_path) -> None:
    for part in ("text", ["ema"], {"ema": "text"}, {"ema": {"half": "text"}}):
        path = save(tmp_path, "odd.pt", make_state(1, extra_state=part))
        with pytest.raises(InputError, match=r"odd\.pt: no EMA weights"):
            average_states([path], ema=True)
    for value in ("1.0", "2.0"):
        save(tmp_path, f"checkpoint.best_bleu_{value}000.pt", make_state(1, cfg=["text"]))
    assert "1.0" in best_checkpoints(tmp_path, 1)[0].name


def test_other_models_are_refused_by_name(files, tmp_path) -> None:
    more, shape = make_state(1), make_state(1)
    more["model"]["extra.bias"] = torch.zeros(1)
    shape["model"]["half"] = torch.zeros(5)
    with pytest.raises(InputError, match=r"only .*more\.pt has extra\.bias"):
        average_states([files[0], save(tmp_path, "more.pt", more)])
    with pytest.raises(InputError, match=r"only .*more\.pt has extra\.bias"):
        average_states([tmp_path / "more.pt", files[0]])
    integers = make_state(1)
    integers["model"]["half"] = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(InputError, match=r"\(half: \(2,\) against \(2,\) integers\)"):
        average_states([files[0], save(tmp_path, "integers.pt", integers)])
    with pytest.raises(InputError, match=r"half differ in shape \(half: \(2,\) against \(5,\)\)"):
        average_states([files[0], save(tmp_path, "shape.pt", shape)])


def test_two_averagings_into_one_output_share_no_file(files, tmp_path, monkeypatch) -> None:
    """One begins and ends while the other has half its file written."""
    output, save_whole = tmp_path / "average.pt", torch.save

    def save_in_two_steps(state, path):
        monkeypatch.setattr(torch, "save", save_whole)
        save_whole(state, path)
        begun = path.read_bytes()
        path.write_bytes(begun[:100])
        average_checkpoints(files[2:], output)
        assert read_state(output)["model"]["half"][0] == 6
        assert path.read_bytes() == begun[:100]
        path.write_bytes(begun)

    monkeypatch.setattr(torch, "save", save_in_two_steps)
    average_checkpoints(files[:1], output)
    assert read_state(output)["model"]["half"][0] == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path not in files) == [output.name]


def test_what_a_killed_averaging_leaves_does_not_look_finished(
    files, tmp_path, monkeypatch
) -> None:
    def killed(state, path):
        path.write_bytes(b"half")
        left.append(path)
        raise KeyboardInterrupt

    left: list[Path] = []
    monkeypatch.setattr(torch, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        average_checkpoints(files, tmp_path / "checkpoint7.pt")
    assert not left[0].exists()
    left[0].write_bytes(b"half")  # nobody cleans up after SIGKILL
    assert left[0].name.startswith(".checkpoint7.pt.")
    assert left[0].name not in {path.name for path in tmp_path.glob("*.pt")}
    assert sorted(tmp_path.glob("*.pt")) == files


class Evil:
    """Unpickling this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("place", ["bare", "whole", "model", "namespace", "legacy"])
def test_code_in_a_checkpoint_is_refused_and_not_run(tmp_path, place: str) -> None:
    trap, path = tmp_path / "executed", tmp_path / "evil.pt"
    evil = Evil(trap)
    states = {
        "bare": evil,
        "whole": evil,
        "model": make_state(1, model={"w": evil}),
        "namespace": make_state(1, cfg=argparse.Namespace(width=evil)),
        "legacy": make_state(1, args=evil),
    }
    if place == "bare":
        path.write_bytes(pickle.dumps(evil))
    else:
        torch.save(states[place], path, _use_new_zipfile_serialization=place != "legacy")
    with pytest.raises(InputError, match=r"evil\.pt: refused: ") as caught:
        average_checkpoints([path], tmp_path / "out.pt")
    assert "weights_only" not in str(caught.value)
    assert not trap.exists()
    assert not (tmp_path / "out.pt").exists()
    pickle.loads(pickle.dumps(evil))
    assert trap.exists()  # the trap itself works


def test_what_is_no_checkpoint_is_refused(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        read_state(tmp_path / "absent.pt")
    (tmp_path / "text.pt").write_text("not a checkpoint")
    (tmp_path / "empty.pt").write_bytes(b"")
    whole = save(tmp_path, "whole.pt", make_state(1)).read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    save(tmp_path, "tensor.pt", torch.zeros(3))
    save(tmp_path, "strings.pt", {"model": {"w": "text"}})
    for name in ("text", "empty", "cut", "tensor", "strings"):
        with pytest.raises(InputError, match=rf"{name}\.pt: "):
            read_state(tmp_path / f"{name}.pt")
    with pytest.raises(InputError, match="no checkpoints"):
        average_states([])


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def test_last_checkpoints_are_by_number_not_by_name(tmp_path) -> None:
    touch(tmp_path, "checkpoint2.pt", "checkpoint10.pt", "checkpoint9.pt", "checkpoint_last.pt")
    touch(tmp_path, "checkpoint_best.pt", "checkpoint.best_loss_2.3450.pt", "checkpoint11.pt.tmp")
    assert [p.name for p in last_checkpoints(tmp_path, 2)] == ["checkpoint10.pt", "checkpoint9.pt"]
    with pytest.raises(InputError, match="4 checkpoints by epoch asked for, 3 found"):
        last_checkpoints(tmp_path, 4)
    with pytest.raises(InputError, match="at least 1"):
        last_checkpoints(tmp_path, 0)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        last_checkpoints(tmp_path / "absent", 1)


def test_checkpoints_by_update_and_the_choice_between_kinds(tmp_path) -> None:
    touch(tmp_path, "checkpoint_1_500.pt", "checkpoint_2_1000.pt")
    names = [path.name for path in last_checkpoints(tmp_path, 2)]
    assert names == ["checkpoint_2_1000.pt", "checkpoint_1_500.pt"]
    touch(tmp_path, "checkpoint1.pt")
    with pytest.raises(InputError, match="by epoch and by update"):
        last_checkpoints(tmp_path, 1)
    assert last_checkpoints(tmp_path, 1, kind="epoch")[0].name == "checkpoint1.pt"
    with pytest.raises(InputError, match="choose from epoch, update"):
        last_checkpoints(tmp_path, 1, kind="step")


@pytest.mark.parametrize(("maximise", "expected"), [(True, "31.2"), (False, "7.9")])
def test_best_checkpoints_follow_the_direction_of_the_metric(tmp_path, maximise, expected) -> None:
    options = {"checkpoint": {"maximize_best_checkpoint_metric": maximise}}
    for value in ("7.9", "12.0", "31.2"):
        save(tmp_path, f"checkpoint.best_bleu_{value}000.pt", make_state(1, cfg=options))
    best = best_checkpoints(tmp_path, 2)
    assert expected in best[0].name
    assert "12.0" in best[1].name
    touch(tmp_path, "checkpoint.best_loss_1.0000.pt")
    with pytest.raises(InputError, match=r"several metrics \(bleu, loss\)"):
        best_checkpoints(tmp_path, 1)


def test_loading_here_leaves_plain_loading_as_the_package_allowed_it(files) -> None:
    read_state(files[0])
    torch.load(files[0], weights_only=True)  # a Namespace stays allowed


def test_result_loads_with_fairseq_and_is_the_mean_of_its_models(tmp_path) -> None:
    from fairseq import checkpoint_utils, options
    from fairseq.data import Dictionary
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from fairseq.tasks import setup_task
    from omegaconf import OmegaConf

    for lang in ("en", "de"):
        Dictionary().save(str(tmp_path / f"dict.{lang}.txt"))
    sizes = "--encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --encoder-layers 1 --decoder-layers 1"
    args = options.parse_args_and_arch(
        options.get_training_parser(),
        [str(tmp_path), "--task=translation", "--arch=transformer", "-s=en", "-t=de"]
        + [*sizes.split(), "--share-decoder-input-output-embed"],
    )
    cfg = convert_namespace_to_omegaconf(args)
    task = setup_task(cfg.task)
    models, paths = [], []
    for i in range(2):
        models.append(task.build_model(cfg.model))
        state = {
            "args": None,
            "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
            "model": models[-1].state_dict(),
            "optimizer_history": [
                {"criterion_name": "x", "lr_scheduler_state": {}, "num_updates": 1}
            ],
            "last_optimizer_state": {},
            "extra_state": {"train_iterator": {"epoch": 1}},
        }
        paths.append(save(tmp_path, f"checkpoint{i + 1}.pt", state))
    output = tmp_path / "average.pt"
    average_checkpoints(paths, output)
    (loaded,), _, _ = checkpoint_utils.load_model_ensemble_and_task([str(output)])
    first, second = (model.state_dict() for model in models)
    for key, value in loaded.state_dict().items():
        assert torch.equal(value, ((first[key].double() + second[key].double()) / 2).float())
    assert any(not torch.equal(first[key], second[key]) for key in first)


def test_any_damage_of_the_older_form_is_one_sentence(tmp_path) -> None:
    """A name of a storage in which one byte differs fails by an assertion within torch."""
    path = tmp_path / "old.pt"
    torch.save({"model": {"a": torch.zeros(2)}}, path, _use_new_zipfile_serialization=False)
    content = path.read_bytes()
    (key,) = set(re.findall(rb"X.\x00\x00\x00(\d{6,})", content))
    at = content.rindex(key)
    path.write_bytes(content[:at] + b"x" + content[at + 1 :])
    with pytest.raises(InputError, match=r"old.pt: refused: not readable"):
        read_state(path)


def told_state(dice: random.Random) -> tuple[dict, dict[str, Any]]:
    """Make a checkpoint that says something of its task and data; return what it says as well."""
    told: dict[str, Any] = {"task": dice.choice(["text"] * 9 + ["tags"])}
    for name in ("vocabulary", "words", "labels"):
        told[name] = dice.choice(["a", "文", "", None]) if dice.random() < 0.1 else "same"
    splits = {name: dice.choice("11111112") for name in ("train", "valid") if dice.random() < 0.6}
    told |= {f"data of {name}": digest for name, digest in splits.items()}
    model = {name: told[name] for name in ("vocabulary", "words", "labels")}
    model = argparse.Namespace(**model) if dice.random() < 0.3 else model
    state = make_state(1, cfg={"task": {"_name": told["task"]}, "model": model})
    if dice.random() < 0.2:
        del state["cfg"]["task"]
        state["args"] = argparse.Namespace(task=told["task"])
    state["task_state"] = {"splits": splits, "prepared": "x"}
    if not splits:
        told["prepared folder"] = state["task_state"]["prepared"] = dice.choice("xxxy")
    return state, {name: value for name, value in told.items() if value}


def test_checkpoints_of_other_tasks_or_folders_are_refused(tmp_path) -> None:
    dice, refused = random.Random(19), 0
    for _ in range(150):  # in both orders
        (first, one), (second, other) = told_state(dice), told_state(dice)
        paths = [save(tmp_path, "a.pt", first), save(tmp_path, "b.pt", second)]
        unlike = [name for name in one.keys() & other.keys() if one[name] != other[name]]
        for pair in (paths, paths[::-1]):
            if not unlike:
                assert average_states(pair)["model"]
                continue
            with pytest.raises(InputError, match=f"{pair[0]} and {pair[1]} differ in") as caught:
                average_states(pair)
            assert all(name in str(caught.value) for name in unlike)
        refused += bool(unlike)
    assert 30 < refused < 120


def test_checkpoints_whose_options_are_odd_are_averaged(tmp_path) -> None:
    for odd in (None, [], 3, "x", {"task": torch.ones(2)}, {"task": {"_name": torch.ones(2)}}):
        paths = [save(tmp_path, name, make_state(1, cfg=odd)) for name in ("a.pt", "b.pt")]
        assert average_states(paths)["model"]
