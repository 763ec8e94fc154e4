"""Plans, rows and costs of experiments, of runs that stand finished on disk."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from for_each import for_each
from lab.toy_grids import manifest_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.commands import command, parser_of
from fairseq_plugins.lab.execution.experiment import check_plan, make_plan
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.progress import format_costs
from fairseq_plugins.lab.execution.records import write_description, write_rows
from fairseq_plugins.lab.execution.run import share_batches
from fairseq_plugins.lab.execution.training import planned_row
from fairseq_plugins.lab.plan.allowed import check_training
from fairseq_plugins.lab.plan.experiment_file import PlannedExperiment, PlannedPart
from fairseq_plugins.lab.plan.grid import Grid, changed
from fairseq_plugins.lab.plan.prepared_data import PreparedData, read_prepared
from fairseq_plugins.lab.plan.recipes import total_updates, train_options
from fairseq_plugins.lab.results.origins import made_of
from fairseq_plugins.lab.rows import read_rows
from fairseq_plugins.prep.shares import Share

INPUTS = {name: {"file": f"/raw/{name}.tsv", "sha256": 64 * name[0]} for name in ("train", "valid")}
TEXTS = manifest_of(
    *("toy", "classes", dict.fromkeys(INPUTS, (100, 100))),
    metric="mcc",
    inputs=INPUTS,
    annotator={"name": "parser", "version": "1.0", "model": "/models/parser"},
    tokenize="spacy",
)
PARALLEL = manifest_of("", "translation", dict.fromkeys(("train", "valid", "test"), (30, 30)))
PARALLEL.segmentation["source"]["tokenizer"] = "moses"


@pytest.fixture
def data(tmp_path):
    """Two prepared folders: texts, and parallel text."""
    found = {}
    grids = {
        "toy": Grid("toy", {"plain_tiny": {"arch": "bert_plain_tiny"}}, (1e-3,), seeds=(1, 2)),
        "pairs": Grid(
            "translation",
            {"baseline": {"arch": "t", "features": "none"}, "syntax": {"arch": "t"}},
            (1e-3,),
            updates=8,
            fractions=(0.1, 1.0),
            seeds=(1,),
            evaluate="test",
            validate_every=4,
        ),
    }
    for name, manifest in (("toy", TEXTS), ("pairs", PARALLEL)):
        folder = tmp_path / "bin" / name
        folder.mkdir(parents=True)
        manifest.save(folder)
        found[name] = (grids[name], {"": read_prepared(folder, grids[name])})
    return found


@pytest.mark.parametrize("asked", ["", "spacy", "whitespace"])
def test_a_folder_of_other_words_than_the_file_asks_for_is_warned_of(data, asked, caplog):
    grid, found = data["toy"]
    prepare = {"tokenize": asked} if asked else {}
    read_prepared(found[""].folder, replace(grid, prepare=prepare))
    assert caplog.text.count("the experiment's file says whitespace") == (asked == "whitespace")


@pytest.mark.parametrize("task", ["translation", "--user-dir=/x", None])
def test_a_prepared_folder_chooses_no_task(data, task):
    """fairseq's own tasks read files of many kinds, some of which can run code."""
    grid, found = data["toy"]
    replace(TEXTS, task=task).save(found[""].folder)
    with pytest.raises(InputError, match="manifest.json: ('task' is None|no target 'classes' of)"):
        read_prepared(found[""].folder, grid)


@for_each(
    [
        (replace(TEXTS, splits={"train": {}}), "split 'train' lacks its counts"),
        (replace(PARALLEL, splits={"train": {}}), "split 'train' lacks its counts"),
        (replace(TEXTS, splits={}), "holds no labelled split 'train'"),
        (replace(TEXTS, dataset="other"), "holds 'other', expected 'toy'"),
        (PARALLEL, "holds 'translation', expected 'toy'"),
    ]
)
def test_a_folder_that_is_not_the_grids_is_named(case, tmp_path):
    manifest, said = case
    manifest.save(tmp_path)
    with pytest.raises(InputError, match=f"^{tmp_path}/manifest.json: {said}"):
        read_prepared(tmp_path, Grid("toy", {"a": {"arch": "a"}}))


def test_given_words_are_cut_by_nothing():
    assert made_of(manifest_of("toy", "word_labels", {})) == {"words": "given"}


