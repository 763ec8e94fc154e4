"""Rows that are kept without their runs tell of seeds what the runs tell; bad ones are named."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time

import pytest
from lab.report_runs import PLAIN, SLA, lines_of, part_of, write_lines
from lab.translated_runs import translated

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.score_report import score_files
from fairseq_plugins.evaluation.translation import TextForm
from fairseq_plugins.lab.results import frame, keep
from fairseq_plugins.lab.results.seed_report import format_markdown, make_report

BOOTSTRAP = "low high bootstrap_p corrected_p examples samples".split()
BOOTSTRAP += "run_error shared_error untested detectable".split()
WLA = "bert_wla_tiny"
SCORES = {SLA: [0.4, 0.45, 0.41], PLAIN: [0.3, 0.36, 0.31], "bert_pos_tiny": [0.33]}


@pytest.fixture
def root(tmp_path):
    """An experiment with its runs, and with predictions."""
    return made(tmp_path / "runs", SCORES)


def made(root, scores):
    """Write an experiment whose predictions tell its scores."""
    part_of(root / "cola", "cola", "mcc", scores)
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            predict(root / "cola" / system / "lr2e-05-epochs3" / f"seed{seed}", value)
    order = [*SCORES, WLA]
    rows = sorted(lines_of(root), key=lambda row: (row["seed"], order.index(row["system"])))
    write_lines(root, rows)
    return root


def predict(folder, value):
    """Write predictions of 400 examples, 200 of each class, with a value of mcc of two places."""
    gold, wrong = ("ab" * 200)[:400], round(200 * (1 - value))
    labels = [*gold[wrong:], *gold[:wrong].translate({97: "b", 98: "a"})]
    rows = ({"id": i, "label": one, "gold": g} for i, (one, g) in enumerate(zip(labels, gold)))
    (folder / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def rows(root, tmp_path):
    """The rows of the same, lying elsewhere."""
    (tmp_path / "kept").mkdir()
    return shutil.copy(root / "rows.jsonl", tmp_path / "kept" / "cola.jsonl")


def test_rows_alone_tell_of_seeds_what_the_runs_tell(root, rows):
    runs, kept = make_report(root / "cola", samples=20), make_report(rows)
    assert runs.settings == kept.settings
    over_seeds = [one.comparisons.drop(columns=BOOTSTRAP) for one in (runs, kept)]
    assert len(over_seeds[0]) == 2
    assert over_seeds[0].equals(over_seeds[1])
    assert {name: sorted(values) for name, values in kept.scores.items()} == {
        name: sorted(values) for name, values in SCORES.items()
    }
    assert list(kept.scores) == [PLAIN, SLA, "bert_pos_tiny"]  # the baseline, then as in the file
    assert runs.comparisons.low.notna().any()
    assert kept.comparisons[["low", "high", "bootstrap_p", "examples"]].isna().all(axis=None)
    assert "compared over seeds alone" in format_markdown(kept)
    assert "compared over seeds alone" not in format_markdown(runs)


@pytest.mark.parametrize("output", [True, False])
def test_the_command_writes_everything(run_here, rows, root, tmp_path, output):
    place = tmp_path / "out" if output else tmp_path / "kept" / "cola_seeds"
    shown = run_here("results compare", rows, *["--output", place] * output).out
    names = ["comparisons.csv", "seeds.md", "seeds.png"]
    assert sorted(path.name for path in place.iterdir()) == names
    assert shown.endswith((place / "seeds.md").read_text())  # after logs, in tests
    run_here("results compare", root / "cola", "--samples", 20)
    assert {path.name for path in (root / "cola").iterdir() if path.is_file()} == set(names)


@pytest.mark.parametrize("command", ["results compare", "results table", "results page"])
@pytest.mark.parametrize(("flag", "number"), [("--samples", 0), ("--seed", -1)])
def test_numbers_of_the_bootstrap_have_a_least(run_here, root, command, flag, number):
    done = run_here(command, root, flag, number, fails=True)
    assert f"{flag} {number}: must be at least {number + 1}" in done.err


def file_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def changed(rows, number, **changes):
    """Change keys of a line, from 1; None takes one away."""
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    lines[number - 1] |= changes
    kept = ({key: one for key, one in line.items() if one is not None} for line in lines)
    rows.write_text("".join(json.dumps(line) + "\n" for line in kept))


@pytest.mark.parametrize(
    ("number", "key", "value"),
    [
        *(
            (2, key, None)
            for key in "schema dataset system seed metrics last status folder".split()
        ),
        (3, "dataset", "rte"),
        (5, "seed", "one"),
        (5, "metrics", {"valid": {"accuracy": 0.5}}),
        (5, "last", [1]),
        (6, "folder", "../elsewhere"),
        (6, "folder", 5),
        (6, "learning_rate", "fast"),
        (6, "share", 0),
        (6, "more", 1),
    ],
)
def test_a_bad_row_is_named_with_file_line_and_key(rows, number, key, value):
    changed(rows, number, **{key: value})
    with pytest.raises(InputError, match=rf"cola\.jsonl:{number}: .*\b{key}\b"):
        make_report(rows)


@pytest.mark.parametrize("line", ["half", '{"a": ', "\udcff"])
def test_a_line_that_is_no_json_object_is_named(rows, line):
    before = rows.read_bytes()
    rows.write_bytes(before + line.encode(errors="surrogateescape") + b"\n")
    number = before.count(b"\n") + 1
    with pytest.raises(InputError, match=rf"cola\.jsonl:{number}: no row"):
        make_report(rows)


def test_failed_runs_are_passed_over(rows):
    before = make_report(rows).runs
    changed(rows, 3, status="failed", metrics=None, last=None, error="out of memory")
    assert len(make_report(rows).runs) == len(before) - 1
    for number in range(1, len(before) + 1):
        changed(rows, number, status="failed")
    with pytest.raises(FileNotFoundError, match="no finished run"):
        make_report(rows)


@pytest.fixture
def kept(run_here, root, tmp_path):
    """The rows as `keep` writes them, elsewhere."""
    run_here("results keep", root, "--output", tmp_path / "away" / "cola.jsonl")
    return tmp_path / "away" / "cola.jsonl"


def test_rows_of_runs_that_are_gone_stay_and_new_ones_are_added(run_here, root, kept):
    before, rows = kept.read_text().splitlines(), lines_of(root)
    made(root, {WLA: [0.2]})
    new = next(row for row in lines_of(root) if row["system"] == WLA)
    again = {**rows[0], "metrics": {"valid": {"mcc": 0.9}}}
    predict(root / again["folder"], 0.9)
    write_lines(root, [new, again])
    told = run_here("results keep", root, "--output", kept)
    count = len(rows) + 1
    assert told.out == (
        f"{kept}: 2 runs of {root}, {count} in all, {count} with counts of their examples\n"
    )
    after = kept.read_text().splitlines()
    assert after[1:-1] == before[1:]
    assert json.loads(after[0])["metrics"]["valid"]["mcc"] == 0.9
    assert json.loads(after[-1])["system"] == WLA
    assert json.loads(after[-1])["counts"]["valid"]["shape"] == [400, 1]


@pytest.mark.parametrize("of_all", [True, False])
def test_rows_of_another_dataset_are_not_added(run_here, root, kept, of_all):
    before = kept.read_bytes()
    rows = lines_of(root)
    changed = [{**row, "dataset": "rte"} for row in rows[: None if of_all else 1]]
    write_lines(root, [*changed, *rows[len(changed) :]])
    refused = run_here("results keep", root, "--output", kept, fails=True)
    several = "of several datasets: choose by --part cola"
    other = "rows.jsonl:1: key 'dataset': 'rte', of rows before 'cola'"
    assert (other if of_all else several) in refused.err
    assert kept.read_bytes() == before


@pytest.fixture
def other(tmp_path):
    """Another experiment, with systems, settings, seeds and folders of the first."""
    return made(tmp_path / "others", {name: [0.1, 0.2] for name in (PLAIN, SLA)})


SHARED = {"train": "a1", "valid": "b1", "annotator": "parser 1.0"}


@pytest.mark.parametrize(
    ("usual", "changes", "told"),
    [
        ({}, {}, {}),
        ({"made_of": {"words": "given"}}, {0: {}}, {}),  # older rows of texts were cut at blanks
        ({"made_of": SHARED}, {0: {"made_of": {**SHARED, "vocabulary": "own"}}, 5: {}}, {}),
        (
            {"made_of": SHARED},
            {1: {"made_of": {**SHARED, "annotator": "parser 2.0"}}},
            {2: "annotator 'parser 2.0', {place}:1 with 'parser 1.0'"},
        ),
        (
            {"made_of": SHARED},
            {3: {"made_of": {**SHARED, "train": "a3"}}},  # of the setting of line 1
            {4: "train 'a3', {place}:1 with 'a1'"},
        ),
        ({"trained": "t2"}, {3: {"trained": "t1"}}, {4: "options 't1', {place}:1 with 't2'"}),
        ({"device": "cpu"}, {1: {"device": "H100"}}, {2: "device 'H100', {place}:1 with 'cpu'"}),
        (
            {},
            {1: {"made_of": {"words": "spacy"}}},
            {2: "words 'spacy', {place}:1 with 'whitespace'"},
        ),
    ],
)
def test_rows_that_were_made_otherwise_are_said(root, usual, changes, told):
    """A training file may be a system's own; what is scored, parses and computes may not differ."""
    rows, place = lines_of(root), root / "rows.jsonl"
    write_lines(root, [row | changes.get(n, usual) for n, row in enumerate(rows)])
    found = keep.keep_rows(root, root / "kept.jsonl").remarks
    assert found == [
        f"{place}:{n}: made with {about.format(place=place)}: they are compared as if they were "
        "the same"
        for n, about in told.items()
    ]


