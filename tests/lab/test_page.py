"""The page of experiments: what stands on it, what broken files cost, that nothing on it harms."""

from __future__ import annotations

import math
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.report_runs import (
    HOSTILE,
    PLAIN,
    SLA,
    SVG,
    describe,
    experiment,
    lines_of,
    part_of,
    write_lines,
)

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.report.facts import counts_of, failures_of
from fairseq_plugins.lab.report.figures import curves_of, draw
from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.report.page import Chapter, Failure, to_html
from fairseq_plugins.lab.results.choice import chosen_finished
from fairseq_plugins.lab.results.frame import compared, read_experiments
from fairseq_plugins.lab.results.tables import ResultTable, TableCell

QUICK = ReportOptions(samples=20)


def read(root):
    found, links = read_experiments(root)
    return found, [*links, *(fault for one in found for fault in one.faults)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The text of an experiment's page, what it shows, and its remarks."""
    root = experiment(tmp_path_factory.mktemp("runs") / "toy")
    page, (chapter,), remarks = write_report(root, options=QUICK)
    assert page == root / "report.html"
    return page.read_text(encoding="utf-8"), chapter, remarks


@pytest.mark.slow
def test_the_page_begins_with_answers_and_tells_everything(written):
    html, chapter, remarks = written
    titles = ["Figures", "Tables", "Runs", "Files of steps", "Failures"]
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", html) == [*titles, "Commands"]
    assert html.index(chapter.answers[0]) < html.index("<img")
    for said in ("9 of 12 runs finished", "Single sentences, two datasets", "out of memory"):
        assert said in html
    for said in ("fairseq-plugins run examples/toy/table.yaml", "torch 2.13.0", "SHA-256 "):
        assert said in html
    links = dict(re.findall(r'href="(#[^"]*)">(\w[^<]*)', html))
    assert {name for place, name in links.items() if f'id="{place[1:]}"' not in html} == set()
    assert [one.title for one in chapter.figures] == [
        *(f"cola: {kind}" for kind in ("seeds", "validation", "gates per layer")),
        *(f"sst2: {kind}" for kind in ("seeds", "validation", "gates per layer")),
        "gates",
    ]
    files = [(one.title, one.link, bool(one.text)) for one in chapter.files]
    page, words = ("gates: page.html", "gates: words.md")
    assert files == [(page, "after/gates/page.html", False), (words, "after/gates/words.md", True)]
    assert remarks == []


@pytest.mark.slow
def test_nothing_of_a_file_becomes_part_of_the_page(written):
    html = written[0]
    assert HOSTILE not in html
    assert not re.search(r"<(?:script|img|iframe)[^>]*example\.invalid", html)
    assert html.count("<script>") == 1
    assert "alert(" not in html


@given(st.text(alphabet="<>&\"'`|*_{}#abc\n ", min_size=1, max_size=30))
def test_any_name_is_shown_and_none_is_markup(name):
    text = f"<b>{name}</b><script>x</script>"
    table = ResultTable(text, [TableCell(text, text)], [[TableCell(text, text)]], text, (text,))
    failed, commands = [Failure(text, text, text, text)], {text: text}
    shown = {"tables": [table], "failures": failed, "command": text, "commands": commands}
    html = to_html(text, [Chapter(text, {"finished": 1}, {text: text}, table, **shown)], [text])
    assert html.count("<script>") == 1
    assert "<b><" not in html
    assert f"</b>{'<'}script" not in html


@pytest.mark.parametrize(("value", "shown"), [(math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_infinite_values_are_sorted_as_numbers(value, shown):
    table = ResultTable("x", [TableCell("x")], [[TableCell("far", value=value)]])
    html = to_html("x", [Chapter("x", {"finished": 1}, {}, table)], [])
    assert f'data-value="{shown}"' in html


def test_every_run_of_a_plan_is_counted_once(tmp_path):
    (one,), remarks = read(experiment(tmp_path / "toy"))
    assert counts_of(one) == {"finished": 9, "failed": 1, "unfinished": 1, "waiting": 1}
    assert remarks == []


def test_a_failed_run_shows_its_last_lines(tmp_path):
    root = experiment(tmp_path / "toy")
    (failure,) = failures_of(read(root)[0][0])
    assert "out of memory" in failure.text
    assert failure.updates == "10 of 40 updates"
    rows = lines_of(root)
    log = root / rows[-1]["folder"] / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    write_lines(root, [*rows[:-1], {**rows[-1], "error": ""}])
    (failure,) = failures_of(read(root)[0][0])
    assert failure.text.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_an_experiment_that_has_not_begun_can_be_shown(tmp_path):
    planned = [{"folder": "cola/a/b/seed1", "updates": 4}, {"folder": "../x"}, "x", {"folder": 3}]
    describe(tmp_path, ("cola",), planned)
    write_lines(tmp_path, [])
    page, (chapter,), remarks = write_report(tmp_path, options=QUICK)
    assert (chapter.counts["waiting"], remarks) == (1, [])
    assert "0 of 1 runs finished" in page.read_text()


@pytest.mark.parametrize(
    ("name", "text", "remark", "left"),
    [
        ("experiment.json", '{"parts": [', "not JSON", 10),
        ("experiment.json", "[]", "not a JSON object", 10),
        ("rows.jsonl", '{"part": "cola"', ":1: no row", 0),
    ],
)
def test_a_broken_file_costs_one_remark(tmp_path, monkeypatch, name, text, remark, left):
    root = experiment(tmp_path / "toy")
    (root / name).write_text(text)
    monkeypatch.setattr("fairseq_plugins.lab.report.making.draw", lambda *_, **__: [])
    page, (chapter,), remarks = write_report(root, options=QUICK)
    assert len(remarks) == 1
    assert name in remarks[0]
    assert remark in remarks[0]
    assert sum(chapter.counts[state] for state in ("finished", "failed")) == left
    assert "Not everything could be shown" in page.read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("system", "\ud800"),  # half a character
        ("seed", math.inf),
        ("epochs", -1),
        ("learning_rate", 10**400),
        ("metrics", {"valid": {"mcc": 10**400}}),
        ("metrics", {"valid": {"accuracy": 0.5}}),
        ("parameters", [[]]),
        ("choice", {"a": {}}),
        ("share", math.nan),
        ("share", "x"),
        ("share", 0),
        ("folder", "x" * 6000),
        ("folder", "a\0b"),
        ("folder", "../elsewhere"),
        ("unknown", 1),
    ],
)
def test_a_line_that_is_no_row_costs_one_remark(tmp_path, key, value):
    root = experiment(tmp_path / "toy")
    first, *others = lines_of(root)
    write_lines(root, [first | {key: value}, *others])
    (one,), remarks = read(root)
    assert len(one.runs) == len(others)
    (remark,) = remarks
    assert remark.startswith(f"passed over {root}/rows.jsonl:1: ")


def test_a_folder_of_runs_is_read_as_a_part_an_experiment_or_several(tmp_path):
    for name in ("one", "two"):
        experiment(tmp_path / name)
    root = tmp_path / "one"
    write_lines(root, lines_of(root)[::-1])
    found, _ = read(tmp_path)
    assert [one.name for one in found] == ["one", "two"]
    assert [one.status for one in found[0].runs.itertuples()][0] == "failed"  # as rows stand
    assert list(found[1].parts) == ["cola", "sst2"]
    (part,), _ = read(root / "cola")
    assert (part.title, len(part.runs)) == ("cola", 6)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no runs"):
        read(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        read(tmp_path / "nowhere")


@pytest.mark.slow
def test_several_experiments_stand_on_one_page(tmp_path):
    """Also with names of files that are no text."""
    for name in ("one", "two"):
        root = experiment(tmp_path / name)
        for odd in (b"\xff.txt", b"\xff.svg"):
            (root / "after" / "gates" / os.fsdecode(odd)).write_text(SVG)
    page, chapters, _ = write_report(tmp_path, tmp_path / "page.html", QUICK)
    html = page.read_text()
    assert page == tmp_path / "page.html"
    assert "18 of 24 runs finished" in html
    assert [len(chapter.figures) for chapter in chapters] == [8, 8]
    assert html.count('<h3 id="c2-') == 6
    assert "gates: ?" in html
    assert "one/after/gates/%FF.txt" in html


def test_a_part_that_other_splits_chose_costs_a_remark(tmp_path, monkeypatch):
    monkeypatch.setattr("fairseq_plugins.lab.report.figures.curves_of", lambda *_: {})
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5], SLA: [0.6]})
    first, *others = lines_of(tmp_path)
    other = {"chosen_on": "dev", "metrics": {"dev": first["metrics"]["valid"]}}
    write_lines(tmp_path, [first | other, *others])
    _, (chapter,), (remark,) = write_report(tmp_path, options=QUICK)
    assert "key 'validation': 'valid', of rows before 'dev'" in remark
    (table,) = chapter.tables
    assert [row[0].text for row in table.rows] == [PLAIN, SLA]
    assert chapter.counts["finished"] == 2


