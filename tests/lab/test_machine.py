"""Where runs are executed: flags, what they become, and what is refused."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.execution.machine import (
    Machine,
    add_flags,
    machine_of,
    read_minutes,
    read_parameters,
)


def machine(tmp_path, *words, cpu=False):
    parser = argparse.ArgumentParser()
    add_flags(parser)
    parser.add_argument("--cpu", action="store_true")
    return machine_of(parser.parse_args([*words, *(["--cpu"] if cpu else [])]), tmp_path / "jobs")


def test_defaults_are_this_machine_and_one_run_at_a_time(tmp_path):
    made = machine(tmp_path)
    assert (made.executor, made.jobs, made.processes) == ("local", 1, 1)
    assert made.gpus_per_node == min(1, torch.cuda.device_count())
    assert machine(tmp_path, cpu=True).gpus_per_node == 0


def test_flags_reach_slurm(tmp_path):
    words = "--executor slurm --jobs 5 --gpus-per-node 4 --time 2:00:00 --partition a"
    words += " --slurm mem=64G exclusive"
    told = machine(tmp_path, *words.split()).sbatch
    wanted = {
        "array_parallelism": 5,
        "gpus_per_node": 4,
        "nodes": 1,
        "ntasks_per_node": 1,
        "time": 120,
        "partition": "a",
        "job_name": Machine(tmp_path / "jobs").job_name,
        "additional_parameters": {"mem": "64G", "exclusive": True, "requeue": True},
    }
    assert told == wanted
    plain = machine(tmp_path, "--executor", "slurm").sbatch
    assert {"gpus_per_node": 1, "time": 240}.items() <= plain.items()
    assert "partition" not in plain
    assert plain["array_parallelism"] >= 1000
    assert "gpus_per_node" not in machine(tmp_path, "--executor", "slurm", cpu=True).sbatch


def test_experiments_of_one_name_have_jobs_of_other_names(tmp_path, monkeypatch):
    one, other = (Machine(tmp_path / place / "table" / "jobs") for place in "ab")
    assert one.job_name.startswith("fairseq-table-")
    assert one.job_name != other.job_name
    monkeypatch.chdir(tmp_path)
    assert Machine(Path("a/table/jobs")).job_name == one.job_name


def test_processes_are_one_a_gpu(tmp_path):
    assert machine(tmp_path, "--executor", "slurm", "--gpus-per-node", "4").processes == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--jobs 0", "--jobs 0: must be at least 1"),
        ("--time 30", "--time: needs --executor slurm"),
        ("--partition gpu", "--partition: needs --executor slurm"),
        ("--slurm a=b", "--slurm: needs --executor slurm"),
        ("--gpus-per-node 1000", "--gpus-per-node 1000: this machine has"),
        ("--gpus-per-node -1", "must be at least 0"),
        ("--executor slurm --time soon", "--time soon: expected minutes"),
        (f"--executor slurm --time {'9' * 5000}", "99: expected minutes"),
        ("--executor slurm --slurm nodes=2", "--slurm nodes=2: a flag or this command itself"),
        ("--executor slurm --slurm export=NONE", "--slurm export=NONE: a flag or this"),
        ("--executor slurm --slurm =a", "expected KEY=VALUE"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, words, said):
    with pytest.raises(InputError, match=said):
        machine(tmp_path, *words.split())


def test_slurm_has_to_be_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no command sbatch on the PATH"):
        Machine(tmp_path, executor="slurm").check()
    Machine(tmp_path).check()
    with pytest.raises(InputError, match="choices are local, slurm"):
        Machine(tmp_path, executor="moon")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("90", 90), ("1:30", 2), ("2:00:00", 120), ("1-0", 1440), ("1-12:30", 2190), ("0-0:0:1", 1)],
)
def test_times_are_those_of_slurm(text, minutes):
    assert read_minutes(text) == minutes


@given(st.text(alphabet="0123456789:-. x", max_size=12))
def test_a_time_is_minutes_or_an_error(text):
    with contextlib.suppress(ValueError):
        assert read_minutes(text) >= 1


@given(st.lists(st.text(max_size=20), max_size=3))
def test_a_parameter_never_breaks_out_of_its_line(words):
    with contextlib.suppress(ValueError):
        found = read_parameters(words)
        assert not any("\n" in f"{name}{value}" for name, value in found.items())
