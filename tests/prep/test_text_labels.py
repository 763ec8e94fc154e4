"""Labels as files write them: how many there may be, in which case, and what is said of them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturbed_corpora import INFERENCE, model, pairs, samples, textflint
from raw_datasets import find_splits_of, write, write_raw
from raw_text import examples_of, rows_of, text_options, write_pretrained, write_table

from fairseq_plugins.augment.perturbed_sets import read_sets
from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.corpora.readers.split_file import known_label
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction_inputs import Wanted, read_examples
from fairseq_plugins.prep.recipes.text import prepare


@pytest.fixture
def raw(tmp_path, caplog):
    """A raw folder with the pretrained directory in it; what is logged is kept."""
    write_pretrained(tmp_path / "bert")
    caplog.set_level(logging.INFO)
    return tmp_path


def plain(raw, *rows, name="train", header=("text", "label"), **values):
    """Write a table, and return options of its preparation."""
    path = write_table(raw / f"{name}.tsv", *([header] if header else []), *rows)
    files = {"dataset": "plain", "annotations": "none", "raw_dir": "", f"{name}_file": path}
    return text_options(raw, "out", **(files | values))


def gold(folder, split):
    labels = read_manifest(folder, TextManifest).labels
    return [labels[i] for (i,) in rows_of(folder, split, "label")]


NO_NUMBER = st.text(st.characters(exclude_characters="0123456789"), min_size=1)


@given(NO_NUMBER, st.lists(NO_NUMBER, unique=True, max_size=6))
def test_a_label_is_itself_or_the_only_one_of_another_case(written, labels):
    found = known_label(written, labels)
    alike = [label for label in labels if label.casefold() == written.casefold()]
    assert found == (written if written in labels else alike[0] if len(alike) == 1 else None)


@pytest.mark.parametrize(("name", "change"), [("sick", str.lower), ("rte", str.upper)])
def test_labels_of_another_case_are_the_datasets_own(name, change, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO)
    write_raw(name, tmp_path, count=8)
    path = find_splits_of(name, tmp_path)["train"]
    before = list(read_split(DATASETS[name], "train", path))
    text = path.read_text()
    for label in DATASETS[name].labels:
        text = text.replace(f"\t{label}", f"\t{change(label)}")
    assert text != path.read_text()
    path.write_text(text)
    caplog.clear()
    assert [x.label for x in read_split(DATASETS[name], "train", path)] == [x.label for x in before]
    [told] = [record.message for record in caplog.records]
    assert str(path) in told
    first = before[0].label
    count = sum(x.label == first for x in before)
    assert f"{change(first)!r} as {first!r} ({count})" in told


def test_labels_that_differ_by_case_stay_two(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["text\tlabel", "a\tUS", "b\tus", "c\tNO"])
    read = lambda *labels: [  # noqa: E731
        x.label for x in read_split(DATASETS["plain"], "train", path, ReadOptions(labels=labels))
    ]
    assert read("us", "US", "no") == ["US", "us", "no"]
    path.write_text(path.read_text().replace("NO", "Us"))
    with pytest.raises(InputError, match="x.tsv:4: unknown label 'Us'; choices are us, US"):
        read("us", "US", "no")


def test_entities_of_another_case_begin_as_they_should(tmp_path) -> None:
    """CoNLL's entities may begin with I-, which is found whatever the case."""
    path = write(tmp_path / "eng.train", ["a X Y i-per", "b X Y I-PER", "c X Y o", "d X Y i-loc"])
    (example,) = read_split(DATASETS["conll2003"], "train", path)
    assert example.word_labels == ("B-PER", "I-PER", "O", "B-LOC")


def test_validation_follows_the_case_of_training(raw, caplog) -> None:
    valid = write_table(
        raw / "v.tsv", ("text", "label"), ("a", "YES"), ("rose", "no"), ("a", "Yes")
    )
    prepare(plain(raw, ("a", "Yes"), ("rose", "No"), valid_file=valid))
    assert gold(raw / "out", "valid") == ["Yes", "No", "Yes"]
    assert f"{valid}: labels are taken for known ones: 'YES' as 'Yes' (1)" in caplog.text
    assert caplog.text.count("taken for known") == 1
    again = write_table(raw / "w.tsv", ("text", "label"), ("a", "maybe"))
    with pytest.raises(InputError, match="w.tsv:2: label 'maybe' is none of the training set's No"):
        prepare(plain(raw, ("a", "Yes"), ("rose", "No"), valid_file=again, overwrite=True))