@pytest.mark.parametrize("score", [-math.inf, 1e308])
def test_scores_without_a_mean_are_none(run_here, tmp_path, score):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5, 0.6], SLA: [0.6]})
    first, *others = lines_of(tmp_path)
    first["metrics"]["valid"]["mcc"] = score
    write_lines(tmp_path, [first, *others])
    _, (chapter,), (remark,) = write_report(tmp_path, options=QUICK)
    assert chapter.counts["finished"] == 2
    told = f"rows.jsonl:1: metrics: valid: mcc: {score:g} is no score"
    assert told in remark
    for command in ("results table", "results compare"):
        done = run_here(command, tmp_path / "cola", fails=True)
        assert (told in done.err, done.err.count("\n")) == (True, 1)


def test_an_unknown_baseline_is_refused(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5], SLA: [0.6]})
    with pytest.raises(InputError, match=f"choices are {PLAIN}, {SLA}"):
        write_report(tmp_path, options=ReportOptions(baseline="bert"))


def test_curves_have_the_finite_points_of_every_seed(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.4, 0.6], SLA: [0.5]})
    runs, remarks = chosen_finished(read(tmp_path)[0][0].runs), []

    def drawn():
        return curves_of(runs, "mcc", remarks)

    curves = drawn()
    assert curves[PLAIN] == {20: pytest.approx([20, 30]), 40: pytest.approx([40, 60])}
    logs = {system: own.folder.iloc[0] / "train.log" for system, own in runs.items()}
    logs[PLAIN].write_text(logs[PLAIN].read_text().replace('"0.4"', '"nan"'))
    logs[SLA].write_text('x | valid | {"valid_num_updates": "1", "valid_mcc": "no number"}\n')
    curves = drawn()
    assert {system: {x: len(own) for x, own in points.items()} for system, points in
            curves.items()} == {PLAIN: {20: 2, 40: 1}}  # fmt: skip
    (remark,) = remarks
    assert str(logs[SLA]) in remark


@pytest.mark.parametrize(
    ("scores", "drawn"),
    [
        ({SLA: [0.4, 0.5], PLAIN: [0.3]}, 1),
        ({PLAIN: [0.3], SLA: [0.4]}, 0),
    ],
)
def test_seeds_are_shown_where_several_systems_have_several(tmp_path, scores, drawn):
    for share in (1.0, 0.1):
        own = {"share": share, "choice": {"x": share}, "evaluation": {"mcc": 0.2}}
        part_of(tmp_path / "cola", "cola", "mcc", scores, **own)
    ((name, runs),) = read(tmp_path)[0][0].parts.items()
    captions = {one.title: one.caption for one in draw(name, runs, compared(runs), [])}
    assert ("cola: seeds" in captions) == drawn
    if drawn:
        assert captions["cola: seeds"].startswith("mcc, test: every seed a dot")
    assert "cola: shares of the training data" in captions
