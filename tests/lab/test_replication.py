"""A page of claims is made of kept rows alone, and says no more than they do."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from cli.commands import run
from lab.report_runs import PLAIN, SLA, describe, part_of, rows_of, write_rows

from fairseq_plugins.lab.report.replication import write_page
from fairseq_plugins.lab.results.seeds import Shown
from fairseq_plugins.lab.results.verdicts import sentences

ROOT = Path(__file__).parents[2]
WLA = "bert_wla_tiny"
SCORES = {
    PLAIN: [0.3, 0.36, 0.31, 0.33],
    SLA: [0.41, 0.45, 0.42, 0.45],
    WLA: [0.31, 0.34, 0.33, 0.3],
}
VALID = Shown("mcc", "valid")
FILE = f"""
title: Does it help?
intro: Three systems.
names: {{{PLAIN}: BERT, {SLA}: SLA}}
claims:
  - title: The parse
    claim: It helps.
    ran: CoLA.
    comparisons:
      - {{rows: rows/cola.jsonl, baseline: {PLAIN}, title: Against BERT, effect: 2.5}}
      - {{rows: rows/cola.jsonl, baseline: {SLA}, systems: [{WLA}], title: Against SLA}}
      - {{rows: rows/later.jsonl, baseline: {PLAIN}, title: Later}}
    verdict: It does, here.
    limits: Anything else.
"""


@pytest.fixture
def claims(tmp_path):
    """A file of claims with its rows; the runs are gone."""
    part_of(tmp_path / "runs" / "cola", "cola", "mcc", SCORES)
    for path in (tmp_path / "runs").rglob("predictions.jsonl"):  # which say less than the scores
        path.unlink()
    describe(tmp_path / "runs", ["cola"], [])
    write_rows(tmp_path / "runs", rows_of(tmp_path / "runs", ["cola"]))
    run("keep", tmp_path / "runs", tmp_path / "rows" / "cola.jsonl")
    (tmp_path / "claims.yaml").write_text(FILE)
    return tmp_path / "claims.yaml"


def test_a_page_shows_every_comparison_with_picture_table_and_sentences(claims, tmp_path):
    run("evidence", claims, tmp_path / "out" / "page.md")
    page = (tmp_path / "out" / "page.md").read_text()
    images = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert len(images) == 2
    assert all((tmp_path / "out" / image).read_bytes()[:4] == b"\x89PNG" for image in images)
    assert "| BERT | 4 | 32.50 ± 2.65 |" in page
    assert re.search(r"\| SLA \| 4 \| 43\.25 ± .* \| \+10\.75 \| .* \| \d+ \|\n", page)
    assert re.search(r"- SLA is better than BERT: \+10\.75 points of mcc \(4 seeds, 95 %", page)
    assert f"- {WLA} is worse than SLA: -11.25 points of mcc" in page
    unseen = rf"- No difference between {WLA} and BERT was seen: .*; a difference of 2\.5 takes \d+"
    assert re.search(unseen, page)
    assert "paired t-test over seeds" in page
    assert "**Later**: not run yet." in page
    assert "**Verdict.** It does, here." in page
    assert f"--baseline {SLA} --systems {WLA} --output seeds\n" in page


def test_the_page_is_the_same_whenever_it_is_made(claims, tmp_path):
    pages = [tmp_path / name / "page.md" for name in "ab"]
    for page in pages:
        run("evidence", claims, page)
    assert pages[0].read_bytes() == pages[1].read_bytes()
    rows = tmp_path / "rows" / "cola.jsonl"
    rows.write_text(rows.read_text().replace('"mcc": 0.45', '"mcc": 0.5'))
    run("evidence", claims, pages[1])
    assert pages[0].read_bytes() != pages[1].read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("verdict: It does, here.", "", "claims.0.verdict: Field required"),
        ("title: Later", "title: Later, colour: red", "comparisons.2.colour: Extra inputs"),
        ("rows/later.jsonl", "../later.jsonl", "claims.0.comparisons"),
        ("rows/later.jsonl", "/later.jsonl", "claims.0.comparisons"),
        ("effect: 2.5", "effect: -1", "greater than or equal to 0"),
        (f"[{WLA}]", f"[{WLA}, {WLA}]", "a system is named twice"),
        (f"[{WLA}]", "[bert_none]", "--systems 'bert_none': choices are"),
        (f"baseline: {SLA}", "baseline: none", "--baseline 'none': choices are"),
    ],
)
def test_what_a_file_may_not_say_is_refused_before_anything_is_written(
    claims, tmp_path, old, new, said
):
    assert old in FILE
    claims.write_text(FILE.replace(old, new))
    assert said in run("evidence", claims, tmp_path / "page.md", fails=True).err
    assert not (tmp_path / "page.md").exists()
    assert not (tmp_path / "page").exists()


def compared(**changes):
    """Return one comparison."""
    usual = {
        **{"system": "b", "title": "b 5 %", "n": 5, "difference": -0.02, "se": 0.001},
        **{"low": -0.03, "high": -0.01, "t_low": -0.04, "t_high": 0.0, "corrected_p": 0.01},
        **{"untested": "", "detectable": 0.03},
    }
    return pd.DataFrame([usual | changes])


def said(shown=VALID, effect=math.nan, **changes) -> str:
    (sentence,) = sentences(compared(**changes), "a", shown, {"b": "B"}, effect)
    return sentence


def test_sentences_follow_the_corrected_test():
    assert (
        said()
        == "B 5 % is worse than a: -2.00 points of mcc (5 seeds, 95 % -3.00 to -1.00, p 0.010)."
    )
    assert said(Shown("loss", "valid")).startswith("B 5 % is better than a: -0.02 of loss")
    assert said(Shown("bleu", "test"), difference=1.5).startswith(
        "B 5 % is better than a: +1.50 points"
    )
    assert said(corrected_p=0.06).startswith(
        "No difference between B 5 % and a was seen: -2.00 points"
    )
    assert said(corrected_p=0.06).endswith("3.00 points would have been seen with 80 % power.")
    assert (
        said(corrected_p=0.06, effect=0.01).endswith("with 80 % power; 0.01 take 1,572 seeds.")
        is False
    )
    assert said(corrected_p=0.06, low=math.nan).count("-4.00 to +0.00") == 1


@pytest.mark.parametrize(
    "changes", [{"n": 2}, {"n": 1, "untested": "one seed"}, {"corrected_p": math.nan}]
)
def test_few_seeds_conclude_nothing(changes):
    assert "too little to conclude anything" in said(**changes)
    assert not re.search("better|worse|No difference", said(**changes))


def test_the_page_of_this_repository_is_what_its_rows_make(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    claims, page = Path("examples/evidence/claims.yaml"), Path("docs/replication.md")
    written, *pictures = write_page(claims, tmp_path / page.name)
    assert written.read_text() == page.read_text()
    kept = [ROOT / "docs" / "replication" / picture.name for picture in pictures]
    assert {path.name for path in (ROOT / "docs" / "replication").iterdir()} == {
        path.name for path in kept
    }
