"""Contexts cut into wordpieces with their places: any Unicode text comes back exactly."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from raw_text import CASED, SETTINGS, RuleParser, word_pieces

from fairseq_plugins.corpora.squad import GoldAnswer, Paragraph, Question
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.text.squad_alignment import (
    BESIDE_WORDPIECES,
    INSIDE_WORDPIECE,
    Limits,
    place_question,
)
from fairseq_plugins.text.squad_encoder import context_offsets, encode_paragraphs
from fairseq_plugins.text.text_encoder import TextEncoder

PIECES = {
    "uncased": word_pieces(SETTINGS),
    "cased": word_pieces(CASED),
    "joined": word_pieces({**SETTINGS, "chinese_characters": False}),
}
LETTERS = (  # what BERT strips, splits apart, spells with several letters, does not see
    "a\u0301\u0300e\u00e9 \u6771.\u0130\u1e9e\ud55c\ufb01"
    "\u200d\u0915\u093f\u00ad\U0001f600Z9\n\x85\x00"
)
TEXTS = st.text(st.sampled_from(LETTERS), max_size=20) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)


def encoder(tokenize: str = "whitespace", pieces: str = "uncased") -> TextEncoder:
    """Return an encoder of text, with parses by rule where it annotates."""
    rule = RuleParser() if tokenize == "spacy" else None
    return TextEncoder(PIECES[pieces], tokenize, layers_of(("pos", "heads") if rule else ()), rule)


def encoded(text: str, *how: str):
    """Encode a context; return it with its offsets."""
    [found] = encode_paragraphs(encoder(*how), [Paragraph("", text, (Question("q", "Who?"),))])
    return found.context, found.offsets


@pytest.mark.parametrize("tokenize", ["whitespace", "characters", "spacy"])
@pytest.mark.parametrize("pieces", PIECES)
@given(text=TEXTS)
@example(text="cafe\u0301 au\u0301")
@example(text="\u0301a")
@example(text="\ud55c\uae00 \u0130\u0307x")
@example(text="0\U0002b820 \u200b \u200b\u6771a")  # words of which BERT thinks otherwise
def test_wordpieces_of_any_context_have_their_places(tokenize, pieces, text) -> None:
    assume(PIECES[pieces].encode_text(text)[0])
    found, offsets = encoded(text, tokenize, pieces)
    assert len(found.tokens) == len(offsets)
    assert (offsets[:, 0] < offsets[:, 1]).all()
    assert (offsets >= 0).all()
    assert (offsets <= len(text)).all()
    assert (offsets[1:] >= offsets[:-1]).all()


@given(text=TEXTS, data=st.data())
def test_answers_at_the_borders_of_wordpieces_round_trip(text, data) -> None:
    assume(PIECES["uncased"].encode_text(text)[0])
    _, offsets = encoded(text)
    first = data.draw(st.integers(0, len(offsets) - 1))
    last = data.draw(st.integers(first, len(offsets) - 1))
    begin, end = offsets[first, 0], offsets[last, 1]
    answer = GoldAnswer(text[begin:end], int(begin))
    [(b, e)], notes = _place(text, answer, offsets)
    assert text[offsets[b, 0] : offsets[e, 1]] == answer.text
    assert notes == ()


@given(text=TEXTS, data=st.data())
def test_answers_elsewhere_are_held_whole_or_listed(text, data) -> None:
    assume(PIECES["uncased"].encode_text(text)[0])
    _, offsets = encoded(text)
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    answer = GoldAnswer(text[begin:end], begin)
    spans, notes = _place(text, answer, offsets)
    for b, e in spans:
        wider = offsets[b, 0] < begin or end < offsets[e, 1]
        reason = INSIDE_WORDPIECE if wider else BESIDE_WORDPIECES
        covered = text[offsets[b, 0] : offsets[e, 1]]
        assert [note["reason"] for note in notes] == [reason] * (covered != answer.text)
        seen = [c for c in range(begin, end) if ((offsets[:, 0] <= c) & (c < offsets[:, 1])).any()]
        assert offsets[b, 0] <= seen[0] <= seen[-1] < offsets[e, 1]
    assert spans or [note["reason"] for note in notes] == ["no_wordpiece"]


def _place(text, answer, offsets):
    limits = Limits(max_positions=500)
    question = Question("q", "?", (answer,))
    found = place_question(question, text, offsets, repair=False, limits=limits, pieces=1)
    return found.spans, found.notes


def test_stripped_accents_belong_to_their_letter() -> None:
    text = unicodedata.normalize("NFD", "caf\u00e9 cr\u00e8me")
    _, spans = PIECES["uncased"].encode_text(text)
    _, offsets = encoded(text)
    letters = [text[begin:end] for begin, end in offsets]
    assert letters == ["c", "a", "f", "e\u0301", "c", "r", "e\u0300", "m", "e"]
    assert [*map(tuple, offsets)] != spans


def test_wordpieces_of_another_text_are_refused() -> None:
    found, _ = encoded("the dog")
    with pytest.raises(InputError, match="these are not the wordpieces of 'a dog'"):
        context_offsets(PIECES["uncased"], "a dog", found)


def test_contexts_are_annotated_once() -> None:
    class Counting(RuleParser):
        def annotate_text(self, lines):
            seen.extend(lines)
            return super().annotate_text(lines)

    seen: list[str] = []
    paragraphs = [
        Paragraph("", f"the dog {k}", tuple(Question(f"{k}-{i}", f"Who {i}?") for i in range(3)))
        for k in range(2)
    ]
    own = TextEncoder(PIECES["uncased"], "spacy", layers_of(("pos", "heads")), Counting())
    found = encode_paragraphs(own, paragraphs)
    assert sorted(seen) == sorted(
        [p.context for p in paragraphs] + [q.text for p in paragraphs for q in p.questions]
    )
    for paragraph, one in zip(paragraphs, found):
        assert len(one.questions) == 3
        assert one.context.words == paragraph.context.split()
        [alone] = encode_paragraphs(own, [paragraph])
        assert (alone.context, alone.questions) == (one.context, one.questions)


@pytest.mark.parametrize(
    ("context", "question", "message"),
    [
        (
            "\x01 \u200b",
            "Who?",
            r"data\[0\]: 'context' '.*' has no character that the",
        ),
        ("a", "\u0301", r"data\[0\].qas\[0\] \(id 'q'\): 'question' '.*' has no character that"),
    ],
)
def test_texts_that_bert_cannot_see_are_refused(context, question, message) -> None:
    paragraph = Paragraph("", context, (Question("q", question),), "data[0]")
    with pytest.raises(InputError, match=message):
        encode_paragraphs(encoder(), [paragraph])
