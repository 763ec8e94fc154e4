"""Highlighted words: the strongest are marked, and no text can become markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation.highlights import Case, SentenceStrengths, as_page, as_text
from fairseq_plugins.evaluation.predictions import Prediction
from fairseq_plugins.evaluation.shown_text import visible

TAGS = (
    "html head meta title style body header h1 dl dt dd p main article h2 ul li b span mark "
    "details summary table tr td th"
)


class Page(HTMLParser):
    """What a browser sees: tags, attributes, sentences as text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.sentences, self.marked, self.words = (
            set(),
            set(),
            [],
            [],
            [],
        )
        self._open = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self._open.append((tag, dict(attrs)))
        if ("class", "sentence") in attrs:
            self.sentences.append("")

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        inside = [tag for tag, _ in self._open]
        if any(attrs.get("class") == "sentence" for _, attrs in self._open):
            self.sentences[-1] += data
            if inside[-1] in ("span", "mark"):
                self.words.append((data, self._open[-1][1]["title"]))
            if inside[-1] == "mark":
                self.marked.append(data)


def sentence(text, *strengths):
    """Words between blanks, with their strengths."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    return SentenceStrengths(text, spans, strengths or [0.01 * (i + 1) for i in range(len(spans))])


def said(label, chance, gold=None, name="7"):
    return Prediction(name, "classes", label, gold, probabilities={label: chance})


YES = ("dabert", said("yes", 0.912, "yes"))


def case(*sentences, predictions=(YES,)):
    return Case(predictions, sentences)


def test_text_marks_the_strongest_and_says_all():
    shown = as_text(
        case(
            sentence("12 of  them came?", 0.3, 0.02, 0.01, 0.04),
            sentence("42 came", 0.25, 0.125),
            predictions=(YES, ("plain", said("no", 0.5))),
        ),
        1,
    )
    assert shown == (
        "pair 7  gold yes\n"
        "  dabert  yes 0.912  right\n"
        "  plain   no 0.500  wrong\n"
        "  1  {+12+} of  them came?\n"
        "     12 30.00  of 2.00  them 1.00  came? 4.00\n"
        "  2  {+42+} came\n"
        "     42 25.00  came 12.50\n"
        "\n"
    )
    for gold, told in ((None, ""), (3.0, "  gold 3.0")):
        score = Prediction("7", "score", 3.2, gold)
        bare = as_text(case(sentence("a b"), predictions=(("x", score),)), 0)
        assert bare.startswith(f"pair 7{told}\n  x  3.200\n  1  a b\n")


def test_color_is_added_to_the_marks_alone():
    given = case(sentence("a b"))
    plain, colored = as_text(given, 1), as_text(given, 1, color=True)
    assert "\x1b" not in plain
    assert re.sub("\x1b" + r"\[[0-9;]*m", "", colored) == plain
    assert "\x1b[1;31m{+b+}\x1b[0m" in colored


@pytest.mark.parametrize(
    ("count", "expected"), [(0, set()), (1, {1}), (3, {0, 1, 3}), (9, {0, 1, 3})]
)
def test_top_leaves_out_words_without_strength(count, expected):
    assert sentence("a b c d", 0.1, 0.2, 0.0, 0.1).top(count) == expected
    assert sentence("a b c", 0.1, 0.1, 0.1).top(2) == {0, 1}
    assert sentence("a ?! 4 +", 0.1, 0.9, 0.2, 0.3).top(2) == {2, 3}  # punctuation is no word


def test_page_shades_by_strength():
    given = [case(sentence("weak strong", 0.05, 0.2), sentence("none", 0.1)), case(sentence("x y"))]
    page = as_page(given, {"Checkpoint": "runs/<a>"}, 1)
    seen = Page(page)
    assert seen.words[:3] == [("weak", "5.00 %"), ("strong", "20.00 %"), ("none", "10.00 %")]
    assert seen.marked == ["strong", "none", "y"]
    shades = [float(value) for value in re.findall(r"--s:([0-9.]+)", page)]
    assert shades == [0.25, 1.0, 0.5, 0.5, 1.0]
    assert "<dd>runs/&lt;a&gt;</dd>" in page
    assert page.count('class="right"') == 2
    assert "<td>strong</td><td>20.00</td>" in page
    assert "No pairs" in as_page([], {}, 1)


def test_page_needs_nothing_else():
    page = as_page([case(sentence("see http://example.org"))], {}, 3)
    assert not re.search(r"url\(|@import|<link|<script|<img|\b(src|href)=", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


HOSTILE = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            ["<script>alert(1)</script>", "</p>", '"', "'", "&amp;", "-->", "$facts", "a", "\x00"]
            + ["\x1b[31m", "<!--", "\u2028", "]]>", "&#60;", " ", "\n", "}{", "\\", "\ud800"]
        ),
        max_size=8,
    ).map("".join),
)


@given(HOSTILE, HOSTILE, HOSTILE, st.data())
def test_no_text_becomes_markup(text, other, name, data):
    """A parser finds every text again, and no tag or attribute that is not the page's own."""
    words = data.draw(st.lists(st.integers(0, len(text)), max_size=4).map(sorted))
    spans = [*zip(words, words[1:])]
    strengths = data.draw(st.lists(st.floats(0, 1), min_size=len(spans), max_size=len(spans)))
    predictions = ((name, said(other, 1, name, name)), (other, said(name, 1)))
    given = Case(predictions, [SentenceStrengths(text, spans, strengths), sentence(other)])
    page = as_page([given], {name: other}, 2)
    page.encode("utf-8")
    seen = Page(page)
    assert seen.tags <= set(TAGS.split())
    assert seen.attributes <= set(
        "lang charset http-equiv content name class style title dir".split()
    )
    assert seen.sentences == [visible(text), visible(other)]
    told = as_text(given, 2, color=False)
    told.encode("utf-8")
    assert told.count("\n") == 8
    assert "\x1b" not in told
    assert "".join(part for part, _ in given.sentences[0].parts()) == text


@given(
    st.text(max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5)
)
def test_parts_are_the_text_whatever_the_spans(text, spans):
    """Spans that overlap or run backwards lose no character and double none."""
    given = SentenceStrengths(
        text, [(min(b, len(text)), min(e, len(text))) for b, e in spans], [0.1] * 5
    )
    assert "".join(part for part, _ in given.parts()) == text


def test_names_of_classes_are_shown_where_there_are_any():
    named = replace(said("1", 0.912, "0"), names={"0": "not_<b>", "1": "duplicate"})
    for show in (lambda one: as_text(one, 1), lambda one: as_page([one], {}, 1)):
        bare, told = (
            show(case(sentence("a b"), predictions=(("x", made),)))
            for made in (replace(named, names={}), named)
        )
        assert "duplicate" not in bare
        assert "duplicate (1) 0.912" in told
    assert "gold <b>not_&lt;b&gt; (0)</b>" in told
