"""What a search for the learning rate would run, from its command line; nothing is trained."""

from __future__ import annotations

import argparse

import prepared_questions
import prepared_text
import pytest
from prepared_text import examples

from fairseq_plugins.cli import search_rate
from fairseq_plugins.lab.execution.rate_search import planned

GRID = """
dataset: toy
systems: [{arch: bert_plain_tiny, lr: 7e-3}, {arch: bert_pos_tiny, lr: 7e-3}]
learning_rates: [5e-3, 1e-3]
epochs: [2, 3]
seeds: [3, 4]
batch_size: 4
evaluate: test
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: [0, 0.1]}
"""


@pytest.fixture
def plan(tmp_path):
    """Return a function of flags that plans a search on a folder of 20 examples, or questions."""

    def made(*flags, questions=False):
        folder = tmp_path / "bin"
        if not folder.exists() and questions:
            parts = {"train": (20, 1), "valid": (4, 2)}
            splits = {name: prepared_questions.passages(*part) for name, part in parts.items()}
            prepared_questions.prepare(folder, splits)
        elif not folder.exists():
            splits = {"train": examples("classes", 20), "valid": examples("classes", 6, 1)}
            prepared_text.prepare(folder, "classes", splits)
        (tmp_path / "toy.yaml").write_text(GRID)
        parser = argparse.ArgumentParser()
        search_rate.add_arguments(parser)
        given = [tmp_path / "toy.yaml", "--data", folder, "--runs", tmp_path / "runs", *flags]
        return planned(parser.parse_args([*map(str, given)]))

    return made


@pytest.mark.parametrize("questions", [False, True])
def test_a_range_is_tried_on_a_share_of_the_data(plan, tmp_path, questions):
    runs = plan("--range", 1e-3, 1e-2, 3, "--fraction", 0.5, "--cpu", questions=questions)
    assert [run.cell.learning_rate for run in runs] == [1e-3, 3.16e-3, 1e-2]
    assert {run.data.folder for run in runs} == {tmp_path / "bin.0.5-seed1"}
    whole = plan("--fraction", 1)[0].data
    assert whole.folder == tmp_path / "bin"
    assert 0 < runs[0].data.examples < whole.examples
    assert runs[0].cpu
    metric = "f1" if questions else "mcc"
    assert metric in " ".join(map(str, runs[0].train_command()))


def test_the_file_is_narrowed_to_its_first_values(plan):
    (run,) = plan("--rates", 0.25, "--examples", 7)
    assert (run.cell.system, run.cell.seed, run.cell.epochs) == ("bert_plain_tiny", 1, 2)
    assert run.data.examples == 7
    assert run.grid.evaluate == ""
    assert "lr" not in run.grid.systems["bert_plain_tiny"]


def test_flags_choose_others(plan):
    flags = ["--archs", "bert_pos_tiny", "bert_plain_tiny", "--epochs", 5, "--seed", 9]
    runs = plan("--rates", 0.25, 0.5, "--examples", 7, "--choice-seed", 3, *flags)
    assert [(run.cell.system, run.cell.learning_rate) for run in runs] == [
        *((name, 0.25) for name in flags[1:3]),
        *((name, 0.5) for name in flags[1:3]),
    ]
    assert {(run.cell.seed, run.cell.epochs) for run in runs} == {(9, 5)}
    assert runs[0].data.folder.name == "bin.0.35-seed3"
    (run,) = plan("--rates", 0.25, "--updates", 11, "--options", "dropout=0.3")
    assert run.updates == 11
    assert "--dropout 0.3" in " ".join(map(str, run.train_command()))


@pytest.mark.parametrize("share", [["--fraction", -0.1], ["--fraction", 1.1], ["--examples", 0]])
def test_a_part_that_is_none_is_refused(plan, share):
    with pytest.raises(ValueError, match=rf"{share[0]} {share[1]}: "):
        plan("--rates", 0.25, *share)
