"""Setting the text tasks up: what does not fit is refused with a clear sentence."""

from __future__ import annotations

import json
import shutil

import pytest
from fairseq.tasks import setup_task
from omegaconf import OmegaConf
from prepared_text import (
    LABELS,
    SIZES,
    VOCABULARY,
    arguments,
    config,
    examples,
    make_model,
    make_task,
    prepare,
)

from fairseq_plugins.errors import InputError
from fairseq_plugins.models._bert_config import BertConfig


def test_task_of_a_folder(folders, kind):
    task = make_task(folders[kind])
    assert task.manifest.labels == LABELS[kind]
    assert list(task.source_dictionary.symbols) == VOCABULARY
    assert task.target_dictionary is None


def test_folder_of_the_other_task_is_refused(folders):
    for kind, other in (("classes", "sequence_labeling"), ("errors", "text_classification")):
        with pytest.raises(InputError, match=f"was prepared for --task .*, not for --task {other}"):
            set_up(folders[kind], other)


def set_up(folder, name):
    return setup_task(OmegaConf.create({"_name": name, "data": str(folder)}))


def test_unprepared_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="manifest.json is missing"):
        set_up(tmp_path, "text_classification")


@pytest.mark.parametrize(
    "name", ["vocab.txt", "labels.txt", "train.tokens0.idx", "train.label.bin"]
)
def test_incomplete_folder_is_refused(tmp_path, name):
    folder = prepare(tmp_path, "classes", {"train": examples("classes", 3)})
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} is missing; prepare the folder again"):
        make_task(folder)


def test_changed_files_are_refused(tmp_path):
    folder = prepare(tmp_path, "classes", {"train": examples("classes", 3)})
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["splits"]["train"]["examples"] = 4
    (folder / "manifest.json").write_text(json.dumps(manifest))
    task = make_task(folder)
    make_model(task)
    with pytest.raises(InputError, match="has 3 examples, but the manifest says 4"):
        task.load_dataset("train")
    (folder / "labels.txt").write_text("yes\nno\n")
    with pytest.raises(InputError, match="labels.txt and the manifest disagree"):
        make_task(folder)


def test_positive_label(folders):
    assert make_task(folders["classes"]).positive == "yes"
    assert make_task(folders["classes"], positive_label="no").positive == "no"
    with pytest.raises(
        ValueError, match="--positive-label 'maybe' is no label .* choices: no, yes"
    ):
        make_task(folders["classes"], positive_label="maybe")
    with pytest.raises(InputError, match="choices: none, it holds scores"):
        make_task(folders["score"], positive_label="yes")


def test_models_of_others_are_refused(folders):
    task = make_task(folders["classes"])
    for name in ("transformer", "transformer_lm", "nonsense"):
        with pytest.raises(
            ValueError, match=f"does not take --arch {name}; choices: .*bert_plain,"
        ):
            task.build_model(OmegaConf.create({"_name": name}))


def test_checkpoint_of_other_labels_is_refused(folders, tmp_path):
    saved = saved_config(folders["classes"])
    make_task(folders["classes"]).build_model(saved, from_checkpoint=True)
    other = prepare(tmp_path, "classes", {"train": examples("classes", 3)}, labels=["yes", "no"])
    with pytest.raises(InputError, match=r"trained for classes \(no, yes\), but .* \(yes, no\)"):
        make_task(other).build_model(saved, from_checkpoint=True)
    with pytest.raises(InputError, match=r"trained for classes \(no, yes\), but .* has score"):
        make_task(folders["score"]).build_model(saved, from_checkpoint=True)


def test_checkpoint_that_compares_pairs_is_refused_single_sentences(folders, tmp_path):
    pairs = prepare(tmp_path, "classes", {"train": examples("classes", 3, pairs=True)})
    for arch in ("dabert_tiny", "bert_plain_tiny"):
        saved = saved_config(pairs, arch)
        make_task(pairs).build_model(saved, from_checkpoint=True)
        if arch == "bert_plain_tiny":
            make_task(folders["classes"]).build_model(saved, from_checkpoint=True)
        else:
            message = f"two sentences of a pair, but {folders['classes']} has single sentences"
            with pytest.raises(InputError, match=message):
                make_task(folders["classes"]).build_model(saved, from_checkpoint=True)


def saved_config(folder, arch="bert_plain_tiny", **given):
    """Return the model's options as a checkpoint holds them."""
    cfg = OmegaConf.structured(BertConfig(**{**SIZES, **given}))
    cfg._name = arch
    make_task(folder).build_model(cfg)
    return OmegaConf.create(OmegaConf.to_container(cfg, enum_to_str=True))


def test_checkpoint_needs_no_pretrained_directory(folders):
    saved = saved_config(folders["classes"])
    saved.pretrained = "/nowhere/at/all"
    task = make_task(folders["classes"])
    assert task.build_model(saved, from_checkpoint=True) is not None
    with pytest.raises((FileNotFoundError, ValueError), match="/nowhere/at/all"):
        make_model(task, pretrained="/nowhere/at/all")


@pytest.mark.parametrize(("features", "warned"), [("pos", True), ("none", False)])
def test_other_annotator_is_told_once(folders, tmp_path, caplog, features, warned):
    saved = saved_config(folders["classes"], "bert_pos_tiny", features=features)
    splits = {"train": examples("classes", 3)}
    other = prepare(tmp_path, "classes", splits, annotator={"name": "toy", "version": "2"})
    for folder, expected in ((folders["classes"], 0), (other, int(warned))):
        task = make_task(folder)
        caplog.clear()
        for _ in range(2):
            task.build_model(saved.copy(), from_checkpoint=True)
        found = [r for r in caplog.records if "ANOTHER ANNOTATOR" in r.getMessage()]
        assert len(found) == expected


