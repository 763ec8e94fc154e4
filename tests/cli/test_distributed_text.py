"""Two processes are one for every understanding task: losses, metrics, gates and weights.

The reference gathers two batches an update in one process. 25 batches an epoch and 5 of validation:
one process is left with nothing to do at the end of both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import prepared_questions
import prepared_text
import pytest
import torch
from cli.commands import state_of, train_distributed

BATCH = ["--batch-size", "8", "--max-epoch", "1", "--num-attention-heads", "2", "--lr", "0.01"]
TREES = "--local-attention sla,wla --parent-loss-weight 0.5 --ancestor-layers 1"
WINDOWS = "--max-positions 24 --doc-stride 8 --max-query-length 6"
SHARES = ("gate_", "fusion_gate_", "filter_gate_")


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


def meters_of(path, tag):
    """Return name -> meter of an epoch."""
    meters = state_of(path)["extra_state"]["metrics"][tag]
    return {name: meter for _, name, _, meter in meters if "sum" in meter}


def mean(meter):
    return float(meter["sum"]) / float(meter["count"])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_two_processes_are_one(case, tmp_path):
    folder = prepared(tmp_path / "bin", case)
    options = [*case.options.split(), *BATCH]
    prepared_text.train(folder, tmp_path / "one", *options, "--update-freq", "2")
    log = train_distributed(prepared_text.arguments(folder, tmp_path / "two", *options))
    assert "as rank 1" in log
    paths = [tmp_path / name / "checkpoint_last.pt" for name in ("one", "two")]

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
    case = Case("classes", "--arch bert_sla_tiny --autocast bfloat16")
    folder = prepared(tmp_path / "bin", case)
    options = [*case.options.split(), *BATCH]
    prepared_text.train(folder, tmp_path / "one", *options, "--update-freq", "2")
    train_distributed(prepared_text.arguments(folder, tmp_path / "two", *options))
    one, two = (
        meters_of(tmp_path / name / "checkpoint_last.pt", "train")["loss"]
        for name in ("one", "two")
    )
    assert mean(two) == pytest.approx(mean(one), rel=1e-2)
