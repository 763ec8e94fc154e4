"""Raw text as examples, and what is no example."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.corpora.readers.options import ReadOptions
from fairseq_plugins.corpora.readers.tokens import TokenLayout
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction_inputs import (
    Wanted,
    examples_of,
    kept_examples,
    read_examples,
)
from fairseq_plugins.text_reading import lines_of

ONE, TWO = Wanted(1), Wanted(2)
WORDS = Wanted(1, ("O", "B-person"))


def read(text, form="text", wanted=ONE):
    lines = lines_of(io.BytesIO(text.encode()), "in.txt")
    return list(read_examples(lines, "in.txt", form, wanted))


def test_lines_are_examples_in_order():
    found = read("\ufeffA b.\r\nC\u2028d.\n")
    assert [(e.id, e.texts, e.line) for e in found] == [
        ("0", ("A b.",), 1),
        ("1", ("C\u2028d.",), 2),
    ]


def test_pairs_have_a_tab_between():
    (found,) = read("one\ttwo\n", wanted=TWO)
    assert found.texts == ("one", "two")


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        ("a\n\nb\n", ONE, r"in\.txt:2: empty line; expected one sentence"),
        ("a\tb\n", ONE, r"in\.txt:1: 2 TAB-separated column\(s\), but the model reads one"),
        ("a\tb\na\n", TWO, r"in\.txt:2: 1 TAB-separated column\(s\), but .* two sentences"),
        ("a\t \n", TWO, r"in\.txt:1: one of the two sentences is empty"),
    ],
)
def test_bad_lines_are_named(text, wanted, message):
    with pytest.raises(InputError, match=message):
        read(text, wanted=wanted)


def test_bytes_that_are_no_text_are_named():
    with pytest.raises(InputError, match=r"x:2: .* not valid UTF-8"):
        list(lines_of(io.BytesIO(b"good\n\xff\n"), "x"))


def test_columns_are_words_and_gold():
    text = "-DOCSTART- -X- O\n\nJane NNP B-person\nruns VBZ O\n\n\t\nShe PRP O\n"
    found = read(text, "conll", WORDS)
    assert [e.words for e in found] == [("Jane", "runs"), ("She",)]
    assert [e.word_labels for e in found] == [("B-person", "O"), ("O",)]
    assert [e.texts for e in found] == [("Jane runs",), ("She",)]
    assert [(e.id, e.line) for e in found] == [("0", 3), ("1", 7)]


def laid_out(**options):
    """What a tagger reads that was trained on files of the user's own."""
    return Wanted(1, WORDS.labels, TokenLayout.of(ReadOptions(**options)))


@pytest.mark.parametrize(("token", "tag"), [(2, 3), (-3, -2), (2, -2)])
def test_columns_are_those_of_the_files_trained_on(token, tag):
    wanted = laid_out(token_column=token, tag_column=tag)
    (found,) = read("1 Jane B-person x\n2 runs O x\n", "conll", wanted)
    assert (found.words, found.word_labels) == (("Jane", "runs"), ("B-person", "O"))
    (alone,) = read("Jane\nruns\n", "conll", wanted)
    assert (alone.words, alone.word_labels) == (("Jane", "runs"), None)


def test_marks_of_a_layout_are_no_words():
    """Of GermEval: a line on the source begins every sentence; a hashtag alone is a word."""
    wanted = Wanted(1, WORDS.labels, TokenLayout(token=1, tag=2, ends=("#",)))
    (found,) = read("#\tn-tv.de vom 26.02.2005\n1\tJane\tB-person\n2\truns\tO\n", "conll", wanted)
    assert (found.words, found.word_labels) == (("Jane", "runs"), ("B-person", "O"))
    (words,) = read("#news\n", "conll", wanted)
    assert words.words == ("#news",)


def test_a_column_of_a_layer_is_no_label():
    wanted = laid_out(layer_columns="role=2")
    (known,) = read("Jane subj B-person\n", "conll", wanted)
    (unknown,) = read("Jane subj\n", "conll", wanted)
    assert (known.word_labels, unknown.word_labels) == (("B-person",), None)


@pytest.mark.parametrize(("token", "tag"), [(2, 3), (2, -1), (-3, 1)])
def test_columns_that_are_not_there_are_named(token, tag):
    text = "Jane\n\n1 Jane\n"
    said = rf"in\.txt:3: 2 columns, .* the word in column {token} and its label in column {tag} "
    with pytest.raises(InputError, match=said):
        read(text, "conll", laid_out(token_column=token, tag_column=tag))


