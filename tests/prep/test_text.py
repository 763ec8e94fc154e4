"""Reading lines: tokenisers, entities, and the way back to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_corpora import NASTY

from fairseq_plugins.prep.text import TOKENIZERS, detokenize, line_reader, unescape

LINES = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=4))).map("".join)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("normalizer", ["none", "moses"])
@given(line=LINES)
def test_read_lines_have_single_spaces(tokenizer, normalizer, line) -> None:
    text = line_reader(tokenizer, normalizer, "en")(line)
    assert text == " ".join(text.split())


@given(line=LINES)
def test_untokenised_lines_keep_their_characters(line) -> None:
    for tokenizer in ("none", "pretokenized"):
        words = line_reader(tokenizer, "none", "en")(line).split()
        assert words == line.lstrip("\ufeff").split()


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("&apos;s", "'s"),
        ("R&amp;D", "R&D"),
        ("&quot;", '"'),
        ("@-@", "-"),
        ("&amp;lt;", "&lt;"),
        ("a@-@b", "a@-@b"),
        ("&nbsp;", "&nbsp;"),
    ],
)
def test_entities_are_undone_once(word, plain) -> None:
    assert unescape(word) == plain


def test_moses_cuts_words_without_escaping() -> None:
    read = line_reader("moses", "none", "en")
    assert (
        read("The dog's  \u00abR&D\u00bb, isn't it?")
        == "The dog 's \u00ab R & D \u00bb , isn 't it ?"
    )


def test_normaliser_straightens_quotes() -> None:
    assert line_reader("none", "moses", "en")("\u201cso\u201d \u2018it\u2019") == "\"so\" 'it'"
    assert line_reader("none", "none", "en")("\u201cso\u201d") == "\u201cso\u201d"


def test_text_comes_back_from_words() -> None:
    words = "The dog &apos;s state @-@ of @-@ the @-@ art and / or radio ."
    text = "The dog's state-of-the-art and / or radio."
    assert detokenize(words, "pretokenized", "en") == text
    assert detokenize("Das ist gut , nicht ?", "moses", "de") == "Das ist gut, nicht?"
    assert detokenize("a  , b", "none", "de") == "a  , b"


@pytest.mark.parametrize(("tokenizer", "normalizer"), [("spacy", "none"), ("moses", "nfkc")])
def test_unknown_way_of_reading_is_refused(tokenizer, normalizer) -> None:
    with pytest.raises(ValueError, match="choices: (moses, pretokenized, none|none, moses)"):
        line_reader(tokenizer, normalizer, "en")