@pytest.fixture
def plan(data, tmp_path):
    parts = tuple(PlannedPart(name, grid) for name, (grid, _) in data.items())
    experiment = PlannedExperiment("both", "Both", Path("both.yaml"), parts)
    folders = {name: found for name, (_, found) in data.items()}
    return make_plan(experiment, tmp_path / "runs", folders, Machine(tmp_path / "jobs"))


def finish(run, seed_of=0.5, **more):
    run.folder.mkdir(parents=True)
    (run.folder / "settings.json").write_text(json.dumps(run.settings))
    scores = {"loss": seed_of, run.settings["metric"]: seed_of}
    values = {"metrics": {run.grid.validation: scores}, "last": scores, "parameters": 7, **more}
    (run.folder / "result.json").write_text(planned_row(run, status="finished", **values).line())


def test_plan_has_every_run_and_the_parts_of_the_data_they_need(plan, tmp_path):
    assert len(plan.runs) == 2 + 4
    folders = [str(one.folder.relative_to(tmp_path / "runs")) for one in plan.runs]
    assert folders[0] == "toy/plain_tiny/lr0.001-epochs3/seed1"
    assert folders[2] == "pairs/baseline/lr0.001-updates8-fraction0.1/seed1"
    assert folders[4] == "pairs/baseline/lr0.001-updates8/seed1"
    small, whole = plan.runs[2], plan.runs[4]
    assert small.data.taken == (tmp_path / "bin" / "pairs", Share(0.1, 1))
    assert small.data.folder == tmp_path / "runs" / "pairs" / "data" / "train-fraction0.1-seed1"
    assert (whole.data.folder, whole.data.taken) == (tmp_path / "bin" / "pairs", None)
    assert (small.data.examples, whole.data.examples) == (3, 30)
    assert small.settings["data"] == whole.settings["data"]
    assert all(pickle.loads(pickle.dumps(one)) == one for one in plan.runs)


def test_parts_without_data_are_left_out(data, plan):
    some = make_plan(plan.experiment, plan.root, {"toy": data["toy"][1]}, plan.runs[0].machine)
    assert {one.part for one in some.runs} == {"toy"}


@pytest.mark.parametrize("metric", ["", "bleu"])
def test_fixed_updates_validate_by_updates_alone_and_by_the_metric(data, metric):
    grid, found = data["pairs"]
    grid = replace(grid, metric=metric)
    options = train_options(grid, next(iter(grid.cells())), found[""])
    assert (options["max-update"], options["validate-interval-updates"]) == (8, 4)
    assert options["validate-interval"] > 1000
    assert options["task"] == "syntax_translation"
    assert options["best-checkpoint-metric"] == (metric or "loss")
    assert options["maximize-best-checkpoint-metric"] is bool(metric)
    assert options.get("eval-bleu", False) is bool(metric)


def test_translation_is_evaluated_by_a_command_with_the_grids_options(plan):
    run = plan.runs[2]
    words = run.predict_command(tested=True)
    assert words[:5] == [*command("translate"), str(run.folder)]
    assert words[words.index("--split") + 1] == "test"
    assert "--reference" not in words
    own = {"generate": {"beam": 2}, "reference": "raw.de", "average": 2}
    words = with_grid(plan, 1, **own).runs[0].predict_command(tested=True)
    assert words[-3:] == ["--", "--beam", "2"]
    assert words[words.index("--reference") + 1] == "raw.de"
    assert words[4].endswith("/checkpoint_average.pt")


def test_averaging_is_a_command_that_the_subcommand_takes(plan):
    run = with_grid(plan, 1, average=2).runs[0]
    args = parser_of("average").parse_args(run.average_command()[4:])
    assert (args.checkpoints, args.last, args.by) == ([str(run.folder)], 2, "update")


