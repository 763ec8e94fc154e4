"""Reading lines: tokenisers, entities, and the way back to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_corpora import NASTY

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.raw_text import (
    TOKENIZERS,
    detokenize,
    has_visible,
    line_reader,
    readable,
    unescape,
)

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
        seen = line.lstrip("\ufeff") if has_visible(line) else ""
        assert words == seen.split()


def test_lines_with_nothing_visible_are_empty() -> None:
    for line in ("", " \u00a0", "\u200b\u200d", "\x00\x1b\x7f", "\ufeff\u2060 \u00ad"):
        assert not has_visible(line)
        assert {line_reader(name, "none", "en")(line) for name in TOKENIZERS} == {""}
    assert has_visible("\u200b.")


def test_any_line_can_be_made_readable() -> None:
    raw = "d\u00fcnn \U0001f600 ".encode() + b"\xff\xc3(" + "\u00fc".encode()[:1]
    for encoding in ("utf-8", "ascii"):  # how Python may have read the bytes
        line = raw.decode(encoding, "surrogateescape")
        assert readable(line) == "d\u00fcnn \U0001f600 \ufffd\ufffd(\ufffd"
    assert readable("\ud83d\ude00 \ud800x") == "\U0001f600 \ufffdx"
    assert readable("plain \u00fc") == "plain \u00fc"


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
    with pytest.raises(InputError, match="choices: (moses, pretokenized, none|none, moses)"):
        line_reader(tokenizer, normalizer, "en")
