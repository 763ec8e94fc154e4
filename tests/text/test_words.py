"""Words of raw text: blanks as BERT sees them, and Chinese characters one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_text import text_options, word_pieces, write_pretrained, write_table

from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.text.pieces import Words, split_at_blanks, split_at_characters

CHARACTERS = st.sampled_from("ab1,.\u6771\u4eac\uff0c\u3002\u304b\uac00\U00020000\uf900 \t\u3000")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\u6771\u4eac 2020", ["\u6771", "\u4eac", "2020"]),
        ("a\u6771b\uff0c\u4eac\u3002", ["a", "\u6771", "b\uff0c", "\u4eac", "\u3002"]),
        ("\u304b\u306a \ud55c\uad6d", ["\u304b\u306a", "\ud55c\uad6d"]),  # no Chinese characters
        ("don't stop", ["don't", "stop"]),
        (" \u3000 ", []),
    ],
)
def test_chinese_characters_are_words(text, words) -> None:
    assert split_at_characters(text) == words


@given(st.text(CHARACTERS, max_size=12))
def test_characters_split_words_further_and_lose_nothing(text) -> None:
    words = split_at_characters(text)
    assert "".join(words) == "".join(split_at_blanks(text))
    assert all(words)
    apart, whole = word_pieces().encode_words(words), word_pieces().encode_text(text)
    assert apart[0] == whole[0]


def test_words_that_are_kept_are_named_by_their_places() -> None:
    assert Words(["a", "b", "c"], [0, 2]).kept == ["a", "c"]
    assert Words.of(["a", "b"]).kept == ["a", "b"]


def test_text_without_blanks_is_remarked_on(tmp_path, caplog) -> None:
    write_pretrained(tmp_path / "bert")
    write_table(tmp_path / "train.tsv", ("text", "label"), ("\u6771\u4eac" * 10, "yes"))
    options = {"dataset": "plain", "annotations": "none", "raw_dir": ""}
    options["train_file"] = tmp_path / "train.tsv"
    for tokenize, heard in (("characters", False), ("whitespace", True)):
        caplog.clear()
        prepare(text_options(tmp_path, tokenize, tokenize=tokenize, **options))
        assert any("needs --tokenize characters" in text for text in caplog.messages) == heard
