"""Training by fairseq's own commands, from questions to metrics: it learns, stops, goes on."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from cli.commands import (
    USER_DIR,
    differences,
    run,
    state_of,
    training_state,
)
from omegaconf import OmegaConf
from prepared_questions import make_task, passages, prepare
from prepared_text import arguments, train
from squad_files import toy_squad, write_toy_bert

from fairseq_plugins.corpora import squad
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.text_checkpoints import load_models
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.text.squad_encoder import encode_paragraphs
from fairseq_plugins.text.text_encoder import TextEncoder

pytestmark = pytest.mark.slow

LAST = "checkpoint_last.pt"
BEST = "--best-checkpoint-metric f1 --maximize-best-checkpoint-metric "
FIXED = "--num-attention-heads 2 --lr 0.01 --log-format json " + BEST
WINDOWS = "--max-positions 24 --doc-stride 8 --max-query-length 6 "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    parts = {"train": passages(90), "valid": passages(25, 1), "more": passages(11, 2)}
    root = tmp_path_factory.mktemp("bin") / "qa"
    return prepare(root, parts, annotations=("pos", "heads"))


@pytest.fixture(scope="module")
def learnt(folder, tmp_path_factory):
    """A run in windows, and what it logged."""
    save_dir = tmp_path_factory.mktemp("run") / "learnt"
    words = f"{FIXED}{WINDOWS}--max-epoch 6 --user-dir {USER_DIR}"
    return save_dir, run("fairseq-train", *arguments(folder, save_dir, *words.split()))


def test_what_two_words_decide_is_learnt_in_windows(learnt):
    save_dir, outcome = learnt
    assert state_of(save_dir / "checkpoint_best.pt")["extra_state"]["best"] > 0.9
    assert float(outcome.logged("train")[-1]["train_exact_span"]) > 0.9
    assert "questions are cut, or read in windows of at most 24 tokens" in outcome.out
    last = outcome.logged("valid")[-1]
    names = ("exact", "f1", "has_answer_f1", "no_answer_exact", "tuned_f1", "tuned_threshold")
    assert {f"valid_{name}" for name in names} <= last.keys()


def test_checkpoint_holds_no_code_and_knows_its_target(learnt, folder):
    path = learnt[0] / LAST
    assert not torch.serialization.get_unsafe_globals_in_checkpoint(path)
    cfg = state_of(path)["cfg"]
    assert (cfg["model"]["target"], cfg["model"]["labels"]) == ("spans", "[]")
    assert cfg["task"]["_name"] == cfg["criterion"]["_name"] == "extractive_qa"
    assert (cfg["task"]["max_positions"], cfg["task"]["doc_stride"]) == (24, 8)
    assert cfg["task"]["data"] == str(folder)


def test_validation_command_gives_the_metrics_of_training(learnt, folder):
    """Of two splits of different lengths, in batches of another size."""
    save_dir, outcome = learnt
    words = f"--task extractive_qa {WINDOWS}--batch-size 7 --valid-subset valid,more --cpu "
    words += f"--log-format json --user-dir {USER_DIR} --path {save_dir / LAST}"
    found = run("fairseq-validate", folder, *words.split())
    last = outcome.logged("valid")[-1]
    (valid,), (more,) = found.logged("valid"), found.logged("more")
    for name in ("loss", "exact", "f1", "has_answer_f1", "tuned_f1", "tuned_threshold"):
        assert float(valid[f"valid_{name}"]) == pytest.approx(float(last[f"valid_{name}"]), 1e-3)
    assert valid["valid_loss"] != more["more_loss"]


@pytest.mark.parametrize(
    "model",
    [
        "--arch bertqa_tiny --coattention-blocks 2 --answerability-loss-weight 0.3",
        "--arch bert_sla_tiny --features pos --parent-loss-weight 0.5 --dual-layers 0",
        "--arch bertqa_literal_tiny --coattention-blocks 2 --batch-order length --max-tokens 300 "
        "--update-freq 2 --autocast bfloat16",
    ],
    ids=["coattention", "syntax", "uneven"],
)
def test_resumed_run_equals_the_straight_one(folder, tmp_path, model):
    """With dropout, in windows, stopped within an epoch."""
    words = f"{model} {FIXED}{WINDOWS}--max-update 6 --save-interval-updates 3 --dropout 0.1 "
    words = f"{words}--attention-dropout 0.1 --disable-validation"
    words = [*words.split(), *([] if "--max-tokens" in model else ["--batch-size", "8"])]
    straight = train(folder, tmp_path / "straight", *words)
    (tmp_path / "resumed").mkdir()
    shutil.copy(straight / "checkpoint_1_3.pt", tmp_path / "resumed" / LAST)
    resumed = train(folder, tmp_path / "resumed", *words)
    one, other = (training_state(path / LAST) for path in (straight, resumed))
    assert differences(one, other) == []


ALL = "--arch bertqa_tiny --coattention-blocks 2 --features pos --local-attention sla "
ALL += "--dual-layers 0 --local-convolutions per-block --coattention-skip highway "


def test_everything_at_once_trains_and_its_checkpoint_gives_what_validation_said(folder, tmp_path):
    words = f"{ALL}{FIXED}{WINDOWS}--max-epoch 2 --autocast bfloat16 --batch-size-valid 9"
    save_dir = train(folder, tmp_path, *words.split())
    state = state_of(save_dir / LAST)["extra_state"]
    task, (model,) = load_models([save_dir / LAST])
    assert model.needs == Needs(("pos",), ("heads",), words=True, pairs=True)
    task.load_dataset("valid")
    batch = (dataset := task.dataset("valid")).collater([dataset[i] for i in range(len(dataset))])
    criterion = task.build_criterion(OmegaConf.create({"_name": "extractive_qa"}))
    with torch.no_grad():
        logits = model.eval()(**batch["net_input"])[0]
    found = criterion.tally.score(criterion.tally.count(logits, {}, batch))
    assert found["f1"] == pytest.approx(state["val_loss"])  # fairseq's name of what is chosen by


def test_batch_is_as_good_as_single_rows(learnt):
    """Logits of a question in a batch of several are those of the question alone."""
    task, (model,) = load_models([learnt[0] / LAST])
    dataset = task.inputs.read("valid", learning=False)
    batch = dataset.collater([dataset[i] for i in range(12)])
    logits = model(**batch["net_input"])[0].split(batch["windows_per_example"].tolist())
    for number, rows in zip(batch["id"].tolist(), logits):
        alone = dataset.collater([dataset[number]])["net_input"]
        found = model(**alone)[0]
        torch.testing.assert_close(rows[:, : found.size(1)], found, rtol=1e-4, atol=1e-4)


def test_questions_without_gold_are_refused_for_training(tmp_path):
    folder = prepare(tmp_path / "bin", {"train": passages(3, gold=False), "valid": passages(3)})
    with pytest.raises(InputError, match="'train' .* has no labels: training and metrics need"):
        train(folder, tmp_path / "run", *FIXED.split())


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Toy facts as official files, and the folder that the script prepares of them."""
    root = tmp_path_factory.mktemp("toy")
    files = toy_squad(root, paragraphs=24, dev=6)
    bert = write_toy_bert(root / "bert")
    words = f"--annotations none --pretrained {bert} --workers 1 --max-positions 40 --doc-stride 8"
    words += f" --max-query-length 12 --destdir {root / 'bin'}"
    run("prepare questions", "--raw-dir", root, *words.split())
    return root / "bin", files


