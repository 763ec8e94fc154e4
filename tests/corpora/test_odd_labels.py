"""Labels of JSON lines: what is no single value is refused, and equal numbers are one class."""

from __future__ import annotations

import json
import logging
import random

import pytest
from raw_datasets import write

from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.corpora.readers.split_file import known_label
from fairseq_plugins.errors import InputError

TEXTS = ("She left.", "教区成立", "كتاب جديد", "🙂🙂", "weiß")
SPELT = {  # number -> how JSON may write it
    "0": ("0", "0.0", "-0.0", "0e5", "-0"),
    "1": ("1", "1.0", "1e0", "10e-1", "1.000"),
    "2.5": ("2.5", "25e-1", "2.50"),
    "-3": ("-3", "-3.0", "-30E-1"),
    "100000000000000000000": ("100000000000000000000", "1e20", "1E+20"),
}
NONE = ('["joy","anger"]', "[]", '["joy"]', '{"name": "joy"}', "{}", "NaN", "Infinity", "1e999")


def rows(labels) -> list[str]:
    """Lines of JSON with these labels, written as they stand."""
    texts = (json.dumps(TEXTS[i % len(TEXTS)], ensure_ascii=False) for i in range(len(labels)))
    return [f'{{"text": {text}, "label": {label}}}' for text, label in zip(texts, labels)]


def read(path, name="plain", split="train", **options) -> list[str | None]:
    return [x.label for x in read_split(DATASETS[name], split, path, ReadOptions(**options))]


def test_equal_numbers_are_one_class_and_the_log_says_so(tmp_path, caplog) -> None:
    rng = random.Random(1)
    for number in range(120):
        numbers = rng.choices([*SPELT], k=rng.randint(1, 8))
        written = [rng.choice(SPELT[one]) for one in numbers]
        path = write(tmp_path / f"{number}.jsonl", rows(written))
        caplog.clear()
        with caplog.at_level(logging.INFO):
            found = read(path)
        same = {(a, b) for a in range(len(found)) for b in range(a) if found[a] == found[b]}
        assert same == {
            (a, b) for a in range(len(found)) for b in range(a) if numbers[a] == numbers[b]
        }
        respelt = any(json.dumps(json.loads(w)) != f for w, f in zip(written, found))
        assert ("labels are taken for known ones" in caplog.text) is respelt
        # a later split, or the gold of a prediction, is called as training calls it
        assert [known_label(str(json.loads(w)), set(found)) for w in written] == found
        assert read(path, labels=tuple(sorted(set(found)))) == found
        assert {*map(float, read(path, "plain_scores"))} == {*map(float, numbers)}


def test_what_is_no_single_value_is_refused(tmp_path) -> None:
    rng = random.Random(2)
    for number in range(120):
        good = rng.choices(['"joy"', '"anger"', "3", "null", '"1"'], k=rng.randint(1, 6))
        place = rng.randrange(len(good))
        labels = [*good[:place], rng.choice(NONE), *good[place:]]
        name = rng.choice(["plain", "plain_scores"])
        if name == "plain_scores":
            labels = [label if label in NONE else "2.5" for label in labels]
        path = write(tmp_path / f"{number}.jsonl", rows(labels))
        with pytest.raises(
            ValueError, match=rf"{number}.jsonl:{place + 1}: label .* (one label|no fin)"
        ):
            read(path, name, "test")
        kept = read(path, name, "test", on_bad_row="skip")
        assert len(kept) == len(good)


@pytest.mark.parametrize(("first", "second"), [("true", "1"), ("0", "false"), ("2.0", "true")])
def test_truth_values_among_numbers_are_refused(first, second, tmp_path) -> None:
    path = write(tmp_path / "x.jsonl", rows(['"joy"', first, second]))
    with pytest.raises(InputError, match=rf"x.jsonl:3: label {second}, but {first} before: labels"):
        read(path)
    assert read(write(path, rows(["true", "false", "true"]))) == ["true", "false", "true"]
    assert read(write(path, rows(["1.0", "2.0"]))) == ["1.0", "2.0"]  # as earlier releases say


@pytest.mark.parametrize("value", ['["a"]', "{}", "NaN"])
def test_ids_of_no_single_value_are_refused(value, tmp_path) -> None:
    path = write(tmp_path / "x.jsonl", ['{"text": "a", "label": 1, "key": ' + value + "}"])
    with pytest.raises(InputError, match=r"x.jsonl:1: value "):
        read(path, id_column="key")


def test_texts_that_are_equal_numbers_are_named_not_joined(tmp_path) -> None:
    assert known_label("1.0", ["0", "1"]) == "1"  # a column that pandas wrote again
    assert known_label("01", ["0", "1"]) is None
    assert known_label("1.00", ["1", "1.0"]) is None
    assert read(write(tmp_path / "x.tsv", ["text\tlabel", "a\t1", "b\t1.0"])) == ["1", "1.0"]


def test_capitals_of_a_files_name_say_what_small_letters_say(tmp_path) -> None:
    written = rows(['"a"', '"b"'])
    assert read(write(tmp_path / "X.JSONL", written)) == ["a", "b"]
    assert read(write(tmp_path / "x.jsonl", written)) == ["a", "b"]
