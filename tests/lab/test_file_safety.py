"""What the file of an experiment may say: nothing in it acts, however fairseq or Slurm reads it.

Every attack is made once with the guard left out, so that the mark that it leaves is known to work.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from fairseq import options
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from for_each import for_each
from hypothesis import example, given
from hypothesis import strategies as st
from submitit.slurm import slurm

import fairseq_plugins.tasks  # noqa: F401  registers everything
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.commands import parser_of
from fairseq_plugins.lab.execution.experiment import Plan, check_plan
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.plan.allowed import (
    check_options,
    kind_of,
    name_of,
    of_generation,
    of_training,
)
from fairseq_plugins.lab.plan.experiment_file import PlannedExperiment, PlannedPart, default_name
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepare import check_prepare, preparing
from fairseq_plugins.lab.plan.steps import COMMANDS, NAMES, OUT, PLACE
from fairseq_plugins.lab.plan.values import LINE, NAME, NUMBERS, PATH, TEXT, WORD
from fairseq_plugins.lab.plan.yaml_file import LARGEST, read_yaml
from fairseq_plugins.registration import ours, parser_of_class, registries


def test_fairseq_would_evaluate_these_values(tmp_path) -> None:
    mark = tmp_path / "mark"
    config = FairseqAdamConfig(adam_betas=f"(open('{mark}', 'w'), 1)", lr=[0.1])
    with contextlib.suppress(TypeError):
        FairseqAdam(config, [torch.nn.Parameter(torch.ones(1))])
    assert mark.exists()


def test_plain_values_are_values() -> None:
    training = {"arch": "bert_sla_base", "adam-betas": "(0.9, 0.98)", "adam-eps": "1e-9"}
    training |= {"update-freq": ["[2, 1]", 8], "dual-layers": 0, "local-layers": "0,2,5"}
    training |= {"valid-subset": "valid,valid_mismatched", "data": 35, "fp16": True}
    training |= {"dropout": None, "long-examples": ["truncate", "split"]}
    assert check_options(training, of_training(), is_open=True) == training
    search = {"beam": 4, "lenpen": 0.6, "sampling": True}
    assert check_options(search, of_generation(), is_open=True) == search


@pytest.mark.parametrize("name", ["num-shards", "prefix-size", "score-reference", "tpu"])
def test_generation_is_of_the_whole_split_and_sees_no_reference(name: str) -> None:
    with pytest.raises(InputError, match=f"option '{name}'"):
        check_options({name: 1}, of_generation())


def test_no_name_is_the_beginning_of_another_option() -> None:
    """Unless argparse knows it itself: it takes the beginning of an option for the option."""
    known, usual = registries(), {*options.get_training_parser()._option_string_actions}
    chosen = [*ours("tasks").values(), *ours("models").values(), *known["schedules"].values()]
    allowed = {f"--{name}" for name in of_training()}
    for cls in [*chosen, *(known["optimizers"][name] for name in ("adam", "nag"))]:
        there = usual | {*parser_of_class(cls)._option_string_actions}
        for name in allowed - there:
            assert [one for one in there - allowed if one.startswith(name)] == [], cls
    arches = {*of_training()["arch"].names}
    assert "bert_sla_base" in arches <= {*ARCH_MODEL_REGISTRY} - {"transformer", "roberta", "fconv"}


@given(st.text(max_size=20) | st.text(st.sampled_from("1e9.,()[]-+*$_{}'\" \n"), max_size=20))
@example("1\n")
@example("(1,\n2)")
@example("a\u2028b")
@example("-1")
def test_nothing_of_a_value_can_act(text) -> None:
    """Neither as a word of a command line, nor as Python, nor as a line of a script or a path."""
    for kind in (WORD, NAME, PATH):
        if kind.fits(text):
            assert not set(text) & set(" \n\r\t\0\"'`$\\(){}[]<>|&;*?!#~:=")
            assert not text.startswith(("-", ".", "/", "+"))
            assert ".." not in text.split("/")
            assert kind is PATH or "/" not in text
    for kind in (LINE, TEXT):
        assert not kind.fits(text) or (text.isprintable() and len(text.splitlines()) < 2)
    if NUMBERS.fits(text):
        found = ast.literal_eval(text.strip())
        values = found if isinstance(found, (tuple, list)) else [found]
        assert all(isinstance(value, (int, float)) for value in values)


def test_data_that_begin_like_an_option_would_be_one(tmp_path) -> None:
    word = f"--save-dir={tmp_path}"
    assert options.get_training_parser().parse_known_args([word])[0].save_dir == str(tmp_path)
    own = PlannedPart("x", Grid("cola", {"a": {"arch": "a"}}), data=word)
    for folder, root in ((own, "runs"), (replace(own, data="bin"), "-runs")):
        experiment = PlannedExperiment("x", "", tmp_path / "x.yaml", (folder,))
        with pytest.raises(InputError, match="begins like an option, or breaks a line"):
            check_plan(Plan(experiment, Path(root), ()))


def test_names_stay_on_their_line_of_a_batch_script(tmp_path) -> None:
    """A folder may be called otherwise on the command line; the name of the jobs is made of it."""
    mark = tmp_path / "mark"
    name = f"x\ntouch {str(mark).replace('/', '${S}')}\n"

    def run(job):
        text = slurm._make_sbatch_string("true", tmp_path, job_name=job, use_srun=False)
        own = {**os.environ, "S": "/"}
        subprocess.run(["bash", "-c", text], check=False, env=own, stderr=subprocess.DEVNULL)
        return mark.exists()

    assert not run(Machine(tmp_path / name / "jobs").job_name)
    assert NAME.fits(default_name(tmp_path / name / "a b.yaml"))
    assert run(f"fairseq-{name}")


def test_preparations_take_their_own_options(tmp_path) -> None:
    own = {"trainpref": "train", "validpref": "a/valid,b/valid", "bpe-size": 50, "parse": True}
    check_prepare({**own, "conllu": False}, "translation")
    assert preparing("translation", {**own, "conllu": False}, tmp_path) == [
        *("prepare translation", "--trainpref", f"{tmp_path}/train"),
        *("--validpref", f"{tmp_path}/a/valid,{tmp_path}/b/valid"),
        *("--bpe-size", "50", "--parse"),
    ]
    check_prepare({"doc-stride": 64, "tokenize": "spacy"}, "squad")
    check_prepare({"text-column": "sentence 1", "labels": "no,yes", "tag-column": -1}, "plain")
    for own, dataset in (({"bpe-size": 5}, "cola"), ({"text-column": "-x"}, "plain")):
        with pytest.raises(InputError, match="option '(bpe-size|text-column)': "):
            check_prepare(own, dataset)


def test_documents_are_of_a_bounded_size(tmp_path) -> None:
    path = tmp_path / "x.yaml"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        read_yaml(tmp_path / "pipe")
    for content, message in (
        (b"# " + b"x" * LARGEST, "larger than"),
        (b"\xff", "not valid UTF-8"),
        (b"a: " + b"1:" * 6000 + b"1", "values of this length"),
        (b"a: 1" + b"0" * 5000, "x.yaml: .*numbers of this length"),
        (b"a: 0x" + b"f" * 5000, "x.yaml: .*numbers of this length"),  # too long to be shown
        (b"[" * LARGEST, "values this deep"),
    ):
        path.write_bytes(content)
        begun = time.monotonic()
        with pytest.raises(InputError, match=message):
            read_yaml(path)
        assert time.monotonic() - begun < 30
    path.write_text("a: {b: [1, 1e-5, x, true, null]}")
    assert read_yaml(path) == {"a": {"b": [1, "1e-5", "x", True, None]}}


@for_each(COMMANDS)
def test_commands_take_what_steps_may_give_and_more(command) -> None:
    """What writes or reads is known by its name, so the helps of all commands have to agree."""
    told = ("write", "draw", "written", "folder STEM", "without suffix", "files go", "to write")
    left_out = {
        "perturb": {"wordnet", "back-translate", "workers"},
        "score": {"test-set", "comet", "comet-encoder"},  # read what no run has made
        "predict": {f"{name}-column" for name in ("text", "text2", "label", "id")}
        | {"label-thresholds", "tune-thresholds"},  # these write into the checkpoint
    }
    refused = {"help", "spacy-model", *left_out.get(command, ())}
    for action in parser_of(command)._actions:
        name, kind = name_of(action), kind_of(action, NAMES)
        assert (kind is None) == (name in refused), name
        writes = any(one in (action.help or "") for one in told) and action.nargs != 0
        assert (kind is OUT) == (writes and name != "fields"), name


@given(st.text(max_size=12) | st.text(st.sampled_from("{}runout:/.,=?-ab \n"), max_size=20))
@example("{out}/../x")
@example("{runs:a}/../x")
@example("a={run:b}:/etc")
def test_no_place_of_a_step_leaves_its_folder_or_is_an_option(text) -> None:
    for kind in (PLACE, OUT):
        if kind.fits(text):
            assert "{" in text
            assert not text.startswith("-")
            assert text.isprintable()
            assert ".." not in text.replace(":", "/").replace(",", "/").split("/")
            assert all("{" in one for one in re.sub(r"\{[^}]*\}", "{}", text).split(":"))
    if OUT.fits(text):
        assert text.startswith("{out}")
