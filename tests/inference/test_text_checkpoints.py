"""Which checkpoints are found, and which are refused before anything of them is built."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.tasks import setup_task
from omegaconf import OmegaConf
from prepared_text import batches, examples, prepare, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.text_checkpoints import (
    check_checkpoint,
    find_checkpoints,
    load_models,
    read_checkpoint,
)

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
    with pytest.raises(
        FileNotFoundError, match="nothing: no such checkpoint, run folder or bundle"
    ):
        find_checkpoints(tmp_path / "nothing")
    write(tmp_path / "checkpoint_last.pt")
    with pytest.raises(FileNotFoundError, match=r"no checkpoint_best\.pt; .*: checkpoint_last\.pt"):
        find_checkpoints(tmp_path)
    with pytest.raises(InputError, match="no checkpoint"):
        find_checkpoints([])


def test_ours_pass(tmp_path):
    assert check_checkpoint(write(tmp_path / "a.pt")).task["data"] == "data-bin/gone"


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
    with pytest.raises(InputError, match=r"a\.pt holds model .* of task .*one of ours"):
        check_checkpoint(path)


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_code_is_not_run(tmp_path):
    path = write(tmp_path / "a.pt", evil=Evil(tmp_path / "ran"))
    with pytest.raises(InputError, match=r"a\.pt: refused: it asks for 'posix\.mkdir'"):
        check_checkpoint(path)
    assert not (tmp_path / "ran").exists()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(b"\x80\x04nothing")
    with pytest.raises(InputError, match=r"a\.pt"):
        check_checkpoint(path)


def test_the_place_of_a_lost_folder_is_asked_for(tmp_path):
    path = write(tmp_path / "a.pt")
    with pytest.raises(FileNotFoundError, match=r"gone that .*a\.pt was trained on .* --data"):
        load_models([path])
    with pytest.raises(FileNotFoundError, match=r"folder elsewhere is not there"):
        load_models([path], "elsewhere")


def test_tasks_make_no_ensemble(tmp_path):
    other = {**OURS, "task": {"_name": "sequence_labeling", "data": "x"}}
    paths = [write(tmp_path / "a.pt"), write(tmp_path / "b.pt", other)]
    with pytest.raises(InputError, match=r"a\.pt is of task 'text_.*b\.pt of 'sequence_"):
        load_models(paths)


def test_unknown_options_are_refused(tmp_path):
    path = write(tmp_path / "a.pt")
    with pytest.raises(InputError, match="'speed' is no option of task .* choices: .*data"):
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


@pytest.mark.parametrize(
    ("task", "arch"),
    [("text_classification", "bert_sla_tiny"), ("syntax_translation", "syntax_transformer_tiny")],
)
def test_dropout_of_older_checkpoints_fell_on_the_mixture(tmp_path, task, arch):
    options = {"task": {"_name": task, "data": "x"}}
    for given, meant in (({}, "mixture"), ({"local_dropout": "separate"}, "separate")):
        path = write(tmp_path / "a.pt", {**options, "model": {"_name": arch, **given}})
        assert read_checkpoint(path).model["local_dropout"] == meant


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("model", "pretrained", "${oc.env:SECRET}", None),  # is not taken at all
        ("model", "labels", "${oc.env:SECRET}", "refers to something else"),
        ("model", "num_hidden_layers", 10**9, "expected at most 1,000"),
        ("model", "hidden_act", ["gelu"], "is of type list, expected one of gelu"),
        ("task", "data", "${oc.env:SECRET}", "refers to something else"),
        ("task", "long_examples", {"_target_": "x"}, "is of type dict, expected one of error"),
        ("task", "positive_label", "${oc.env:SECRET}", "refers to something else"),
        ("task", "user_dir", "/", None),
    ],
)
def test_options_are_a_closed_record(tmp_path, monkeypatch, part, name, value, message):
    monkeypatch.setenv("SECRET", "s3cr3t")
    path = write(tmp_path / "a.pt", {**OURS, part: {**OURS[part], name: value}})
    if message is None:
        found = read_checkpoint(path)
        assert getattr(found, part).get(name) is None
        assert found.model["num_hidden_layers"] == 2  # as the architecture says
        return
    with pytest.raises(InputError, match=rf"a\.pt: option '{name}'.*{message}") as caught:
        check_checkpoint(path)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("options", ['{"a": 1}', "[1]", "[" * 9000, "x"])
def test_labels_that_are_no_list_of_text_are_refused(runs, tmp_path, options):
    state = torch.load(runs / "classes1" / "checkpoint_best.pt", weights_only=True)
    state["cfg"]["model"]["labels"] = options
    torch.save(state, tmp_path / "a.pt")
    with pytest.raises(InputError, match="'labels' is .*, expected a JSON list of text"):
        load_models([tmp_path / "a.pt"])


def test_no_pretrained_directory_of_a_checkpoint_is_opened(runs, tmp_path):
    """Neither by our reader, nor where fairseq reads and asks the task; else it is asked for."""
    state = torch.load(runs / "classes1" / "checkpoint_best.pt", weights_only=True)
    state["cfg"]["model"]["pretrained"] = str(tmp_path / "nowhere")
    torch.save(state, tmp_path / "a.pt")
    task, _ = load_models([tmp_path / "a.pt"])
    checkpoint_utils.load_model_ensemble([str(tmp_path / "a.pt")], task=task)
    with pytest.raises(FileNotFoundError, match="nowhere"):  # the trap works
        task.build_model(OmegaConf.create(state["cfg"]["model"]))


def test_sizes_are_compared_with_the_weights_first(runs, tmp_path):
    state = torch.load(runs / "classes1" / "checkpoint_best.pt", weights_only=True)
    for name, value in (("max_position_embeddings", 10**11), ("intermediate_size", 10**11)):
        changed = {**state["cfg"], "model": {**state["cfg"]["model"], name: value}}
        torch.save({**state, "cfg": changed}, tmp_path / "a.pt")
        with pytest.raises(InputError, match=r"a\.pt does not fit its own options: .*mismatch"):
            load_models([tmp_path / "a.pt"])


def test_what_does_not_fit_the_folder_is_told_of_the_folder(runs, tmp_path):
    """Words of another vocabulary of the same size, also in an ensemble; and what it lacks."""
    path = runs / "classes1" / "checkpoint_best.pt"
    state = torch.load(path, weights_only=True)
    model = state["cfg"]["model"]
    other = shutil.copytree(state["cfg"]["task"]["data"], tmp_path / "other")
    words = (other / "vocab.txt").read_text().split("\n")
    words[-3:-1] = words[-2:-4:-1]
    (other / "vocab.txt").write_text("\n".join(words))
    with pytest.raises(InputError, match="another vocabulary than .*other has: prepare it"):
        load_models([path], str(other))
    torch.save(
        state | {"cfg": {**state["cfg"], "model": {**model, "vocabulary": "0"}}}, other / "a.pt"
    )
    with pytest.raises(InputError, match="another vocabulary"):
        load_models([path, other / "a.pt"])
    load_models([path, path])
    reading = {**model, "features": "pos,lemma", "vocabulary": None}
    torch.save(state | {"cfg": {**state["cfg"], "model": reading}}, other / "b.pt")
    with pytest.raises(InputError, match="was prepared without: prepare it with --layers"):
        load_models([other / "b.pt"])


def test_a_checkpoint_names_no_pipeline(runs, tmp_path):
    state = torch.load(runs / "classes1" / "checkpoint_best.pt", weights_only=True)
    state["cfg"]["task"]["spacy_model"] = "/somewhere"
    torch.save(state, tmp_path / "a.pt")
    for given, expected in (({}, None), ({"spacy_model": "mine"}, "mine")):
        task, _ = load_models([tmp_path / "a.pt"], **given)
        assert task.cfg.spacy_model == expected
    task = setup_task(OmegaConf.create(state["cfg"]["task"]), from_checkpoint=True)
    assert task.cfg.spacy_model is None  # as fairseq's own loader sets it up
    task = setup_task(OmegaConf.create(state["cfg"]["task"]))
    assert task.cfg.spacy_model == "/somewhere"  # as a command line does
