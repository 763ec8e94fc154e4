"""The invented corpora of the examples, and their commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fairseq_plugins.corpora import squad
from fairseq_plugins.corpora.datasets import DATASETS, find_splits, read_split
from fairseq_plugins.corpora.role_columns import RoleColumns, read_roles
from fairseq_plugins.nn.fusion import ABLATIONS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def made(kind: str, folder: Path) -> dict[str, bytes]:
    """Write a demo corpus; return its files."""
    subprocess.run([sys.executable, str(EXAMPLES / kind / "make_demo.py"), str(folder)], check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["glue", "tagging", "dabert", "bertqa_squad", "sembert"])
def test_demo_has_the_same_bytes_every_time(kind, tmp_path):
    assert made(kind, tmp_path / "one") == made(kind, tmp_path / "two") != {}


def test_glue_demo_is_in_colas_format(tmp_path):
    made("glue", tmp_path)
    dataset = DATASETS["cola"]
    rows = {s: [*read_split(dataset, s, p)] for s, p in find_splits(dataset, tmp_path).items()}
    assert {split: len(part) for split, part in rows.items()} == {
        "train": 640,
        "valid": 160,
        "test": 80,
    }
    for split in ("train", "valid"):
        labels = Counter(row.label for row in rows[split])
        assert min(labels["0"], labels["1"]) > 0.4 * len(rows[split])
    assert {row.label for row in rows["test"]} == {None}
    texts = [row.texts for part in rows.values() for row in part]
    assert len(set(texts)) == len(texts)


def test_tagging_demo_has_new_names_in_validation(tmp_path):
    made("tagging", tmp_path)
    dataset = DATASETS["tokens"]
    names = {}
    for split, path in find_splits(dataset, tmp_path).items():
        rows = [*read_split(dataset, split, path)]
        pairs = [pair for row in rows for pair in zip(row.words, row.word_labels)]
        kinds = {label for _, label in pairs}
        assert kinds == {
            "O",
            *(f"{mark}-{kind}" for mark in "BI" for kind in ("PER", "LOC", "ORG")),
        }
        firms = {"Group", "Motors", "Bank"}
        names[split] = {word for word, label in pairs if label != "O"} - firms
    assert not names["train"] & (names["valid"] | names["test"])


def test_dabert_demo_differs_by_a_word_and_the_word_decides(tmp_path):
    made("dabert", tmp_path)
    dataset = DATASETS["qqp"]
    rows = {s: [*read_split(dataset, s, p)] for s, p in find_splits(dataset, tmp_path).items()}
    assert {split: len(part) for split, part in rows.items()} == {
        "train": 640,
        "valid": 160,
        "test": 80,
    }
    assert {row.label for row in rows["test"]} == {None}
    verbs = {"buy", "purchase", "build", "construct", "choose", "select", "fix", "repair"}
    for row in rows["train"] + rows["valid"]:
        bags = [Counter(re.findall(r"\w+", text.lower())) for text in row.texts]
        gone, new = bags[0] - bags[1], bags[1] - bags[0]
        same_words = not (
            {*gone, *new}
            - verbs
            - {"where", "in", "which", "place", "why", "does"}
            - {"what", "makes"}
        )
        assert same_words == (row.label == "1")
    labels = Counter(row.label for row in rows["valid"])
    assert min(labels.values()) > 0.4 * len(rows["valid"])
    firsts = [row.texts[0] for part in rows.values() for row in part]
    assert len({*firsts}) == len(firsts)


def test_sembert_demo_hides_in_its_words_what_its_roles_say(tmp_path):
    made("sembert", tmp_path)
    for split, count in (("train", 2000), ("dev", 400)):
        rows = [line.split("\t") for line in (tmp_path / f"{split}.tsv").read_text().splitlines()]
        sentences = [*read_roles(tmp_path / f"{split}.srl", RoleColumns())]
        assert len(sentences) == 2 * count == 2 * len(rows[1:])
        labels = Counter(label for *_, label in rows[1:])
        assert min(labels.values()) > 0.45 * count
        for number, (text, second, label) in enumerate(rows[1:]):
            first, other = sentences[2 * number : 2 * number + 2]
            assert text == second == " ".join(first.words) == " ".join(other.words)
            assert (first.roles == other.roles) == (label == "1")


@pytest.fixture
def project(tmp_path):
    """A project of its own, with the same scripts and examples."""
    for name in ("scripts", "examples", "fairseq_plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def example(project: Path, kind: str, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Run an example; return status, output and messages."""
    names = ("RAW", "NAME", "SIZE", "PRETRAINED", "PREPARE")
    own = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        ["bash", str(project / "examples" / kind / "run.sh"), *arguments],
        env={**own, "VENV": sys.prefix, "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_bertqa_demo_is_squad_and_its_augmentation_keeps_all_questions(tmp_path):
    made("bertqa_squad", tmp_path)
    train, more, dev = (
        {asked.id: asked for asked in squad.read(tmp_path / f"{name}.json").questions}
        for name in ("train-v2.0", "train_35", "dev-v2.0")
    )
    assert (len(train), len(dev)) == (600, 200)
    for name in ("train-v2.0", "train_35", "dev-v2.0"):
        for one in squad.read(tmp_path / f"{name}.json").paragraphs:
            for asked in one.questions:
                assert all(answer.stands_in(one.context) for answer in asked.answers)
    for questions in (train, dev):
        answerable = [bool(asked.answers) for asked in questions.values()]
        assert 0.5 < sum(answerable) / len(answerable) < 0.8
    assert train.items() <= more.items()
    added = {name: asked for name, asked in more.items() if name not in train}
    assert 0.3 < len(added) / len(train) < 0.4
    for name, asked in added.items():
        original = train[name.removesuffix("-q")]
        assert asked.answers == original.answers
        assert asked.text != original.text


KINDS = ["glue", "tagging", "sla", "dabert", "bertqa_squad", "composition"]


@pytest.mark.parametrize("kind", KINDS)
def test_examples_say_what_they_need_in_one_line(project, kind):
    status, out, _ = example(project, kind)
    assert (status, f"bash examples/{kind}/run.sh demo" in out) == (0, True)
    status, _, err = example(project, kind, "nothing", "--quick")
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
    manifest = {"format": "fairseq_plugins.translation", "source_lang": "en", "target_lang": "de"}
    manifest["splits"] = {name: {"lines": 100} for name in ("train", "valid", "test")}
    (path / "manifest.json").write_text(json.dumps(manifest))
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
        folder = project / "data-bin" / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    arguments = ("cola", "--dry-run", "--quick", "--archs", "bert_sla_base")
    status, out, err = example(project, "sla", *arguments, SIZE="base")
    assert status == 0, err
    assert len(out.splitlines()) == 2
    for word in (
        "data-bin/cola_base ",
        "--arch bert_sla_base",
        "runs/cola_base/bert_sla_base/lr2e-5",
    ):
        assert all(word in line for line in out.splitlines())
    assert all("--tree-threshold 3" in line for line in out.splitlines())


MANIFEST = {
    "dataset": "cola",
    "task": "text_classification",
    "target": "classes",
    "positive": "1",
    "metric": "mcc",
    "splits": {name: {"examples": 9, "labelled": 9} for name in ("train", "valid")},
}


def prepared(project: Path, dataset: str, folder: str) -> None:
    """Write as much of a prepared folder as a dry run reads."""
    path = project / "data-bin" / folder
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps({**MANIFEST, "dataset": dataset}))