def test_rows_are_those_of_runs_that_ended_in_the_plans_order(plan):
    finish(plan.runs[4])
    finish(plan.runs[0], seconds=6.0)
    failed = plan.runs[3]
    failed.folder.mkdir(parents=True)
    (failed.folder / "error.txt").write_text("it broke\n  here\n")
    write_rows(plan)
    found = [one.row for one in read_rows(plan.root / "rows.jsonl")]
    assert [row.status for row in found] == ["finished", "failed", "finished"]
    assert [row.folder for row in found] == [
        str(plan.runs[i].folder.relative_to(plan.root)) for i in (0, 3, 4)
    ]
    assert found[1].error == "it broke\n  here"
    assert (found[1].system, found[1].share, found[1].updates) == ("syntax", 0.1, 8)
    assert (found[0].seconds, found[0].experiment) == (6.0, "both")
    of_train, of_valid = 12 * "t", 12 * "v"  # no path: those of a machine are its own
    made_of = {"train": of_train, "valid": of_valid, "annotator": "parser 1.0", "words": "spacy"}
    assert [row.made_of for row in found] == [made_of, {"words": "moses"}, {"words": "moses"}]
    write_rows(replace(plan, runs=plan.runs[:2]))  # another part: what failed here stays
    assert len(read_rows(plan.root / "rows.jsonl")) == 3
    (failed.folder / "error.txt").unlink()  # it is tried again
    write_rows(plan)
    assert len(read_rows(plan.root / "rows.jsonl")) == 2


def test_rows_of_an_earlier_plan_stay_while_their_runs_do(plan, caplog):
    for planned in (plan.runs[0], plan.runs[2]):
        finish(planned)
    write_rows(plan)
    both = read_rows(plan.root / "rows.jsonl")
    part = replace(plan, runs=plan.runs[:1])
    write_rows(part)
    assert read_rows(plan.root / "rows.jsonl") == both
    assert not caplog.text
    (plan.runs[2].folder / "result.json").unlink()
    write_rows(part)
    assert read_rows(plan.root / "rows.jsonl") == both[:1]
    said = f"rows.jsonl:2: left out, its run was removed: {plan.runs[2].folder}\n"
    assert caplog.text.endswith(said)


def test_lines_of_an_earlier_release_are_written_anew(plan, caplog):
    finish(plan.runs[0])
    write_rows(plan)
    path = plan.root / "rows.jsonl"
    before = path.read_text()
    path.write_text(before.replace('"schema": 1, ', ""))
    with pytest.raises(InputError, match="rows.jsonl:1: key 'schema' is None"):
        read_rows(path)
    write_rows(plan)
    assert path.read_text() == before
    assert "rows.jsonl:1: key 'schema'" in caplog.text


def test_costs_follow_what_is_finished_begun_and_fast(plan):
    toy, _, whole = (line.split() for line in format_costs(plan).splitlines()[1:])
    assert toy == "toy 2 0 24 24 unknown before the first run, unknown".split()
    assert whole[:5] == ["all", "6", "0", "56", "56"]
    finish(plan.runs[0], seconds=6.0)
    begun = plan.runs[1]
    begun.folder.mkdir(parents=True)
    (begun.folder / "train.log").write_text('x | train_inner | {"num_updates": "4", "ups": "4"}')
    text = format_costs(plan, {"more": 300})
    assert re.search(r"toy +2 +1 +24 +8  about 0 min, [\d,]+ MiB", text)
    assert re.search(r"more +300 .* not prepared", text)
    slow = replace(plan, runs=tuple(replace(run, part=f"{n}") for n, run in enumerate(plan.runs)))
    assert re.search(r"0 +1 +1 .*about 0 min", format_costs(slow))
    nothing = format_costs(replace(plan, runs=()), {"more": 300})
    assert re.search(r"more +300 .* not prepared", nothing)


def test_times_are_said_in_hours_and_minutes_of_runs_at_a_time(plan):
    for seconds, jobs, said in ((29, 1, "about 0 min"), (14640, 2, "about 2 h 02 min with 2 at a")):
        runs = [replace(run, machine=Machine(plan.root, jobs=jobs)) for run in plan.runs[:2]]
        for run in runs:
            run.folder.mkdir(parents=True, exist_ok=True)
            line = f'x | train_inner | {{"num_updates": "0", "ups": "{24 / seconds}"}}'
            (run.folder / "train.log").write_text(line)
        assert said in format_costs(replace(plan, runs=tuple(runs)))


@pytest.mark.parametrize(
    ("options", "processes", "shared"),
    [
        ((32, None, None), 1, (32, None, None)),
        ((32, None, None), 8, (4, 1, None)),
        ((32, 4, None), 2, (32, 2, None)),
        ((32, 4, 4000), 8, (16, 1, 2000)),
        ((32, None, None), 3, "3 processes cannot share"),
        ((None, 8, 4096), 16, "16 processes cannot share"),
    ],
)
def test_processes_share_the_batches_of_an_update(options, processes, shared):
    names = ("batch-size", "update-freq", "max-tokens")
    given = {name: value for name, value in zip(names, options) if value}
    if isinstance(shared, str):
        with pytest.raises(InputError, match=shared):
            share_batches(given, processes, "a")
        return
    found = share_batches(given, processes, "a")
    assert tuple(found.get(name) for name in names) == shared


