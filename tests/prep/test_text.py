"""What a prepared folder of examples holds, for every kind of dataset."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from raw_datasets import NAMES, write_raw
from raw_text import (
    RuleParser,
    examples_of,
    rows_of,
    text_options,
    word_pieces,
    write_pretrained,
    write_table,
)

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.manifest import Manifest
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.prep.recipes import text_scan
from fairseq_plugins.prep.recipes.examples import ExampleRecipe
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.syntax.layers import LAYERS, layers_of
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.text.text_encoder import TextEncoder


@pytest.fixture(autouse=True)
def _rule_parser(monkeypatch) -> None:
    """Put the rule where preparations load spaCy."""
    rule = RuleParser()

    def load(annotations, model="", tokenize=""):
        return rule if annotations or tokenize == "spacy" else None

    monkeypatch.setattr(text_recipe, "load_annotator", load)


@pytest.fixture
def raw(tmp_path):
    write_pretrained(tmp_path / "bert")
    return tmp_path


def check_counts(folder, manifest: Manifest) -> None:
    """Assert that streams, manifest and files agree."""
    assert {p.name for p in folder.iterdir()} == {
        "manifest.json",
        *(path.name for path in manifest.files(folder)),
    }
    for split, counts in manifest.splits.items():
        totals, longest = {"tokens": 0, "words": 0}, 1 + manifest.sentences
        lengths = np.full(counts["examples"], longest)
        for k in range(manifest.sentences):
            tokens, words = rows_of(folder, split, f"tokens{k}"), rows_of(folder, split, f"case{k}")
            word_of = rows_of(folder, split, f"words{k}")
            assert len(tokens) == len(words) == counts["examples"]
            assert [len(row) for row in tokens] == [len(row) for row in word_of]
            assert [row[-1] + 1 for row in word_of] == [len(row) for row in words]
            for name in manifest.annotations:
                values = rows_of(folder, split, f"{name}{k}")
                assert [len(row) for row in values] == [len(row) for row in words]
            totals["tokens"] += sum(map(len, tokens))
            totals["words"] += sum(map(len, words))
            lengths += [len(row) for row in tokens]
        assert {name: counts[name] for name in totals} == totals
        assert counts["longest"] == lengths.max()


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_is_prepared_as_its_files_say(name, raw) -> None:
    made = write_raw(name, raw / "raw", count=5)
    manifest = prepare(text_options(raw, "out", dataset=name, raw_dir=raw / "raw"))
    folder, source = raw / "out", DATASETS[name]
    assert (manifest.task, manifest.target) == (source.task, source.target.name)
    assert (manifest.metric, manifest.positive) == (source.metric, source.positive)
    assert manifest.labels == list(source.labels or manifest.labels)
    assert list(manifest.splits) == [split for split in source.splits if split in made]
    check_counts(folder, manifest)
    labels = (folder / "labels.txt").read_text().split() if manifest.labels else []
    assert labels == manifest.labels
    for split, expected in made.items():
        rows = examples_of(folder, split)
        assert [tuple(row["texts"]) for row in rows] == [item.texts for item in expected]
        if not manifest.splits[split]["labelled"]:
            continue
        if not source.target.labelled:
            scores = (folder / f"{split}.score.txt").read_text().split()
            assert [float(score) for score in scores] == [float(item.label) for item in expected]
            continue
        names = [*labels, None]  # the last stands for the empty set
        found = [[names[i] for i in row] for row in rows_of(folder, split, "label")]
        kept = [[*(source.target.written(item) or [None])] for item in expected]
        if not source.target.by_word:  # sets stand in the order of the labels
            kept = [sorted(row, key=names.index) for row in kept]
        assert found == kept


def write_splits(folder, *, test=("a rose", "The dog")) -> None:
    rows = [("the dog", "yes"), ("The rose", "no"), ("a small rose", "yes")]
    write_table(folder / "train.tsv", ("text", "label"), *rows)
    write_table(folder / "valid.tsv", ("text", "label"), *rows[:2])
    write_table(folder / "test.tsv", ("text",), *((text,) for text in test))


def test_streams_are_what_the_encoder_gives_for_raw_text(raw) -> None:
    write_splits(raw)
    for tokenize in ("whitespace", "spacy"):
        folder = raw / tokenize
        prepare(text_options(raw, tokenize, dataset="plain", tokenize=tokenize))
        coder = TextEncoder(word_pieces(), tokenize, layers_of(("pos", "heads")), RuleParser())
        texts = [row["texts"][0] for row in examples_of(folder, "train")]
        encoded = [s for (s,) in coder.encode([Example("0", (text,)) for text in texts])]
        for name, expected in (
            ("tokens0", [s.tokens for s in encoded]),
            ("words0", [s.word_of for s in encoded]),
            ("pos0", [s.layers["pos"] for s in encoded]),
            ("case0", [s.layers["case"] for s in encoded]),
            ("heads0", [s.layers["heads"] for s in encoded]),
        ):
            assert rows_of(folder, "train", name) == expected


def test_vocabulary_is_copied_byte_by_byte(raw) -> None:
    write_splits(raw)
    manifest = prepare(text_options(raw, "out", dataset="plain"))
    assert (raw / "out" / "vocab.txt").read_bytes() == (raw / "bert" / "vocab.txt").read_bytes()
    assert manifest.inputs["vocabulary"]["sha256"] == sha256(raw / "out" / "vocab.txt")
    assert manifest.inputs["train"]["sha256"] == sha256(raw / "train.tsv")
    assert manifest.tokenizer["lowercase"] is True


def test_unlabelled_test_split_has_no_label_stream(raw) -> None:
    write_splits(raw)
    manifest = prepare(text_options(raw, "out", dataset="plain"))
    assert [c["labelled"] for c in manifest.splits.values()] == [3, 2, 0]
    assert not list((raw / "out").glob("test.label*"))
    check_counts(raw / "out", manifest)


def test_example_without_label_in_a_labelled_test_split_is_an_empty_row(raw) -> None:
    write_splits(raw)
    write_table(raw / "test.tsv", ("text", "label"), ("a dog", ""), ("a rose", "no"))
    prepare(text_options(raw, "out", dataset="plain"))
    assert rows_of(raw / "out", "test", "label") == [[], [0]]
    score = text_options(raw, "scores", dataset="plain_scores", text_column="t")
    write_table(raw / "train.tsv", ("t", "label"), ("a dog", "1"), ("a rose", "2.50"))
    write_table(raw / "valid.tsv", ("t", "label"), ("a dog", "-1e0"))
    write_table(raw / "test.tsv", ("t", "label"), ("a dog", ""), ("a rose", "3"))
    assert prepare(score).splits["test"]["labelled"] == 1
    assert (raw / "scores" / "test.score.txt").read_text() == "\n3.0\n"
    assert (raw / "scores" / "train.score.txt").read_text() == "1.0\n2.5\n"
    assert (raw / "scores" / "valid.score.txt").read_text() == "-1.0\n"


def test_annotations_are_written_as_asked_for(raw) -> None:
    write_splits(raw)
    for given, names in (("heads, pos", ["pos", "heads"]), ("pos", ["pos"]), ("none", [])):
        manifest = prepare(text_options(raw, given, dataset="plain", annotations=given))
        assert manifest.annotations == names
        assert bool(manifest.annotator) == bool(names)
        check_counts(raw / given, manifest)
    assert (
        Rows.read(raw / "none" / "train.case0")[1][0] == LAYERS["case"].inventory.ids(["upper"])[0]
    )


def test_labels_are_those_of_training_in_sorted_order_or_the_users(raw) -> None:
    write_splits(raw)
    assert prepare(text_options(raw, "sorted", dataset="plain")).labels == ["no", "yes"]
    given = ("yes", "perhaps", "no")
    assert prepare(text_options(raw, "own", dataset="plain", labels=given)).labels == list(given)
    assert (raw / "own" / "labels.txt").read_text() == "yes\nperhaps\nno\n"
    assert rows_of(raw / "own", "train", "label") == [[0], [2], [0]]


def test_label_that_training_lacks_is_refused(raw) -> None:
    write_splits(raw)
    write_table(raw / "valid.tsv", ("text", "label"), ("a dog", "no"), ("a rose", "never"))
    with pytest.raises(InputError, match=r"valid.tsv:3: label 'never' is none of .* no, yes; give"):
        prepare(text_options(raw, "out", dataset="plain"))
    assert not (raw / "out").exists()


def test_test_set_alone_needs_labels(raw) -> None:
    write_splits(raw)
    files = {"raw_dir": "", "test_file": raw / "test.tsv"}
    with pytest.raises(InputError, match=r"no split has labels \(test\): give --labels"):
        prepare(text_options(raw, "out", dataset="plain", **files))
    manifest = prepare(text_options(raw, "out", dataset="plain", labels=("no", "yes"), **files))
    assert (list(manifest.splits), manifest.labels) == (["test"], ["no", "yes"])


def test_files_named_one_by_one_replace_official_ones(raw) -> None:
    write_splits(raw)
    other = write_table(raw / "other.tsv", ("text", "label"), ("a", "no"), ("b", "yes"))
    files = f"{other},{raw / 'train.tsv'}"
    manifest = prepare(text_options(raw, "out", dataset="plain", valid_file=files))
    sizes = {split: counts["examples"] for split, counts in manifest.splits.items()}
    assert sizes == {"train": 3, "valid": 2, "test": 2, "valid1": 3}


def input_names(manifest: Manifest) -> dict[str, str]:
    """Return split -> name of its file."""
    return {split: Path(manifest.inputs[split]["file"]).name for split in manifest.splits}


@pytest.mark.parametrize("dataset", ["plain", "rte"])
def test_files_of_any_name_may_be_named_in_a_raw_folder(dataset, raw) -> None:
    folder = raw / "raw"
    write_raw("rte", folder, count=3)
    train, valid = (next(folder.rglob(f"{name}.tsv")) for name in ("train", "dev"))
    mine = {"train": "my_train.tsv", "valid": "my_valid.tsv"}
    found = [path.rename(folder / name) for path, name in zip((train, valid), mine.values())]
    next(folder.rglob("test.tsv")).unlink()
    named = dict(zip(("train_file", "valid_file"), found))
    how = {"dataset": dataset, "raw_dir": folder, "text_column": "sentence1"}
    manifest = prepare(text_options(raw, "out", **how, **named))
    assert input_names(manifest) == mine
    for lacking in ({}, {"valid_file": found[1]}):
        with pytest.raises(FileNotFoundError, match=f"raw holds no file of '{dataset}'"):
            prepare(text_options(raw, "lacking", **how, **lacking))


def test_own_files_that_nobody_named_are_not_read(raw, caplog) -> None:
    caplog.set_level("INFO")
    write_splits(raw)
    named = {f"{split}_file": raw / f"{split}.tsv" for split in ("train", "valid")}
    manifest = prepare(text_options(raw, "out", dataset="plain", **named))
    assert list(manifest.splits) == ["train", "valid"]
    assert f"{raw}: there, but not read: test.tsv" in [record.message for record in caplog.records]
    del named["valid_file"]
    more = {"valid_fraction": 0.4, "labels": ("no", "yes")}
    manifest = prepare(text_options(raw, "half", dataset="plain", **named, **more))
    assert input_names(manifest) == {"train": "train.tsv", "valid": "train.tsv"}


def test_training_files_stand_beside_the_other_official_ones(raw) -> None:
    write_raw("rte", raw / "raw", count=3)
    mine = next((raw / "raw").rglob("train.tsv")).rename(raw / "more.tsv")
    given = {"dataset": "rte", "raw_dir": raw / "raw", "train_file": mine}
    manifest = prepare(text_options(raw, "out", **given))
    assert input_names(manifest) == {"valid": "dev.tsv", "test": "test.tsv", "train": "more.tsv"}


def test_files_of_single_sentences_and_pairs_do_not_mix(raw, monkeypatch) -> None:
    write_splits(raw)

    def read(dataset, split, *args):
        yield Example("0", ("a",) if split == "train" else ("a", "b"), label="no", line=2)
        yield Example("1", ("a",) if split != "test" else ("a", "b"), label="no", line=3)

    monkeypatch.setattr(text_scan, "read_split", read)
    files = {"raw_dir": "", "train_file": raw / "train.tsv"}
    with pytest.raises(InputError, match=r"test.tsv has 2 sentences an example, .*train.tsv 1"):
        prepare(text_options(raw, "out", dataset="plain", test_file=raw / "test.tsv", **files))
    with pytest.raises(InputError, match=r"valid.tsv:3: 1 sentences where the file has 2 before"):
        prepare(text_options(raw, "out", dataset="plain", valid_file=raw / "valid.tsv", **files))


def test_dropped_rows_are_counted(raw) -> None:
    write_splits(raw)
    write_table(raw / "train.tsv", ("text", "label"), ("a", "no"), (" ", "yes"), ("b", "yes"))
    manifest = prepare(text_options(raw, "out", dataset="plain", on_empty="skip"))
    assert manifest.splits["train"]["examples"] == 2
    assert manifest.alignment["train"]["empty sentences"] == 1
    assert manifest.options["read"]["on_empty"] == "skip"


def test_words_and_wordpieces_that_do_not_meet_are_counted(raw) -> None:
    write_splits(raw)
    clean = prepare(text_options(raw, "out", dataset="plain", tokenize="spacy"))
    assert set(clean.alignment["train"].values()) == {0}
    # the rule cuts "5_000" nowhere and "x.y" thrice; BERT cuts both thrice, and sees no U+200B
    write_table(raw / "train.tsv", ("text", "label"), ("5_000 x.y", "no"), ("a \u200b b", "yes"))
    odd = prepare(text_options(raw, "odd", dataset="plain", tokenize="spacy"))
    counts = {"misaligned_wordpieces": 0, "overlong_words": 0, "repaired_words": 1}
    assert odd.alignment["train"] == counts
    assert odd.splits["train"]["words"] == 4 + 2


def test_overlong_words_are_counted(raw) -> None:
    write_splits(raw)
    write_table(raw / "train.tsv", ("text", "label"), ("a " + "b" * 501, "no"), ("b", "yes"))
    for tokenize in ("whitespace", "spacy"):
        manifest = prepare(text_options(raw, tokenize, dataset="plain", tokenize=tokenize))
        assert manifest.alignment["train"]["overlong_words"] == 1
        assert manifest.alignment["valid"]["overlong_words"] == 0


def held_out(raw, destdir="out", rows=400, **options) -> dict[str, list[str]]:
    """Prepare a training file alone; return split -> its sentences."""
    lines = [(f"small rose {i}", "yes" if i % 3 else "no") for i in range(rows)]
    write_table(raw / "train.tsv", ("text", "label"), *lines)
    path = str(raw / "train.tsv")
    fixed = {"dataset": "plain", "raw_dir": "", "train_file": path, "annotations": "none"}
    prepare(text_options(raw, destdir, **{**fixed, "valid_fraction": 0.1, **options}))
    folder = raw / destdir
    splits = read_manifest(folder, TextManifest).splits
    found = {split: [row["texts"][0] for row in examples_of(folder, split)] for split in splits}
    assert {split: counts["examples"] for split, counts in splits.items()} == {
        split: len(texts) for split, texts in found.items()
    }
    return found


def test_a_share_of_training_is_held_out(raw) -> None:
    found = held_out(raw)
    assert [*found] == ["train", "valid"]
    assert sorted(found["train"] + found["valid"]) == sorted(f"small rose {i}" for i in range(400))
    assert 20 < len(found["valid"]) < 60
    assert held_out(raw, "again") == found
    assert held_out(raw, "seeded", seed=2)["valid"] != found["valid"]
    assert set(held_out(raw, "more", valid_fraction=0.3)["valid"]) > set(found["valid"])
    options = read_manifest(raw / "seeded", TextManifest).options
    assert (options["valid_fraction"], options["seed"]) == (0.1, 2)
    assert "seed" not in read_manifest(prepare_plain(raw), TextManifest).options


def prepare_plain(raw):
    """Prepare the same file without holding anything out."""
    path = str(raw / "train.tsv")
    more = {"raw_dir": "", "train_file": path, "annotations": "none"}
    prepare(text_options(raw, "whole", dataset="plain", **more))
    return raw / "whole"


def test_rows_passed_over_are_counted_once(raw) -> None:
    """Holding out is by the examples' numbers, so both splits read the whole file."""
    write_raw("snli", raw / "raw", count=40)
    path = next((raw / "raw").rglob("*train*.jsonl"))
    more = {"raw_dir": "", "train_file": str(path), "annotations": "none", "valid_fraction": 0.3}
    whole = prepare(text_options(raw, "whole", dataset="snli", **{**more, "valid_fraction": 0.0}))
    parts = prepare(text_options(raw, "parts", dataset="snli", **more))
    dropped = whole.alignment["train"]["no majority label"]
    assert parts.alignment["train"].get("no majority label", 0) == dropped
    assert parts.alignment["valid"].get("no majority label", 0) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"valid_fraction": 1.0}, "--valid-fraction 1.0: must be from 0 to below 1"),
        ({"valid_fraction": float("nan")}, "--valid-fraction nan: must be from 0"),
        ({"valid_fraction": 1e-9}, "--valid-fraction 1e-09 leaves no example for split 'valid'"),
        ({"valid_file": "train.tsv"}, "but there is a validation file, .*train.tsv"),
        ({"train_file": "", "test_file": "train.tsv"}, "but there is no training"),
    ],
)
def test_shares_that_cannot_be_held_out(options, message, raw, monkeypatch) -> None:
    monkeypatch.chdir(raw)
    with pytest.raises(InputError, match=message):
        held_out(raw, rows=20, **options)
    assert not (raw / "out").exists()


