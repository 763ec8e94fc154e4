"""Plain fairseq-train on two GPUs, emulated by `two_devices`: its two processes are one.

fairseq starts them itself, or torchrun does. Nothing but the emulation and ``--cpu`` is beyond what
one types. What is compared at length runs in forks (`two_gpus`), which start at once.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import prepared_questions
import prepared_text
import pytest
import torch
from cli import commands
from cli.commands import (
    LONGEST_RUN,
    ROOT,
    USER_DIR,
    differences,
    state_of,
    train_arguments,
    train_on_two,
    training_state,
)

from fairseq_plugins.lab.rows import read_rows

DEVICES = Path(__file__).with_name("two_devices")
LAST = "checkpoint_last.pt"
USER_DIRS = ("path", "relative", "installed")
# Batches of 8 of 197 or 200: 25 an epoch, so that the last of 13 updates is done by one alone.
RUN = "--batch-size 8 --max-epoch 2 --save-interval-updates 8 --dropout 0.1 --num-workers 1"
STOPS = ("checkpoint1.pt", "checkpoint_2_16.pt")
EXAMPLES = prepared_text.examples("classes", 37, 1)
GRID = """
dataset: toy
systems: [bert_plain_tiny]
learning_rates: [5e-3]
epochs: [1]
seeds: [1]
batch_size: 8
options: {pretrained: none, update-freq: 2, dropout: 0.0, attention-dropout: 0.0}
"""
GPUS = ["--gpus-per-node", "2"]
BLEU = ["--eval-bleu", "--eval-bleu-args", json.dumps({"beam": 2, "max_len_b": 12})]
BATCH = ["--batch-size", "8", "--max-epoch", "1", "--num-attention-heads", "2", "--lr", "0.01"]
TREES = "--local-attention sla,wla --parent-loss-weight 0.5 --ancestor-layers 1"
WINDOWS = "--max-positions 24 --doc-stride 8 --max-query-length 6"
SHARES = ("gate_", "fusion_gate_", "filter_gate_")


def start(words, cwd, gpus=2, path=(), **kwargs):
    """Start a command on emulated GPUs, with further places of modules on its path."""
    first, *more = map(str, words)
    folder = Path(sys.executable).parent
    variables = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, [DEVICES, *path])),
        "OMP_NUM_THREADS": "1",
        "EMULATED_GPUS": str(gpus),
    }
    return subprocess.Popen(
        [folder / first, *more],
        env={**os.environ, **variables},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **kwargs,
    )


def end(process, status=0):
    """Wait for the end of a command; return what it says."""
    said, _ = process.communicate(timeout=LONGEST_RUN)
    assert process.returncode == status, said[-3000:]
    return said


def train(words, cwd, user_dir="path", status=0):
    """Run fairseq-train with a user-dir given in one of the ways of `USER_DIRS`."""
    path, given = (), str(USER_DIR)
    if user_dir == "relative":
        given = os.path.relpath(USER_DIR, cwd)
    if user_dir == "installed":
        path, command = (ROOT,), [sys.executable, "-m", "fairseq_plugins"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        given = subprocess.check_output(command, env=environment, cwd=cwd, text=True).strip()
    return end(start(["fairseq-train", *words, "--user-dir", given], cwd, path=path), status)


def meters_of(path, tag):
    meters = state_of(path)["extra_state"]["metrics"][tag]
    return {name: meter for _, name, _, meter in meters if "sum" in meter}


def mean(meter):
    return float(meter["sum"]) / float(meter["count"])


# translation


@pytest.mark.slow
def test_two_gpus_have_the_losses_and_the_bleu_of_one_process(folder, tmp_path):
    options = "--batch-size 8 --no-epoch-checkpoints --max-update 2"
    said = train(train_arguments(folder, "two", options, *BLEU), tmp_path)
    assert "as rank 1" in said
    assert "training on 2 devices" in said
    assert said.count("keeps what raw text needs of") == 1  # the first process alone writes
    commands.train(folder, tmp_path / "one", f"{options} --update-freq 2", *BLEU)
    for tag in ("train", "valid"):
        one, two = (meters_of(tmp_path / name / LAST, tag) for name in ("one", "two"))
        assert two["loss"]["count"] == one["loss"]["count"] > 0
        assert mean(two["loss"]) == pytest.approx(mean(one["loss"]), rel=1e-5)
    assert one["_bleu_ref_len"]["sum"] > 0
    for name in (name for name in one if name.startswith("_bleu")):
        assert one[name]["sum"] == two[name]["sum"]


@pytest.mark.slow
def test_two_gpus_go_on_as_if_they_had_not_stopped(folder, tmp_path):
    """Within an epoch and at its end."""
    train_on_two(train_arguments(folder, tmp_path / "through", RUN))
    through = training_state(tmp_path / "through" / LAST)
    for stop in STOPS:
        (tmp_path / stop).mkdir()
        shutil.copy(tmp_path / "through" / stop, tmp_path / stop / LAST)
        assert "Loaded checkpoint" in train_on_two(train_arguments(folder, tmp_path / stop, RUN))
        assert differences(through, training_state(tmp_path / stop / LAST)) == []


@pytest.mark.long
@pytest.mark.parametrize("user_dir", USER_DIRS)
def test_two_gpus_go_on_wherever_the_package_is(folder, user_dir, tmp_path):
    options = "--batch-size 8 --no-epoch-checkpoints --dropout 0.1 --num-workers 1"
    options += " --ddp-backend legacy_ddp" if user_dir == "relative" else ""
    for name, updates in (("stopped", 3), ("stopped", 6), ("through", 6)):
        words = train_arguments(folder, name, f"{options} --max-update {updates}")
        train(words, tmp_path, user_dir)
    stopped, through = (training_state(tmp_path / n / LAST) for n in ("stopped", "through"))
    assert differences(stopped, through) == []


@pytest.mark.long
def test_refused_folder_is_one_line_on_two_gpus(tmp_path):
    said = train(train_arguments("nowhere", "run", "--max-update 1"), tmp_path, status=1)
    assert "Traceback" not in said
    assert "error: nowhere: no such folder" in said


@pytest.mark.parametrize(
    ("which", "number", "status"),
    [
        pytest.param("process", signal.SIGKILL, 1, marks=pytest.mark.slow),
        pytest.param("command", signal.SIGTERM, -signal.SIGTERM, marks=pytest.mark.long),
        pytest.param("command", signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.long),
    ],
)
def test_no_process_outlives_another_that_is_killed(folder, which, number, status, tmp_path):
    """Also where, as in the background of a script, SIGINT is ignored."""
    words = train_arguments(folder, "run", "--no-epoch-checkpoints --max-epoch 100000")
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start(["fairseq-train", *words], tmp_path, start_new_session=True)
    finally:
        signal.signal(signal.SIGINT, ignored)
    until = time.monotonic() + LONGEST_RUN
    while not (tmp_path / "run" / LAST).exists() and time.monotonic() < until:
        time.sleep(0.1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid if which == "command" else int(children[-1]), number)
    try:
        process.communicate(timeout=30)  # ends with the last process that holds the output
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == status


@pytest.mark.slow
def test_two_machines_of_torchrun_have_the_bits_of_two_gpus(folder, tmp_path):
    """One GPU each, where fairseq has to be told that there is another."""
    words = train_arguments(folder, tmp_path / "apart", "--batch-size 8 --max-update 2")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        place = f"localhost:{free.getsockname()[1]}"
    meeting = f"--nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint {place}"
    command = ["torchrun", *meeting.split(), "--no-python", "fairseq-train", *words]
    command += ["--distributed-world-size", "2"]
    machines = [start(command, tmp_path, gpus=1) for _ in range(2)]
    said = "".join(map(end, machines))
    assert "as rank 1" in said
    train_on_two(train_arguments(folder, tmp_path / "here", "--batch-size 8 --max-update 2"))
    apart, here = (training_state(tmp_path / name / LAST) for name in ("apart", "here"))
    assert differences(apart, here) == []


@pytest.mark.slow
def test_a_run_of_an_experiment_on_two_gpus_has_the_losses_of_one_process(tmp_path):
    splits = {"train": prepared_text.examples("classes", 160), "valid": EXAMPLES}
    data = prepared_text.prepare(tmp_path / "bin", "classes", splits)
    (tmp_path / "toy.yaml").write_text(GRID)
    words = ["run", tmp_path / "toy.yaml", "--data", data, "--no-predictions", "--runs"]
    commands.run("run", *words[1:], tmp_path / "one", "--cpu")
    end(start(["python", "-m", "fairseq_plugins", *words, "two", *GPUS], tmp_path, path=(ROOT,)))
    one, two = (read_rows(tmp_path / name / "rows.jsonl")[0].row for name in ("one", "two"))
    assert (one.processes, two.processes) == (1, 2)
    assert two.last["loss"] == pytest.approx(one.last["loss"], rel=1e-4)


# texts and questions


@dataclass(frozen=True)
class Case:
    """What is trained.

    Args:
        kind: kind of the examples, or ``questions``.
        options: of the model.
        logged: what training must log beside the loss.
        counts: names of counts that must be there in validation.
        pairs: whether examples are pairs.
    """

    kind: str
    options: str
    logged: set[str] = field(default_factory=set)
    counts: set[str] = field(default_factory=set)
    pairs: bool = False


CASES = [
    Case(
        "classes",
        f"--arch dabert_tiny --features pos {TREES}",
        {"loss_parent", "accuracy", "gate_0", "fusion_gate_0", "filter_gate_0"},
        {"_confusion"},
        pairs=True,
    ),
    Case("score", "--arch bert_lisa_tiny", {"loss_parent"}, {"_gold_37", "_predicted_37"}),
    Case("entities", f"--arch bert_pos_tiny {TREES}", {"gate_1"}, {"_entity_2", "_accuracy_0"}),
    Case("errors", "--arch bert_sgnet_tiny", {"accuracy"}, {"_token_2", "_detection_3"}),
    Case(
        "questions",
        "--arch bertqa_tiny --coattention-blocks 2 --answerability-loss-weight 0.3 "
        f"--local-attention sla --dual-layers 0 {WINDOWS}",
        {"loss_answerability", "exact_span", "gate_0", "fusion_gate_0"},
        {"_exact_37", "_odds_37", "_seen_37"},
    ),
]


def prepared(root, case):
    """Make 197 examples to train on and 37 to validate on."""
    if case.kind == "questions":
        parts = {"train": some_passages(197, 0), "valid": some_passages(37, 1)}
        return prepared_questions.prepare(root, parts, annotations=("pos", "heads"))
    make = prepared_text.examples
    parts = {
        name: make(case.kind, count, seed, pairs=case.pairs)
        for seed, (name, count) in enumerate({"train": 197, "valid": 37}.items())
    }
    return prepared_text.prepare(root, case.kind, parts, annotations=("pos", "heads"))


def some_passages(questions, seed):
    """Make passages with so many questions in all."""
    found, left = [], questions
    for told in prepared_questions.passages(questions, seed):
        asked = told.questions[:left]
        left -= len(asked)
        if asked:
            found.append(prepared_questions.Told(told.context, asked))
    return found


def one_and_two(case, tmp_path):
    """Return the last checkpoints of a training in one process and in two."""
    folder = prepared(tmp_path / "bin", case)
    options = [*case.options.split(), *BATCH]
    prepared_text.train(folder, tmp_path / "one", *options, "--update-freq", "2")
    assert "as rank 1" in train_on_two(prepared_text.arguments(folder, tmp_path / "two", *options))
    return [tmp_path / name / LAST for name in ("one", "two")]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_two_processes_are_one(case, tmp_path):
    paths = one_and_two(case, tmp_path)
    for tag in ("train", "valid"):
        one, two = (meters_of(path, tag) for path in paths)
        assert one.keys() == two.keys()
        if tag == "train":
            assert case.logged <= one.keys()
        for name in one:
            if name.startswith(("loss", *SHARES)) or name in ("accuracy", "exact_span"):
                assert float(one[name]["count"]) == float(two[name]["count"]) > 0, name
                assert mean(two[name]) == pytest.approx(mean(one[name]), rel=1e-4, abs=1e-5), name
    compare_counts(*(meters_of(path, "valid") for path in paths), case)

    first, second = (state_of(path) for path in paths)
    torch.testing.assert_close(second["model"], first["model"], rtol=1e-3, atol=1e-4)
    updates = [state["optimizer_history"][-1]["num_updates"] for state in (first, second)]
    assert updates == [13, 13]


def compare_counts(one, two, case):
    """Numbers of things are equal; what the model computes is so but for rounding."""
    names = {name for name in one if name.startswith("_")}
    assert case.counts <= names
    for name in names:
        ours, theirs = (torch.as_tensor(meters[name]["sum"]).double() for meters in (one, two))
        computed = name.startswith(("_predicted", "_odds"))
        torch.testing.assert_close(theirs, ours, rtol=0, atol=1e-3 if computed else 0)


@pytest.mark.long
def test_half_products_are_those_of_one_process(tmp_path):
    """bfloat16 has three digits, so that rounding tells the two orders of summation apart."""
    paths = one_and_two(Case("classes", "--arch bert_sla_tiny --autocast bfloat16"), tmp_path)
    one, two = (meters_of(path, "train")["loss"] for path in paths)
    assert mean(two) == pytest.approx(mean(one), rel=1e-2)
