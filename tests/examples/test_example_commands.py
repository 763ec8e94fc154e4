"""What the scripts of the examples ask for, hand on and refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples.example_commands import example
from lab.toy_grids import manifest_of

from fairseq_plugins.nn.fusion import ABLATIONS

KINDS = ["glue", "tagging", "sla", "dabert", "bertqa_squad", "composition"]


@pytest.mark.parametrize("kind", KINDS)
def test_examples_say_what_they_need_in_one_line(project, kind):
    status, out, _ = example(project, kind)
    assert (status, f"bash examples/{kind}/run.sh demo" in out) == (0, True)
    status, _, err = example(project, kind, "nothing", "--preset")
    assert (status, err.count("\n")) == (2, 1)
    assert re.search("no nothing.yaml; choices: .*demo", err)
    assert "table" in err or kind in ("tagging", "composition")


def test_a_dataset_that_is_not_prepared_is_asked_for(project):
    status, _, err = example(project, "sla", "cola")
    assert (status, err.count("\n")) == (1, 1)
    assert "data-bin/cola/manifest.json: no such file; prepare the data first" in err
    assert not (project / "data-bin").exists()


@pytest.mark.parametrize("kind", ["wmt14_en_de", "multi30k_en_de"])
def test_translation_examples_hand_their_tables_on(project, tmp_path, kind):
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("train.en", "test.de", "test_2016_flickr.de"):
        (raw / name).touch()
    path = project / "data-bin" / kind
    path.mkdir(parents=True)
    counts = dict.fromkeys(("train", "valid", "test"), (100, 100))
    manifest_of(kind, "translation", counts).save(path)
    arguments = ("all" if kind == "multi30k_en_de" else "table1", "--dry-run", "--fractions", "1")
    status, out, err = example(project, kind, *arguments, RAW=str(raw))
    assert status == 0, err
    lines = out.splitlines()
    assert [re.search(r"--features (\S+)", line)[1] for line in lines] == [
        "none",
        "pos,case,subword",
    ]
    assert all(f"runs/{kind}_table1/{kind}/" in line for line in lines)


def test_a_treebank_without_its_files_is_refused(project, tmp_path):
    (tmp_path / "ud").mkdir()
    status, _, err = example(project, "sla", "ewt_errors", RAW=str(tmp_path / "ud"))
    assert (status, err) == (1, f"error: {tmp_path / 'ud'} holds no file *train.conllu\n")


def test_errors_are_injected_into_a_treebank_where_nothing_was_before(project, tmp_path):
    (tmp_path / "ud").mkdir()
    for split in ("train", "dev", "test"):
        (tmp_path / "ud" / f"xx-ud-{split}.conllu").touch()
    python = tmp_path / "venv" / "bin" / "python"  # called as make_ewt_errors.sh does
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\ncase "$4" in errors) : > "$8";; *) exit 3;; esac\n')
    python.chmod(0o755)
    variables = {"RAW": str(tmp_path / "ud"), "VENV": str(tmp_path / "venv")}
    status, _, err = example(project, "sla", "ewt_errors", **variables)
    assert (status, err) == (3, "")  # of the experiment
    found = sorted(path.name for path in (project / "data-bin" / "ewt_errors_raw").iterdir())
    assert found == ["dev.tsv", "test.tsv", "train.tsv"]


def test_what_was_prepared_needs_no_raw_data_and_sizes_have_folders_of_their_own(project):
    for name in ("cola", "cola_base"):
        prepared(project, "cola", name)
    arguments = ("cola", "--dry-run", "--preset", "--archs", "bert_sla_base")
    status, out, err = example(project, "sla", *arguments, SIZE="base")
    assert status == 0, err
    assert len(out.splitlines()) == 5
    for word in (
        "data-bin/cola_base ",
        "--arch bert_sla_base",
        "runs/cola_base/bert_sla_base/lr2e-5",
    ):
        assert all(word in line for line in out.splitlines())
    assert all("--tree-threshold 3" in line for line in out.splitlines())


NINE = dict.fromkeys(("train", "valid"), (9, 9))


def prepared(project: Path, dataset: str, folder: str) -> None:
    """Write as much of a prepared folder as a dry run reads."""
    path = project / "data-bin" / folder
    path.mkdir(parents=True)
    manifest_of(dataset, "classes", NINE, labels=["0", "1"], positive="1").save(path)


def test_a_demo_leaves_what_follows_it_alone(project):
    prepared(project, "cola", "cola")
    status, out, err = example(project, "glue", "demo", "cola", "--dry-run", "--preset")
    assert status == 0, err
    assert "data-bin/glue_demo is not prepared yet: that is done first, from" in err
    assert out.count("runs/cola/") == len(out.splitlines()) > 0
    assert out.count("data-bin/cola ") == len(out.splitlines())


def test_folders_are_seen_from_where_one_stands(project, tmp_path, monkeypatch):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    prepared(project, "cola", "mine")
    arguments = ("cola", "--dry-run", "--preset", "--runs", "out", "--name=mine")
    status, out, err = example(project, "glue", *arguments)
    assert status == 0, err
    lines = out.splitlines()
    assert lines
    for line in lines:
        assert f"{elsewhere}/out/" in line
        assert "data-bin/mine " in line
    status, out, err = example(project, "glue", "cola", "rte", "--runs", "out", "--dry-run")
    assert (status, err) == (2, "error: --runs out is for one dataset, not for cola rte\n")


@pytest.mark.parametrize("more", [(), ("--runs", "out"), ("--name", "mine")])
def test_tables_are_of_the_runs_that_were_made(project, tmp_path, monkeypatch, more):
    """Python is a script that tells what it was called with."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    status, out, err = example(project, "glue", "cola", *more, VENV=str(tmp_path / "venv"))
    assert status == 0, err
    ran, table = out.splitlines()
    place = re.search(r"--runs (\S+)", ran)[1]
    wanted = {"--runs": str(tmp_path / "out"), "--name": "runs/mine"}.get("".join(more[:1]))
    assert place == (wanted or "runs/cola")
    assert table == f"-m fairseq_plugins results table {place} --output {place}/tables"


