"""Word vectors are read from each of three text formats, line by line, and only those wanted."""

from __future__ import annotations

import tracemalloc

import pytest
import torch

from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained import word_vectors
from fairseq_plugins.pretrained.word_vectors import read_word_vectors

ROWS = {"the": [0.5, -1.0, 2.0], "caf\u00e9": [1e-3, 0, 1], "at a.com": [7, 8, 9], "dog": [3, 2, 1]}
FORMS = {"glove": ("", ""), "word2vec": ("4 3\n", ""), "fasttext": ("4 3\n", " ")}


def write(path, rows, head: str = "", end: str = ""):
    lines = (f"{word} {' '.join(map(str, row))}{end}\n" for word, row in rows)
    path.write_text(head + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same(tmp_path, form) -> None:
    path = write(tmp_path / "vectors.txt", [*ROWS.items(), ("the", [0, 0, 0])], *FORMS[form])
    found = read_word_vectors(path, {"caf\u00e9", "the", "at a.com", "absent"}, 3)
    assert found.words == ["the", "caf\u00e9", "at a.com"]
    assert torch.equal(found.vectors, torch.tensor([ROWS[word] for word in found.words]))


def test_other_words_are_passed_over_unread(tmp_path, monkeypatch) -> None:
    path, seen = write(tmp_path / "vectors.txt", ROWS.items()), []
    zeros = torch.zeros(3)
    monkeypatch.setattr(word_vectors, "_numbers", lambda parts, *_: seen.append(parts) or zeros)
    read_word_vectors(path, {"dog"}, 3)
    assert seen == [[b"3", b"2", b"1"]]


def test_a_mark_before_the_first_word_and_numbers_in_words_are_borne(tmp_path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("\ufeffthe 1 2 3\nan inf 4 5 6\n", encoding="utf-8")
    found = read_word_vectors(path, {"the", "an inf"}, 3)
    assert found.words == ["the", "an inf"]


def test_vectors_wait_in_single_precision(tmp_path) -> None:
    """And not as objects of Python, of which each number takes eight times as much."""
    count, width = 300, 300
    words = [f"w{number}" for number in range(count)]
    path = write(tmp_path / "vectors.txt", ((word, [0.25] * width) for word in words))
    tracemalloc.start()
    read_word_vectors(path, words, width)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * count * width


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2 3\nb 1 2\n", r"vectors.txt:2: expected a word and 3 numbers .*, found 'b 1 2'"),
        ("a 1 2 3\nb 1 2 3 4\n", r"vectors.txt:2: expected a word and 3 numbers"),
        ("a 1 2 3\n\n", r"vectors.txt:2: expected a word and 3 numbers .*, found ''"),
        ("a 1 2 x\n", r"vectors.txt:1: number 3 is 'x'"),
        ("a 1 nan 2\n", r"vectors.txt:1: number 2 is 'nan'"),
        ("a 1e39 1 2\n", r"vectors.txt:1: number 1 is '1e39'"),
        ("9 300\na 1 2 3\n", r"vectors.txt:1: the vectors have 300 numbers, but --embedding-size "),
        (
            f"{'9' * 5000} 3\nc 1 2 3\n",
            r"vectors.txt:1: expected a word and 3 numbers, or how many",
        ),
        ("a b\nc 1 2 3\n", r"vectors.txt:1: expected a word and 3 numbers, or how many"),
        ("c 1 2 3\n", r"vectors.txt has none of the 1 words of the data folder"),
        ("", r"vectors.txt has none"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, message) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_word_vectors(path, {"a"}, 3)
    with pytest.raises(FileNotFoundError, match="no file of word vectors"):
        read_word_vectors(tmp_path / "none", {"a"}, 3)
