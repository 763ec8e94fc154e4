"""What fairseq's translation offers in training works with source features as well."""

from __future__ import annotations

import shutil

import pytest
import torch
from cli.commands import differences, generate, run, state_of, train, training_state
from cli.conftest import prepare_corpus

pytestmark = pytest.mark.slow

AVERAGE = "average"
SHORT = "--max-update 10 --disable-validation --no-epoch-checkpoints"


@pytest.mark.parametrize(
    "half",
    [
        "--memory-efficient-fp16",
        pytest.param("--fp16 --fp16-no-flatten-grads", marks=pytest.mark.long),
    ],
)
def test_half_precision_trains_and_translates(folder, half, tmp_path):
    """Plain ``--fp16`` needs a GPU, ``--bf16`` on the command line a TPU."""
    log = train(folder, tmp_path, f"{SHORT} {half}")
    losses = [float(record["loss"]) for record in log.logged("train_inner")]
    assert losses[-1] < losses[0]
    last = tmp_path / "checkpoint_last.pt"
    for name, weight in state_of(last)["model"].items():  # fairseq stores them in full width
        assert torch.equal(weight, weight.half().float()), name
    assert len(generate(folder, last).lines("H")) == 37
    assert len(generate(folder, last, "--fp16").lines("H")) == 37


def test_plain_half_precision_ends_in_one_sentence(folder, tmp_path):
    ended = train(folder, tmp_path / "run", f"{SHORT} --fp16", fails=True)
    assert "Traceback" not in ended.err
    assert "Traceback" not in ended.out
    assert ended.err.strip().splitlines()[-1].startswith("--fp16 on a CPU needs --fp16-no-flatten")


def test_averaged_checkpoint_translates(folder, tmp_path):
    train(folder, tmp_path, "--max-epoch 3 --disable-validation")
    average = tmp_path / "average.pt"
    run(AVERAGE, tmp_path, "--last", 2, "--output", average)
    states = [state_of(tmp_path / f"checkpoint{n}.pt")["model"] for n in (2, 3)]
    for name, weight in state_of(average)["model"].items():
        torch.testing.assert_close(weight, (states[0][name] + states[1][name]) / 2)
    assert len(generate(folder, average).lines("H")) == 37


def test_moving_average_translates(folder, tmp_path):
    train(folder, tmp_path, f"{SHORT} --store-ema --ema-decay 0.5 --ema-fp32")
    last, average = tmp_path / "checkpoint_last.pt", tmp_path / "average.pt"
    run(AVERAGE, last, "--ema", "--output", average)
    assert differences(state_of(average)["model"], state_of(last)["model"]) != []
    assert generate(folder, average).lines("P") != generate(folder, last).lines("P")


def test_embeddings_are_shared_with_overlay(corpus, tmp_path):
    joined = prepare_corpus(corpus, tmp_path / "joined", joined_dictionary=True)
    run_options = f"{SHORT} --share-all-embeddings"
    train(joined, tmp_path / "run", f"{run_options} --feature-merge overlay")
    last = tmp_path / "run" / "checkpoint_last.pt"
    model = state_of(last)["model"]
    words = model["encoder.embed_tokens.words.weight"]
    for name in ("decoder.embed_tokens.weight", "decoder.output_projection.weight"):
        assert torch.equal(model[name], words)
    assert len(generate(joined, last).lines("H")) == 37
    refused = train(joined, tmp_path / "no", run_options, fails=True)
    assert "--share-all-embeddings needs a word table of full width" in refused.err


@pytest.fixture(scope="module")
def shards(folder, corpus, tmp_path_factory):
    """The folder and a second one of 80 other pairs with the same vocabulary."""
    text = tmp_path_factory.mktemp("second")
    for language in ("en", "de"):
        lines = (corpus / f"train.{language}").read_text(encoding="utf-8").splitlines()
        part = "".join(f"{line}\n" for line in lines[80:160])
        (text / f"train.{language}").write_text(part, encoding="utf-8")
    (codes,) = folder.glob("*codes*")
    settings = {"trainpref": str(text / "train"), "validpref": None, "testpref": None}
    settings |= {"bpe_codes": str(codes), "srcdict": str(folder / "dict.en.txt")}
    settings |= {"tgtdict": str(folder / "dict.de.txt")}
    return folder, prepare_corpus(corpus, text / "bin", **settings)


def test_folders_take_turns_from_epoch_to_epoch(shards, tmp_path):
    log = train(":".join(map(str, shards)), tmp_path, "--max-epoch 3")
    updates = [int(record["train_num_updates"]) for record in log.logged("train")]
    assert updates == [5, 5 + 2, 5 + 2 + 5]
    assert state_of(tmp_path / "checkpoint3.pt")["extra_state"]["val_loss"] is not None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("checkpoint1.pt", marks=pytest.mark.long),
        "checkpoint_2_6.pt",
        pytest.param("checkpoint_3_9.pt", marks=pytest.mark.long),
    ],
)
def test_resumed_run_on_folders_in_turns_equals_the_straight_one(shards, name, tmp_path):
    data, options = ":".join(map(str, shards)), "--max-epoch 4 --save-interval-updates 1"
    train(data, tmp_path / "straight", options)
    (tmp_path / "resumed").mkdir()
    last = tmp_path / "resumed" / "checkpoint_last.pt"
    shutil.copy(tmp_path / "straight" / name, last)
    train(data, tmp_path / "resumed", options)
    straight = training_state(tmp_path / "straight" / last.name)
    assert differences(straight, training_state(last)) == []


def test_folders_of_another_vocabulary_are_refused(shards, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(shards[1], other)
    lines = (other / "dict.en.txt").read_text(encoding="utf-8").splitlines()
    (other / "dict.en.txt").write_text("\n".join([lines[1], lines[0], *lines[2:]]) + "\n")
    found = train(f"{shards[0]}:{other}", tmp_path / "run", SHORT, fails=True)
    assert "differ in dict.en.txt" in found.err


def test_primary_part_is_upsampled(corpus, tmp_path):
    for language in ("en", "de"):
        lines = (corpus / f"train.{language}").read_text(encoding="utf-8").splitlines()
        for name, part in (("some", lines[:40]), ("more", lines[40:160])):
            text = "".join(f"{line}\n" for line in part)
            (tmp_path / f"{name}.{language}").write_text(text, encoding="utf-8")
    both = f"{tmp_path / 'some'},{tmp_path / 'more'}"
    folder = prepare_corpus(corpus, tmp_path / "bin", trainpref=both)
    for factor, updates in ((1, 1 + 3), (3, 3 + 3)):
        options = f"--max-epoch 1 --upsample-primary {factor} --disable-validation"
        log = train(folder, tmp_path / str(factor), options)
        assert log.logged("train")[-1]["train_num_updates"] == str(updates)
