"""Which checkpoints are found, and which are refused before anything of them is built."""

from __future__ import annotations

import os
from argparse import Namespace

import pytest
import torch
from prepared_text import batches, examples, prepare, train

from fairseq_plugins.inference.text_checkpoints import check, find_checkpoints, load_models

OURS = {
    "task": {"_name": "text_classification", "data": "data-bin/gone"},
    "model": {"_name": "bert_plain_tiny"},
}


def write(path, cfg=OURS, **more):
    torch.save({"cfg": cfg, "model": {"w": torch.zeros(1)}, **more}, path)
    return path


def test_files_and_folders_are_found(tmp_path):
    for name in ("checkpoint_best.pt", "checkpoint_last.pt"):
        write(tmp_path / name)
    best, last = tmp_path / "checkpoint_best.pt", tmp_path / "checkpoint_last.pt"
    assert find_checkpoints(tmp_path) == [best]
    assert find_checkpoints(str(tmp_path), "checkpoint_last.pt") == [last]
    assert find_checkpoints([tmp_path, last]) == [best, last]
    assert find_checkpoints(f"{tmp_path}{os.pathsep}{last}") == [best, last]


def test_a_path_may_hold_the_mark_between_paths(tmp_path):
    folder = tmp_path / f"lr{os.pathsep}1"
    folder.mkdir()
    assert find_checkpoints(str(write(folder / "a.pt"))) == [folder / "a.pt"]


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing: no such checkpoint or run folder"):
        find_checkpoints(tmp_path / "nothing")
    write(tmp_path / "checkpoint_last.pt")
    with pytest.raises(FileNotFoundError, match=r"no checkpoint_best\.pt; .*: checkpoint_last\.pt"):
        find_checkpoints(tmp_path)
    with pytest.raises(ValueError, match="no checkpoint"):
        find_checkpoints([])


def test_ours_pass(tmp_path):
    assert check(write(tmp_path / "a.pt"))["data"] == "data-bin/gone"


@pytest.mark.parametrize(
    ("cfg", "more"),
    [
        ({**OURS, "model": {"_name": "transformer_lm"}}, {}),
        ({**OURS, "model": {"_name": "syntax_transformer"}}, {}),
        ({**OURS, "task": {"_name": "masked_lm", "data": "x"}}, {}),
        ({**OURS, "task": "text_classification"}, {}),
        (None, {}),
        (Namespace(), {}),
        (OURS, {"args": Namespace(task="translation", arch="transformer_lm")}),
    ],
    ids=["stock model", "translation", "stock task", "text", "nothing", "namespace", "older too"],
)
def test_others_are_refused(tmp_path, cfg, more):
    path = write(tmp_path / "a.pt", cfg, **more)
    with pytest.raises(ValueError, match=r"a\.pt holds model .* of task .*one of ours"):
        check(path)


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_code_is_not_run(tmp_path):
    path = write(tmp_path / "a.pt", evil=Evil(tmp_path / "ran"))
    with pytest.raises(ValueError, match=r"a\.pt: refused: it asks for 'posix\.mkdir'"):
        check(path)
    assert not (tmp_path / "ran").exists()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(b"\x80\x04nothing")
    with pytest.raises(ValueError, match=r"a\.pt"):
        check(path)


def test_the_place_of_a_lost_folder_is_asked_for(tmp_path):
    path = write(tmp_path / "a.pt")
    with pytest.raises(FileNotFoundError, match=r"gone that .*a\.pt was trained on .* --data"):
        load_models([path])
    with pytest.raises(FileNotFoundError, match=r"folder elsewhere is not there"):
        load_models([path], "elsewhere")


def test_tasks_make_no_ensemble(tmp_path):
    other = {**OURS, "task": {"_name": "sequence_labeling", "data": "x"}}
    paths = [write(tmp_path / "a.pt"), write(tmp_path / "b.pt", other)]
    with pytest.raises(ValueError, match=r"a\.pt is of task 'text_.*b\.pt of 'sequence_"):
        load_models(paths)


def test_unknown_options_are_refused(tmp_path):
    path = write(tmp_path / "a.pt")
    with pytest.raises(ValueError, match="'speed' is no option of task .* choices: data"):
        load_models([path], str(tmp_path), speed=9)


def test_a_checkpoint_from_before_an_option_means_what_it_meant(tmp_path):
    """SGNet's layers once let words of a pair see the other sentence, and no option said so."""
    splits = {"train": examples("classes", 40, pairs=True)}
    folder = prepare(tmp_path / "data", "classes", splits, annotations=("pos", "heads"))
    options = "--arch bert_sgnet_tiny --ancestor-layers 2 --ancestor-pairs open --max-update 1 "
    run = train(folder, tmp_path / "run", *options.split(), "--disable-validation")
    state = torch.load(run / "checkpoint_last.pt", weights_only=True)
    generator = torch.Generator().manual_seed(3)
    for value in state["model"].values():
        value += 0.3 * torch.randn(value.shape, generator=generator)
    assert state["cfg"]["model"]["ancestor_pairs"] == "open"
    answers = {}
    for name in ("as it is", "closed", "before"):
        options = state["cfg"]["model"]
        if name == "before":
            del options["ancestor_pairs"]
        elif name == "closed":
            options["ancestor_pairs"] = name
        path = tmp_path / f"{name}.pt"
        torch.save(state, path)
        task, (model,) = load_models([path])
        task.load_dataset("train")
        (batch,) = batches(task, "train", max_sentences=99)
        answers[name] = model(**batch["net_input"])[0]
    assert torch.equal(answers["before"], answers["as it is"])
    assert not torch.allclose(answers["closed"], answers["as it is"], atol=1e-3)
