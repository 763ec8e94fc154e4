"""The commands that prepare an experiment's data."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.commands import command
from fairseq_plugins.lab.execution.experiment import _prepare
from fairseq_plugins.lab.plan.experiment_file import PlannedPart
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepared_data import preparation, raw_folder

TEXTS = PlannedPart("cola_base", Grid("cola", {}, prepare={"annotations": "pos,heads"}), raw="CoLA")


def options_of(words, name):
    assert words[: len(command(name))] == command(name)
    return dict(zip(words[5::2], words[6::2], strict=True))


def test_a_folder_of_the_parts_name_is_taken_before_the_whole(tmp_path):
    for name in ("", "cola", "cola_base"):  # the dataset's; the part's, which comes first
        (tmp_path / name).mkdir(exist_ok=True)
        assert raw_folder(replace(TEXTS, raw=""), tmp_path) == tmp_path / name
    assert raw_folder(TEXTS, tmp_path) == tmp_path
    (tmp_path / "CoLA").mkdir()
    assert raw_folder(TEXTS, tmp_path) == tmp_path / "CoLA"
    with pytest.raises(FileNotFoundError, match="--raw nowhere: no such folder"):
        preparation(TEXTS, Path("nowhere"))


def test_data_are_prepared_with_the_grids_options_and_those_given(tmp_path):
    (words,) = preparation(TEXTS, tmp_path, "bert", ["--workers", "1"])
    assert options_of(words, "prepare text") == {
        "--destdir": "data-bin/cola_base",
        "--dataset": "cola",
        "--raw-dir": str(tmp_path),
        "--pretrained": "bert",
        "--annotations": "pos,heads",
        "--workers": "1",
    }
    own = {"source-lang": "en", "trainpref": "train"}  # parallel text stands where the grid says
    (words,) = preparation(PlannedPart("wmt", Grid("translation", {}, prepare=own)), tmp_path, "x")
    assert options_of(words, "prepare translation") == {
        "--destdir": "data-bin/wmt",
        "--source-lang": "en",
        "--trainpref": f"{tmp_path}/train",
    }


def test_augmented_questions_are_validated_on_the_same_ones(tmp_path):
    for name in ("dev-v2.0.json", "train-v2.0.json", "train_35.json", "train_x.json"):
        (tmp_path / name).write_text("{}")
    first, second = preparation(PlannedPart("squad2", Grid("squad", {}), size="base"), tmp_path)
    assert options_of(first, "prepare questions")["--destdir"] == "data-bin/squad2_base"
    assert options_of(second, "prepare questions") == {
        "--destdir": "data-bin/squad2_base_35",
        "--train-file": str(tmp_path / "train_35.json"),
        "--valid-file": str(tmp_path / "dev-v2.0.json"),
    }


def test_options_with_half_a_quote_are_named():
    with pytest.raises(InputError, match='^--prepare "--lower \'a": No closing quotation'):
        _prepare(Namespace(prepare="--lower 'a"), [])
