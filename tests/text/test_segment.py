"""Subword models: learning, vocabularies, marks in the text, and files that are no model."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections import Counter
from sys import getsizeof

import pytest
from raw_corpora import invented_pairs
from subword_nmt.apply_bpe import BPE

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    check_codes,
    learn_codes,
    learn_sentencepiece,
    load_segmenter,
    sample_lines,
)

LINES = [text for pair in invented_pairs(80) for text in pair]
WORDS = Counter(word for line in LINES for word in line.split())


def save(folder, text: str):
    path = folder / "codes"
    path.write_bytes(text.encode())
    return path


def test_bpe_cuts_as_subword_nmt_does(tmp_path) -> None:
    codes = learn_codes(WORDS, 100)
    ours = BpeSegmenter(save(tmp_path, codes))
    theirs = BPE(io.StringIO(codes))
    for line in LINES:
        assert " ".join(ours.segment(line)[0]) == theirs.process_line(line)


def test_bpe_vocabulary_cuts_as_subword_nmt_does(tmp_path) -> None:
    codes = learn_codes(WORDS, 100)
    plain = BpeSegmenter(save(tmp_path, codes))
    counts = Counter(piece for line in LINES for piece in plain.segment(line)[0])
    vocabulary = {piece for piece, n in counts.items() if n >= 20}
    ours = BpeSegmenter(tmp_path / "codes", vocabulary)
    theirs = BPE(io.StringIO(codes), vocab=vocabulary)
    found = [" ".join(ours.segment(line)[0]) for line in LINES]
    assert found == [theirs.process_line(line) for line in LINES]
    assert found != [" ".join(plain.segment(line)[0]) for line in LINES]


def test_learnt_codes_do_not_depend_on_the_order_of_words() -> None:
    backwards = Counter(dict(reversed(WORDS.items())))
    assert learn_codes(backwards, 100) == learn_codes(WORDS, 100)


def test_text_without_a_repeated_pair_is_cut_into_characters(tmp_path) -> None:
    path = save(tmp_path, learn_codes(Counter(["abc", "de"]), 10))
    assert BpeSegmenter(path).segment("abc")[0] == ["a@@", "b@@", "c"]


def test_words_that_end_in_the_mark_can_be_joined_again(tmp_path) -> None:
    segmenter = BpeSegmenter(save(tmp_path, "#version: 0.2\n@ @</w>\n"))
    for text in ("@@ x", "a@@ b", "@@@ @@ y", "x @@", "@ @"):
        pieces = segmenter.segment(text)[0]
        assert segmenter.join(" ".join(pieces)) == text


def test_end_of_word_sign_in_the_text_is_text(tmp_path) -> None:
    # taking back the merge "a b</w> -> ab</w>" of the *text* "ab</w>" would lose characters
    codes = "#version: 0.2\nb <\na b<\nab< /\nab</ w\nab</w >\na b</w>\n"
    segmenter = BpeSegmenter(save(tmp_path, codes), {"zzz"})
    for word in ("ab", "ab</w>", "ab</w>x", "</w>", "</w></w>"):
        pieces = segmenter.segment(word)[0]
        assert segmenter.join(" ".join(pieces)) == word


def test_cache_of_words_is_limited(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fairseq_plugins.text.segment.CACHE_BYTES", 3000)
    segmenter = BpeSegmenter(save(tmp_path, learn_codes(WORDS, 50)))
    expected = [BpeSegmenter(tmp_path / "codes").segment(line) for line in LINES]
    assert [segmenter.segment(line) for line in LINES] == expected
    assert 0 < len(segmenter.cuts) <= 10
    assert len(segmenter.bpe.cache) <= 1


def test_words_of_any_length_and_script_leave_little_behind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fairseq_plugins.text.segment.CACHE_BYTES", 50_000)
    dice, signs = random.Random(1), "abcd\u4e2d\u6587\u0645\U0001f600@</w>"
    segmenter = BpeSegmenter(save(tmp_path, "#version: 0.2\na b\nab c</w>\n\u4e2d \u6587\n"))
    fresh = BpeSegmenter(tmp_path / "codes")
    for _ in range(300):
        word = "".join(dice.choices(signs, k=dice.choice([1, 5, 100, 101, 1000])))
        found = segmenter.segment(word)
        fresh.cuts.clear()
        assert fresh.segment(word) == found == segmenter.segment(word)
        assert (word in segmenter.cuts) == (len(word) <= 100)
        held = ((word, pieces, *pieces) for word, pieces in segmenter.cuts.items())
        assert sum(getsizeof(one) for row in held for one in row) < 50_000
        assert len(word) <= segmenter.longest * len(found[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("#version: 0.2\na b\nc\n", r"codes:3: expected two symbols of a merge, found 'c'"),
        ("a b c\n", r"codes:1: expected two symbols"),
        ("a  b\n", r"codes:1: expected two symbols"),
        ("#version: 0.3\na b\n", r"codes:1: .*subword-nmt knows versions 0.1 and 0.2"),
        ("the 500\nof 30\n", "lists counts"),
        ("#version: 0.2\n" + "".join(f"x{i} y\n" for i in range(1000)), "no merge ends a word"),
    ],
)
def test_file_that_holds_no_codes_is_refused(text, message, tmp_path) -> None:
    with pytest.raises(InputError, match=message):
        BpeSegmenter(save(tmp_path, text))


def test_binary_file_is_no_codes_file(tmp_path) -> None:
    (tmp_path / "codes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="codes is no BPE codes file: .* not valid UTF-8"):
        check_codes(tmp_path / "codes")


def test_codes_of_fastbpe_cut_as_those_of_subword_nmt(tmp_path) -> None:
    codes = learn_codes(WORDS, 50)
    expected = [BpeSegmenter(save(tmp_path, codes)).segment(line) for line in LINES]
    counted = "".join(f"{line} {i}\n" for i, line in enumerate(codes.splitlines()[1:]))
    assert [BpeSegmenter(save(tmp_path, counted)).segment(line) for line in LINES] == expected


@pytest.mark.parametrize("version", ["", "#version: 0.1\n", "#version: 0.2\n"])
def test_codes_of_every_known_version_are_read(version, tmp_path) -> None:
    end = "b</w>" if "0.2" in version else "b"
    rest = "" if "0.2" in version else "ab </w>\n"
    segmenter = BpeSegmenter(save(tmp_path, f"{version}a {end}\n{rest}"))
    assert segmenter.segment("ab abc")[0][0] == "ab"


@pytest.mark.parametrize("text", ["", "the watch\n", "#version: 0.2\na b\n"])
def test_file_that_is_no_sentencepiece_model_is_refused(text, tmp_path) -> None:
    with pytest.raises(InputError, match="is no sentencepiece model"):
        SentencePieceSegmenter(save(tmp_path, text))


def test_missing_models_are_named(tmp_path) -> None:
    for kind in ("subword_nmt", "sentencepiece"):
        with pytest.raises(FileNotFoundError, match="none.model"):
            load_segmenter(kind, tmp_path / "none.model")
    with pytest.raises(InputError, match="choices: subword_nmt, sentencepiece, none"):
        load_segmenter("wordpiece", tmp_path)


def test_nothing_to_learn_is_said() -> None:
    with pytest.raises(InputError, match="nothing to learn"):
        learn_codes(Counter(["a", "b"]), 10)
    with pytest.raises(InputError, match="cannot learn 3 pieces"):
        learn_sentencepiece(LINES, 3, 100)


def test_sentencepiece_learns_the_same_in_every_process(tmp_path) -> None:
    code = (
        "import hashlib, sys\n"
        "sys.modules['fairseq'] = None  # not needed here, and slow to import\n"
        "from fairseq_plugins.text.segment import learn_sentencepiece\n"
        "lines = open(sys.argv[1], encoding='utf-8').read().split('\\n')\n"
        "print(hashlib.sha256(learn_sentencepiece(lines, 90, 40)).hexdigest())"
    )
    path = tmp_path / "lines"
    path.write_text("\n".join(LINES), encoding="utf-8")
    runs = {subprocess.check_output([sys.executable, "-c", code, str(path)]) for _ in range(2)}
    assert len(runs) == 1


def test_sample_takes_every_line_with_the_same_chance() -> None:
    lines = [str(i) for i in range(50)]
    assert sample_lines(lines, 50) == lines
    assert sample_lines(lines, 20) == sample_lines(iter(lines), 20)
    assert len(set(sample_lines(lines, 20))) == 20
    assert not {*sample_lines(lines, 20)} <= {*lines[:20]}


def test_pieces_are_joined_whether_they_have_marks_or_not(tmp_path) -> None:
    path = tmp_path / "text.model"
    path.write_bytes(learn_sentencepiece(["ein Haus", "ein Baum"] * 9, 20, 100))
    segmenter = SentencePieceSegmenter(path)
    pieces = " ".join(segmenter.segment("ein Haus")[0])
    assert segmenter.join(pieces) == "ein Haus"
    assert segmenter.join("Hau s") == "Haus"  # a translation that begins within a word
