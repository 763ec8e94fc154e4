"""A page of claims is made of kept rows alone, and says no more than they do."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lab.finished_runs import finish
from lab.report_runs import PLAIN, SLA, describe, part_of
from matplotlib import image

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.report.replication import write_page
from fairseq_plugins.lab.results.frame import Shown
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
      - {{rows: rows/cola.jsonl, baseline: {PLAIN}, title: Against BERT}}
      - {{rows: rows/cola.jsonl, baseline: {SLA}, systems: [{WLA}], title: Against SLA}}
      - {{rows: rows/later.jsonl, baseline: {PLAIN}, title: Later}}
    limits: Anything else.
"""


@pytest.fixture
def claims(run_here, tmp_path):
    """A file of claims with its rows; the runs are gone."""
    part_of(tmp_path / "runs" / "cola", "cola", "mcc", SCORES)
    for path in (tmp_path / "runs").rglob("predictions.jsonl"):  # which say less than the scores
        path.unlink()
    describe(tmp_path / "runs", ["cola"], [])
    run_here("results keep", tmp_path / "runs", "--output", tmp_path / "rows" / "cola.jsonl")
    (tmp_path / "claims.yaml").write_text(FILE)
    return tmp_path / "claims.yaml"


def test_a_page_shows_every_comparison_with_picture_table_and_sentences(run_here, claims, tmp_path):
    run_here("results page", claims, "--output", tmp_path / "out" / "page.md")
    page = (tmp_path / "out" / "page.md").read_text()
    images = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert len(images) == 2
    assert all((tmp_path / "out" / image).read_bytes()[:4] == b"\x89PNG" for image in images)
    assert "\nBERT 32.50 ± 2.65: MCC × 100 on the validation set.\n" in page
    assert re.search(
        r"\| SLA \| \+10\.75 ± .* \(4, 4/0\) \| \+.* \| – \| .* \| \d+\.\d+ \|\n", page
    )
    assert re.search(r"- SLA is better than BERT: \+10\.75 points of MCC \(4 seeds, 95 %", page)
    assert f"- {WLA} is worse than SLA: -11.25 points of MCC" in page
    assert "No significant difference" not in page  # the table says which
    assert page.count("| system | difference |") == 2
    assert page.count("mean ± standard error") == 1  # how to read all tables
    assert "with at least 3 seeds" in page
    found = "Of 3 comparisons: 1 better, 1 worse, 1 without a significant difference."
    assert f"**Found.** {found} Not run yet: Later.\n" in page
    assert f"--baseline {SLA} --systems {WLA} --output seeds\n" in page


def test_systems_with_a_name_may_have_no_rows_yet(run_here, claims, tmp_path):
    """A comparison says which of its systems wait; without baseline or others all of it waits."""
    page, old = tmp_path / "page.md", f"systems: [{WLA}]"
    named = FILE.replace(": SLA}", ": SLA, later_b: B, later_a: A}")
    claims.write_text(named.replace(old, f"systems: [later_b, {WLA}, later_a]"))
    run_here("results page", claims, "--output", page)
    assert "- Not run yet: A, B.\n" in page.read_text()
    assert f"--baseline {SLA} --systems {WLA} --output seeds\n" in page.read_text()
    assert f"- {WLA} is worse than SLA" in page.read_text()
    for new in ("systems: [later_a]", f"systems: [{WLA}]"):
        text = named.replace(old, new)
        baseline = "later_b" if WLA in new else SLA
        claims.write_text(text.replace(f"baseline: {SLA}", f"baseline: {baseline}"))
        run_here("results page", claims, "--output", page)
        assert "Not run yet: Against SLA; Later." in page.read_text()
        assert page.read_text().count("![") == 1


@pytest.mark.parametrize("words", ["--baseline x", "--samples 9", "--seed 1", "--no-paper"])
def test_what_a_page_of_experiments_alone_listens_to_is_refused(run_here, claims, words):
    done = run_here("results page", claims, *words.split(), fails=True)
    assert f"{words.split()[0]} is for experiments, and {claims} is a file of claims" in done.err
    assert not claims.with_suffix(".md").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("limits: Anything else.", "", "claims.yaml: claims: value 1: key 'limits' is missing"),
        ("title: Later", "title: Later, colour: red", "comparisons: value 3: unknown key 'colour'"),
        ("title: Later", "title: La|ter", "value 3: title: 'La|ter' is not a line"),
        ("title: Later", 'title: "La\\nter"', r"value 3: title: 'La\nter' is not a line"),
        (f"{SLA}: SLA", f"{SLA}: BERT", f"names: {PLAIN} and {SLA} are both called 'BERT'"),
        (f"{SLA}: SLA", f"{SLA}: ' '", "is not a line"),
        ("rows/later.jsonl", "../later.jsonl", "claims: value 1: comparisons: value 3: rows: '../"),
        ("rows/later.jsonl", "/later.jsonl", "claims: value 1: comparisons: value 3: rows: '/"),
        (f"[{WLA}]", "[bert_none]", "'Against SLA': --systems 'bert_none': choices are"),
        (f"baseline: {SLA}", "baseline: none", "'Against SLA': --baseline 'none': choices are"),
    ],
)
def test_what_a_file_may_not_say_is_refused_before_anything_is_written(
    run_here, claims, tmp_path, old, new, said
):
    assert old in FILE
    claims.write_text(FILE.replace(old, new))
    assert (
        said in run_here("results page", claims, "--output", tmp_path / "page.md", fails=True).err
    )
    assert not (tmp_path / "page.md").exists()
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "a page is a file .md") for name in ("page", "claims.yaml", "rows/cola.jsonl")),
        ("linked.md", "linked: a symbolic link"),
    ],
)
def test_a_page_is_written_over_nothing_else_and_through_no_link(claims, tmp_path, name, said):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=said):
        write_page(claims, tmp_path / name)
    assert kept == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


