"""What an annotator says of small letters, told of the words as they were written."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from raw_corpora import NASTY
from raw_text import SETTINGS, RuleParser, word_pieces

from fairseq_plugins.syntax.annotation import annotator_line
from fairseq_plugins.text.annotate import Annotator
from fairseq_plugins.text.lowered import LoweredAnnotator, lowered

TEXTS = st.one_of(
    st.sampled_from([*NASTY, "\u0130I \u1e9e", "\u03a3\u03a3 The"]), st.text(max_size=9)
)


@given(TEXTS)
def test_small_letters_are_as_many(text) -> None:
    small = lowered(text)
    assert len(small) == len(text)
    assert lowered(small) == small
    for one, written in zip(small, text):
        assert one == (written.lower() if len(written.lower()) == 1 else written)


@example(["\u0391\u03a3", "\u0130"])  # a sigma that ends a word, and what would become longer
@given(st.lists(TEXTS.map(lambda text: "".join(text.split())).filter(bool), max_size=5))
def test_words_are_as_they_were_written(words) -> None:
    (note,) = LoweredAnnotator(RuleParser()).annotate_words([words])
    (wanted,) = RuleParser().annotate_words([[*map(lowered, words)]])
    assert note.words == words
    assert note.layers == wanted.layers


def test_a_pipeline_reads_small_letters() -> None:
    plain, shown = Annotator("bundled", ("pos", "heads")), None
    shown = LoweredAnnotator(plain)
    lines = ["The US Beat Mr Brown.", "MARY Saw Apple"]
    for name in ("annotate_text", "annotate_words"):
        given = lines if name == "annotate_text" else [line.split() for line in lines]
        small = [one.lower() if isinstance(one, str) else [w.lower() for w in one] for one in given]
        found, other = getattr(shown, name)(given), getattr(plain, name)(given)
        for note, wanted in zip(found, getattr(plain, name)(small)):
            assert (note.layers, note.spans) == (wanted.layers, wanted.spans)
        cut = [[line[a:b] for a, b in note.spans] for line, note in zip(lines, found)]
        assert cut == [note.words for note in found]
        assert [note.layers for note in found] != [note.layers for note in other]
    assert annotator_line(shown) == f"{annotator_line(plain)} as-tokenised"


def test_who_lower_cases_is_known() -> None:
    for lowercase in (True, False):
        assert word_pieces({**SETTINGS, "lowercase": lowercase}).lowers is lowercase