def test_fairseq_starts_a_process_for_each_gpu(data, plan, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    folders = {"toy": data["toy"][1]}
    machines = [Machine(plan.root, gpus_per_node=gpus) for gpus in (1, 2)]
    plans = [make_plan(plan.experiment, plan.root, folders, one) for one in machines]
    one, two = (found.runs[0].train_command() for found in plans)
    for words, size, number in ((one, "32", "1"), (two, "16", "2")):
        assert words[words.index("--batch-size") + 1] == size
        assert words[words.index("--distributed-world-size") + 1] == number
    assert plans[1].runs[0].settings == plan.runs[0].settings
    shown = plan.runs[0].shown_command()
    assert shown.startswith("fairseq-train ")
    assert '--user-dir "$(python -m fairseq_plugins)"' in shown


def test_a_part_of_a_folder_counts_like_the_subset(data):
    whole = data["toy"][1][""]
    part = whole.part(Share(0.004), Path("x"))
    assert (part.examples, whole.examples) == (1, 100)
    assert isinstance(part, PreparedData)
    assert part.fingerprint == whole.fingerprint
    parted = whole.part(Share(0.5, select=0.2), Path("x")).manifest.splits
    assert {name: counts["examples"] for name, counts in parted.items()} == {
        "train": 40,
        "select": 20,
        "valid": 100,
    }


def test_what_is_held_out_chooses_and_the_validation_set_is_reported(data, tmp_path):
    grid = changed(data["toy"][0], {"select_fraction": 0.2, "fractions": [0.5, 1.0]}, "toy.yaml")
    assert (grid.validation, grid.evaluate, grid.reported) == ("select", "valid", "valid")
    found = {"toy": {"": read_prepared(tmp_path / "bin" / "toy", grid)}}
    experiment = PlannedExperiment("toy", "", Path("toy.yaml"), (PlannedPart("toy", grid),))
    plan = make_plan(experiment, tmp_path / "runs", found, Machine(tmp_path / "jobs"))
    shares = {run.data.taken[1] for run in plan.runs}  # whole sets give all seeds one part
    assert shares == {Share(0.5, 1, 0.2), Share(0.5, 2, 0.2), Share(1.0, 1, 0.2)}
    for run in plan.runs:
        options = run.settings["options"]
        assert (run.settings["validation"], options["valid-subset"]) == ("select", "select")
        assert options["max-update"] == 3 * (
            3 if run.cell.setting.fraction == 1 else 2
        )  # of 80 and 40
        assert "--split valid" in " ".join(map(str, run.predict_command(tested=True)))
        assert run.settings["select_fraction"] == 0.2
    for options in ({"valid-subset": "valid"}, {}):
        own = {"select_fraction": 0.2 if options else 1.0, "options": options}
        with pytest.raises(InputError, match="select_fraction"):
            changed(data["toy"][0], own, "toy.yaml")


def with_grid(plan, number, **changes):
    """Return the plan with another grid behind one part."""
    part = plan.experiment.parts[number]
    part = replace(part, grid=replace(part.grid, **changes))
    runs = tuple(replace(run, grid=part.grid) for run in plan.runs if run.part == part.name)
    parts = [part if one.name == part.name else one for one in plan.experiment.parts]
    return replace(plan, runs=runs, experiment=replace(plan.experiment, parts=tuple(parts)))


def test_what_would_only_go_wrong_after_the_runs_is_refused_before(plan):
    check_plan(plan)
    with pytest.raises(FileNotFoundError, match="pairs: reference nowhere: no such file"):
        check_plan(with_grid(plan, 1, reference="nowhere"))
    with pytest.raises(InputError, match="two runs of the plan have this folder"):
        check_plan(replace(plan, runs=(*plan.runs, plan.runs[0])))
    check_plan(with_grid(plan, 1, average=2))
    with pytest.raises(InputError, match="pairs: average 3 checkpoints: 8 updates"):
        check_plan(with_grid(plan, 1, average=3))
    finish(plan.runs[0])
    write_rows(plan)
    check_plan(plan)
    path = plan.root / "rows.jsonl"
    path.write_text(path.read_text().replace(plan.runs[0].data.fingerprint, "0" * 64))
    with pytest.raises(InputError, match="a run on other data than data-bin/toy"):
        check_plan(plan)


def test_an_option_that_fairseq_train_lacks_is_refused_before_any_run():
    usual = {"arch": "bert_sla_tiny", "task": "text_classification", "lr": 1e-3, "cpu": True}
    usual |= {"optimizer": "bert_adamw", "lr-scheduler": "linear_warmup", "warmup-ratio": 0.1}
    check_training({**usual, "tree-threshold": 2, "dropout": 0.1, "max-update": 3})
    with pytest.raises(InputError, match="^--tree-treshold: .*like it: --tree-threshold"):
        check_training({**usual, "tree-treshold": 2})
    with pytest.raises(InputError, match="^--warmup-ratio: fairseq-train has no such option"):
        check_training({**usual, "lr-scheduler": "fixed"})


def test_another_seed_of_a_setting_has_its_options(plan):
    """A file that was changed between two seeds would average two models."""
    finish(plan.runs[0])
    write_rows(plan)
    for options, said in (({}, ""), ({"dropout": 0.9}, r"\(dropout: None there, 0.9 here\)")):
        changed = with_grid(plan, 0, options=options)
        changed = replace(changed, runs=changed.runs[1:])  # all but the seed that has a row
        if not said:
            check_plan(changed)
            continue
        with pytest.raises(InputError, match=f"seed1 is another seed of a setting, .*{said}"):
            check_plan(changed)
        shutil.rmtree(plan.runs[0].folder)  # as the message says
        check_plan(changed)


def test_another_seed_of_a_setting_is_chosen_on_the_same_part(plan):
    first = with_grid(plan, 0, select_fraction=0.1, evaluate="valid")
    finish(first.runs[0])
    write_rows(first)
    changed = with_grid(plan, 0, select_fraction=0.2, evaluate="valid")
    with pytest.raises(InputError, match=r"\(another select_fraction\)"):
        check_plan(replace(changed, runs=changed.runs[1:]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"tree-source": "shuffled"},
            "plain_tiny: --tree-source shuffled: this model reads",
        ),
        ({"window": 3}, "plain_tiny: --window 3: this model has no wla"),
        ({"dual-layers": 1, "dropout": 0.2}, ""),  # a number where a text is meant
    ],
)
def test_a_model_that_cannot_be_is_refused_before_any_run(plan, options, said):
    system = {"plain_tiny": {"arch": "bert_plain_tiny", **options}}
    changed = with_grid(plan, 0, systems=system)
    if not said:
        check_plan(changed)
        return
    with pytest.raises(InputError, match=said):
        check_plan(changed)