NO_MORE = "No significant difference from a, which is not equality"


def compared(**changes):
    usual = {
        **{"system": "b", "title": "b 5 %", "n": 5, "difference": -0.02, "se": 0.001},
        **{"low": -0.03, "high": -0.01, "t_low": -0.04, "t_high": 0.0, "corrected_p": 0.01},
        **{"untested": "", "detectable": 0.03, "run_error": 0.001, "shared_error": 0.002},
        **{"bootstrap_p": 0.002, "level": 0.05},
    }
    return pd.DataFrame([usual | changes])


def said(shown=VALID, **changes) -> str:
    (sentence,) = sentences(compared(**changes), "a", shown, {"b": "B"})
    return sentence


def test_sentences_follow_the_corrected_test():
    points = "-2.00 points of MCC (5 seeds, 95 % -4.00 to +0.00, p 0.010)."
    assert said() == f"B 5 % is worse than a: {points}"
    assert said(Shown("bleu", "test"), difference=1.5).startswith(
        "B 5 % is better than a: +1.50 points of BLEU"
    )
    assert "points of entity F0.5 (" in said(Shown("entity_f0.5", "test"))
    assert said(Shown("loss", "valid")).startswith("B 5 % is better than a: -0.0200 of loss")
    assert said(bootstrap_p=math.nan, low=-1).count("-4.00 to +0.00") == 1
    assert said(corrected_p=0.06) == f"{NO_MORE}: B 5 % (-2.00 points)."
    several = pd.concat([compared(corrected_p=p) for p in (0.06, 0.01, 1.0)])
    first, last = sentences(several, "a", VALID, {})
    assert first.startswith("b 5 % is worse")
    assert last == f"{NO_MORE}: b 5 % (-2.00 points), b 5 % (-2.00 points)."


@pytest.mark.parametrize("difference", [-0.02, math.nan])
def test_what_was_not_tested_concludes_nothing(difference):
    told = said(difference=difference, corrected_p=math.nan, untested="2 seeds")
    assert "too little to conclude anything (2 seeds)" in told
    assert not re.search("better|worse|No significant", told)


def test_a_page_of_rows_with_answers_is_over_seeds_and_examples(run_here, tmp_path):
    """What two tests both say; the command below a table tells the same as the page."""
    root, right = tmp_path / "runs", {PLAIN: [20, 22, 21, 23], SLA: [40, 43, 41, 45]}
    for system, seed, count in (
        (name, *one) for name in right for one in enumerate(right[name], 1)
    ):
        own = {"dataset": "cola", "options": {"arch": system, "max-update": 40}, "home": root}
        finish(root / "cola", system, 2e-5, seed, count / 50, right=count, **own)
    describe(root, ["cola"], [])
    kept_rows = tmp_path / "rows" / "cola.jsonl"
    run_here("results keep", root, "--output", kept_rows)
    kept = FILE.replace(f", systems: [{WLA}]", "").replace(f"baseline: {SLA}", f"baseline: {PLAIN}")
    (tmp_path / "claims.yaml").write_text(kept)

    def page() -> str:
        return write_page(tmp_path / "claims.yaml", tmp_path / "page.md")[0].read_text()

    both = page()
    assert both == page()
    line = re.search("- (SLA is better than BERT.*)", both)[1].replace("SLA", SLA, 1)
    command = re.search("^fairseq-plugins (results compare .*) --output seeds$", both, re.M)[1]
    told = run_here(*command.split(), "--output", tmp_path / "out").out
    assert f"- {line.replace('BERT', PLAIN, 1)}" in told
    assert ", 50 examples.\n" in both
    row = re.search(r"^\| SLA \|(.*)\|$", both, re.M)[1].split(" | ")
    seen = re.search(rf"^\| {SLA} \| \+.*", told, re.M)[0]
    difference, *rest = (one.strip() for one in row)
    assert f"| {difference.split(' (')[0]} (" in seen
    assert all(one in seen for one in rest)
    assert len(rest) == 4


@pytest.mark.slow
def test_the_page_of_this_repository_is_what_its_rows_make(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    claims, page = Path("examples/evidence/claims.yaml"), Path("docs/replication.md")
    written, *pictures = write_page(claims, tmp_path / page.name)
    assert written.read_text() == page.read_text()
    kept = [ROOT / "docs" / "replication" / picture.name for picture in pictures]
    assert {path.name for path in (ROOT / "docs" / "replication").iterdir()} == {
        path.name for path in kept
    }
    for picture, path in zip(pictures, kept):  # but for what fonts and versions make of them
        new, old = (image.imread(one) for one in (picture, path))
        assert new.shape == old.shape
        assert np.abs(new - old).mean() < 0.01