@pytest.mark.parametrize(("mark", "metric"), [("B-PER", "entity_f1"), ("NOUN", "accuracy")])
def test_metric_of_words_is_one_that_their_labels_have(mark, metric, raw) -> None:
    (raw / "train.conll").write_text(f"a\t{mark}\nrose\tO\n")
    path = str(raw / "train.conll")
    options = text_options(
        raw, "out", dataset="tokens", raw_dir="", train_file=path, annotations="none"
    )
    assert prepare(options).metric == metric


def test_pretrained_directories_are_no_destination(raw) -> None:
    write_table(raw / "train.tsv", ("text", "label"), ("a", "yes"), ("rose", "no"))
    options = {"dataset": "plain", "annotations": "none", "overwrite": True}
    before = {path: path.read_bytes() for path in (raw / "bert").iterdir()}
    with pytest.raises(InputError, match=r"vocab.txt is an input, but --destdir .*bert"):
        prepare(text_options(raw, "bert", **options))
    assert {path: path.read_bytes() for path in (raw / "bert").iterdir()} == before


@pytest.mark.parametrize(("tokens", "told"), [(80, False), (81, True)])
def test_text_without_blanks_is_warned_of(caplog, tokens, told):
    made = SimpleNamespace(splits={"valid": {"tokens": tokens, "words": 10}}, task="a task")
    ExampleRecipe.warn(None, made, "data")
    assert ("valid: 8 wordpieces a word" in caplog.text) == told
