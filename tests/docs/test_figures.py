"""Figures of the first pages are those that results, benchmarks or examples give.

docs/replication.md is made of kept rows (tests/lab/test_replication.py), so what agrees with it
agrees with them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("examples/*/README.md"))
SOURCES = ["RESULTS.md", "benchmarks/README.md", "docs/replication.md", *EXAMPLES]
FIRST = ["README.md", "docs/choose.md"]
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
SIGNED = rf"(?<!\w)[+-]{NUMBER}"
NO_FIGURES = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|\[[^\]]*\]:.*|\d{4}\.\d{5}|[\w-]*[A-Za-z]-?[\d.]+\b"
    r"|(?:Python|torch|SQuAD|BY-SA) [\d.]+(?:(?:,| to| or) [\d.]+)*",
    re.S,
)
MEASURES = "BLEU|F1|MCC|Pearson|chrF|points|seconds|minutes|s|times|%"
FIGURE = re.compile(
    rf"(?<![\d.,+-]){NUMBER} to {NUMBER}|\d+\.\d+|{NUMBER}(?= ?(?:{MEASURES})\b)|{NUMBER}(?= %)"
    rf"|(?<=\| ){NUMBER}(?=[ ,][^|\n]* \|$)",  # in a table's last column: minutes
    re.M,
)
NETWORK = {"2 to 7"}  # minutes of the first set-up, which downloads
GAIN = re.compile(rf"({SIGNED})(?: [A-Z][\w.]+(?: [a-z]+ [A-Z]+)?)?\s+\(({SIGNED}) to ({SIGNED})")
ROW = re.compile(rf"^\|[^|]*\| ({SIGNED}) [±(].*", re.M)
INTERVAL = re.compile(rf"({SIGNED}) to ({SIGNED})")


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def figures_of(text: str) -> set[str]:
    """Return a page's figures without their signs: of two systems either may come first."""
    return {*FIGURE.findall(NO_FIGURES.sub(" ", text))} - NETWORK


def unsigned(text: str) -> str:
    return re.sub(r"(?<!\w)[+-](?=\d)", "", text)


def unknown_figures(text: str, known: str) -> list[str]:
    """Return figures that the text of all sources has not."""
    known = unsigned(known)
    ends = r"(?<![\d.,])", r"(?!\d|[.,]\d)"
    return sorted(
        one for one in figures_of(text) if not re.search(re.escape(one).join(ends), known)
    )


def gains_of(text: str) -> set[tuple[float, ...]]:
    """Return differences with their intervals, from the side of the first system."""
    return {tuple(float(one) for one in found) for found in GAIN.findall(text)}


def gains_of_rows(text: str) -> set[tuple[float, ...]]:
    """Return those of all tables of kept rows, from both sides."""
    found = set()
    for row in ROW.finditer(text):
        for low, high in INTERVAL.findall(row.group()):
            gain = (float(row[1]), float(low), float(high))
            found |= {gain, (-gain[0], -gain[2], -gain[1])}
    return found


@pytest.mark.parametrize("page", FIRST)
def test_figures_of_first_pages_stand_in_a_source(page):
    text = read(page).partition("## Beside other libraries")[0]  # which says how it was measured
    assert unknown_figures(text, "\n".join(map(read, SOURCES))) == []


@pytest.mark.parametrize("page", ["RESULTS.md", *FIRST])
def test_gains_of_kept_rows_are_those_of_the_rows(page):
    lines = read(page).splitlines()
    text = "\n".join(line for line in lines if page in FIRST or ".jsonl`" in line)
    assert gains_of(text)
    assert gains_of(text) - gains_of_rows(read("docs/replication.md")) == set()


def test_a_figure_without_a_source_is_found():
    text = "It gains +0.30 BLEU (-0.88 to +1.46) in 7 to 9 minutes, 12 s, with `0.5` (SQuAD 2.0)."
    assert unknown_figures(text, "| -0.29 (-1.46 to +0.88) | 17 to 9 |, 12 s") == [
        "0.30",
        "7 to 9",
    ]
    assert gains_of(text) == {(0.3, -0.88, 1.46)}
    row = "| BERT | -0.30 ± 0.37 (4, 1/3) | -1.46 to +0.88 | -1.15 to +0.49 | 0.774 |"
    assert gains_of(text) < gains_of_rows(row)
