"""A run that is stopped and resumed is the run that went straight through, bit for bit."""

from __future__ import annotations

import shutil
from functools import cache

import pytest
from cli.commands import differences, state_of, train, training_state

pytestmark = pytest.mark.slow

# 200 sentences in batches of 40: five batches an epoch, three epochs. Dropout draws random numbers.
RUN = "--batch-size 40 --max-epoch 3 --save-interval-updates 1 --dropout 0.1"
RUN += " --attention-dropout 0.1 --lr-scheduler inverse_sqrt --warmup-updates 4"
FREQUENCIES = {1: 5, 2: 3}  # --update-freq -> updates an epoch


@pytest.fixture(scope="module")
def straight(folder, tmp_path_factory):
    """Make, once for each --update-freq, a run's folder with the checkpoints of all updates."""

    @cache
    def made(frequency):
        save_dir = tmp_path_factory.mktemp(f"straight{frequency}")
        train(folder, save_dir, f"{RUN} --update-freq {frequency}")
        return save_dir

    return made


def checkpoint_of(frequency, update):
    """Name of the checkpoint after an update."""
    epoch, rest = divmod(update, FREQUENCIES[frequency])
    return f"checkpoint{epoch}.pt" if rest == 0 else f"checkpoint_{epoch + 1}_{update}.pt"


def resume(folder, straight, frequency, update, save_dir):
    """Go on from the state after an update; return where the results differ."""
    save_dir.mkdir(exist_ok=True)
    last = save_dir / "checkpoint_last.pt"
    shutil.copy(straight(frequency) / checkpoint_of(frequency, update), last)
    train(folder, save_dir, f"{RUN} --update-freq {frequency}")
    return differences(training_state(straight(frequency) / last.name), training_state(last))


def test_the_comparison_tells_updates_apart(straight):
    last, before = (straight(1) / name for name in ("checkpoint_last.pt", "checkpoint_3_14.pt"))
    found = differences(training_state(last), training_state(before))
    for part in ("/model/", "/optimizer/", "/schedule/", "/extra/", "/meters/"):
        assert any(place.startswith(part) for place in found), part


@pytest.mark.parametrize("update", [2, 5, 8])  # in an epoch, at its end, in the next one
def test_resumed_run_equals_the_straight_one(folder, straight, update, tmp_path):
    assert resume(folder, straight, 1, update, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_resumed_run_equals_the_straight_one_from_every_update(
    folder, straight, frequency, tmp_path
):
    for update in range(1, 3 * FREQUENCIES[frequency]):
        save_dir = tmp_path / str(update)
        assert resume(folder, straight, frequency, update, save_dir) == [], update


def test_run_stopped_by_max_update_goes_on_as_if_it_had_not_stopped(folder, straight, tmp_path):
    options = RUN.replace("--save-interval-updates 1", "")
    train(folder, tmp_path, f"{options} --max-update 7")
    last = tmp_path / "checkpoint_last.pt"
    assert state_of(last)["optimizer_history"][-1]["num_updates"] == 7
    train(folder, tmp_path, options)
    assert state_of(last)["optimizer_history"][-1]["num_updates"] == 15
    assert differences(training_state(straight(1) / last.name), training_state(last)) == []


def test_moving_averages_are_resumed(folder, tmp_path):
    options = "--batch-size 40 --max-epoch 2 --save-interval-updates 1 --store-ema --ema-decay 0.5"
    train(folder, tmp_path / "straight", options)
    (tmp_path / "resumed").mkdir()
    last = tmp_path / "resumed" / "checkpoint_last.pt"
    shutil.copy(tmp_path / "straight" / "checkpoint_2_7.pt", last)
    train(folder, tmp_path / "resumed", options)
    one, other = training_state(tmp_path / "straight" / last.name), training_state(last)
    assert one["extra"]["ema"]
    assert differences(one["model"], one["extra"]["ema"]) != []
    assert differences(one, other) == []