def test_sets_of_other_tools_are_read_alike(tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO)
    made = samples(pairs(3, ("ENTAILMENT", "Neutral")), ("premise", "hypothesis"))
    path = textflint(tmp_path, made, made, "SwapAnt_3")
    (one,) = read_sets([path], model(INFERENCE, dataset="snli"))
    assert {e.label for e in one.perturbed} == {"entailment", "neutral"}
    assert caplog.text.count("labels are taken for known ones") == 2  # once a file
    (one,) = read_sets([path], model([x.upper() for x in INFERENCE], dataset="sick"))
    assert {e.label for e in one.perturbed} == {"ENTAILMENT", "NEUTRAL"}


def test_gold_columns_of_prediction_are_read_alike() -> None:
    lines = enumerate(["Jane b-PERSON", "runs o"], 1)
    (example,) = read_examples(lines, "x", "conll", Wanted(1, ("O", "B-person")))
    assert example.word_labels == ("B-person", "O")


def test_sentences_in_the_place_of_labels_are_asked_about(raw) -> None:
    rows = [(f"sentence {i} {'x' * 500}", "yes") for i in range(121)]
    options = {"label_column": "text", "text_column": "label"}
    with pytest.raises(InputError, match="121 different labels in column 'text'") as caught:
        prepare(plain(raw, *rows, **options))
    told = str(caught.value)
    assert "and 118 more, 121 in all" in told
    assert "--many-labels" in told
    assert len(told) < 700 + len(str(raw))
    assert not (raw / "out").exists()
    prepare(plain(raw, *rows, **options, many_labels=True))
    assert len(read_manifest(raw / "out", TextManifest).labels) == 121


@pytest.mark.parametrize("count", [20, 21])
def test_twenty_labels_are_no_question_and_given_ones_never_are(count, raw) -> None:
    rows = [("a rose", f"l{i}") for i in range(count)]
    given_labels = tuple(label for _, label in rows) if count > 20 else ()
    manifest = prepare(plain(raw, *rows, labels=given_labels))
    assert len(manifest.labels) == count
    assert "many_labels" not in manifest.options  # which decides nothing of the folder


def test_many_labels_of_words_are_no_question(raw) -> None:
    (raw / "train.conll").write_text("".join(f"a\tT{i}\n" for i in range(40)))
    files = {"dataset": "tokens", "raw_dir": "", "train_file": raw / "train.conll"}
    assert len(prepare(text_options(raw, "out", annotations="none", **files)).labels) == 40


def test_csv_and_tsv_become_the_same_folder(raw) -> None:
    """Whatever the number of workers: the streams are the same to the byte."""
    rows = [
        (f"the {word} a, rose; {n}", "no" if n % 3 else "yes") for n, word in enumerate("ab" * 9)
    ]
    prepare(plain(raw, *rows))
    before = {path.name: path.read_bytes() for path in (raw / "out").iterdir() if path.is_file()}
    table = raw / "train.csv"
    lines = ["label;text", *(f'{label};"{text}"' for text, label in rows)]
    table.write_text("\r\n".join(lines), encoding="utf-8")
    prepare(plain(raw, *rows, train_file=table, workers=2, overwrite=True))
    after = {path.name: path.read_bytes() for path in (raw / "out").iterdir() if path.is_file()}
    assert before.keys() == after.keys() > {"manifest.json"}
    assert [name for name in before if before[name] != after[name]] == ["manifest.json"]


def test_labels_are_told_with_their_counts(raw, caplog) -> None:
    valid = write_table(raw / "v.tsv", ("text", "label"), ("a", "yes"))
    prepare(plain(raw, ("a", "yes"), ("rose", "no"), ("a", "yes"), valid_file=valid))
    assert "train: 2 labels: no 1, yes 2" in caplog.text
    assert "valid: 1 labels: no 0, yes 1" in caplog.text
    caplog.clear()
    prepare(plain(raw, ("a", "yes"), ("rose", "no"), valid_file=raw / "train.tsv", overwrite=True))
    assert "valid: 2 labels" not in caplog.text  # it has the same ones
    prepare(plain(raw, ("a", "us"), ("rose", "US"), overwrite=True))
    assert "the same number, are different ones: US, us" in caplog.text


NUMBERED = {"no_header": True, "text_column": "2", "label_column": "1"}


def test_tables_without_a_header_are_read_by_number(raw, caplog) -> None:
    test = write_table(raw / "test.tsv", ("yes", "the rose"))
    options = {"header": (), **NUMBERED, "test_file": test}
    prepare(plain(raw, ("yes", "a rose"), ("no", "the dog"), **options))
    assert gold(raw / "out", "train") == ["yes", "no"]
    assert [row["texts"] for row in examples_of(raw / "out", "train")] == [["a rose"], ["the dog"]]
    assert "leave out" not in caplog.text


