"""The part *commands* trains and uses every task, where spaCy and CTranslate2 are absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import ROOT

from benchmarks.gpu import commands
from benchmarks.gpu.chains import FLOAT32, PRECISIONS, TASKS, flags_of, options_of
from benchmarks.gpu.figures import read

SLIM = "translation, --memory-efficient-fp16"
SHIM = Path(__file__).with_name("without_spacy.py")


def figures(output, *only):
    """Run chains at tiny size; return what -> figure."""
    words = ["--tiny", "--device", "cpu", "--jobs", "1", "--output", output, "--only", *only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, SHIM, *words]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    return {line["what"]: line["figure"] for line in read(output)}


@pytest.mark.slow
def test_a_task_goes_its_whole_way(tmp_path):
    found = figures(tmp_path / "figures.jsonl", "score, float32")
    assert found == {"score, float32": 0, "score, float32: loss against no stop": 0}


@pytest.mark.long
def test_all_tasks_go_their_whole_way(tmp_path):
    found = figures(tmp_path / "figures.jsonl", ", float32")
    for task in TASKS:
        assert found[f"{task.what}, float32"] == 0
        assert found[f"{task.what}, float32: loss against no stop"] == 0


@pytest.mark.long
def test_all_formats_go_their_whole_way(tmp_path):
    formats = [one.what for one in PRECISIONS if one.on_cpu and one is not FLOAT32]
    found = figures(tmp_path / "figures.jsonl", *(f"classes, {how}" for how in formats), SLIM)
    assert len(found) == len(formats)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_task_has_several_formats_and_every_format_a_task(device):
    for task in TASKS:
        assert sum(one.suits(task, device) for one in PRECISIONS) >= (3 if device == "cpu" else 5)
    assert all(any(one.suits(task, "cuda") for task in TASKS) for one in PRECISIONS)


def test_a_command_that_fails_is_counted_and_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "call", lambda words: (int("export" in words), "a\nwhy"))
    chain = commands.Chain(TASKS[1], FLOAT32, tmp_path / "chain", cpu=True, width=16)
    figure = chain.run()
    assert figure.figure == 1
    assert figure.note.endswith("; export failed")
    assert "classes, float32: export failed\na\nwhy" in capsys.readouterr().out


def test_flags_say_what_a_configuration_says(tmp_path):
    words = flags_of(options_of(TASKS[2], FLOAT32, tmp_path, cpu=True, width=16))
    assert words[0] == str(tmp_path)
    assert {"--cpu", "--arch", "bert_pos_tiny", "--lr", "0.001"} <= set(words)
    assert "--cpu" not in flags_of(options_of(TASKS[2], FLOAT32, tmp_path, cpu=False, width=16))
