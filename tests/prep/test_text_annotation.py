"""Heads from the spaCy pipeline: of words as a reader counts them, and only when asked for."""

from __future__ import annotations

import pytest
import spacy

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.annotate import Annotator


@pytest.fixture(scope="module")
def parser() -> Annotator:
    return Annotator(names=("heads",))


def test_words_have_heads_when_asked_for(parser) -> None:
    words = ["The", "small", "dog", "sees", "a", "cat", "."]
    note = parser.annotate_words([words])[0]
    assert note.words == words
    assert note.layers["heads"][0] == 3
    assert note.layers["heads"].count(0) == 1
    assert Annotator().annotate_words([words])[0].layers.keys() == {"pos"}


def test_parser_changes_no_part_of_speech(parser) -> None:
    lines = ["The dog barks at 3.5 cats.", "Nobody watched it, did they?"]
    with_heads, without = parser.annotate_text(lines), Annotator().annotate_text(lines)
    assert [note.layers["pos"] for note in with_heads] == [note.layers["pos"] for note in without]


def test_heads_do_not_count_white_space(parser) -> None:
    close, wide = parser.annotate_text(["The dog barks.", "The  dog \n barks.   "])
    assert wide.words == close.words
    assert len(wide.layers["heads"]) == 4
    assert wide.layers["heads"].count(0) == 1
    assert all(0 <= head <= 4 and head != i for i, head in enumerate(wide.layers["heads"], 1))


def test_sentence_without_words_has_no_heads(parser) -> None:
    assert parser.annotate_words([[]])[0].layers["heads"] == []
    assert parser.annotate_text(["", " "])[1].layers["heads"] == []


def test_pipeline_without_a_parser_is_refused(tmp_path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler").add(patterns=[[{}]], attrs={"POS": "NOUN"})
    nlp.to_disk(tmp_path)
    with pytest.raises(InputError, match=r"gives no heads \(components: attribute_ruler\)"):
        Annotator(str(tmp_path), ("heads",))
    assert Annotator(str(tmp_path)).annotate_words([["go"]])[0].layers.keys() == {"pos"}