def test_names_taken_for_a_row_are_told(raw, caplog) -> None:
    rows = [("a", "yes"), ("rose", "no")] * 2
    prepare(plain(raw, *rows, no_header=True, **COLUMNS))
    assert "train.tsv:1: no other line has its label 'label': if line 1 names the" in caplog.text
    options = {"dataset": "plain_scores", "overwrite": True, "no_header": True}
    options = plain(raw, ("a", "1.5"), **options, **COLUMNS)
    with pytest.raises(InputError, match="score 'label' is no finite number; if line 1 names"):
        prepare(options)


COLUMNS = {"text_column": "1", "label_column": "2"}


@pytest.mark.parametrize("dataset", ["plain", "plain_scores"])
def test_columns_are_numbers_from_one(dataset, tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["k1\ta\t1\tb", "k2\t1\t2\t3"])

    def read(split="train", **options):
        given_options = ReadOptions(**({"no_header": True} | options))
        return list(read_split(DATASETS[dataset], split, path, given_options))

    columns = {"text_column": "2", "text2_column": "4", "label_column": "3", "id_column": "1"}
    found = [(x.texts, x.label, x.id) for x in read(**columns)]
    assert found == [(("a", "b"), "1", "k1"), (("1", "3"), "2", "k2")]
    for wrong in ({"text_column": "5"}, {"label_column": "5"}, {"id_column": "5"}):
        with pytest.raises(InputError, match="x.tsv:1: no column '5'; the columns are 1, 2, 3, 4"):
            read(**{**columns, **wrong})
    unlabelled = read("test", **{**columns, "label_column": "5"})  # as its column may lack
    assert [x.label for x in unlabelled] == [None, None]
    for name in ("0", "-1", "text", "1.0", "\u0661", "01"):
        with pytest.raises(InputError, match="--text-column .*: with --no-header, columns are num"):
            read(**{**columns, "text_column": name})
    path.write_text("k1\ta\t1\tb\nk2\t1\t2\n")
    with pytest.raises(InputError, match=r"x\.tsv:2: found 3 columns, expected 4$"):
        read(**columns)


def test_a_number_is_a_name_where_there_is_a_header(tmp_path) -> None:
    path = write(tmp_path / "x.tsv", ["1\t2", "0\ta rose"])
    options = ReadOptions(text_column="2", label_column="1")
    (example,) = read_split(DATASETS["plain"], "train", path, options)
    assert (example.texts, example.label) == (("a rose",), "0")
    write(path, ["good\tsome text", "bad\tsome more"])
    with pytest.raises(InputError, match="no column '2'; the columns are .*, with --no-header$"):
        list(read_split(DATASETS["plain"], "train", path, options))
    json_path = write(tmp_path / "x.jsonl", [json.dumps({"1": "0", "2": "a rose"})])
    with pytest.raises(InputError, match="JSON has names, not numbers: leave out --no-header"):
        list(read_split(DATASETS["plain"], "train", json_path, ReadOptions(**NUMBERED)))


def test_official_files_have_their_own_form(raw) -> None:
    with pytest.raises(InputError, match="--no-header is for your own tables, not for rte"):
        text_options(raw, "out", dataset="rte", **NUMBERED)


def test_folders_of_earlier_releases_keep_their_options(raw) -> None:
    assert "no_header" not in plain(raw, ("a", "1")).recorded()["read"]
    assert plain(raw, ("a", "1"), **NUMBERED).recorded()["read"]["no_header"] is True


def test_files_that_lie_there_unread_are_named(raw, caplog) -> None:
    write_raw("sst2", raw / "raw", count=3)
    folder = find_splits_of("sst2", raw / "raw")["train"].parent
    (folder / "test.tsv").rename(folder / "test_with_gold.tsv")
    for name in ("README.txt", "notes.pdf", ".hidden.tsv"):
        (folder / name).write_text("x")
    options = {"dataset": "sst2", "raw_dir": raw / "raw", "annotations": "none"}
    prepare(text_options(raw, "out", **options))
    [told] = [r.message for r in caplog.records if "not read" in r.message]
    place = (folder / "test_with_gold.tsv").relative_to(raw / "raw")
    assert told.startswith(f"{raw / 'raw'}: there, but not read: {place}; looked for: test as ")
    assert "README" not in told
    caplog.clear()
    again = options | {"test_file": folder / "test_with_gold.tsv"}
    prepare(text_options(raw, "two", **again))
    assert "not read" not in caplog.text


SETS = [["anger", "a|b"], [], ["joy"], ["joy", "anger", "a|b"], ["a|b"]]
CELLS = [r"anger|a\|b", "|", "joy", r" joy | anger|a\|b", r"a\|b"]


def json_lines(path, labels):
    rows = (json.dumps({"text": f"rose {n}", "label": one}) for n, one in enumerate(labels))
    return write(path, rows)


