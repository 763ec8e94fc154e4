"""Tables and JSON lines: what a row must be, and that nothing in a sentence is taken for form."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_datasets import find_splits_of, write, write_raw

from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.errors import InputError

RTE = "index\tsentence1\tsentence2\tlabel"
STS = "index\tsentence1\tsentence2\tscore"


def read(name: str, path, split: str = "train", dropped=None, **options) -> list:
    return list(read_split(DATASETS[name], split, path, ReadOptions(**options), dropped))


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("rte", [RTE, "0\ta\tb"], r"x.tsv:2: found 3 columns, expected 4"),
        ("rte", [RTE, "0\ta\tb\tentailment", "", "1\ta\tb\tentailment"], r"x.tsv:3: an empty line"),
        ("rte", [RTE, RTE], r"x.tsv:2: the header once more"),
        ("rte", [RTE + "\tlabel"], r"x.tsv:1: the header names column 'label' twice"),
        ("rte", [RTE, "0\ta\tb\tmaybe"], r"x.tsv:2: unknown label 'maybe'; choices are entailment"),
        ("rte", [RTE, "0\ta\tb\t"], r"x.tsv:2: no label, which split 'train' must have"),
        ("rte", [RTE, "0\ta\t \tentailment"], r"x.tsv:2: empty 'sentence2'"),
        ("rte", ["index\tsentence1\tsentence2", "0\ta\tb"], r"x.tsv:1: no column 'label'; the col"),
        ("rte", ["index\ttext\tlabel"], r"x.tsv:1: no column 'sentence1'; the columns are index"),
        (
            "chnsenticorp",
            ["label\treview"],
            r"x.tsv:1: no column .* are label, review",
        ),
        ("chnsenticorp", ["1,ja"], r"x.tsv:1: found 1 columns, expected 2; .* looks like CSV"),
        ("sts_b", [STS, "0\ta\tb\tfour"], r"x.tsv:2: score 'four' is no finite number"),
        ("sts_b", [STS, "0\ta\tb\tnan"], r"x.tsv:2: score 'nan' is no finite number"),
        ("sts_b", [STS, "0\ta\tb\t"], r"x.tsv:2: no label"),
        ("sts_b", [STS, "0\ta\tb\t1_0"], r"x.tsv:2: score '1_0' is no finite number"),
        ("cola", ["a\t1\t*\tHi.", "a\t2\t*\tHi."], r"x.tsv:2: unknown label '2'; choices are 0, 1"),
        ("cola", ["1\tHi."], r"x.tsv:1: found 2 columns, expected 4"),
        ("twitter_url", ["a\tb\t(7, 6)\tu"], r"x.tsv:1: expected votes '\(n, 6\)', found '\(7, 6"),
        ("paws_wiki", ["1\ta\tb"], r"x.tsv:1: found 3 columns, expected 4"),
    ],
)
def test_bad_rows_are_named(name, rows, message, tmp_path) -> None:
    with pytest.raises(InputError, match=message):
        read(name, write(tmp_path / "x.tsv", rows))


def test_quotation_marks_are_characters(tmp_path) -> None:
    texts = ['"Half a quotation', "''", '"x"', 'a "" b', "'"]
    path = write(tmp_path / "x.tsv", ["sentence\tlabel", *(f"{text}\t1" for text in texts)])
    assert [x.texts[0] for x in read("sst2", path)] == texts


@pytest.mark.slow
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(
            lambda text: text.strip() and not text.endswith("\r")
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_sentence_is_read_as_it_stands(tmp_path_factory, texts) -> None:
    path = tmp_path_factory.mktemp("t") / "x.tsv"
    write(path, ["label\ttext", *(f"1\t{text}" for text in texts)])
    assert [x.texts[0] for x in read("plain", path)] == texts
    records = [json.dumps({"text": text, "label": "1"}, ensure_ascii=False) for text in texts]
    path = write(path.with_suffix(".jsonl"), records)
    assert [x.texts[0] for x in read("plain", path)] == texts


def test_blank_lines_at_the_end_are_no_rows(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", [RTE, "0\ta\tb\tentailment", "", ""])
    assert len(read("rte", path)) == 1


def test_last_line_needs_no_end(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", [RTE, "0\ta\tb\tentailment"])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert [x.label for x in read("rte", path)] == ["entailment"]


@pytest.mark.parametrize("split", ["test", "test_mismatched", "ax"])
def test_labels_may_lack_in_test_splits_only(split, tmp_path) -> None:
    path = write(tmp_path / "x.tsv", [RTE, "7\ta\tb\tentailment", "8\ta\tb\t"])
    assert [(x.id, x.label) for x in read("rte", path, split)] == [("7", "entailment"), ("8", None)]
    with pytest.raises(InputError, match="x.tsv:3: no label"):
        read("rte", path, "valid_mismatched")


def test_empty_sentences_are_skipped_on_request(tmp_path) -> None:
    rows = ["0\ta\tb\tentailment", "1\t\tb\tentailment", "2\ta\tb"]
    path = write(tmp_path / "x.tsv", [RTE, *rows])
    dropped: Counter[str] = Counter()
    with pytest.raises(InputError, match="x.tsv:4: found 3 columns"):
        read("rte", path, on_empty="skip")
    assert len(read("rte", path, dropped=dropped, on_empty="skip", on_bad_row="skip")) == 1
    assert dropped == {"empty sentences": 1, "malformed rows": 1}


def test_broken_rows_of_quora_are_passed_over_but_in_test(tmp_path) -> None:
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
    path = write(tmp_path / "x.tsv", [header, "1\t1\t2\ta\tb\t0", "a half", "3\t1\t2\t\tb\t0"])
    dropped: Counter[str] = Counter()
    assert [x.id for x in read("qqp", path, dropped=dropped)] == ["1"]
    assert dropped == {"empty sentences": 1, "malformed rows": 1}
    with pytest.raises(InputError, match="x.tsv:3: found 1 columns, expected 6"):
        read("qqp", path, "test")


def test_sick_holds_its_splits_in_one_file(tmp_path) -> None:
    made = write_raw("sick", tmp_path, count=2)
    paths = find_splits_of("sick", tmp_path)
    assert len(set(paths.values())) == 1
    texts = {split: {x.texts for x in read("sick", paths[split], split)} for split in paths}
    assert texts == {split: {x.texts for x in rows} for split, rows in made.items()}


def test_sick_relatedness_is_read_of_the_same_file(tmp_path) -> None:
    write_raw("sick", tmp_path)
    path = find_splits_of("sick", tmp_path)["train"]
    path.write_text(path.read_text().replace("SCORE", "3.5"))
    assert {x.label for x in read("sick_r", path)} == {"3.5"}


@pytest.mark.parametrize(("votes", "label"), [(0, "0"), (2, "0"), (4, "1"), (6, "1")])
def test_tweets_take_the_majority_of_six_votes(votes, label, tmp_path) -> None:
    path = write(tmp_path / "x.txt", ["a\tb\t(3, 6)\tu", f"a\tb\t({votes}, 6)\tu"])
    dropped: Counter[str] = Counter()
    assert [x.label for x in read("twitter_url", path, dropped=dropped)] == [label]
    assert dropped == {"no majority label": 1}


@pytest.mark.parametrize("header", [["id\tsentence1\tsentence2\tlabel"], []])
def test_paws_may_lack_its_header(header, tmp_path) -> None:
    path = write(tmp_path / "x.tsv", [*header, "1\ta\tb\t0", "2\tc\td\t1"])
    rows = [(x.id, x.texts, x.label, x.line - len(header)) for x in read("paws_wiki", path)]
    assert rows == [("1", ("a", "b"), "0", 1), ("2", ("c", "d"), "1", 2)]


def test_original_paraphrases_stand_in_for_glues(tmp_path) -> None:
    made = write_raw("mrpc", tmp_path)
    (tmp_path / "MRPC/train.tsv").rename(tmp_path / "msr_paraphrase_train.txt")
    paths = find_splits_of("mrpc", tmp_path)
    assert paths["train"].name == "msr_paraphrase_train.txt"
    assert [x.label for x in read("mrpc", paths["train"])] == [x.label for x in made["train"]]


def test_diagnostic_set_lies_beside_its_sibling(tmp_path) -> None:
    write_raw("mnli", tmp_path)
    assert "ax" in find_splits_of("mnli", tmp_path / "MNLI")
    assert set(find_splits_of("ax", tmp_path)) == {"test"}


OWN = {"text_column": "q", "text2_column": "a", "label_column": "gold", "id_column": "key"}


def test_own_columns_have_the_names_one_gives(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["gold\tkey\ta\tq", "yes\tk1\tsecond\tfirst"])
    example = read("plain", path, **OWN)[0]
    assert (example.texts, example.label, example.id) == (("first", "second"), "yes", "k1")
    record = {"q": "first", "a": "second", "gold": "yes", "key": "k1", "more": [1]}
    path = write(tmp_path / "x.jsonl", [json.dumps(record)])
    assert read("plain", path, **OWN)[0].texts == example.texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text_column": "txt"}, r"x.tsv:1: no column 'txt'; the columns are text, label"),
        ({"text2_column": "b"}, r"x.tsv:1: no column 'b'"),
        ({"label_column": "gold"}, r"x.tsv:1: no column 'gold'"),
        ({"label_column": ""}, r"split 'train' must have labels: name their --label-column"),
        ({"id_column": "n"}, r"x.tsv:1: no column 'n'"),
        ({"labels": ("1", "2")}, r"x.tsv:2: unknown label '0'; choices are 1, 2"),
    ],
)
def test_unknown_columns_and_labels_are_named(options, message, tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["text\tlabel", "a\t0"])
    with pytest.raises(InputError, match=message):
        read("plain", path, **options)


def test_commas_in_the_place_of_tabs_are_recognised(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["text,label", "a,0"])
    with pytest.raises(InputError, match=r"x.tsv:1: no column 'text'.*; .* looks like CSV"):
        read("plain", path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "label": ', r"x.jsonl:2: no JSON \(Expecting value"),
        ('["a"]', r"x.jsonl:2: expected a JSON object, found"),
        ('{"label": "1"}', r"x.jsonl:2: no column 'text'; the columns are label"),
        ('{"text": 3, "label": "1"}', r"x.jsonl:2: 'text' is no text: 3"),
        ('{"text": "", "label": "1"}', r"x.jsonl:2: empty 'text'"),
        ('{"text": "a", "label": null}', r"x.jsonl:2: no label"),
        ('{"text": "a", "tag": "1"}', r"x.jsonl:2: no column 'label'; the columns are text, tag"),
        ("", r"x.jsonl:2: no JSON"),
    ],
)
def test_bad_json_lines_are_named(line, message, tmp_path) -> None:
    good = '{"text": "a", "label": "1"}'
    with pytest.raises(InputError, match=message):
        read("plain", write(tmp_path / "x.jsonl", [good, line, good]))


@pytest.mark.parametrize("lines", [['[{"text": "a", "label": 1}]'], ["[", '{"text": "a"}', "]"]])
def test_an_array_says_how_json_lines_are_made_of_it(lines, tmp_path) -> None:
    with pytest.raises(InputError, match=r"x.json:1: .*: JSON lines hold one object a line \(jq"):
        read("plain", write(tmp_path / "x.json", lines))


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_own_ids_may_not_occur_twice(suffix, tmp_path) -> None:
    names = ["text", "label", "uid"]
    rows = [("a", "1", "u1"), ("b", "1", "u2"), ("c", "0", "u1")]
    if suffix == "tsv":
        lines = ["\t".join(row) for row in (names, *rows)]
    else:
        lines = [json.dumps(dict(zip(names, row))) for row in rows]
    path, first = write(tmp_path / f"x.{suffix}", lines), 1 + (suffix == "tsv")
    message = rf"x.{suffix}:{first + 2}: id 'u1' is in line {first} already"
    with pytest.raises(InputError, match=message):
        read("plain", path, "test", id_column="uid")
    dropped: Counter[str] = Counter()
    found = read("plain", path, dropped=dropped, id_column="uid", on_bad_row="skip")
    assert [x.texts for x in found] == [("a",), ("b",)]
    assert dropped == {"malformed rows": 1}
    assert [x.id for x in read("plain", path)] == ["0", "1", "2"]


def test_a_row_that_is_skipped_takes_no_id(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["text\tlabel\tuid", "\t1\tu1", "b\t1\tu1"])
    assert [x.id for x in read("plain", path, id_column="uid", on_empty="skip")] == ["u1"]


def test_json_numbers_are_labels(tmp_path) -> None:
    lines = ['{"text": "a", "label": 1}', '{"text": "b", "label": 2.5}']
    path = write(tmp_path / "x.jsonl", lines)
    assert [x.label for x in read("plain", path)] == ["1", "2.5"]
    assert [x.label for x in read("plain_scores", path)] == ["1", "2.5"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"text": "a", "label": "x\\ny", "id": 1}',
            "label .* holds a tab, a line break or a blank",
        ),
        (
            '{"text": "a", "label": "x\\ty", "id": 1}',
            "label .* holds a tab, a line break or a blank",
        ),
        ('{"text": "a", "label": "x", "id": "1\\t2"}', "id .* holds a tab or line break"),
        ('{"text": "a", "label": "x", "id": null}', "id '' is empty"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_values_that_no_table_could_hold_are_named(line, message, tmp_path) -> None:
    """Labels stand one a line in ``labels.txt``, ids in columns of predictions."""
    path = write(tmp_path / "x.jsonl", ['{"text": "a", "label": "x", "id": 0}', line])
    with pytest.raises(InputError, match=f"x.jsonl:2: {message}"):
        read("plain", path, id_column="id")