@pytest.mark.parametrize(
    ("features", "warned"), [("pos", True), ("subword", True), ("none", False)]
)
def test_words_that_were_cut_otherwise_are_told_once(folders, tmp_path, caplog, features, warned):
    """Of a model that reads something of words; one of an older release does not know its own."""
    saved = saved_config(folders["classes"], "bert_pos_tiny", features=features)
    other = shutil.copytree(folders["classes"], tmp_path / "other")
    path = other / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tokenize": "spacy"}))
    older = OmegaConf.merge(saved, {"cutting": None})
    cases = ((folders["classes"], saved, 0), (other, saved, int(warned)), (other, older, 0))
    for folder, cfg, expected in cases:
        task = make_task(folder)
        caplog.clear()
        for _ in range(2):
            task.build_model(cfg.copy(), from_checkpoint=True)
        found = [r.getMessage() for r in caplog.records if "OTHER WORDS" in r.getMessage()]
        assert len(found) == expected
    assert all("by --tokenize whitespace, those of" in text for text in found)


def test_ensemble_of_different_features_is_refused(folders):
    task = make_task(folders["classes"])
    make_model(task, "bert_pos_tiny")
    make_model(task, "bert_pos_tiny")
    with pytest.raises(InputError, match="same features, not pos and none"):
        make_model(task, "bert_plain_tiny")


def build_criterion(folder, name=None, **given):
    task = make_task(folder, **given)
    return task.build_criterion(OmegaConf.create({"_name": name or task.NAME}))


def test_criterion_is_the_tasks_own(folders):
    assert build_criterion(folders["errors"]).NAME == "sequence_labeling"
    for name in ("cross_entropy", "text_classification"):
        with pytest.raises(InputError, match=f"needs --criterion sequence_labeling, not .* {name}"):
            build_criterion(folders["errors"], name)


def test_best_metric_has_to_be_computed(folders, tmp_path):
    options = {"maximize_best_checkpoint_metric": True}
    build_criterion(folders["classes"], best_checkpoint_metric="f1", **options)
    with pytest.raises(InputError, match="pearson is not computed .* choices: loss, accuracy"):
        build_criterion(folders["classes"], best_checkpoint_metric="pearson")
    splits = {"train": examples("classes", 3)}
    folder = prepare(tmp_path, "classes", splits, positive="")
    with pytest.raises(
        InputError, match="choices: loss, accuracy, macro_f1, mcc, weighted_f1; f1 is that of"
    ):
        build_criterion(folder, best_checkpoint_metric="f1")


@pytest.mark.parametrize(
    ("metric", "maximize", "refused"),
    [("loss", False, ""), ("loss", True, "without"), ("mcc", False, "with"), ("mcc", True, "")],
)
def test_misread_best_metric_is_refused(folders, metric, maximize, refused):
    options = {"best_checkpoint_metric": metric, "maximize_best_checkpoint_metric": maximize}
    if not refused:
        build_criterion(folders["classes"], **options)
    else:
        with pytest.raises(InputError, match=f"{metric} goes {refused} --maximize-best-checkpoint"):
            build_criterion(folders["classes"], **options)


def test_command_line_reaches_the_options(folders, tmp_path):
    words = "--max-positions 40 --long-examples truncate --batch-order length --positive-label no"
    cfg = config(*arguments(folders["classes"], tmp_path, *words.split()))
    assert cfg.task._name == cfg.criterion._name == "text_classification"
    assert (cfg.task.max_positions, cfg.task.long_examples) == (40, "truncate")
    assert (cfg.task.batch_order, cfg.task.positive_label) == ("length", "no")
    assert (cfg.task.train_subset, cfg.task.best_checkpoint_metric) == ("train", "loss")
    assert cfg.task.maximize_best_checkpoint_metric is False
    cfg = config(*arguments(folders["errors"], tmp_path))
    assert (cfg.task.long_examples, cfg.task.batch_order) == ("split", "random")


@pytest.mark.parametrize("name", ["fp16", "bf16", "amp"])
def test_autocast_beside_other_half_precision_is_refused(folders, tmp_path, name):
    words = arguments(folders["classes"], tmp_path, f"--{name}", "--autocast", "bfloat16")
    message = f"--autocast bfloat16 and --{name} exclude each other"
    with pytest.raises(InputError, match=message):
        setup_task(config(*words).task)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["--fp16 --fp16-no-flatten-grads", "--memory-efficient-fp16", "--amp", "--autocast bfloat16"],
)
def test_either_of_them_alone_is_taken(folders, tmp_path, words):
    setup_task(config(*arguments(folders["classes"], tmp_path, *words.split())).task)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--fp16", "--fp16 on a CPU needs --fp16-no-flatten-grads or"),
        ("--bf16", "mean a TPU to fairseq, and torch_xla is not installed; choices: --autocast"),
        ("--memory-efficient-bf16", "mean a TPU to fairseq"),
    ],
)
def test_precision_that_would_fail_is_refused_in_one_sentence(folders, tmp_path, option, message):
    """Before anything is loaded: the folder is not even there."""
    cfg = config(*arguments(folders["classes"], tmp_path, option)).task
    cfg.data = str(tmp_path / "nowhere")
    with pytest.raises(InputError, match=message) as caught:
        setup_task(cfg)
    assert isinstance(caught.value, SystemExit)  # which ends a command without a traceback
    assert caught.value.code == str(caught.value)
