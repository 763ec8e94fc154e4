"""Sampled subwords: other cuts of the same words, drawn from the sample's number and the line."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import sentencepiece
from raw_corpora import invented_pairs

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.sampled import (
    SampledBpe,
    SampledSentencePiece,
    check_sampling,
    drawable,
)
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    learn_codes,
    learn_sentencepiece,
)

LINES = [text for pair in invented_pairs(40) for text in pair]
WORDS = Counter(word for line in LINES for word in line.split())


@pytest.fixture(scope="module", params=["bpe", "sentencepiece"])
def cut(request, tmp_path_factory):
    """What cuts as usual, and what makes a sampler of it."""
    path = tmp_path_factory.mktemp("model") / "model"
    if request.param == "bpe":
        path.write_text(learn_codes(WORDS, 80))
        return BpeSegmenter(path), SampledBpe
    path.write_bytes(learn_sentencepiece(LINES, 120, 1000))
    return SentencePieceSegmenter(path), SampledSentencePiece


def sampler(cut, rate: float, number: int = 1, known=None):
    segmenter, kind = cut
    return kind(segmenter, {*drawable(segmenter, WORDS)} if known is None else known, rate, number)


def test_samples_are_other_cuts_of_the_same_text(cut) -> None:
    """Spans hold the text of their pieces, and the same number always draws the same."""
    usual = cut[0]
    first, second, plain = (
        [one.segment(line) for line in LINES]
        for one in (sampler(cut, 0.3), sampler(cut, 0.3, 2), usual)
    )
    assert len({*map(str, (first, second, plain))}) == 3
    assert first == [sampler(cut, 0.3).segment(line) for line in LINES]
    for (pieces, spans), line in zip(first, LINES):
        assert usual.join(" ".join(pieces)) == line
        bare = [piece.replace("@@", "").replace("\u2581", "") for piece in pieces]
        assert [line[begin:end].strip() for begin, end in spans] == bare


def test_what_is_drawn_does_not_depend_on_other_lines_or_draws(cut) -> None:
    random.seed(5)
    expected = random.Random(5).random()
    backwards = [sampler(cut, 0.3).segment(line) for line in reversed(LINES)]
    assert backwards[::-1] == [sampler(cut, 0.3).segment(line) for line in LINES]
    assert random.random() == expected  # of others, unchanged


def test_words_keep_their_cut_where_the_dictionary_lacks_a_drawn_subword(cut) -> None:
    usual = [cut[0].segment(line) for line in LINES]
    known = {piece for pieces, _ in usual for piece in pieces}
    assert [sampler(cut, 0.5, known=()).segment(line) for line in LINES] == usual
    drawn = {piece for line in LINES for piece in sampler(cut, 0.5, known=known).segment(line)[0]}
    assert drawn <= known
    assert any(sampler(cut, 0.5).segment(line) != other for line, other in zip(LINES, usual))


def test_rates_lead_from_the_usual_cut_to_characters(cut) -> None:
    segmenter, kind = cut
    off, most = (0.0, 1.0) if kind is SampledBpe else (1e3, 0.0)
    alike = [sampler(cut, off).segment(line) == segmenter.segment(line) for line in LINES]
    assert sum(alike) > 0.9 * len(LINES)  # two cuts may be equally probable
    sizes = [
        sum(len(sampler(cut, rate).segment(line)[0]) for line in LINES)
        for rate in (off, (off + most) / 10 if most else 0.1, most)
    ]
    assert sizes == sorted(sizes)
    assert len({*sizes}) == 3


def test_every_drawn_subword_was_foreseen(cut) -> None:
    """The dictionary holds whatever the words may be cut into."""
    foreseen = {*drawable(cut[0], WORDS)}
    rates = (0.1, 0.9) if cut[1] is SampledBpe else (0.0, 0.2)
    everything = type("Everything", (), {"__contains__": lambda *_: True})()
    for rate in rates:
        for number in range(5):
            one = sampler(cut, rate, number, known=everything)
            assert {piece for line in LINES for piece in one.segment(line)[0]} <= foreseen


def test_model_that_cuts_in_one_way_is_refused(tmp_path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_prefix=str(tmp_path / "bpe"),
        model_type="bpe",
        vocab_size=100,
        minloglevel=2,
    )
    with pytest.raises(InputError, match="needs a unigram model"):
        check_sampling(SentencePieceSegmenter(tmp_path / "bpe.model"))