def test_rows_of_words_that_were_cut_otherwise_are_not_replaced(root, kept):
    rows, before = lines_of(root), kept.read_bytes()
    write_lines(root, [*rows[:1], rows[1] | {"made_of": {"words": "spacy"}}])
    with pytest.raises(InputError, match="rows.jsonl:2: its words were cut by 'spacy', those of"):
        keep.keep_rows(root, kept)
    assert kept.read_bytes() == before


def test_what_is_made_of_rows_counts_their_devices(root):
    rows = lines_of(root)
    write_lines(root, [row | {"device": "H100"} if n == 1 else row for n, row in enumerate(rows)])
    remarks = make_report(root / "rows.jsonl", samples=20).remarks
    assert f"Trained on: H100 (1 runs), cpu ({len(rows) - 1} runs)." in remarks


def test_rows_that_replace_others_of_another_training_are_said(root, kept):
    """The setting does not say it: an experiment may be done again with changed options."""
    rows = lines_of(root)
    write_lines(root, [{**row, "trained": "b1"} for row in rows])
    assert keep.keep_rows(root, kept).remarks == []  # they did not say it before
    change = {0: {"trained": "b2"}, 1: {"device": "H100"}}
    write_lines(root, [{**row, "trained": "b1", **change.get(n, {})} for n, row in enumerate(rows)])
    said = [one for one in keep.keep_rows(root, kept).remarks if "replaces" in one]
    assert [one.partition(" replaces")[0] for one in said] == [
        f"{root}/rows.jsonl:{n}:" for n in (1, 2)
    ]
    assert not [one for one in keep.keep_rows(root, kept).remarks if "replaces" in one]


