"""Steps after an experiment: what is read, what placeholders stand for, what is done again."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab.finished_runs import finish

from fairseq_plugins.cli.subcommands import find, subcommands
from fairseq_plugins.lab.execution import after_steps
from fairseq_plugins.lab.execution.after_steps import perform, read_steps
from fairseq_plugins.lab.execution.experiment import Plan
from fairseq_plugins.lab.execution.run import RunError
from fairseq_plugins.lab.execution.step_places import Context, places_of
from fairseq_plugins.lab.plan.experiment_file import Experiment, Part, read_experiment
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.step_arguments import _ARGUMENTS, SUBCOMMANDS
from fairseq_plugins.lab.run_files import subcommand

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def step(name="one", script="plot_gates.py", arguments=("{out}/x",)):
    return {"name": name, "script": script, "arguments": list(arguments)}


def perturb(*arguments):
    return step(script="perturb.py", arguments=arguments)


def sentence(*arguments):
    return step(script="plot_attention.py", arguments=["He reads.", *arguments])


def robust(*arguments):
    return step(script="robustness.py", arguments=arguments)


@pytest.fixture
def root(tmp_path):
    """Folder of an experiment with runs of two datasets."""
    root = tmp_path / "runs"
    for part in ("cola", "rte"):
        for seed in (2, 1):
            finish(root / part, "bert_sla_base", 2e-5, seed, 0.5)
            finish(root / part, "bert_sla_base", 5e-5, seed, 0.8)
    finish(root / "rte", "bert_plain_base", 5e-5, 1, 0.6)
    for part in ("cola", "rte"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "manifest.json").write_text("{}")
    return root


@pytest.fixture
def context(root, tmp_path):
    """Return a function that looks at the runs anew."""

    def look(*parts):
        places = {
            part: places_of(root / part, tmp_path / part, tmp_path / "raw" / part)
            for part in parts or ("cola", "rte")
        }
        return Context(root, places, Path("examples/x/table1.yaml"))

    return look


class Launch:
    """Stands for a subcommand: notes its command, and leaves a file and a line."""

    def __init__(self, *failing):
        self.failing, self.commands = failing, []

    def __call__(self, command, log):
        self.commands.append(list(command))
        with log.open("a") as stream:
            stream.write(f"line a\nwritten {log.parent}/made.md\n")
        _, name = find(command[3:])
        (log.parent / "made.md").write_text(name)
        if name in self.failing:
            raise RunError("exit status 1")

    @property
    def arguments(self):
        return [command[3 + len(find(command[3:])[0]) :] for command in self.commands]


def performed(context, *steps, failing=()):
    """Do steps; return what was launched and the failures."""
    launch = Launch(*failing)
    return launch, perform(read_steps(list(steps)), context, launch)


def test_every_subcommand_that_a_step_may_call_is_there() -> None:
    assert {*SUBCOMMANDS} == {*_ARGUMENTS}
    assert [words for words in SUBCOMMANDS.values() if words not in subcommands()] == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("gates", "no list of steps"),
        ([5], "step 1: 5 is no mapping"),
        ([{**step(), "shell": "x"}], "unknown key 'shell'; choices: name, script, arguments"),
        ([step(name="../up")], "name '../up'"),
        ([step(name="")], "name ''"),
        ([step(), step()], "'one' is the name of an earlier step"),
        ([step(script="setup.sh")], "script 'setup.sh'; choices: analyze_questions.py"),
        ([step(script="../x.py")], "choices"),
        ([{**step(), "arguments": "x y"}], "no list of words"),
        ([{**step(), "arguments": [["x"]]}], "no list of words"),
        ([step(arguments=["{home}/x"])], r"no placeholder \{home\}; choices: \{runs\}, \{run\}"),
        ([step(arguments=["{run}"])], r"\{run\} should be \{run:NAME\}"),
        ([step(arguments=["{out:x}"])], r"should be \{out\}"),
        ([step(arguments=["{data:}"])], r"should be \{data:NAME\}"),
        ([step(arguments=["{after:two}"]), step("two")], "no step 'two' before this one"),
        ([step(arguments=["{out"])], "a brace belongs to no placeholder"),
        ([perturb("--back-translate", "rm x")], "'--back-translate': not for perturb.py in a file"),
        ([perturb("--back-tr=rm x")], "'--back-tr': not for perturb.py in a file; choices: --data"),
        ([perturb("?--b", "?rm x")], "'--b': not for perturb.py"),
        ([perturb("--spacy-model", "os")], "'--spacy-model': not for perturb.py"),
        ([perturb("--output", "/x")], "--output: '/x' is not {out}/...: a step writes into its"),
        ([perturb("--output={out}/../x")], "a step writes into its own folder"),
        ([perturb("?--output", "?{out}x")], "a step writes into its own folder"),
        ([perturb("--output")], "--output: expected one argument"),
        ([step(arguments=["{out}", "--out", "{runs}/x"])], "a step writes into its own folder"),
        ([sentence("--out=/x y")], "--out: '/x y' is not {out}/...: a step writes"),
        ([sentence("--ou=/x y")], "'--ou': not for plot_attention.py"),
        ([sentence("--", "--out")], "'--': not for plot_attention.py"),
        ([sentence("a\nb")], "no line of at most"),
        ([sentence("--layer", "x")], "--layer: 'x' is not a whole number"),
        ([step(arguments=["/etc/passwd"])], "'/etc/passwd' is not a path that begins with"),
        ([step(arguments=["runs/x"])], "is not a path that begins with"),
        ([step(arguments=["{file}/../x"])], "goes down from there"),
        ([step(arguments=["{runs:a}/.ssh"])], "goes down from there"),
        ([robust("{run:a/b}:/etc/x")], "is not a run, or several"),
        ([robust("-A={run:a/b}")], "'-A': not for robustness.py"),
        ([robust("../x={run:a/b}/../y")], "is not a run, or several"),
    ],
)
def test_wrong_steps_are_refused(value, said) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        read_steps(value)
    assert "\n" not in str(caught.value)


def test_numbers_are_words() -> None:
    numbers = ["--layer", 3, "--head=0", "--beam", "-1"]
    assert read_steps([sentence(*numbers)])[0].arguments[1:] == tuple(map(str, numbers))
    assert read_steps(None) == []


def test_what_is_left_out_does_not_change_what_stays(context, tmp_path) -> None:
    words = ["--names", "?{run:cola/none}", "--checkpoints", "{run:rte/bert_sla}"]
    launch, failures = performed(context(), sentence(*words))
    assert launch.commands == []
    assert "--names: expected at least one argument" in failures[0]
    words = ["{run:rte/bert_sla}", "--out", "?{run:cola/none}", "{out}/x"]
    with pytest.raises(ValueError, match="a step writes into its own folder"):
        read_steps([step(arguments=words)])


def test_placeholders_stand_for_folders(context, root, tmp_path) -> None:
    words = ["{runs}", "{runs:cola}", "{run:cola/bert_sla}/result.json", "{runs:rte/bert_sla_base}"]
    words += ["A={runs:rte/bert_sla}", "{data:rte}", "{raw:cola}", "{file}/y", "{out}/z"]
    launch, failures = performed(context(), robust(*words, "--names", "plain"))
    chosen = "bert_sla_base/lr5e-05-epochs3"
    rte = [str(root / "rte" / chosen / f"seed{seed}") for seed in (1, 2)]
    assert failures == []
    assert launch.commands[0][:4] == subcommand("robustness")
    assert launch.arguments[0] == [
        str(root),
        str(root / "cola"),
        str(root / "cola" / chosen / "seed1" / "result.json"),
        *rte,
        f"A={','.join(rte)}",
        str(tmp_path / "rte"),
        str(tmp_path / "raw" / "cola"),
        "examples/x/y",
        str(root / "after" / ".one.tmp" / "z"),
        *("--names", "plain"),
    ]


def test_the_only_part_need_not_be_named(context, root, tmp_path) -> None:
    words = ["{run:bert_sla}", "{runs:bert_sla}", "{data}", "{runs:rte}"]
    launch, _ = performed(context("rte"), step(arguments=words))
    seeds = [str(root / f"rte/bert_sla_base/lr5e-05-epochs3/seed{n}") for n in (1, 2)]
    assert launch.arguments[0] == [seeds[0], *seeds, str(tmp_path / "rte"), str(root / "rte")]
    _, failures = performed(context(), step(arguments=["{data}"]))
    assert "name a part: cola, rte" in failures[0]


def test_the_largest_share_of_the_data_is_meant(context, root) -> None:
    finish(root / "rte", "part", 5e-5, 1, 0.9, fraction=0.1)
    finish(root / "rte", "part", 4e-5, 1, 0.2)
    launch, _ = performed(context(), step(arguments=["{run:rte/part}"]))
    assert launch.arguments == [[str(root / "rte/part/lr4e-05-epochs3/seed1")]]


def test_name_that_several_sizes_share_is_refused(context, root) -> None:
    finish(root / "rte", "bert_sla_large", 5e-5, 1, 0.9)
    wanted = step(arguments=["{run:rte/bert_sla}"]), step("two", arguments=["{run:rte/bert_plain}"])
    launch, failures = performed(context(), *wanted)
    assert "rte/bert_sla is any of bert_sla_base, bert_sla_large" in failures[0]
    assert len(launch.commands) == 1


@pytest.mark.parametrize("word", ["{run:cola/bert_plain}", "{run:x/y}", "{data:x}", "{raw:rte}"])
def test_step_that_lacks_its_runs_is_passed_over(context, root, word, caplog) -> None:
    caplog.set_level("INFO")
    places = {name: part for name, part in context().parts.items()}
    places["rte"] = places_of(root / "rte", root.parent / "rte")
    steps = step(arguments=[word]), step("two", arguments=["{after:one}"]), step("three")
    launch, failures = performed(Context(root, places), *steps)
    assert failures == []
    assert launch.arguments == [[str(root / "after" / ".three.tmp" / "x")]]
    assert [r.message.split(":")[1] for r in caplog.records if "passed over" in r.message] == [
        " one is passed over",
        " two is passed over",
    ]


def test_argument_that_may_be_lacking_is_left_out(context, root) -> None:
    words = ["?A={runs:rte/none}", "?{runs:cola/bert_plain}", "?B={run:rte/bert_sla}"]
    launch, _ = performed(context(), robust(*words))
    assert launch.arguments == [[f"B={root}/rte/bert_sla_base/lr5e-05-epochs3/seed1"]]


def test_file_of_a_run_has_to_be_there(context, root, tmp_path) -> None:
    words = ["A={run:rte/bert_sla}/predictions.jsonl", "{data:rte}/manifest.json"]
    launch, failures = performed(context(), robust(*words))
    assert (launch.commands, failures) == ([], [])
    run = root / "rte" / "bert_sla_base" / "lr5e-05-epochs3" / "seed1"
    (run / "predictions.jsonl").touch()
    launch, _ = performed(context(), robust(*words))
    assert launch.arguments[0][0] == f"A={run}/predictions.jsonl"
    words = ["{run:rte/bert_sla}:{run:rte/bert_plain}"]
    launch, _ = performed(context(), step("two", "robustness.py", words))
    plain = root / "rte" / "bert_plain_base" / "lr5e-05-epochs3" / "seed1"
    assert launch.arguments == [[f"{run}:{plain}"]]


@pytest.mark.parametrize("given", [True, False])
def test_steps_of_a_plan_see_its_parts(root, tmp_path, monkeypatch, given) -> None:
    (tmp_path / "raw" / "rte").mkdir(parents=True)
    launch = Launch()
    monkeypatch.setattr(after_steps, "Commands", lambda _: SimpleNamespace(launch=launch))
    parts = tuple(Part(name, Grid(name, {}), str(tmp_path / name)) for name in ("rte", "cola"))
    words = ["{raw:rte}", "{data:rte}", "{run:cola/bert_sla}"]
    experiment = Experiment("x", "", tmp_path / "x.yaml", parts, after=(step(arguments=words),))
    raw = tmp_path / "raw" if given else None
    assert after_steps.perform_all(Plan(experiment, root, (), ()), raw) == []
    assert [words[:2] for words in launch.arguments] == [
        [str(tmp_path / "raw" / "rte"), str(tmp_path / "rte")]
    ][: int(given)]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/*.yaml")), ids=lambda file: file.name)
def test_steps_of_all_examples_are_well_formed(file) -> None:
    read_steps(read_experiment(file).after)


def test_what_a_step_leaves_is_complete(context, root) -> None:
    performed(context(), step())
    folder = root / "after" / "one"
    assert sorted(path.name for path in folder.iterdir()) == ["done.json", "log", "made.md"]
    assert [path.name for path in folder.parent.iterdir()] == ["one"]
    assert (folder / "log").read_text() == f"line a\nwritten {folder}/made.md\n"
    done = json.loads((folder / "done.json").read_text())
    assert done["command"] == [*subcommand("plot", "gates"), f"{folder}/x"]


def test_a_step_is_done_again_when_its_runs_changed(context, root) -> None:
    first = step("one", arguments=["{run:rte/bert_sla}"])
    second = step("two", arguments=["{after:one}"])
    other = step("three", arguments=["{run:cola/bert_sla}"])
    steps = first, second, other
    assert len(performed(context(), *steps)[0].commands) == 3
    assert performed(context(), *steps)[0].commands == []
    tested = root / "rte" / "bert_sla_base" / "lr5e-05-epochs3" / "seed1" / "evaluation.json"
    tested.write_text(json.dumps({"of": "test", "metrics": {"accuracy": 0.5}}))
    again = performed(context(), *steps)[0].arguments
    assert again[1:] == [[str(root / "after" / "one")]]
    assert "rte" in again[0][0]
    finish(root / "cola", "bert_sla_base", 9e-5, 1, 0.9)
    finish(root / "cola", "bert_sla_base", 9e-5, 2, 0.9)
    assert "lr9e-05" in performed(context(), *steps)[0].arguments[0][0]
    changed = {**other, "arguments": ["{run:cola/bert_sla}", "--cpu"]}
    assert len(performed(context(), first, second, changed)[0].commands) == 1


def test_runs_that_moved_are_the_same(context, root, tmp_path) -> None:
    steps = step(arguments=["{run:rte/bert_sla}"]), step("two", arguments=["{after:one}"])
    performed(context(), *steps)
    moved = root.rename(tmp_path / "moved")
    places = {"rte": places_of(moved / "rte", tmp_path / "rte")}
    places["cola"] = places_of(moved / "cola", tmp_path / "cola")
    launch, _ = performed(Context(moved, places), *steps)
    assert launch.commands == []


def test_failure_leaves_its_log_and_stops_nothing(context, root) -> None:
    made = step("one"), step("two", "score.py", ["--sys", "{out}/x"])
    performed(context(), *made)
    worse = step("one", "plot_gates.py", ["{out}/y"]), made[1]
    launch, failures = performed(context(), *worse, step("three"), failing=["plot_gates"])
    folder = root / "after" / "one"
    assert [command[3:5] for command in launch.commands] == [["plot", "gates"]] * 2
    assert failures == [
        f"after: {name}: failed; the end of {root}/after/{name}/log:\n"
        f"  line a\n  written {root}/after/{name}/made.md"
        for name in ("one", "three")
    ]
    assert [path.name for path in folder.iterdir()] == ["log"]
    launch, failures = performed(context(), *worse)
    assert (len(launch.commands), failures) == (1, [])
    assert (folder / "done.json").is_file()


def test_what_was_killed_is_done_again(context, root) -> None:
    rest = root / "after" / ".one.tmp"
    rest.mkdir(parents=True)
    (rest / "done.json").write_text("{}")
    (root / "after" / "one").mkdir()
    (root / "after" / "one" / "done.json").write_text('{"fingerpr')
    launch, failures = performed(context(), step())
    assert (len(launch.commands), failures) == (1, [])
    assert sorted(path.name for path in root.glob("after/*/*")) == ["done.json", "log", "made.md"]