def test_a_part_of_an_experiment_leaves_the_rest_in_its_description(plan):
    write_description(plan, "python x")
    whole = json.loads((plan.root / "experiment.json").read_text())
    assert (whole["title"], len(whole["runs"])) == ("Both", 6)
    assert whole["versions"]["torch"]
    for run in plan.runs:
        run.folder.mkdir(parents=True)
    some = replace(plan, runs=plan.runs[:2])
    write_description(some, "python x")
    assert json.loads((plan.root / "experiment.json").read_text()) == whole
    plan.runs[-1].folder.rmdir()
    write_description(some, "python x")
    assert len(json.loads((plan.root / "experiment.json").read_text())["runs"]) == 5


def test_epochs_of_token_batches_are_no_length(data):
    grid, found = data["pairs"]
    cell = next(replace(grid, updates=0).cells())
    with pytest.raises(InputError, match="batches are made by tokens"):
        total_updates(grid, cell, found[""])


def test_a_split_without_labels_is_said_to_be_untested(data, caplog):
    grid, found = data["toy"]
    folder = found[""].folder
    for labelled in (100, 0):
        splits = {**TEXTS.splits, "test": {"examples": 100, "labelled": labelled}}
        replace(TEXTS, splits=splits).save(folder)
        read_prepared(folder, replace(grid, evaluate="test"))
        said = "split 'test' has no labels: nothing is tested, and what is shown is of 'valid'"
        assert (said in caplog.text) == (not labelled)


def test_a_split_to_translate_has_to_be_there(data):
    grid, found = data["pairs"]
    with pytest.raises(InputError, match="no split 'tset' to evaluate; choices are train, valid"):
        read_prepared(found[""].folder, replace(grid, evaluate="tset"))
