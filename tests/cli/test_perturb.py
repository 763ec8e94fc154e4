"""The command that perturbs pairs: what it prints, what it writes, what it refuses in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fairseq_plugins.augment.perturbation.transformations import TRANSFORMATIONS
from fairseq_plugins.cli.main import main
from fairseq_plugins.corpora.datasets import DATASETS, read_split
from fairseq_plugins.text import wordnet
from tests.small_wordnet import write_small_wordnet

SCRIPT = "perturb"
ROWS = (
    ("0", "Anna bought 12 big cars in Rome.", "Anna bought a car .", "entailment"),
    ("1", "The good dog rises slowly.", "A dog rises in Oslo.", "entailment"),
    ("2", "Ida saw the day in Bergen.", "Ida slept for 3 days.", "not_entailment"),
    ("3", "Quickly, he bought 40 large cars.", "He likes to fall.", "not_entailment"),
)
SHOUT = f'"{sys.executable}" -c "import sys; print(sys.stdin.read().upper(), end=str())"'
FEWER = f'"{sys.executable}" -c "print(1)"'


@pytest.fixture
def raw(tmp_path) -> Path:
    """RTE's files: a validation file with labels, a test file without."""
    folder = tmp_path / "raw"
    folder.mkdir()
    head = "index\tsentence1\tsentence2"
    rows = ["\t".join(row) for row in ROWS]
    (folder / "dev.tsv").write_text("\n".join([f"{head}\tlabel", *rows]) + "\n")
    rows = ["\t".join(row[:3]) for row in ROWS]
    (folder / "test.tsv").write_text("\n".join([head, *rows]) + "\n")
    return folder


@pytest.fixture
def run(monkeypatch, capfd, raw, tmp_path):
    """Run the command in this process; return its exit status, its output, its lines of error."""
    monkeypatch.setattr(wordnet, "USUAL", ())
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)

    def command(*more: object, dataset: str = "rte", split: str = "valid"):
        arguments = ["--dataset", dataset, "--raw-dir", raw, "--split", split, "--workers", 1]
        arguments += ["--output", tmp_path / "out", *more]
        with pytest.raises(SystemExit) as caught:
            sys.exit(main([*SCRIPT.split(), *map(str, arguments)]))
        done = capfd.readouterr()
        errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
        return int(caught.value.code or 0), done.out, errors

    return command


def test_all_ten_are_written_with_their_labels(tmp_path, run) -> None:
    folder = write_small_wordnet(tmp_path / "dict")
    names = ",".join(TRANSFORMATIONS)
    status, out, errors = run(
        "--transformations", names, "--wordnet", folder, "--back-translate", SHOUT
    )
    assert (status, errors) == (0, [])
    assert "annotation: 8 sentences in" in out
    for name, item in TRANSFORMATIONS.items():
        place = tmp_path / "out" / name
        record = json.loads((place / "perturbation.json").read_text())
        found = list(read_split(DATASETS["rte"], "valid", place / "dev.tsv"))
        assert len(found) == record["changed"] > 0, name
        before = {x.id: x for x in read_split(DATASETS["rte"], "valid", place / "original/dev.tsv")}
        for pair in found:
            kept = before[pair.id].label
            assert pair.label == ("not_entailment" if item.differs else kept), name
            assert pair.texts != before[pair.id].texts
        assert (record["wordnet"] == "0.1") == ("wordnet" in item.needs)
        assert record["short"] == item.short
    assert f"written to {tmp_path / 'out'}" in out


def test_all_says_what_it_leaves_out(tmp_path, run) -> None:
    status, out, _ = run()
    assert status == 0
    left = [line.split(": ")[1] for line in out.splitlines() if line.startswith("left out: ")]
    assert left == ["SwapAnt", "BackTrans", "SwapSyn"]
    assert "apt-get install wordnet-base" in out
    assert len([path for path in (tmp_path / "out").iterdir() if path.is_dir()]) == 7


def test_nothing_that_applies_is_no_error(tmp_path, run) -> None:
    same = f'"{sys.executable}" -c "import sys; print(sys.stdin.read(), end=str())"'
    status, out, _ = run("--transformations", "BackTrans", "--back-translate", same)
    assert (status, (tmp_path / "out").exists()) == (0, False)
    assert "nothing applies: no set written" in out
    assert "written to" not in out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--transformations", "SwapAnts"), "'SwapAnts': choices are SwapAnt, NumWord"),
        (("--transformations", "SwapSyn"), "no WordNet database"),
        (("--transformations", "BackTrans"), "BackTrans needs something that translates"),
        (("--forward", "a.pt"), "--forward and --backward go together"),
        (("--fields", "third"), "--fields 'third': choices are first, second, both"),
        (("--untouched", "maybe"), "choices are drop, keep"),
        (("--max-pairs", "-1"), "--max-pairs -1"),
        (("--spacy-model", "no_such"), "no spaCy pipeline 'no_such'"),
        (
            ("--transformations", "BackTrans", "--back-translate", FEWER),
            "8 sentences went in, 1 came back",
        ),
        (
            ("--transformations", "BackTrans", "--back-translate", "exit 3"),
            "ended with status 3",
        ),
        (
            ("--transformations", "BackTrans", "--forward", "a.pt", "--backward", "b.pt"),
            "a.pt: no such checkpoint, run folder or bundle",
        ),
    ],
)
def test_bad_flags_are_one_line(tmp_path, run, flags, message) -> None:
    status, _, errors = run(*flags)
    assert (status, len(errors)) == (1, 1)
    assert message in errors[0]
    assert not (tmp_path / "out").exists()


def test_bad_data_is_one_line(raw, run) -> None:
    for options, message in (
        ({"dataset": "sst2"}, "'sst2' has no pairs of sentences"),
        ({"dataset": "rten"}, "unknown dataset 'rten'"),
        ({"split": "dev"}, "--split 'dev': choices are train, valid, test"),
        ({"split": "train"}, "no file of split 'train'"),
        ({"split": "test"}, f"{raw}/test.tsv:2: no gold label"),
    ):
        status, _, errors = run(**options)
        assert (status, len(errors)) == (1, 1)
        assert message in errors[0]
    (raw / "dev.tsv").write_text("index\tsentence1\tsentence2\tscore\n0\ta\tb\t2.5\n")
    status, _, errors = run("--transformations", "NumWord", dataset="sts_b")
    assert status == 1
    assert "NumWord does not apply to sts_b" in errors[0]


@pytest.mark.slow
def test_back_translation_by_models_of_this_project(tmp_path, raw, run, model) -> None:
    status, out, errors = run(
        "--transformations", "BackTrans", "--forward", model, "--backward", model
    )
    assert (status, errors) == (0, [])
    record = json.loads((tmp_path / "out" / "BackTrans" / "perturbation.json").read_text())
    assert record["translation"] == f"{model} {model}"
    assert record["changed"] == 4