@pytest.mark.parametrize("key", ["experiment", "part"])
def test_a_run_of_another_experiment_is_not_replaced(run_here, root, kept, other, key):
    before = kept.read_bytes()
    if key == "part":
        write_lines(other, [{**row, "experiment": "runs", "part": "x"} for row in lines_of(other)])
    found = run_here("results keep", other, "--output", kept, fails=True).err
    assert f"{other}/rows.jsonl:1: has the setting and seed of {kept}:1" in found
    assert "keep them in files of their own" in found
    assert kept.read_bytes() == before


def test_counts_of_runs_whose_predictions_are_gone_stay(run_here, root, kept):
    before, (first, *_) = kept.read_bytes(), lines_of(root)
    for path in root.rglob("predictions.jsonl"):
        path.unlink()
    assert run_here("results keep", root, "--output", kept).out.endswith(
        "7 in all, 7 with counts of their examples\n"
    )
    assert kept.read_bytes() == before
    first["last"] = {**first["last"], "mcc": 0.11}  # trained anew
    write_lines(root, [first])
    assert run_here("results keep", root, "--output", kept).out.endswith(
        "7 in all, 6 with counts of their examples\n"
    )
    assert ["counts" in row for row in file_lines(kept)] == [False] + [True] * 6


def test_predictions_that_tell_another_score_are_not_kept(run_here, root, kept):
    (first, *_) = lines_of(root)
    kept.unlink()
    predict(root / first["folder"], 0.9)
    told = run_here("results keep", root, "--output", kept)
    assert told.out.endswith("7 in all, 6 with counts of their examples\n")
    assert "rows.jsonl:1: key 'counts': 'mcc' on 'valid' is 0.9, in the row 0.4;" in told.err
    assert "counts" not in file_lines(kept)[0]


