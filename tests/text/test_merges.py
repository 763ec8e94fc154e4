"""Merges learnt from the counts of words: those of subword-nmt, ties and all."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_corpora import invented_pairs
from subword_nmt.learn_bpe import learn_bpe

from fairseq_plugins.text.merges import learn_merges

FEW_LETTERS = st.text(alphabet="ab\\<", min_size=1, max_size=9)  # so that there are many ties
TEXT = {word: len(word) for pair in invented_pairs(80) for line in pair for word in line.split()}


def merges_of_subword_nmt(words: dict[str, int], most: int) -> list[tuple[str, ...]]:
    given = io.StringIO("".join(f"{word} {count}\n" for word, count in words.items()), newline="\n")
    codes = io.StringIO(newline="\n")
    learn_bpe(given, codes, most, is_dict=True)
    return [tuple(line.split(" ")) for line in codes.getvalue().split("\n")[1:-1]]


@given(
    words=st.dictionaries(FEW_LETTERS, st.integers(1, 9), min_size=1, max_size=40),
    most=st.integers(0, 60),
)
@settings(deadline=None, max_examples=150)
def test_merges_are_those_of_subword_nmt(words, most) -> None:
    words = {**words, "ab": 1}  # it cannot do without a pair
    assert [*learn_merges(words, most)] == merges_of_subword_nmt(words, most)


@pytest.mark.parametrize("most", [150, 10_000])
def test_merges_of_text_are_those_of_subword_nmt(most) -> None:
    found = [*learn_merges(TEXT, most)]
    assert found == merges_of_subword_nmt(TEXT, most)
    assert (len(found) == most) == (most == 150)  # no pair occurs twice in the end
