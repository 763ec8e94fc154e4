"""Files of a translated split go by its name; those of earlier releases are found as well."""

from __future__ import annotations

import json

import pytest
from lab.translated_runs import translated

from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepared_data import PreparedData
from fairseq_plugins.lab.results.comparisons import Significance, over_sentences
from fairseq_plugins.lab.results.runs import read_outcomes
from fairseq_plugins.lab.results.split_files import evaluation_of, find, like, of_split

SPLITS = {name: {"lines": 3, "labelled": 3} for name in ("train", "valid", "test")}
MANIFEST = {"dataset": "translation", "task": "syntax_translation", "target": "translation"}
NAMES = ("generate.log", "score.json", "evaluation.json")

DRAWN = Significance(samples=20, seed=1)


@pytest.fixture
def old(tmp_path):
    """Folder of a run of an earlier release."""
    for name in NAMES:
        (tmp_path / name).write_text(json.dumps({"of": "test"}))
    return tmp_path


def test_a_file_goes_by_its_split_and_is_found_by_its_old_name(old) -> None:
    assert of_split("generate.log", "valid1") == "generate.valid1.log"
    for name in NAMES:
        assert find(old, name, "test") == old / name
        assert find(old, name, "valid") == old / of_split(name, "valid")
        (old / of_split(name, "test")).touch()
        assert find(old, name, "test") == old / of_split(name, "test")


def test_steps_find_files_by_either_name(old) -> None:
    assert like(old / "generate.test.log") == old / "generate.log"
    assert like(old / "generate.valid.log") == old / "generate.valid.log"  # of another split
    for name in NAMES:
        (old / name).rename(old / of_split(name, "test"))
    assert like(old / "generate.log") == old / "generate.test.log"
    (old / "generate.valid.log").touch()
    assert like(old / "generate.log") == old / "generate.log"  # which of them, nothing says
    assert like(old / "train.log") == old / "train.log"


def test_a_result_leads_to_no_other_folder(old) -> None:
    for split in ("../x", "a/b", 5, None, ""):
        found = evaluation_of(old, {"translated": {"split": split}})
        assert found == old / "evaluation.json"


def test_a_run_of_an_earlier_release_is_not_translated_again(tmp_path) -> None:
    def made(split):
        grid = Grid("translation", {"a": {"arch": "a"}}, updates=4, seeds=(1,), evaluate=split)
        manifest = {**MANIFEST, "positive": "", "metric": "loss", "splits": SPLITS}
        data = PreparedData(tmp_path, manifest, "abc")
        return Run(grid, next(grid.cells()), data, tmp_path, ("translate",))

    run = made("test")
    run.folder.mkdir(parents=True)
    for name in ("result.json", "checkpoint_best.pt"):
        (run.folder / name).touch()
    assert not run.is_finished()
    for name in ("evaluation.json", "evaluation.test.json"):
        path = run.folder / name
        path.write_text(json.dumps({"of": "test"}))
        assert run.is_finished()
        assert not made("valid").is_finished()
        path.unlink()


def pair(runs):
    return [run for _, run in runs.iterrows()]


def test_tables_read_either_name(tmp_path) -> None:
    pairs = [translated(tmp_path, name, 20.0 + k, wrong=k) for k, name in enumerate("ab")]
    before = read_outcomes(tmp_path).runs
    old = over_sentences(*pair(before), "bleu", DRAWN)
    assert old.drawn == "sentences"
    for folder in pairs:
        for name in NAMES:
            (folder / name).rename(folder / of_split(name, "test"))
        path = folder / "result.json"
        own = {"translated": {"split": "test"}}
        path.write_text(json.dumps(json.loads(path.read_text()) | own))
    after = read_outcomes(tmp_path).runs
    assert list(after["evaluation.bleu"]) == list(before["evaluation.bleu"]) == [20.0, 21.0]
    assert over_sentences(*pair(after), "bleu", DRAWN) == old
