"""Steps after an experiment: what is read, what placeholders stand for, what is done again."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lab.finished_runs import change_rows, finish

from fairseq_plugins.errors import InputError, TrainingError
from fairseq_plugins.lab.commands import command
from fairseq_plugins.lab.execution.after import perform
from fairseq_plugins.lab.execution.experiment import Plan
from fairseq_plugins.lab.plan.experiment_file import PlannedExperiment, PlannedPart
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.steps import COMMANDS, read_steps

PARTS = ("cola", "rte")


def gates(*words, name="one"):
    return {name: ["plot", "gates", *(words or ["{out}/x"])]}


@pytest.fixture
def root(tmp_path):
    """Folder of an experiment with runs of two datasets."""
    root = tmp_path / "runs"
    for part in PARTS:
        for seed in (2, 1):
            finish(root / part, "bert_sla_base", 2e-5, seed, 0.5, home=root)
            finish(root / part, "bert_sla_base", 5e-5, seed, 0.8, home=root)
    finish(root / "rte", "bert_plain_base", 5e-5, 1, 0.6, home=root)
    for part in PARTS:
        (tmp_path / part).mkdir()
        (tmp_path / part / "manifest.json").write_text("{}")
    return root


def plan_of(root, *parts):
    """Return the plan of an experiment whose prepared folders lie beside its runs."""
    found = tuple(
        PlannedPart(name, Grid(name, {}), str(root.parent / name)) for name in parts or PARTS
    )
    return Plan(PlannedExperiment("x", "", Path("x.yaml"), found), root, ())


@pytest.fixture
def plan(root):
    return plan_of(root)


class Launch:
    """Stands for a command: notes its command, and leaves a file and a line."""

    def __init__(self, *failing):
        self.failing, self.commands = failing, []

    def __call__(self, words, log):
        self.commands.append(list(words))
        with log.open("a") as stream:
            stream.write(f"line a\nwritten {log.parent}/made.md\n")
        name = log.parent.name.strip(".").partition(".tmp")[0]
        (log.parent / "made.md").write_text(name)
        if name in self.failing:
            raise TrainingError("exit status 1")

    @property
    def words(self):
        return [word for one in self.arguments for word in one]

    @property
    def arguments(self):
        names = {(*command(name),): len(command(name)) for name in COMMANDS}
        starts = [(words, words[:4], words[:5]) for words in self.commands]
        found = [words[names.get((*one,)) or names[(*two,)] :] for words, one, two in starts]
        return [[re.sub(r"tmp\d+", "tmp", word) for word in words] for words in found]


def performed(plan, *steps, failing=(), raw=None):
    """Do steps; return what was launched and the failures."""
    launch = Launch(*failing)
    entries = {name: words for one in steps for name, words in one.items()}
    after = read_steps(entries, "after")
    experiment = replace(plan.experiment, after=after)
    return launch, perform(replace(plan, experiment=experiment), raw, launch)


def test_numbers_and_flags_are_words_of_a_step() -> None:
    start = ["plot", "attention", "{run:a/b}", "--sentence", "He reads."]
    words = [*start, "--beam", -1, "--words"]
    (made,) = read_steps({"one": words}, "after")
    assert made.words == (*map(str, words),)
    assert read_steps({"one": ["score", "--sys", "{out}", "--lang", "de", "--tokenized"]}, "after")
    assert read_steps(None, "after") == ()
    with pytest.raises(InputError, match="called `fairseq-plugins compare` now"):
        read_steps({"one": ["cases", "{run:a/b}"]}, "after")


def test_placeholders_stand_for_folders(plan, root, tmp_path) -> None:
    words = ["{runs}", "{runs:cola}", "{run:cola/bert_sla}/result.json", "{runs:rte/bert_sla_base}"]
    words += ["A={runs:rte/bert_sla}", "{data:rte}", "{raw:cola}"]
    more = ["--sets", "{raw:cola}", "--output", "{out}/z"]
    (tmp_path / "raw" / "cola").mkdir(parents=True)
    launch, failures = performed(plan, {"one": ["robustness", *words, *more]}, raw=tmp_path / "raw")
    chosen = "bert_sla_base/lr5e-05-epochs3"
    rte = [str(root / "rte" / chosen / f"seed{seed}") for seed in (1, 2)]
    assert failures == []
    start = command("robustness")
    assert launch.commands[0][: len(start)] == start
    assert start[0] == sys.executable
    assert launch.arguments[0] == [
        str(root),
        str(root / "cola"),
        str(root / "cola" / chosen / "seed1" / "result.json"),
        *rte,
        f"A={','.join(rte)}",
        str(tmp_path / "rte"),
        str(tmp_path / "raw" / "cola"),
        *("--sets", str(tmp_path / "raw" / "cola")),
        *("--output", str(root / "after" / ".one.tmp" / "z")),
    ]


CHOSEN = "bert_sla_base/lr5e-05-epochs3"
PLAIN, MANY = (f"{name}_base/lr5e-05-epochs3/seed1" for name in ("bert_plain", "many"))
BOTH = f"A={{}}/rte/{PLAIN}:{{}}/rte/{MANY}"
WORDS = [  # parts, words of a step, what they become below the folder of runs; None: passed over
    ("rte", "{run:bert_sla}", f"rte/{CHOSEN}/seed1"),
    ("rte", "{runs:bert_sla}", f"rte/{CHOSEN}/seed1 rte/{CHOSEN}/seed2"),
    ("rte", "{data} {runs:rte}", "../rte rte"),
    ("cola rte", "{data}", "name a part: cola, rte"),
    ("cola rte", "{run:rte/part}", "rte/part/lr4e-05-epochs3/seed1"),  # on the largest share
    ("cola rte", "{run:rte/many}", "rte/many is any of many_base, many_large"),
    ("cola rte", "{runs:rte} ?{run:cola/none}", "rte"),
    ("cola rte", "?{run:cola/none} --data {data:rte}", None),  # no command is left
    ("cola rte", "?{runs:rte/none} ?{runs:cola/bert_plain} ?{run:rte/bert_plain}", f"rte/{PLAIN}"),
    ("cola rte", "{run:rte/bert_sla}/none.jsonl", None),
    ("cola rte", "{run:rte/bert_sla}/result.json", f"rte/{CHOSEN}/seed1/result.json"),
    (
        "cola rte",
        "A={run:rte/bert_plain}:{run:rte/many_base}",
        f"A={{}}/rte/{PLAIN}:{{}}/rte/{MANY}",
    ),
]


@pytest.mark.parametrize(("parts", "words", "wanted"), WORDS)
def test_words_of_a_step_become_paths(root, parts, words, wanted) -> None:
    finish(root / "rte", "part", 5e-5, 1, 0.9, share=0.1, home=root)
    finish(root / "rte", "part", 4e-5, 1, 0.2, home=root)
    for size in ("base", "large"):
        finish(root / "rte", f"many_{size}", 5e-5, 1, 0.9, home=root)
    launch, failures = performed(plan_of(root, *parts.split()), gates(*words.split()))
    told = [os.path.relpath(word, root) if "=" not in word else word for word in launch.words]
    if failures:
        assert wanted in failures[0]
    else:
        assert " ".join(told) == (wanted or "").replace("{}", str(root))


@pytest.mark.parametrize("word", ["{run:cola/bert_plain}", "{run:x/y}", "{data:x}", "{raw:rte}"])
def test_step_that_lacks_its_runs_is_passed_over(plan, root, word, caplog) -> None:
    caplog.set_level("INFO")
    steps = gates(word), gates("{after:one}", name="two"), gates(name="three")
    launch, failures = performed(plan, *steps)
    assert failures == []
    assert launch.arguments == [[str(root / "after" / ".three.tmp" / "x")]]
    assert [r.message.split(":")[1] for r in caplog.records if "passed over" in r.message] == [
        " one is passed over",
        " two is passed over",
    ]


def test_what_a_step_leaves_is_complete(plan, root) -> None:
    performed(plan, gates())
    folder = root / "after" / "one"
    assert sorted(path.name for path in folder.iterdir()) == ["done.json", "log", "made.md"]
    assert [path.name for path in folder.parent.iterdir()] == ["one"]
    assert (folder / "log").read_text() == f"line a\nwritten {folder}/made.md\n"
    done = json.loads((folder / "done.json").read_text())
    assert done["command"] == command("plot gates", f"{folder}/x")


def test_a_step_is_done_again_when_its_runs_changed(plan, root) -> None:
    first = gates("{run:rte/bert_sla}")
    second = gates("{after:one}", name="two")
    other = gates("{run:cola/bert_sla}", name="three")
    steps = first, second, other
    assert len(performed(plan, *steps)[0].commands) == 3
    assert performed(plan, *steps)[0].commands == []
    chosen = "rte/bert_sla_base/lr5e-05-epochs3/seed1"
    change_rows(root, lambda row: row | ({"note": "x"} if row["folder"] == chosen else {}))
    again = performed(plan, *steps)[0].arguments
    assert again[1:] == [[str(root / "after" / "one")]]
    assert "rte" in again[0][0]
    finish(root / "cola", "bert_sla_base", 9e-5, 1, 0.9, home=root)
    finish(root / "cola", "bert_sla_base", 9e-5, 2, 0.9, home=root)
    assert "lr9e-05" in performed(plan, *steps)[0].arguments[0][0]
    changed = gates("{run:cola/bert_sla}", "--cpu", name="three")
    assert len(performed(plan, first, second, changed)[0].commands) == 1


def test_a_step_is_done_again_when_a_file_that_it_reads_changed(plan, root, tmp_path) -> None:
    scored = {"one": ["score", "--sys", "{raw:cola}/a.txt", "--lang", "de"]}
    (tmp_path / "raw" / "cola").mkdir(parents=True)
    for text, count in (("eins", 1), ("eins", 0), ("zwei", 1)):
        (tmp_path / "raw" / "cola" / "a.txt").write_text(text)
        launch, _ = performed(plan, scored, raw=tmp_path / "raw")
        assert len(launch.commands) == count


def test_runs_that_moved_are_the_same(plan, root, tmp_path) -> None:
    steps = gates("{run:rte/bert_sla}"), gates("{after:one}", name="two")
    performed(plan, *steps)
    launch, _ = performed(plan_of(root.rename(tmp_path / "moved")), *steps)
    assert launch.commands == []


def test_failure_leaves_its_log_and_stops_nothing(plan, root) -> None:
    made = gates(), gates(name="two")
    performed(plan, *made)
    worse = gates("{out}/y"), made[1]
    launch, failures = performed(plan, *worse, gates(name="three"), failing=["one", "three"])
    folder = root / "after" / "one"
    assert len(launch.commands) == 2
    assert failures == [
        f"after: {name}: failed; the end of {root}/after/{name}/log:\n"
        f"  line a\n  written {root}/after/{name}/made.md"
        for name in ("one", "three")
    ]
    assert [path.name for path in folder.iterdir()] == ["log"]
    launch, failures = performed(plan, *worse)
    assert (len(launch.commands), failures) == (1, [])
    assert (folder / "done.json").is_file()


def test_what_was_killed_is_done_again(plan, root) -> None:
    rest = root / "after" / ".one.tmp7"
    rest.mkdir(parents=True)
    (rest / "done.json").write_text("{}")
    (root / "after" / "one").mkdir()
    (root / "after" / "one" / "done.json").write_text('{"fingerpr')
    launch, failures = performed(plan, gates())
    assert (len(launch.commands), failures) == (1, [])
    assert sorted(path.name for path in root.glob("after/*/*")) == ["done.json", "log", "made.md"]