def test_a_demo_leaves_what_follows_it_alone(project):
    prepared(project, "cola", "cola")
    status, out, err = example(project, "glue", "demo", "cola", "--dry-run", "--quick")
    assert status == 0, err
    assert "data-bin/glue_demo/manifest.json: no such file" in err
    assert out.count("runs/cola/") == len(out.splitlines()) > 0
    assert out.count("data-bin/cola ") == len(out.splitlines())


def test_folders_are_seen_from_where_one_stands(project, tmp_path, monkeypatch):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    prepared(project, "cola", "mine")
    arguments = ("cola", "--dry-run", "--quick", "--runs", "out", "--name=mine")
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
    assert table == f"-m fairseq_plugins table {place} --output {place}/tables"


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


SQUAD = {
    **MANIFEST,
    "dataset": "squad",
    "task": "extractive_qa",
    "target": "spans",
    "metric": "f1",
    "inputs": {"valid": {"sha256": "v"}},
}


def test_bertqa_trains_systems_on_their_own_data_by_one_command(project):
    for name in ("bertqa_large", "bertqa_large_35", "bertqa_large_50"):
        (project / "data-bin" / name).mkdir(parents=True)
        (project / "data-bin" / name / "manifest.json").write_text(json.dumps(SQUAD))
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


@pytest.mark.slow
def test_bertqa_demo_ends_with_its_table(project):
    systems = ("bert_plain_tiny", "bertqa_tiny", "bert_plain_q35_tiny")
    arguments = ("demo", "--quick", "--cpu", "--seeds", "1", "--archs", *systems)
    status, out, err = example(project, "bertqa_squad", *arguments)
    assert status == 0, err
    table = (project / "runs" / "bertqa_squad_demo" / "tables.md").read_text()
    assert out.endswith(table)
    for label in ("BERT", "BERTQA", "BERT, SQuAD 2.Q (35 %)"):
        assert f"| {label} |" in table
    assert "SQuAD F1 tuned" in table
    assert "[74" not in table  # no figures of the paper beside an invented corpus


