"""One word a line: columns, sentence ends, IOB1, and MSRA's other form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_datasets import iob1, write

from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split, token_layout
from fairseq_plugins.corpora.readers.tokens import iob2
from fairseq_plugins.errors import InputError


def read(name: str, path, split: str = "train", **options) -> list:
    return list(read_split(DATASETS[name], split, path, ReadOptions(**options)))


def entities(labels) -> list[tuple[str, int, int]]:
    """Find entities as conlleval does, whatever the scheme."""
    found, start, before = [], None, ("O", "")
    for i, label in enumerate([*labels, "O"]):
        mark, kind = label[0], label[2:]
        inside = before[0] != "O"
        if inside and (mark in "OB" or kind != before[1]):
            found.append((before[1], start, i))
        if mark == "B" or (mark == "I" and (not inside or kind != before[1])):
            start = i
        before = (mark, kind)
    return found


LABELS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=8)


@given(LABELS)
def test_iob2_keeps_the_entities_and_begins_each_with_b(labels) -> None:
    result = iob2(labels)
    assert entities(result) == entities(labels)
    assert {i for i, x in enumerate(result) if x[0] == "B"} == {s for _, s, _ in entities(labels)}


@given(LABELS)
def test_iob2_undoes_iob1_and_leaves_iob2_alone(labels) -> None:
    proper = iob2(labels)
    assert iob2(iob1(proper)) == proper == iob2(proper)


def test_conll_2003_has_no_document_lines(tmp_path) -> None:
    lines = ["-DOCSTART- -X- O O", "EU NNP I-NP I-ORG", "rejects VBZ I-VP O", ""]
    lines += ["-DOCSTART- -X- -X- O", "", "Ann NNP I-NP I-PER", "Bo NNP I-NP B-PER"]
    examples = read("conll2003", write(tmp_path / "eng.train", lines))
    assert [x.words for x in examples] == [("EU", "rejects"), ("Ann", "Bo")]
    assert [x.word_labels for x in examples] == [("B-ORG", "O"), ("B-PER", "B-PER")]
    assert [(x.id, x.line) for x in examples] == [("0", 2), ("1", 7)]


@pytest.mark.parametrize("name", ["tokens", "wnut17", "token_errors"])
def test_document_lines_are_no_sentences_anywhere(name, tmp_path) -> None:
    label = "c" if name == "token_errors" else "O"
    lines = [f"EU\t{label}", f"-DOCSTART-\t{label}", f"Ann\t{label}", ""]
    examples = read(name, write(tmp_path / "x.tsv", lines))
    assert [(x.words, x.line) for x in examples] == [(("EU",), 1), (("Ann",), 3)]


def test_official_columns_are_the_datasets_own() -> None:
    options = ReadOptions(token_column=3, tag_column=4)
    columns = {
        name: (layout.token, layout.tag)
        for name in ("wnut17", "germeval14", "tokens", "none of ours")
        for layout in [token_layout(name, options)]
    }
    own = (2, 3)
    official = {"wnut17": (0, -1), "germeval14": (1, 2)}
    assert columns == {**official, "tokens": own, "none of ours": own}


def test_a_column_of_a_layer_is_no_label(tmp_path) -> None:
    labelled = write(tmp_path / "train", ["Bo\tsubj\tB", "ran\tpred\tO", ""])
    bare = write(tmp_path / "test", ["Bo\tsubj", "ran\tpred", ""])
    (known,) = read("tokens", labelled, layer_columns="role=2")
    (unknown,) = read("tokens", bare, "test", layer_columns="role=2")
    assert known.values == unknown.values == {"given.role": ("subj", "pred")}
    assert (known.word_labels, unknown.word_labels) == (("B", "O"), None)
    with pytest.raises(InputError, match="found no label column"):
        read("tokens", bare, layer_columns="role=2")
    with pytest.raises(InputError, match="--layer-columns 'role=3': role is there twice"):
        read("tokens", labelled, layer_columns="role=2,role=3")


def test_violations_of_iob2_stay_outside_conll_2003(tmp_path) -> None:
    path = write(tmp_path / "x", ["a\tO", "b\tI-person", ""])
    assert read("wnut17", path)[0].word_labels == ("O", "I-person")


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("wnut17", ["a\tO", "b"], r"x:2: found 1 columns, expected 2"),
        ("wnut17", ["a\tO", "b\tO\tO"], r"x:2: found 3 columns, expected 2"),
        ("wnut17", ["a\tO", "", "a b\tO"], r"x:3: word 'a b' has a blank inside"),
        ("wnut17", ["a\tO", "a\u00a0b\tO"], r"x:2: word 'a\\xa0b' has a blank inside"),
        ("wnut17", ["a\tO", "\tO"], r"x:2: empty word ''"),
        ("wnut17", ["a\tB-ship"], r"x:1: unknown label 'B-ship'; choices are O, B-corporation"),
        ("wnut17", ["a\tO", "b\t"], r"x:2: no label, which split 'train' must have"),
        ("wnut17", ["a", "b"], r"x:1: found no label column, which split 'train' must have: 'a'"),
        ("conll2003", ["a X X I-PER", "b X I-PER"], r"x:2: found 3 columns, expected 4"),
        ("fce", ["a\tc", "b\tx"], r"x:2: unknown label 'x'; choices are c, i"),
    ],
)
def test_bad_lines_are_named(name, lines, message, tmp_path) -> None:
    with pytest.raises(InputError, match=message):
        read(name, write(tmp_path / "x", lines))


def test_words_alone_are_a_test_file(tmp_path) -> None:
    path = write(tmp_path / "x", ["a", "b", "", "c"])
    examples = read("fce", path, "test")
    assert [(x.words, x.word_labels) for x in examples] == [(("a", "b"), None), (("c",), None)]


def test_half_a_sentence_without_labels_is_refused(tmp_path) -> None:
    path = write(tmp_path / "x", ["a\tc", "b\t"])
    with pytest.raises(InputError, match="x:2: a word without a label in a sentence with labels"):
        read("fce", path, "test")


def test_bad_sentences_are_skipped_whole(tmp_path) -> None:
    path = write(tmp_path / "x", ["a\tc", "", "b\tc", "c\tx", "", "d\ti"])
    assert [x.words for x in read("fce", path, on_bad_row="skip")] == [("a",), ("d",)]


def test_own_columns_are_numbered_from_either_end(tmp_path) -> None:
    path = write(tmp_path / "x.conll", ["1 NN a O _", "2 NN b B-x _"])
    options = {"separator": "blank", "token_column": 3, "tag_column": -2}
    assert read("tokens", path, **options)[0].words == ("a", "b")
    assert read("tokens", path, **options)[0].word_labels == ("O", "B-x")


@pytest.mark.parametrize("options", [{"token_column": 6}, {"tag_column": -6}])
def test_columns_that_are_not_there_are_named(options, tmp_path) -> None:
    path = write(tmp_path / "x.conll", ["1 NN a O _"])
    with pytest.raises(InputError, match=r"x.conll:1: found 5 columns, so there is no column -?6"):
        read("tokens", path, separator="blank", **options)


def test_msra_lines_of_tagged_words_are_characters(tmp_path) -> None:
    text = "\u5f53/o \u5e0c\u671b\u5de5\u7a0b/o \u5317\u4eac/ns //o \u738b/NR"
    example = read("msra_ner", write(tmp_path / "train1.txt", ["", text]))[0]
    assert "".join(example.words) == "\u5f53\u5e0c\u671b\u5de5\u7a0b\u5317\u4eac/\u738b"
    assert example.word_labels == (*("O",) * 5, "B-LOC", "I-LOC", "O", "B-PER")
    assert example.line == 2


def test_msra_tags_are_checked(tmp_path) -> None:
    for piece in ("\u5317/xx", "/ns"):
        path = write(tmp_path / "train1.txt", ["\u5f53/o", f"\u5f53/o {piece}"])
        told = rf"train1.txt:2: expected word/tag with a tag of o, nr.*found '{piece}'"
        with pytest.raises(InputError, match=told):
            read("msra_ner", path)


def test_labels_of_words_have_no_blanks(tmp_path) -> None:
    path = write(tmp_path / "x.conll", ["a\tB-x y"])
    with pytest.raises(InputError, match=r"x.conll:1: label 'B-x y' holds .* a blank"):
        read("tokens", path)


NESTED = "1\tder\tB-ORG\tO\n2\tKieler\tI-ORG\tB-LOC\n3\tHafen\tI-ORG\tO\n\n1\tja\tO\tO\n"


def nested(path, text=NESTED, **options):
    path.write_text(text, encoding="utf-8")
    options = ReadOptions(**{"token_column": 2, "tag_column": 3, "nested_columns": "4", **options})
    return list(read_split(DATASETS["tokens"], "train", path, options))


def test_further_columns_are_further_levels_of_labels(tmp_path):
    one, two = nested(tmp_path / "a.tsv")
    assert one.word_labels == ("B-ORG", "I-ORG", "I-ORG")
    assert one.inner_labels == (("O", "B-LOC", "O"),)
    assert (two.words, two.inner_labels) == (("ja",), (("O",),))
    (plain, _) = nested(tmp_path / "b.tsv", nested_columns="")
    assert (plain.word_labels, plain.inner_labels) == (one.word_labels, ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nested_columns": "x"}, "--nested-columns 'x': expected 4 or 4,5"),
        ({"nested_columns": "2"}, "is --tag-column 3 or --token-column 2"),
        ({"nested_columns": "3"}, "--nested-columns '3': a column is there twice, or is --tag"),
        ({"tag_column": -1}, "--nested-columns needs --tag-column"),
        ({"nested_columns": "9"}, r"a.tsv:1: found 4 columns, so there is no column 9"),
    ],
)
def test_columns_that_are_no_levels_are_refused(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        nested(tmp_path / "a.tsv", **options)
