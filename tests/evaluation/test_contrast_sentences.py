"""Selecting and marking the sentences that one system does better."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.choices import SENTENCE_METRICS
from fairseq_plugins.evaluation.contrast import (
    HIT,
    MISS,
    SAME,
    Contrast,
    ContrastOptions,
    differing,
    format_items,
    mark_words,
    short_names,
)
from fairseq_plugins.evaluation.contrast_kinds import compare_files, scorer, sentence_items
from fairseq_plugins.files import write_text

GOLD = ["Patek kann Berufung einlegen.", "Das ist gut.", "Er kommt | heute.", "Gleich."]
FIRST = ["Patek kann anrufen.", "Das ist gut.", "Sie geht | morgen.", "Gleich."]
SECOND = ["Patek mag Berufung einlegen.", "Das war so.", "Er kommt | heute.", "Gleich."]
SOURCES = ["Patek may appeal.", "That is good.", "He comes | today.", "At once."]


def compare(
    first, second, gold, sources=None, *, metric="chrf", names=("first", "second"), **criteria
):
    """Return the sentences of which one system is better."""
    metric = (metric, scorer(metric)) if isinstance(metric, str) else ("m", metric)
    items = sentence_items([first, second], gold, sources, names=names, metric=metric)
    return differing(items, ContrastOptions(**criteria))


def test_better_chooses_the_side() -> None:
    ids = {
        side: [example.id for example in compare(FIRST, SECOND, GOLD, better=side)]
        for side in ("first", "last", "any")
    }
    assert ids["first"] == ["1"]
    assert sorted(ids["last"]) == ["0", "2"]
    assert sorted(ids["any"]) == ["0", "1", "2"]


@pytest.mark.parametrize("name", SENTENCE_METRICS)
def test_swapping_the_systems_swaps_the_sides(name: str) -> None:
    there = compare(FIRST, SECOND, GOLD, better="last", metric=name)
    back = compare(SECOND, FIRST, GOLD, better="first", metric=name)
    assert [(e.id, e.gap) for e in there] == [(e.id, e.gap) for e in back]
    assert there


def test_widest_gap_comes_first_and_min_gap_cuts() -> None:
    examples = compare(FIRST, SECOND, GOLD, better="any")
    gaps = [example.gap for example in examples]
    assert gaps == sorted(gaps, reverse=True)
    assert len(compare(FIRST, SECOND, GOLD, better="any", min_gap=gaps[1])) == 2


def test_any_metric_of_prediction_and_gold_serves() -> None:
    labels = compare("ABBA", "ABAB", "ABAA", metric=lambda p, g: float(p == g), better="any")
    assert [(one.id, one.gap, one.right) for one in labels] == [
        ("2", 1.0, [False, True]),
        ("3", 1.0, [True, False]),
    ]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="second has 1, gold has 4"):
        compare(FIRST, SECOND[:1], GOLD)
    with pytest.raises(ValueError, match="--better 'third': choices are first, last, any"):
        compare(FIRST, SECOND, GOLD, better="third")
    with pytest.raises(InputError, match="--min-gap -1: must be at least 0"):
        compare(FIRST, SECOND, GOLD, min_gap=-1)


def test_hits_and_misses_are_marked() -> None:
    assert mark_words(SECOND[0], FIRST[0], GOLD[0]) == [
        ("Patek ", SAME),
        ("mag", MISS),
        (" ", SAME),
        ("Berufung einlegen", HIT),
        (".", SAME),
    ]
    assert mark_words(FIRST[0], SECOND[0], GOLD[0]) == [
        ("Patek ", SAME),
        ("kann", HIT),
        (" ", SAME),
        ("anrufen", MISS),
        (".", SAME),
    ]
    assert mark_words("", "x", "y") == []


sentences = st.lists(st.sampled_from(["der", "Hund", "ja", ",", "x-y", "\u2028", "$"]), max_size=8)


@given(*[sentences.map(" ".join)] * 3)
def test_marks_keep_the_text_and_like_outputs_have_none(output: str, other: str, gold: str) -> None:
    marked = mark_words(output, other, gold)
    assert "".join(text for text, _ in marked) == output
    assert all(a[1] != b[1] for a, b in zip(marked, marked[1:]))
    assert {mark for _, mark in mark_words(output, output, gold)} <= {SAME}


@given(st.text(), st.text(), st.text())
def test_marks_keep_any_text(output: str, other: str, gold: str) -> None:
    assert "".join(text for text, _ in mark_words(output, other, gold)) == output


def shown(found, style):
    return format_items(found, Contrast("sentence", found), ("base", "syntax"), style)


def render(style: str) -> str:
    return shown(
        compare(FIRST, SECOND, GOLD, SOURCES, names=("base", "syntax"), better="any"), style
    )


def test_text_shows_everything() -> None:
    text = render("text")
    assert "[-mag-] {+Berufung einlegen+}." in text
    assert all(source in text for source in SOURCES[:3])
    assert "Gleich" not in text


def test_a_page_escapes_every_text_and_needs_no_other_file() -> None:
    page = shown(compare(["<a> & b"], ["<d> & b"], ["<d> & c"], ["<script>"]), "html")
    assert "&lt;<b>d</b>&gt; &amp; <s>b</s>" not in page  # both have b
    assert "&lt;<b>d</b>&gt; &amp; b" in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"url\(|@import|<link|<script|<img|\b(src|href)=", page)


def test_files_are_compared_with_sources_from_the_log(tmp_path) -> None:
    lines = []
    for i in (3, 1, 0, 2):
        lines += [f"S-{i}\t{SOURCES[i]}", f"T-{i}\t{GOLD[i]}", f"H-{i}\t-1\t{FIRST[i]}"]
    write_text(tmp_path / "a.log", "\n".join(lines) + "\n")
    write_text(tmp_path / "b.txt", "\n".join(SECOND) + "\n")
    write_text(tmp_path / "gold.txt", "\n".join(GOLD) + "\n")

    def compared(**options):
        files = [f"base={tmp_path / 'a.log'}", f"syntax={tmp_path / 'b.txt'}"]
        given = {"gold": str(tmp_path / "gold.txt"), **options}
        return compare_files(ContrastOptions(systems=files, **given), dict)

    assert compared(better="any") == render("text") + "3 of 3 such sentences shown\n"
    assert compared(better="any", max=0) == "0 of 3 such sentences shown\n"
    with pytest.raises(InputError, match="--metric 'comet': choices are bleu, chrf"):
        compared(metric="comet")
    with pytest.raises(InputError, match="--positive is not for translations, which"):
        compared(positive="1")
    write_text(tmp_path / "src.txt", "one\n")
    with pytest.raises(InputError, match="sources has 1, gold has 4"):
        compared(src=str(tmp_path / "src.txt"))


def test_short_names_take_the_part_that_tells_systems_apart() -> None:
    assert short_names(["a/first.log", "a/second.txt"]) == ("first", "second")
    assert short_names(["runs/base/generate.log", "runs/ours/generate.log"]) == ("base", "ours")
    assert short_names(["x.log", "x.log"]) == ("x.log", "x.log")
    assert short_names([".", "runs/a.pt"]) == (".", "a")