@pytest.mark.slow
def test_sembert_demo_learns_what_bert_cannot(project):
    status, _, err = example(project, "sembert", "--cpu", "--max-update", "300")
    assert status == 0, err
    found = {}
    for arch in ("bert_plain_tiny", "bert_sembert_tiny"):
        metrics = json.loads((project / "runs" / "sembert_demo" / f"{arch}.json").read_text())
        found[arch] = metrics["metrics"]["accuracy"]
    assert found["bert_plain_tiny"] < 0.6
    assert found["bert_sembert_tiny"] >= 0.98


@pytest.mark.slow
def test_dabert_demo_ends_with_its_table(project):
    arguments = ("demo", "--quick", "--cpu", "--seeds", "1", "--archs", "bert_plain_tiny")
    status, out, err = example(project, "dabert", *arguments, "dabert_literal_tiny")
    assert status == 0, err
    table = (project / "runs" / "dabert_demo" / "tables.md").read_text()
    assert out.endswith(table)
    assert "| DABERT, as printed |" in table
    assert "An invented corpus" in table


@pytest.mark.slow
def test_sla_demo_ends_with_its_table_and_is_not_run_twice(project):
    arguments = ("demo", "--quick", "--cpu", "--archs", "bert_plain_tiny", "bert_sla_tiny")
    status, out, err = example(project, "sla", *arguments)
    assert status == 0, err
    table = (project / "runs" / "sla_demo" / "tables.md").read_text()
    assert out.endswith(table)
    assert "| + SLA | +0.0003M |" in table
    assert "tree-threshold 3" in table
    results = {path: path.stat().st_mtime_ns for path in project.glob("runs/*/*/*/*/result.json")}
    assert len(results) == 4
    gates = json.loads(next(project.glob("runs/*/bert_sla*/*/*/result.json")).read_text())["gates"]
    assert gates.keys() == {"0", "1"}
    status, out, err = example(project, "sla", *arguments)
    assert (status, out.endswith(table)) == (0, True), err
    assert {path: path.stat().st_mtime_ns for path in results} == results
    status, _, err = example(project, "glue", "demo", "--dry-run", "--quick")
    assert status == 0, err