def test_official_files_become_a_trained_checkpoint(toy, tmp_path):
    folder, _ = toy
    words = f"{FIXED}--max-epoch 1 --train-subset train --valid-subset valid,train"
    save_dir = train(folder, tmp_path / "run", *words.split())
    state = state_of(save_dir / LAST)["extra_state"]
    assert 0 <= state["best"] <= 1
    meters = {name: meter for _, name, _, meter in state["metrics"]["valid"]}
    assert meters["_seen_18"]["sum"].tolist() == [1.0] * 18


def test_raw_files_are_read_as_prepared(toy):
    """The same rows, windows and texts by the folder's encoder as by the preparation."""
    folder, (_, dev) = toy
    task = make_task(folder)
    task.inputs.needs = Needs()
    split = task.inputs.read("valid", learning=False)
    paragraphs = squad.read(dev).paragraphs
    encoder = TextEncoder.from_folder(folder, task.manifest)
    dataset = task.inputs.take_questions(encode_paragraphs(encoder, paragraphs), paragraphs)
    assert len(dataset) == len(split) == 18
    assert dataset.items.refitted == split.items.refitted
    for index in range(len(split)):
        ours, theirs = dataset[index], split[index]
        assert ours["tokens"].tolist() == theirs["tokens"].tolist()
        assert ours["lengths"] == theirs["lengths"]
        one, other = ours["passage"], theirs["passage"]
        assert (one.id, one.question, one.context, one.answers) == (
            *(other.id, other.question, other.context, other.answers),
        )
        assert np.array_equal(one.offsets, other.offsets)
        assert np.array_equal(one.windows, other.windows)
