"""The benchmarks of text models run; how fast they are or how well they score is no matter here."""

from __future__ import annotations

import argparse
import importlib
import json
import sys

import pytest
import torch
from cli.commands import ROOT, run
from prepared_text import examples, prepare
from pretrained_directories import write_directory

BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))  # they import their neighbours
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
    return importlib.import_module("huggingface_reference")


@pytest.fixture(scope="module")
def speed():
    return importlib.import_module("text_speed")


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


@pytest.mark.long
def test_speed_compares_both_systems(tmp_path):
    folder = prepare(tmp_path / "data", "classes", {"train": examples("classes", 20)})
    options = "--sizes tiny --equal 2x6 --batch-size 4 --steps 2 --repeats 1 --profile".split()
    found = run(BENCHMARKS / "text_speed.py", folder, *options, "--device", "cpu")
    lines = [line for line in found.out.splitlines() if line.startswith("|")]
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["2x6", str(folder)]
    assert lines[2].split("|")[2].strip() == "100%"
    assert any(line.startswith("| matrix products |") for line in lines)
    assert "a look, not a measurement" in found.out


@pytest.mark.long
def test_syntax_speed_compares_every_system_with_plain_bert(tmp_path):
    splits = {"train": examples("classes", 20)}
    folder = prepare(tmp_path / "data", "classes", splits, annotations=("pos", "heads"))
    options = "--sizes tiny --equal 2x6 --batch-size 4 --steps 2 --repeats 1".split()
    found = run(BENCHMARKS / "syntax_speed.py", folder, *options, "--device", "cpu")
    rows = [line.split("|") for line in found.out.splitlines() if line.startswith("| tiny")]
    work = [(row[2].strip(), row[3].strip()) for row in rows]
    assert work == [
        (name, system)
        for name in ("2x6", str(folder))
        for system in ("SLA", "WLA", "LISA", "SGNet", "DABERT", "DABERT-literal")
    ]
    assert "Masks of 2x6" in found.out
    assert "of an SLA step (tiny 2x6)" in found.out


@pytest.mark.long
def test_peak_memory_compares_systems_with_plain_bert():
    options = "--sizes tiny --equal 2x64 --systems DABERT --steps 1".split()
    found = run(BENCHMARKS / "peak_memory.py", *options, "--device", "cpu")
    (row,) = [line.split("|") for line in found.out.splitlines() if line.startswith("| tiny")]
    assert [cell.strip() for cell in row[1:4]] == ["tiny", "2x64", "DABERT"]
    ours, plain, ratio = (float(cell) for cell in row[4:7])
    assert ours > 0 < plain
    assert ratio == pytest.approx(ours / plain, abs=0.05)


def test_masks_of_the_benchmark_are_those_of_its_twin():
    module = importlib.import_module("syntax_speed")
    batch = module.equal_batch(3, 12, argparse.Namespace(device="cpu"))
    inputs = batch["net_input"]
    found = module.RULE(inputs["word_of"], inputs["segments"], inputs["heads"])
    assert (found.numpy() == module.twin(batch)).all()


def test_speed_compares_equal_models_only(speed):
    args = argparse.Namespace(dropout=0.1, classes=2, device="cpu")
    systems = speed.build("tiny", args)
    batch = speed.complete(speed.equal_batch(2, 5, args), "cpu")
    speed.check(systems, batch)
    with torch.no_grad():
        systems[0].model.head.out.bias.add_(1.0)
    with pytest.raises(RuntimeError, match="differ by 1"):
        speed.check(systems, batch)


def test_syntax_speed_measures_what_it_says(tmp_path, monkeypatch):
    """Masks of the batch equal those of the twin; a folder's batches and every system run."""
    syntax_speed = importlib.import_module("syntax_speed")
    monkeypatch.setattr(syntax_speed, "VOCABULARY", syntax_speed.FIRST_WORD + 9)
    args = argparse.Namespace(dropout=0.1, device="cpu", batch_size=4, steps=2)
    args.systems = ["SLA", "WLA", "LISA", "SGNet", "DABERT"]
    batch = syntax_speed.equal_batch(3, 9, args)
    inputs = batch["net_input"]
    allowed = syntax_speed.RULE(inputs["word_of"], inputs["segments"], inputs["heads"])
    assert torch.equal(allowed, torch.from_numpy(syntax_speed.twin(batch)))
    parsed = {"annotations": ("heads",)}
    folder = prepare(tmp_path, "classes", {"train": examples("classes", 9, pairs=True)}, **parsed)
    batches = [batch, *syntax_speed.real_batches(str(folder), args)]
    for system in syntax_speed.build("tiny", args, ["plain", *args.systems]):
        for one in batches:
            system.step(one)


def test_speed_spreads_batches_over_the_file(speed, tmp_path):
    folder = str(prepare(tmp_path, "classes", {"train": examples("classes", 33)}))
    args = argparse.Namespace(batch_size=4, steps=3, classes=2)
    batches = speed.real_batches(folder, args)
    assert [sorted(batch["id"].tolist()) for batch in batches] == [
        list(range(at, at + 4)) for at in (0, 8, 20)
    ]
    with pytest.raises(ValueError, match="--steps is 9"):
        speed.real_batches(folder, argparse.Namespace(**{**vars(args), "steps": 9}))
