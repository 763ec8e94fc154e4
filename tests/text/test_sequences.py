"""Emoji, flags and joined letters: no tokeniser and no subword model tears them."""

from __future__ import annotations

from collections import Counter

import pytest

from fairseq_plugins.text.annotate import Annotator
from fairseq_plugins.text.raw_text import detokenize, line_reader
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    learn_codes,
    learn_sentencepiece,
)
from fairseq_plugins.text.sequences import whole_words

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
SENTENCES = ["the cat \U0001f469 \U0001f52c sat here", "the \U0001f44d cat \U0001f1e9 \U0001f1ea"]


@pytest.fixture(scope="module")
def segmenters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    words = Counter(word for line in SENTENCES for word in line.split() * 2)
    (folder / "codes").write_text(learn_codes(words, 20), encoding="utf-8")
    (folder / "pieces").write_bytes(learn_sentencepiece(SENTENCES * 9, 40, 1000))
    return BpeSegmenter(folder / "codes"), SentencePieceSegmenter(folder / "pieces")


@pytest.mark.parametrize("sign", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("line", ["{}", "the {} sat.", "the{}{}!", "(cat{})", "\x01the {}"])
def test_sequences_are_never_torn(sign, line, segmenters) -> None:
    bpe, pieces = segmenters
    text = line.format(sign, sign)
    read = line_reader("moses", "none", "en")(text)
    words = read.split()
    assert sum(word.count(sign) for word in words) == text.count(sign)
    assert sign in detokenize(read, "moses", "en")
    for segmenter, given in ((bpe, read), (pieces, line_reader("none", "none", "en")(text))):
        found, spans = segmenter.segment(given)
        assert sum(one.count(sign) for one in found) == text.count(sign)
        assert len(found) == len(spans)
        assert sign in segmenter.join(" ".join(found))
    assert bpe.join(" ".join(bpe.segment(read)[0])) == read


def test_an_annotator_finds_sequences_whole() -> None:
    signs = [*WHOLE.values()]
    (found,) = Annotator().annotate_text([" ".join(signs)])
    assert found.words == signs
    assert [*map(len, found.layers.values())] == [len(signs)] * len(found.layers)


def test_signs_side_by_side_stay_words_of_their_own() -> None:
    flags = "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"
    assert line_reader("moses", "none", "en")("".join(flags)) == " ".join(flags)
    assert whole_words("".join(flags), [*"".join(flags)]) == [*flags]


def test_subwords_end_behind_a_non_joiner_but_words_do_not(segmenters) -> None:
    word = "\u0645\u06cc\u200c\u062e\u0648"
    assert line_reader("moses", "none", "fa")(word) == word
    found, _ = segmenters[0].segment(word)
    assert found == ["\u0645@@", "\u06cc\u200c@@", "\u062e@@", "\u0648"]


def test_other_characters_are_cut_as_before(segmenters) -> None:
    assert whole_words("a-b e\u0301", ["a", "-", "b", "e", "\u0301"]) == [
        "a",
        "-",
        "b",
        "e",
        "\u0301",
    ]
    assert segmenters[0].segment("xyz")[0] == ["x@@", "y@@", "z"]
    assert segmenters[0].segment("a\u0301")[0] == ["a@@", "\u0301"]