def test_kept_counts_come_before_what_lies_there_now(run_here, root):
    """The folders may have been trained anew since, or be those of another experiment."""
    kept = root / "before.jsonl"
    run_here("results keep", root, "--output", kept)
    before = make_report(kept, samples=50).comparisons
    for path in root.rglob("predictions.jsonl"):
        predict(path.parent, 0.7)
    assert make_report(kept, samples=50).comparisons.equals(before)
    changed(kept, 1, counts=None)  # now of one run the files alone tell
    assert make_report(kept, samples=50).comparisons.bootstrap_p.isna().any()


def test_rows_of_two_machines_are_added_one_after_the_other(root, tmp_path, monkeypatch):
    """Without the wait the second would write what the first had read, and lose its rows."""
    other = made(tmp_path / "other" / root.name, {WLA: [0.2, 0.21]})
    kept, begun = tmp_path / "kept.jsonl", threading.Event()
    real = keep.write_rows

    def slowly(*args):
        begun.set()
        time.sleep(0.5)
        real(*args)

    monkeypatch.setattr(keep, "write_rows", slowly)
    first = threading.Thread(target=keep.keep_rows, args=(root, kept))
    first.start()
    begun.wait(60)
    keep.keep_rows(other, kept)
    first.join()
    assert len(file_lines(kept)) == 9


@pytest.mark.parametrize(("more", "counted"), [(0.01, 1), (0.2, 0)])
def test_translations_are_held_against_their_score_in_points(run_here, tmp_path, more, counted):
    root = tmp_path / "translation"
    folder = translated(root, "plain", 0, wrong=4)
    report = score_files([folder / "generate.test.log"], [], TextForm("de"))
    bleu = report.systems[0].figures["bleu"]
    assert 80 < bleu < 95
    (row,) = lines_of(root)
    row["metrics"]["test"] = {"bleu": bleu + more}
    write_lines(root, [row])
    told = run_here("results keep", root, "--output", tmp_path / "kept" / "rows.jsonl").out
    assert told.endswith(f"1 in all, {counted} with counts of their examples\n")


@pytest.mark.parametrize("score", [[], {"language": "de"}, {"reference": 3, "language": "de"}])
def test_a_score_of_translations_that_is_none_is_named(tmp_path, score):
    folder = translated(tmp_path / "translation", "plain", 0, wrong=4)
    (folder / "score.test.json").write_text(json.dumps(score))
    with pytest.raises(InputError, match=r"score.test.json: (not a|keys 'reference' and 'lang)"):
        keep.keep_rows(tmp_path / "translation", tmp_path / "rows.jsonl")


@pytest.mark.parametrize("link", ["", "symlink_to", "hardlink_to"])
def test_the_rows_of_the_experiment_itself_are_not_written(run_here, root, tmp_path, link):
    own = root / "rows.jsonl"
    file, before = tmp_path / "link.jsonl" if link else own, own.read_bytes()
    if link:
        getattr(file, link)(own)
    refused = run_here("results keep", root, "--output", file, fails=True)
    assert f"{file}: the experiment's own rows" in refused.err
    assert own.read_bytes() == before
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "score", "said"),
    [
        ({}, 0.4009, ""),
        ({}, 0.402, "'mcc' on 'valid' is 0.4, in the row 0.402"),
        ({"split": "test"}, 0.4, "'mcc' on 'test': the row has no such score"),
        ({"metric": "macro_f1"}, 0.4, "'macro_f1' on 'valid': the row has no such score"),
        ({"kind": "pickle"}, 0.4, "kind 'pickle' is not one of "),
        ({"shape": [10**9, 1]}, 0.4, "1,000,000,000 examples, not 1 to "),
    ],
)
def test_counts_have_to_tell_the_score_of_their_row(kept, change, score, said):
    counts = file_lines(kept)[0]["counts"]["valid"] | change
    split = change.get("split", "valid")
    changed(kept, 2, counts={split: counts}, metrics={"valid": {"mcc": score}})
    if not said:
        make_report(kept, samples=5)
        return
    with pytest.raises(InputError, match=re.escape(f"cola.jsonl:2: key 'counts': {said}")):
        make_report(kept)


def test_counts_of_a_file_are_read_up_to_a_size(kept, monkeypatch):
    monkeypatch.setattr(frame, "_LARGEST", 7 * 400)
    make_report(kept, samples=5)
    monkeypatch.setattr(frame, "_LARGEST", 7 * 400 - 1)
    with pytest.raises(
        ValueError, match="cola.jsonl:7: key 'counts': up to here over 2,799 numbers"
    ):
        make_report(kept)
