"""Both pages of a report: what stands on them, and that nothing on them can do harm."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lab.report_runs import HOSTILE, PLAIN, SLA, experiment, part_of
from markdown_it import MarkdownIt

from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.report.model import (
    MARKDOWN,
    Chapter,
    Command,
    Counts,
    Failure,
    Report,
    Text,
)
from fairseq_plugins.lab.report.pages import escape, markdown, to_html, to_markdown
from fairseq_plugins.lab.report.steps import leftovers
from fairseq_plugins.lab.results.tables import Heading, ResultTable, TableCell

pytestmark = pytest.mark.slow

QUICK = ReportOptions(samples=20)

PARTS = ["<b>", "```", "    ", "a", "> ", "- ", "`", "\\", "\n", "\r", "|a|\n|-|\n"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """An experiment with its report: the folder, the page, the Markdown, the report."""
    root = experiment(tmp_path_factory.mktemp("runs") / "toy")
    (html, text), report = write_report(root, options=QUICK)
    return root, html.read_text(encoding="utf-8"), text.read_text(encoding="utf-8"), report


def report_of(text):
    """Return a report in which everything is called the same."""
    table = ResultTable(text, [Heading(text, text)], [[TableCell(text, text)]], text, (text,))
    chapter = Chapter(text, Counts(1), [(text, text)], table)
    chapter.tables.append(table)
    chapter.failures.append(Failure(text, text, text, text))
    chapter.commands.append(Command(text, text))
    return Report(text, [chapter], [text])


def test_the_page_tells_everything_in_order(written):
    _, html, text, report = written
    titles = ["Summary", "Figures", "Tables", "Failures", "Unfinished runs", "Commands"]
    titles.append("Versions and settings")
    assert re.findall(r"<h2>(.*?)</h2>", html) == titles
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == titles
    for page in (html, text):
        assert "9 of 12 runs finished" in page
        assert "Single sentences, two datasets" in page
        assert "out of memory" in page
        assert "fairseq-plugins run examples/toy/table.yaml" in page
        assert "2.13.0" in page
    assert report.remarks == []


def test_the_markdown_names_figures_that_are_there(written):
    root, _, text, _ = written
    figures = re.findall(r"^!\[.*\]\(<(.*)>\)$", text, re.MULTILINE)
    assert len(figures) >= 7
    assert all((root / name).is_file() for name in figures)
    assert any(name.startswith("after/") for name in figures)


def test_all_rows_of_a_markdown_table_have_as_many_cells(written):
    _, _, text, _ = written
    own = text.partition("## Figures")[0]
    for block in re.findall(r"(?:^\|.*\n)+", own, re.MULTILINE):
        counts = {len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1, block


def test_figures_of_parts_and_steps_are_drawn(written):
    *_, report = written
    titles = [figure.title for figure in report.chapters[0].figures]
    for part in ("cola", "sst2"):
        assert {f"{part}: validation", f"{part}: training loss"} <= set(titles)
        assert f"{part}: gates per layer" in titles
    assert {"gates", "gates: words", "gates: page"} <= set(titles)


def test_a_figure_changes_when_its_runs_do(written, tmp_path):
    root = written[0]
    before = (root / "report_files" / "cola-validation.svg").read_text()
    again, _ = write_report(root, tmp_path / "again", QUICK)
    same = tmp_path / "again_files" / "cola-validation.svg"
    assert same.read_text() == before
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5], SLA: [0.1]})
    write_report(tmp_path / "cola", tmp_path / "other", QUICK)
    assert (tmp_path / "other_files" / "cola-validation.svg").read_text() != before
    assert again[0].is_file()


def test_nothing_of_a_file_becomes_part_of_the_page(written):
    _, html, text, _ = written
    assert HOSTILE not in html
    assert "example.invalid/y.png" not in re.sub(r"<pre.*?</pre>", "", html)
    assert not re.search(r"<(?:script|img|iframe)[^>]*example\.invalid", html)
    assert html.count("<script>") == 1
    assert "alert(" not in html
    fenced = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in fenced
    assert "<img" not in fenced


@given(st.text(alphabet="<>&\"'`|*_{}#abc\n ", min_size=1, max_size=30))
def test_any_name_is_shown_and_none_is_markup(name):
    html = to_html(report_of(f"<b>{name}</b><script>x</script>"))
    assert html.count("<script>") == 1
    assert "<b><" not in html
    assert f"</b>{'<'}script" not in html


@given(st.text(min_size=1, max_size=40))
def test_markdown_cells_never_break_their_table(name):
    tables = to_markdown(report_of(name), Path(".")).partition("\n## Failures\n")[0]
    lines = [line for line in tables.split("\n") if line[:1] == "|"]
    assert lines
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {3}


@given(st.text(alphabet="\\`*_{}[]<>|~a\n", max_size=20))
def test_escaped_text_is_one_line(text):
    assert "\n" not in escape(text)


def test_markdown_of_steps_cannot_bring_html_or_requests():
    made = markdown(
        f"# Title\n\n{HOSTILE}\n\n![x](http://example.invalid/z.png)\n\n[a](javascript:x)"
    )
    assert "<script" not in made
    assert "<img" not in made
    assert 'href="javascript' not in made
    assert "<h5>Title</h5>" in made


@given(st.lists(st.sampled_from(PARTS)))
@example(["|a|\n|-|\n", "    ", "<b>"])
def test_no_html_of_a_steps_markdown_passes(parts):
    report = report_of("x")
    report.chapters[0].figures.append(Text("step", MARKDOWN, "".join(parts)))
    made = to_markdown(report, Path(".")).partition("#### step")[2]
    assert "<b>" not in MarkdownIt("commonmark").render(made.partition("## Failures")[0])


def test_code_of_a_steps_markdown_stands_as_it_is():
    report = report_of("x")
    report.chapters[0].figures.append(Text("step", MARKDOWN, "a <b>\n\n```\n<unk>\n```\n"))
    assert "\na &lt;b>\n\n```\n<unk>\n```\n" in to_markdown(report, Path("."))


@pytest.mark.parametrize(("value", "shown"), [(math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_infinite_values_are_sorted_as_numbers(value, shown):
    report = report_of("x")
    report.chapters[0].parts.rows[0][0] = TableCell("far", value=value)
    assert f'data-value="{shown}"' in to_html(report)


@pytest.mark.parametrize("name", ["bad.svg", "bad.png"])
@pytest.mark.parametrize("text", ["", "<svg", "<html xmlns='a'/>", "\x89PNG"])
def test_a_broken_image_is_a_remark(tmp_path, name, text):
    path = experiment(tmp_path / "toy") / "after" / "gates" / name
    path.write_text(text, encoding="latin-1")
    remarks = []
    titles = [one.title for one in leftovers(tmp_path / "toy", remarks)]
    assert "gates" in titles
    assert "gates: bad" not in titles
    assert remarks == [f"{path}: passed over, empty or no whole {name[-3:].upper()}"]


def captions(root, kind):
    """Return what stands below figures of a kind."""
    _, report = write_report(root, options=QUICK)
    return [one.caption for one in report.chapters[0].figures if one.title.endswith(kind)]


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_figure_says_how_many_seeds_it_shows(tmp_path, seeds):
    for share in (1.0, 0.1):
        own = {} if share == 1 else {"share": share, "choice": {"x": share}}
        part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5] * seeds}, **own)
    (caption,) = captions(tmp_path, "shares of the training data")
    assert ("mean and range over 2 seeds" in caption) == (seeds == 2)
    assert ("one seed" in caption) == (seeds == 1)


def test_two_experiments_stand_on_one_page(tmp_path):
    for name in ("one", "two"):
        experiment(tmp_path / name)
    (html, _), report = write_report(tmp_path, options=QUICK)
    assert report.counts.total == 24
    assert html.read_text().count('<h3 class="chapter">') >= 8


@pytest.mark.parametrize("name", ["rows.jsonl", "experiment.json"])
def test_a_half_written_file_is_a_remark_on_the_page(tmp_path, name):
    root = experiment(tmp_path / "toy")
    path = root / name
    path.write_text(path.read_text()[:-30])
    (html, text), report = write_report(root, options=QUICK)
    assert report.remarks
    assert "Not everything could be shown" in html.read_text()
    assert name.rpartition("/")[2] in text.read_text()


def test_an_unknown_baseline_is_refused(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5], SLA: [0.6]})
    with pytest.raises(ValueError, match=f"choices are {PLAIN}, {SLA}"):
        write_report(tmp_path, options=ReportOptions(baseline="bert"))