def test_sets_of_labels_in_lists_and_in_cells_are_the_same_folder(raw, caplog) -> None:
    """Also in two shards; a null or an empty cell is no set, and not the empty one."""
    files = {"train_file": json_lines(raw / "a.jsonl", SETS), "dataset": "plain_labels"}
    files["test_file"] = json_lines(raw / "t.jsonl", [["joy"], None, []])
    prepare(plain(raw, **files))
    first = {path.name: path.read_bytes() for path in (raw / "out").iterdir()}
    labels = read_manifest(raw / "out", TextManifest).labels
    assert labels == ["anger", "a|b", "joy"]
    rows = rows_of(raw / "out", "train", "label")
    assert rows == [sorted(map(labels.index, one)) or [len(labels)] for one in SETS]
    assert rows_of(raw / "out", "test", "label") == [[2], [], [3]]
    assert "train: 3 labels: anger 2, a|b 3, joy 2" in caplog.text
    files["train_file"] = write_table(
        raw / "c.tsv", ("text", "label"), *((f"rose {n}", one) for n, one in enumerate(CELLS))
    )
    files["test_file"] = write_table(
        raw / "u.tsv", ("text", "label"), *zip(("rose 0", "rose 1", "rose 2"), ("joy", "", "|"))
    )
    for part in ({"shard": "1/2"}, {"shard": "2/2"}, {"merge": True}):
        prepare(replace(plain(raw, **files, **part), destdir=raw / "parts"))
    again = {path.name: path.read_bytes() for path in (raw / "parts").iterdir()}
    assert [name for name in first if first[name] != again[name]] == ["manifest.json"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["joy", "joy"], "'joy|joy' has label 'joy' twice"),
        ("joy||", "has an empty label"),
        (["joy", None], 'label ["joy", null]: null is no label'),
        ([" "], r'label [" "]: " " is no label'),
        ([["joy"]], 'label [["joy"]]: ["joy"] is no label'),
        ({"joy": 1}, "a row has one label, no list and no object"),
        ([float("nan")], "label NaN is no finite number"),
        ([True, 2], "labels are numbers, or true and false"),
        (["fear"], "unknown label 'fear'; choices are joy, anger"),
        ([], None),
    ],
)
def test_lists_that_are_no_sets_of_labels_are_refused(value, message, tmp_path) -> None:
    path = json_lines(tmp_path / "x.jsonl", [["joy"], value])
    options = ReadOptions(labels=("joy", "anger") if value == ["fear"] else ())
    read = read_split(DATASETS["plain_labels"], "train", path, options)
    if message is None:
        assert [example.label for example in read] == ["joy", "|"]
        return
    with pytest.raises(InputError, match=r"x\.jsonl:2: ") as caught:
        list(read)
    assert message in str(caught.value)


LONG = "x" * 300_000
WIDE = "\t".join(f"column{i}" for i in range(30_000))
ENDLESS = {  # dataset, file and content that no message may repeat
    "columns": ("plain", "x.tsv", [WIDE, "a"]),
    "column": ("plain", "x.tsv", [f"{LONG}\ttext", "a\tb"]),
    "members": ("plain", "x.jsonl", [json.dumps(dict.fromkeys(map(str, range(30_000)), "a"))]),
    "text": ("plain", "x.jsonl", [json.dumps({"text": [0] * 300_000, "label": "1"})]),
    "label": ("rte", "x.tsv", ["sentence1\tsentence2\tlabel", f"a\tb\t{LONG}"]),
    "blank": ("tokens", "x.conll", [f"a\t{LONG} {LONG}"]),
    "word": ("tokens", "x.conll", [f"{LONG} b\tO"]),
    "one column": ("tokens", "x.conll", [LONG]),
    "score": ("sts_b", "x.tsv", ["sentence1\tsentence2\tscore", f"a\tb\t{LONG}"]),
    "votes": ("twitter_url", "x.txt", [f"a\tb\t{LONG}\tu"]),
    "id": ("plain", "x.jsonl", [json.dumps({"text": "a", "label": "1", "id": LONG + "\t"})]),
    "m2": ("token_errors", "x.m2", [LONG]),
    "edit": ("token_errors", "x.m2", ["S a", f"A {LONG}"]),
    "cged": ("cged", "x.txt", [LONG]),
    "msra": ("msra_ner", "x.txt", [f"a/o {LONG}/z"]),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_no_file_makes_a_message_long(case, tmp_path) -> None:
    name, file, lines = ENDLESS[case]
    path = write(tmp_path / file, lines)
    options = ReadOptions(id_column="id") if case == "id" else ReadOptions()
    with pytest.raises(InputError, match=str(path)) as caught:
        list(read_split(DATASETS[name], "train", path, options))
    told = str(caught.value).replace(str(path), "")
    assert len(told) < 1500
    assert told.isprintable()
