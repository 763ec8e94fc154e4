"""Emoji, flags and joined letters: whole where a folder records it, else cut as libraries cut."""

from __future__ import annotations

from collections import Counter

import pytest
import sacremoses

from fairseq_plugins.syntax.sequences import whole_words
from fairseq_plugins.text.annotate import Annotator
from fairseq_plugins.text.protected import Taken
from fairseq_plugins.text.raw_text import detokenize, line_reader
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    learn_codes,
    learn_sentencepiece,
)
from fairseq_plugins.text.source_encoder import annotate_lines

WHOLE = {
    "woman scientist": "\U0001f469\u200d\U0001f52c",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "skin tone": "\U0001f44d\U0001f3fd",
    "skin tone in a sequence": "\U0001f469\U0001f3fd\u200d\U0001f52c",
    "flag of letters": "\U0001f1e9\U0001f1ea",
    "flag of England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "keycap": "1\ufe0f\u20e3",
    "red heart": "\u2764\ufe0f",
    "Indic joiner": "\u0937\u200d\u0915",
}
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
SENTENCES = ["the cat \U0001f469 \U0001f52c sat here", "the \U0001f44d cat \U0001f1e9 \U0001f1ea"]


@pytest.fixture(scope="module")
def segmenters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    words = Counter(word for line in SENTENCES for word in line.split() * 2)
    (folder / "codes").write_text(learn_codes(words, 20), encoding="utf-8")
    (folder / "pieces").write_bytes(learn_sentencepiece(SENTENCES * 9, 40, 1000))
    return [
        (
            BpeSegmenter(folder / "codes", sequences=sequences),
            SentencePieceSegmenter(folder / "pieces", sequences=sequences),
        )
        for sequences in (False, True)
    ]


@pytest.mark.parametrize("sign", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("line", ["{}", "the {} sat.", "the{}{}!", "(cat{})", "\x01the {}"])
def test_sequences_are_never_torn(sign, line, segmenters) -> None:
    bpe, pieces = segmenters[True]
    text = line.format(sign, sign)
    read = line_reader("moses", "none", "en", sequences=True)(text)
    words = read.split()
    assert sum(word.count(sign) for word in words) == text.count(sign)
    assert sign in detokenize(read, "moses", "en")
    for segmenter, given in ((bpe, read), (pieces, line_reader("none", "none", "en")(text))):
        found, spans = segmenter.segment(given)
        assert sum(one.count(sign) for one in found) == text.count(sign)
        assert len(found) == len(spans)
        assert sign in segmenter.join(" ".join(found))
    assert bpe.join(" ".join(bpe.segment(read)[0])) == read


@pytest.mark.parametrize("text", [*WHOLE.values(), PERSIAN, *SENTENCES], ids=ascii)
def test_unrecorded_sequences_are_cut_as_libraries_cut(text, segmenters) -> None:
    bpe, pieces = segmenters[False]
    read = line_reader("moses", "none", "fa")(text)
    moses = sacremoses.MosesTokenizer("fa").tokenize(text, return_str=True, escape=False)
    assert read == " ".join(moses.split())
    assert " ".join(bpe.segment(read)[0]) == bpe.bpe.process_line(read)
    assert pieces.segment(text)[0] == pieces.processor.encode(text, out_type=str)


def test_words_of_an_annotator_join_where_sequences_stay_whole() -> None:
    signs, annotator = [*WHOLE.values()], Annotator(names=("pos", "heads"))
    line = Taken(" ".join(signs))
    (torn,), (found,) = (
        annotate_lines([line], "none", annotator, sequences=sequences)
        for sequences in (False, True)
    )
    assert torn.words == annotator.annotate_text([line.text])[0].words != signs
    assert found.words == signs == [line.text[begin:end] for begin, end in found.spans]
    assert {*map(len, found.layers.values())} == {len(signs)}
    assert max(found.layers["heads"]) <= len(signs)


def test_signs_side_by_side_stay_words_of_their_own() -> None:
    flags = "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"
    read = line_reader("moses", "none", "en", sequences=True)
    assert read("".join(flags)) == " ".join(flags)
    assert whole_words("".join(flags), [*"".join(flags)]) == [*flags]


def test_subwords_end_behind_a_non_joiner_but_words_do_not(segmenters) -> None:
    word = "\u0645\u06cc\u200c\u062e\u0648"
    assert line_reader("moses", "none", "fa", sequences=True)(word) == word
    found, _ = segmenters[True][0].segment(word)
    assert found == ["\u0645@@", "\u06cc\u200c@@", "\u062e@@", "\u0648"]


def test_other_characters_are_cut_as_before(segmenters) -> None:
    assert whole_words("a-b e\u0301", ["a", "-", "b", "e", "\u0301"]) == [
        "a",
        "-",
        "b",
        "e",
        "\u0301",
    ]
    assert segmenters[True][0].segment("xyz")[0] == ["x@@", "y@@", "z"]
    assert segmenters[True][0].segment("a\u0301")[0] == ["a@@", "\u0301"]
