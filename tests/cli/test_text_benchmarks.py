"""The reference of Hugging Face runs; how well it scores is no matter here."""

from __future__ import annotations

import importlib
import json

import pytest
import torch
from cli.commands import ROOT, run
from pretrained_directories import write_directory

BENCHMARKS = ROOT / "benchmarks"
COLA = ["x1\t1\t\tthe cat runs", "x1\t0\t*\tcat the runs", 'x2\t1\t\t"the" dog'] * 3
PAIRS = {
    "rte": (
        "index\tsentence1\tsentence2\tlabel",
        '0\tThe "cat runs.\tA cat runs.\tentailment',
        "1\tThe cat.\tA dog.\tnot_entailment",
    ),
    "sts_b": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore",
        '0\tg\tf\ty\t0\tnone\tnone\tThe "cat runs.\tA cat runs.\t4.750',
        "1\tg\tf\ty\t1\tnone\tnone\tThe cat.\tA dog.\t0.000",
    ),
}


@pytest.fixture(scope="module")
def reference():
    return importlib.import_module("benchmarks.huggingface_reference")


def reference_arguments(tmp_path, *more):
    raw = tmp_path / "raw"
    raw.mkdir(exist_ok=True)
    for name in ("train", "dev"):
        (raw / f"{name}.tsv").write_text("\n".join(COLA) + "\n")
    checkpoint = tmp_path / "bert"
    if not checkpoint.exists():
        write_directory(checkpoint)
    fixed = ["--raw-dir", raw, "--directory", checkpoint, "--output", tmp_path / "out" / "a.jsonl"]
    return [*fixed, "--epochs", 2, "--batch-size", 4, *more]


@pytest.mark.long
def test_reference_adds_a_line_a_seed_and_skips_finished_seeds(tmp_path):
    script, output = BENCHMARKS / "huggingface_reference.py", tmp_path / "out" / "a.jsonl"
    run(script, "cola", *reference_arguments(tmp_path, "--seeds", 1))
    first = output.read_text()
    found = run(script, "cola", *reference_arguments(tmp_path, "--seeds", 1, 2))
    assert output.read_text().startswith(first)
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["seed"] for line in lines] == [1, 2]
    assert all(line["updates"] == 6 and len(line["epochs"]) == 2 for line in lines)
    assert lines[0]["epochs"] != lines[1]["epochs"]
    assert "seed 1" not in found.out
    assert "seed 2" in found.out
    assert "mcc of the last epoch" in found.out
    again = tmp_path / "again"
    again.mkdir()
    run(script, "cola", *reference_arguments(again, "--seeds", 2))
    same = json.loads((again / "out" / "a.jsonl").read_text())
    assert same["epochs"] == lines[1]["epochs"]


@pytest.mark.long
def test_reference_refuses_to_mix_settings(tmp_path):
    script = BENCHMARKS / "huggingface_reference.py"
    run(script, "cola", *reference_arguments(tmp_path))
    found = run(script, "cola", *reference_arguments(tmp_path, "--lr", 1e-3), fails=True)
    assert "a.jsonl" in found.err
    assert "lr" in found.err


@pytest.mark.parametrize("name", PAIRS)
def test_reference_reads_official_pairs(reference, tmp_path, name):
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(PAIRS[name]) + "\n")
    rows = reference.read(path, reference.DATASETS[name])
    assert [texts for texts, _ in rows] == [
        ('The "cat runs.', "A cat runs."),
        ("The cat.", "A dog."),
    ]
    assert [value for _, value in rows] == ([0.0, 1.0] if name == "rte" else [4.75, 0.0])


def test_reference_decays_matrices_only(reference):
    model = torch.nn.Module()
    model.map, model.LayerNorm = torch.nn.Linear(2, 2), torch.nn.LayerNorm(2)
    decayed, bare = reference.parameter_groups(model, 0.01)
    assert [p is model.map.weight for p in decayed["params"]] == [True]
    assert len(bare["params"]) == 3
    assert (decayed["weight_decay"], bare["weight_decay"]) == (0.01, 0.0)


def test_reference_rate_rises_then_falls_to_zero(reference):
    rate = reference.triangle(3, 10)
    shares = [rate(update) for update in range(11)]
    assert max(shares) == 1.0
    assert shares == sorted(shares[:3]) + sorted(shares[3:], reverse=True)
    assert shares[10] == 0.0