def test_one_column_has_no_gold():
    (found,) = read("Jane\nruns\n", "conll", WORDS)
    assert (found.words, found.word_labels) == (("Jane", "runs"), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a O\nb\n", r"in\.txt:2: 1 column\(s\), but line 1 has 2"),
        ("a O\nb I-place\n", r"in\.txt:2: unknown label 'I-place'; choices: O, B-person"),
        ("a\tO\nb c\tO\n", r"in\.txt:2: 'b c' is no word"),
        ("\tO\n", r"in\.txt:1: '' is no word"),
    ],
)
def test_bad_columns_are_named(text, message):
    with pytest.raises(InputError, match=message):
        read(text, "conll", WORDS)


@pytest.mark.parametrize("name", ["x.csv", "x.JSONL", "x.json"])
def test_tables_are_no_lines_of_text(name):
    with pytest.raises(InputError, match=f"{name} is a table, which predict --text-column"):
        read_examples([(1, "a,b")], name, "text", ONE)


def test_columns_are_for_words_only():
    with pytest.raises(InputError, match="'conll' is for models that label words"):
        read("a\n", "conll", ONE)
    with pytest.raises(InputError, match="'xml'; choices: text, conll"):
        read("a\n", "xml", ONE)


def test_examples_of_python_values():
    assert [e.texts for e in examples_of(["a b", "c"], ONE)] == [("a b",), ("c",)]
    assert examples_of([["a", "b"], ("c", "d")], TWO)[1].texts == ("c", "d")
    given_, raw = examples_of([["Jane", "runs"], "Jane runs"], WORDS)
    assert (given_.words, raw.words) == (("Jane", "runs"), None)
    assert given_.texts == raw.texts == ("Jane runs",)


@pytest.mark.parametrize(
    ("texts", "wanted", "message"),
    [
        (["a", " "], ONE, "text 1 is empty"),
        (["a", ("b", "")], TWO, "text 0 has 1 sentence"),
        ([("a", "\t")], TWO, "text 0 is empty, or a part of it"),
        ([("a", "b")], ONE, r"text 0 has 2 sentence\(s\); expected one"),
        ([["a", "b c"]], WORDS, "text 0: 'b c' is no word"),
        ([[]], WORDS, "text 0 is empty"),
        ([7], ONE, "text 0 is 7; expected one sentence"),
        ([[1, 2]], TWO, "expected two sentences"),
        ("a", ONE, "put it into a list"),
    ],
)
def test_bad_values_are_named(texts, wanted, message):
    with pytest.raises(InputError, match=message):
        examples_of(texts, wanted)


WORD = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1).filter(
    lambda word: word.split() == [word] and not word.startswith(("-DOCSTART-", "\ufeff"))
)


@given(st.lists(st.lists(WORD, min_size=1), max_size=5))
def test_columns_give_back_any_words(sentences):
    text = "\n\n".join("\n".join(words) for words in sentences) + "\n"
    assert [list(e.words) for e in read(text, "conll", WORDS)] == sentences


KEPT = ['{"id": "a", "texts": ["x y"], "words": ["x", "y"]}', '{"id": "b", "texts": ["z"]}']


def test_kept_examples_are_ids_and_words(tmp_path):
    path = tmp_path / "k.jsonl"
    path.write_text("\n".join(KEPT) + "\n")
    assert [*kept_examples(path, 2)] == [("a", ("x y",), ("x", "y")), ("b", ("z",), ())]


@pytest.mark.parametrize(
    ("lines", "counts", "message"),
    [
        (KEPT[:1], None, "k.jsonl has 1 examples, the split 2"),
        ([*KEPT, KEPT[0]], None, "k.jsonl has 3 examples, the split 2"),
        ([KEPT[0], '{"id":'], None, "k.jsonl:2: no example"),
        ([KEPT[0], "[1]"], None, "k.jsonl:2: no example"),
        ([KEPT[0], '{"texts": ["z"]}'], None, "k.jsonl:2: no example"),
        ([KEPT[0], "[" * 100_000], None, "k.jsonl:2: no example"),
        (KEPT, [2, 1], "k.jsonl:2: example 'b' has 0 words, the split's streams 1"),
    ],
)
def test_kept_examples_that_are_not_the_split_s_are_refused(tmp_path, lines, counts, message):
    path = tmp_path / "k.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=message):
        [*kept_examples(path, 2, counts)]