def test_dabert_is_ablated_by_one_command_at_the_preset(project):
    prepared(project, "rte", "dabert_rte")
    prepared(project, "rte", "mine")
    arguments = ("rte", "--ablation", "--preset", "--seeds", "1", "--dry-run")
    status, out, err = example(project, "dabert", *arguments)
    assert status == 0, err
    lines = out.splitlines()
    assert len(lines) == 7
    for line, part in zip(lines, ("", *ABLATIONS[1:])):
        assert "--arch dabert_minilm " in line
        assert f"--ablate {part}" in line if part else "--ablate" not in line
        assert "runs/dabert_rte/dabert_minilm" in line
        for preset in ("--lr 2e-05", "--batch-size 32", "--clip-norm 10.0", "--dropout 0.1"):
            assert preset in line
    base = ("rte", "--ablation", "--preset", "--seeds", "1", "--dry-run")
    status, out, err = example(project, "dabert", *base, SIZE="base", NAME="mine")
    assert (status, out.count("--arch dabert_base ")) == (0, 7)
    assert out.count("data-bin/mine ") == 7


@pytest.mark.parametrize("kind", ["sla", "dabert"])
def test_a_name_of_ones_own_is_for_one_dataset(project, kind):
    status, out, err = example(project, kind, "mrpc", "rte", "--dry-run", NAME="mine")
    assert (status, out) == (2, "")
    assert err == "error: NAME=mine is for one dataset, not for mrpc rte\n"


def test_dabert_runs_its_systems_in_folders_of_its_own(project):
    prepared(project, "rte", "dabert_rte")
    status, out, err = example(project, "dabert", "rte", "--preset", "--seeds", "1", "--dry-run")
    assert status == 0, err
    found = re.findall(r"--arch (\w+) ", out)
    kinds = ("bert_plain", "bert_syntax_masks", "bert_uer", "dabert", "dabert_literal")
    assert found == [f"{kind}_minilm" for kind in kinds]
    assert out.count("runs/dabert_rte/") == 5


def test_bertqa_trains_systems_on_their_own_data_by_one_command(project):
    for name in ("bertqa_large", "bertqa_large_35", "bertqa_large_50"):
        path = project / "data-bin" / name
        path.mkdir(parents=True)
        manifest_of("squad", "spans", NINE, inputs={"valid": {"sha256": "v"}}).save(path)
    status, out, err = example(project, "bertqa_squad", "large", "--dry-run")
    assert status == 0, err
    lines = {re.search(r"runs/bertqa_large/(\w+)/", line)[1]: line for line in out.splitlines()}
    assert len(lines) == 7
    wanted = {
        "model1": ("_35", "1.5e-05"),
        "model2": ("_35", "1.2e-05"),
        "model3": ("_50", "1.1e-05"),
    }
    for model, (data, rate) in wanted.items():
        for wiring, arch in (("", "bertqa_literal_large"), ("query_", "bertqa_large")):
            line = lines[f"{wiring}{model}_large"]
            for word in (f"data-bin/bertqa_large{data} ", f"--lr {rate} ", f"--arch {arch} "):
                assert word in line
            assert "--batch-size 2 " in line
            assert "--update-freq 3 " in line
            assert ("--span-lstm none" in line) == (model == "model2")
    assert "data-bin/bertqa_large " in lines["bert_plain_large"]
