"""Checkpoints of a training that was killed at any moment of its saving."""

from __future__ import annotations

import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.execution.checkpoints import mend, strip, updates_of

LAST, BEST = "checkpoint_last.pt", "checkpoint_best.pt"


def state(updates, score, best):
    """Return as much of fairseq's checkpoint as matters here."""
    return {
        "optimizer_history": [{"num_updates": updates}],
        "model": {"w": torch.full((50,), float(updates))},
        "last_optimizer_state": {"m": torch.ones(500)},
        "extra_state": {"val_loss": score, "best": best},
    }


def save(folder, names, made, cut=None):
    """Save a checkpoint as fairseq does: whole under the first name, then copied; stop at a byte.

    Args:
        folder, names: where.
        made: the checkpoint.
        cut: how many bytes of the copies are written before the process is killed.
    """
    torch.save(made, folder / names[0])
    whole = (folder / names[0]).read_bytes()
    for name in names[1:]:
        (folder / name).write_bytes(whole if cut is None else whole[:cut])
        if cut is not None and cut < len(whole):
            return
        cut = None if cut is None else cut - len(whole)


def mended(folder):
    mend(folder / LAST, folder / BEST)
    return updates_of(folder / LAST), updates_of(folder / BEST)


@settings(deadline=None, max_examples=25)
@given(cut=st.integers(0, 12_000), better=st.booleans(), middle=st.booleans())
def test_a_training_killed_while_it_saves_loses_nothing(tmp_path_factory, cut, better, middle):
    folder = tmp_path_factory.mktemp("run")
    save(folder, ["checkpoint_1_2.pt", BEST, LAST], state(2, 0.5, 0.5))
    score = 0.7 if better else 0.3
    names = (["checkpoint_1_4.pt"] if middle else []) + ([BEST] if better else []) + [LAST]
    save(folder, names, state(4, score, 0.7 if better else 0.5), cut)
    assert mended(folder) == (4, 4 if better else 2)
    assert not list(folder.glob(".*"))


def test_a_best_checkpoint_before_its_copies_is_the_best(tmp_path):
    save(tmp_path, [BEST, LAST], state(2, 0.5, 0.5))
    save(tmp_path, ["checkpoint_1_4.pt"], state(4, 0.7, 0.7))
    assert mended(tmp_path) == (4, 4)
    save(tmp_path, ["checkpoint_1_6.pt"], state(6, 0.6, 0.7))
    assert mended(tmp_path) == (6, 4)


def test_an_average_hides_no_checkpoint_that_can_be_gone_on_from(tmp_path):
    save(tmp_path, [BEST], state(4, 0.5, 0.5))
    strip(tmp_path / BEST)
    (tmp_path / BEST).rename(tmp_path / "checkpoint_avg.pt")
    save(tmp_path, ["checkpoint_1_2.pt"], state(2, 0.5, 0.5))
    (tmp_path / LAST).write_bytes(b"PK half a file")
    assert mended(tmp_path) == (2, 2)


def test_a_folder_that_a_killed_training_did_not_finish_goes(tmp_path):
    save(tmp_path, [BEST, LAST], state(2, 0.5, 0.5))
    (tmp_path / ".prepared.tmp12").mkdir()
    (tmp_path / ".prepared.tmp12" / "vocab.txt").touch()
    assert mended(tmp_path) == (2, 2)
    assert not list(tmp_path.glob(".*"))


def test_what_is_whole_stays_and_what_is_none_goes(tmp_path):
    save(tmp_path, [BEST, LAST], state(2, 0.5, 0.5))
    (tmp_path / ".notes.tmpl").touch()  # of the user
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for name in ("checkpoint_best.pt.tmp", ".generate.log.tmp12", "checkpoint_1_3.pt"):
        (tmp_path / name).write_bytes(b"PK half a file")
    mended(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a file"])
def test_nothing_whole_is_a_beginning(tmp_path, content):
    for name in (LAST, BEST):
        (tmp_path / name).write_bytes(content)
    assert mended(tmp_path) == (0, 0)
    assert not list(tmp_path.iterdir())


def test_a_stripped_checkpoint_is_not_gone_on_from(tmp_path):
    save(tmp_path, [BEST], state(4, 0.5, 0.5))
    strip(tmp_path / BEST)
    assert mended(tmp_path) == (0, 4)


def test_a_whole_checkpoint_that_cannot_be_read_stays(tmp_path, monkeypatch):
    save(tmp_path, [BEST, LAST], state(2, 0.5, 0.5))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for error in (RuntimeError("out of memory"), OSError("stale"), pickle.UnpicklingError("")):
        with monkeypatch.context() as patch:
            patch.setattr(torch, "load", lambda *_, error=error, **__: (_ for _ in ()).throw(error))
            with pytest.raises(InputError, match=f"{LAST}: whole, but cannot be read: .*{error}"):
                mended(tmp_path)
    torch.save(print, tmp_path / LAST)  # a class or a function that may not be loaded
    with pytest.raises(InputError, match=f"{LAST}: whole, but cannot be read"):
        updates_of(tmp_path / LAST)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()}.keys() == before.keys()
