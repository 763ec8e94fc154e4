"""Every system of the example experiments trains and predicts, once, and every dataset is prepared
once: two updates of a tiny model on invented data in the official formats.

Runs that together have every dataset, every architecture and every option with every kind of target
are trained by CI; the rest of the systems with all tests.
"""

from __future__ import annotations

import json

import pytest
from cli.commands import run
from lab.example_runs import covering, every_run, name_of, parsed, planned
from lab.smoke_data import SmokeData

import fairseq_plugins.tasks  # registers everything
from fairseq_plugins.cli import translate as translate_command
from fairseq_plugins.evaluation.score_report import score_files
from fairseq_plugins.evaluation.translation import TextForm
from fairseq_plugins.files import write_text
from fairseq_plugins.inference.run_translation import folder_of_run
from fairseq_plugins.lab.execution import training
from fairseq_plugins.lab.run_files import EVALUATION, GENERATED, SCORE, of_split
from fairseq_plugins.prep.subset import write_subset

# files whose systems are those of other files with a control, each of which has its own tests
CONTROLS = {
    f"evidence-{name}" for name in ("cola", "sts_b", "ewt_errors", "squad", "multi30k", "atlas")
}
RUNS = [one for one in every_run() if name_of(one.path) not in CONTROLS]
FEW = covering(RUNS, lambda one: one.traits)
REST = covering(RUNS, lambda one: {one.own}, FEW)
CASES = [pytest.param(one, marks=pytest.mark.slow) for one in FEW]
CASES += [pytest.param(one, marks=pytest.mark.long) for one in REST]


@pytest.fixture(scope="module")
def smoke_data(tmp_path_factory):
    return SmokeData(tmp_path_factory.mktemp("smoke"))


def launch(command, log):
    """Run a command of a run in a forked process, its output added to the log."""
    command = [*map(str, command)]
    if command[1:3] == ["-m", "fairseq_cli.train"]:
        done = run("fairseq-train", *command[3:])
    elif command[3] == "translate":
        done = translate(command[4:])
    else:
        done = run(command[3], *command[4:])
    with log.open("a", encoding="utf-8") as stream:
        stream.write(done.out + done.err)


def translate(words):
    """Do what `translate` does, with the generation in a forked process."""
    args = parsed(translate_command, words)
    translate_command.take_file(args)
    checkpoint = args.run / args.checkpoint
    data, manifest = folder_of_run(checkpoint, args.split, args.data, elsewhere=False)
    own = ["--user-dir", fairseq_plugins.__path__[0], "--task", "syntax_translation", "--cpu"]
    own += ["--path", checkpoint, "--gen-subset", args.split, *args.generate]
    done = run("fairseq-generate", data, *own)
    log = args.run / of_split(GENERATED, args.split)
    log.write_text(done.out, encoding="utf-8")
    report = score_files([log], args.reference, TextForm(manifest.target_lang))
    write_text(args.run / of_split(SCORE, args.split), report.as_json())
    text = json.dumps(translate_command.summary(report, args.split))
    write_text(args.run / of_split(EVALUATION, args.split), text)
    return done


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_system_trains_and_predicts(one, smoke_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    smoke_data.link(one.part, tmp_path)
    plan = planned(one.path, tmp_path / "runs", "--parts", one.part.name)
    (made,) = [made for made in plan.runs if made.cell.system == one.system]
    if made.data.taken:
        whole, share = made.data.taken
        write_subset(whole, made.data.folder, share)
    training.execute(made, launch)
    assert made.is_finished()
    assert made.updates == 2
    if made.data.translates:
        assert "bleu" in json.loads(made.evaluation.read_text())["metrics"]
    else:
        assert (made.folder / "predictions.jsonl").stat().st_size
