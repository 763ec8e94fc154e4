"""The commands that prepare an experiment's data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fairseq_plugins.lab.commands import command
from fairseq_plugins.lab.plan.experiment_file import PlannedPart
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepared_data import preparation, raw_folder

TEXTS = PlannedPart("cola_base", Grid("cola", {}, prepare={"annotations": "pos,heads"}), raw="CoLA")
PAIRS = PlannedPart(
    "wmt", Grid("translation", {}, prepare={"source-lang": "en", "trainpref": "train"})
)
QUESTIONS = PlannedPart("squad2", Grid("squad", {}), size="base")


def options_of(words):
    return dict(zip(words[5::2], words[6::2]))


def test_a_folder_of_the_parts_name_is_taken_before_the_whole(tmp_path):
    assert raw_folder(TEXTS, tmp_path) == tmp_path
    (tmp_path / "CoLA").mkdir()
    assert raw_folder(TEXTS, tmp_path) == tmp_path / "CoLA"
    assert raw_folder(replace(TEXTS, raw=""), tmp_path) == tmp_path
    for name in ("cola", "cola_base"):  # the dataset's; the part's, which comes first
        (tmp_path / name).mkdir()
        assert raw_folder(replace(TEXTS, raw=""), tmp_path) == tmp_path / name


def test_texts_are_prepared_with_the_grids_options_and_those_given(tmp_path):
    (words,) = preparation(TEXTS, tmp_path, "bert", ["--workers", "1"])
    assert words[:5] == command("prepare text")
    assert options_of(words) == {
        "--destdir": "data-bin/cola_base",
        "--dataset": "cola",
        "--raw-dir": str(tmp_path),
        "--pretrained": "bert",
        "--annotations": "pos,heads",
        "--workers": "1",
    }


def test_parallel_text_stands_where_the_grid_says(tmp_path):
    (words,) = preparation(PAIRS, tmp_path, "bert")
    assert words[:5] == command("prepare translation")
    assert options_of(words)["--trainpref"] == f"{tmp_path}/train"
    assert "--pretrained" not in words


def test_augmented_questions_are_validated_on_the_same_ones(tmp_path):
    for name in ("dev-v2.0.json", "train-v2.0.json", "train_35.json", "train_x.json"):
        (tmp_path / name).write_text("{}")
    first, second = preparation(QUESTIONS, tmp_path)
    assert options_of(first)["--destdir"] == "data-bin/squad2_base"
    assert options_of(second)["--destdir"] == "data-bin/squad2_base_35"
    assert options_of(second)["--train-file"] == str(tmp_path / "train_35.json")
    assert options_of(second)["--valid-file"] == str(tmp_path / "dev-v2.0.json")


def test_a_missing_folder_is_named():
    with pytest.raises(FileNotFoundError, match="--raw nowhere: no such folder"):
        preparation(TEXTS, Path("nowhere"))
