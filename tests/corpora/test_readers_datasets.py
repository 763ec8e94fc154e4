"""Every dataset: its official files are found, and read as what they say."""

from __future__ import annotations

from collections import Counter

import pytest
from raw_datasets import NAMES, TABLES, Made, write, write_raw

from fairseq_plugins.corpora.datasets import (
    DATASETS,
    ReadOptions,
    find_splits,
    get_dataset,
    in_order_of_ids,
    input_files,
    label_names,
    read_split,
)
from fairseq_plugins.errors import InputError


def said(example) -> Made:
    labels = example.word_labels, example.inner_labels
    return Made(example.texts, example.label, example.words, *labels)


def test_every_dataset_is_tried() -> None:
    assert set(NAMES) == set(DATASETS)


@pytest.mark.parametrize("name", NAMES)
def test_official_files_are_found_and_read(name, tmp_path) -> None:
    made = write_raw(name, tmp_path)
    dataset = DATASETS[name]
    paths = find_splits(dataset, tmp_path)
    assert set(paths) == set(made)
    for split, path in paths.items():
        examples = list(read_split(dataset, split, path))
        assert [said(x) for x in examples] == made[split]
        assert len({x.id for x in examples}) == len(examples)


@pytest.mark.parametrize("name", NAMES)
def test_line_is_where_the_example_starts(name, tmp_path) -> None:
    write_raw(name, tmp_path)
    for split, path in find_splits(DATASETS[name], tmp_path).items():
        lines = path.read_text(encoding="utf-8").split("\n")
        for x in read_split(DATASETS[name], split, path):
            text = x.texts[0] if name in TABLES else x.words[0] if x.words else "sentence1"
            text = "<DOC>" if lines[x.line - 1].startswith("<") else text
            assert text in lines[x.line - 1]


@pytest.mark.parametrize("name", NAMES)
def test_windows_line_ends_and_byte_order_mark_change_nothing(name, tmp_path) -> None:
    write_raw(name, tmp_path)
    for split, path in find_splits(DATASETS[name], tmp_path).items():
        before = list(read_split(DATASETS[name], split, path))
        plain = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        path.write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
        assert list(read_split(DATASETS[name], split, path)) == before
        path.write_bytes(plain)


@pytest.mark.parametrize("name", NAMES)
def test_bytes_that_are_no_utf8_are_named(name, tmp_path) -> None:
    write_raw(name, tmp_path)
    split, path = next(iter(find_splits(DATASETS[name], tmp_path).items()))
    lines = path.read_bytes().split(b"\n")
    lines[-2] += b"\xe4"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=rf"{path.name}:{len(lines) - 1}: byte .* valid UTF-8"):
        list(read_split(DATASETS[name], split, path))


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_registry_is_consistent(dataset) -> None:
    assert dataset.task in ("text_classification", "sequence_labeling")
    assert dataset.target.by_word == (dataset.task == "sequence_labeling")
    assert dataset.positive in (*(dataset.labels or ()), "")
    assert dataset.labels is None or len(set(dataset.labels)) == len(dataset.labels)
    assert set(dataset.submission) <= set(dataset.splits)
    if not dataset.target.labelled:
        assert dataset.labels is None
    for form in dataset.submission.values():
        assert tuple(form["labels"]) == (dataset.labels or ())


def test_submissions_have_the_servers_names() -> None:
    files = {form["file"] for x in DATASETS.values() for form in x.submission.values()}
    names = "CoLA SST-2 MRPC STS-B QQP MNLI-m MNLI-mm QNLI RTE WNLI AX"
    assert files == {f"{name}.tsv" for name in names.split()}


def test_missing_files_are_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file of 'rte' \(train: train.tsv or RTE/tr"):
        find_splits(DATASETS["rte"], tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        find_splits(DATASETS["rte"], tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no file .*x.tsv"):
        read_split(DATASETS["rte"], "train", tmp_path / "x.tsv")


def test_splits_may_lack(tmp_path) -> None:
    made = write_raw("rte", tmp_path)
    (tmp_path / "RTE" / "test.tsv").unlink()
    assert set(find_splits(DATASETS["rte"], tmp_path)) == set(made) - {"test"}


def test_unknown_dataset_names_the_choices() -> None:
    with pytest.raises(InputError, match="unknown dataset 'colla'; choices: cola, sst2"):
        get_dataset("colla")


def test_file_without_examples_is_refused(tmp_path) -> None:
    path = write(tmp_path / "dev.tsv", ["index\tsentence1\tsentence2\tlabel"])
    with pytest.raises(InputError, match="no examples of split 'valid'"):
        list(read_split(DATASETS["rte"], "valid", path))
    path.write_bytes(b"")
    with pytest.raises(InputError, match="no examples"):
        list(read_split(DATASETS["wnut17"], "valid", path))


def test_reading_is_lazy(tmp_path) -> None:
    rows = [f"{i}\ta\tb\tentailment" for i in range(3)]
    path = write(tmp_path / "x.tsv", ["index\tsentence1\tsentence2\tlabel", *rows, "broken"])
    examples = read_split(DATASETS["rte"], "train", path)
    assert [next(examples).id for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(InputError, match=r"x.tsv:5: found 1 columns, expected 4"):
        next(examples)


def test_labels_of_train_are_sorted_with_outside_first(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["a\tZ", "b\tO", "", "c\tB-x"])
    examples = read_split(DATASETS["tokens"], "train", path)
    found = in_order_of_ids(label for example in examples for label in example.word_labels)
    assert found == ("O", "B-x", "Z")


def test_truth_counts_among_the_input_files(tmp_path) -> None:
    write_raw("cged", tmp_path)
    paths = find_splits(DATASETS["cged"], tmp_path)
    names = [path.name for path in input_files(DATASETS["cged"], paths["test_2016"])]
    assert names == ["CGED16_HSK_Test_Input.txt", "CGED16_HSK_Test_Truth.txt"]
    assert input_files(DATASETS["cged"], paths["train"]) == [paths["train"]]


def test_rows_without_majority_are_dropped_and_counted(tmp_path) -> None:
    write_raw("snli", tmp_path, count=3)
    dropped: Counter[str] = Counter()
    path = find_splits(DATASETS["snli"], tmp_path)["train"]
    assert len(list(read_split(DATASETS["snli"], "train", path, None, dropped))) == 3
    assert dropped == {"no majority label": 1}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"separator": "comma"}, "--separator 'comma': choices are tab, blank"),
        ({"on_empty": "keep"}, "--on-empty 'keep': choices are error, skip"),
        ({"token_column": 0}, "--token-column 0: columns count from 1"),
        ({"m2_annotator": -1}, "annotator -1"),
        ({"labels": ("a", "a")}, "--labels names a label twice"),
        ({"text_column": ""}, "--text-column must name a column"),
    ],
)
def test_bad_options_are_refused(values, message) -> None:
    with pytest.raises(InputError, match=message):
        ReadOptions(**values)


def test_names_are_of_labels_that_a_dataset_has():
    told = {name: one for name, one in DATASETS.items() if one.names}
    assert {"cola", "sst2", "paws_wiki"} <= told.keys()
    for one in told.values():
        assert one.names.keys() == {*one.labels}
        assert len({*one.names.values()}) == len(one.labels)
        assert not {*one.names.values()} & {*one.labels}


def test_only_labels_of_a_known_dataset_have_names():
    assert label_names("cola", ["0", "1"]) == DATASETS["cola"].names
    assert label_names("cola", ["1", "other"]) == {"1": "acceptable"}
    for name in ("rte", "plain", "nobody's"):
        assert label_names(name, ["0", "1", "entailment"]) == {}
