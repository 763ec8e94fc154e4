"""Perturbed sets as files: every dataset's own format, other columns untouched, readable again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_datasets import find_splits_of, write_raw
from raw_formats import TABLES

from fairseq_plugins.augment.perturbation import perturb as running
from fairseq_plugins.augment.perturbation.options import PerturbOptions
from fairseq_plugins.augment.perturbation.perturb import perturb
from fairseq_plugins.augment.perturbation.record import (
    cell_of,
    file_name,
    members_edited,
    open_rows,
)
from fairseq_plugins.augment.perturbation.transformations import pair_datasets, pair_labels
from fairseq_plugins.corpora.datasets import DATASETS, find_splits, read_split
from fairseq_plugins.errors import InputError

PAIRS = pair_datasets()
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


def options_of(name, raw, output, **more) -> PerturbOptions:
    """Perturb the validation split, or the only labelled one, with what needs no annotation."""
    split = "valid" if "valid" in find_splits_of(name, raw) else "test"
    chosen = {"transformations": "AddPunc", "split": split, "workers": 1, **more}
    return PerturbOptions(name, str(raw), str(output), **chosen)


def texts_of(name, split, path):
    """Read a file as `prepare text` does."""
    return [(x.texts, x.label) for x in read_split(DATASETS[name], split, path)]


def rows_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", PAIRS)
def test_every_dataset_of_pairs_comes_back_in_its_own_format(name, tmp_path) -> None:
    write_raw(name, tmp_path / "raw", count=8, seed=3)
    options = options_of(name, tmp_path / "raw", tmp_path / "out")
    perturb(options)
    folder = tmp_path / "out" / "AddPunc"
    found = find_splits(DATASETS[name], folder)
    assert options.split in found
    said = rows_of(folder / "changes.jsonl")
    now = texts_of(name, options.split, found[options.split])
    assert now == [(tuple(row["new_texts"]), row["new_label"]) for row in said]
    before = find_splits(DATASETS[name], folder / "original")[options.split]
    assert texts_of(name, options.split, before) == texts_of(name, options.split, options.path)
    record = json.loads((folder / "perturbation.json").read_text())
    assert (record["pairs"], record["changed"], record["untouched"]) == (8, 8, 0)
    assert record["source"]["file"] == options.path.name
    assert found[options.split].name == record["file"]


@pytest.mark.parametrize("name", [name for name in PAIRS if name in TABLES])
def test_other_columns_stay_byte_for_byte(name, tmp_path) -> None:
    write_raw(name, tmp_path / "raw", count=6)
    options = options_of(name, tmp_path / "raw", tmp_path / "out")
    rows = open_rows(options.source, options.path)
    pairs = list(read_split(options.source, options.split, options.path))
    labels = pair_labels(options.source)
    for pair in pairs:
        other = labels.different or None
        old = rows.row(pair.line).decode().rstrip("\n").split("\t")
        new = rows.edited(pair.line, ("x \u00e9", "y"), other).decode().rstrip("\n").split("\t")
        changed = {name for name, a, b in zip(rows.columns, old, new, strict=True) if a != b}
        assert set(rows.table.texts) <= changed <= {*rows.table.texts, *rows.table.label}
        assert rows.edited(pair.line, pair.texts, None) == rows.row(pair.line)


@given(
    members=st.dictionaries(st.sampled_from(("a", "b", "c", "caf\u00e9", "")), TEXT | st.none()),
    new=TEXT,
    indent=st.sampled_from((None, "", " ")),
    ascii_only=st.booleans(),
)
def test_a_member_of_a_json_object_changes_alone(members, new, indent, ascii_only) -> None:
    record = {**members, "a": 'old \u00e9 " } ,', "n": [1, {"a": "inner"}]}
    separators = None if indent is None else (f"{indent},{indent}", f"{indent}:{indent}")
    body = json.dumps(record, ensure_ascii=ascii_only, separators=separators)
    edited = members_edited(body, {"a": new})
    assert json.loads(edited) == record | {"a": new}
    assert edited.isascii() or not body.isascii()
    assert members_edited(body, {}) == body
    assert members_edited(body, {"a": record["a"]}).replace("\\u00e9", "\u00e9") == body.replace(
        "\\u00e9", "\u00e9"
    )


@pytest.mark.parametrize("name", PAIRS)
def test_every_label_has_a_cell_that_reads_as_itself(name) -> None:
    for table in DATASETS[name].tables:
        for label in DATASETS[name].labels or ("2.5",):
            assert table.to_label(cell_of(table, label)) == label


def test_a_split_of_a_shared_file_gets_a_name_of_its_own(tmp_path) -> None:
    write_raw("sick", tmp_path)
    path = find_splits_of("sick", tmp_path)["test"]
    assert path.name == "SICK.txt"
    assert file_name(DATASETS["sick"], "test", path) == "SICK_test_annotated.txt"
    assert file_name(DATASETS["rte"], "valid", tmp_path / "dev.tsv") == "dev.tsv"


def rte(tmp_path, rows) -> PerturbOptions:
    raw = tmp_path / "raw"
    raw.mkdir()
    lines = ["index\tsentence1\tsentence2\tlabel", *("\t".join(row) for row in rows)]
    (raw / "dev.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return PerturbOptions(
        "rte",
        str(raw),
        str(tmp_path / "out"),
        split="valid",
        transformations="BackTrans",
        workers=1,
    )


ROWS = (
    ("0", "A dog ran.", "It ran.", "entailment"),
    ("7", "KEPT", "KEPT", "not_entailment"),
    ("9", "Two cats sat.", "One sat.", "not_entailment"),
)


def upper(forward, backward):
    """Stand for two models that translate there and back."""
    assert (forward, backward) == ("there.pt", "back.pt")
    return lambda sentences: [sentence.upper() for sentence in sentences]


def test_pairs_to_which_nothing_applies_are_recorded_and_dropped_or_kept(tmp_path) -> None:
    options = replace(rte(tmp_path, ROWS), forward="there.pt", backward="back.pt")
    report = perturb(options, upper)
    assert [(x.name, x.pairs, x.changed) for x in report.outcomes] == [("BackTrans", 3, 2)]
    folder = tmp_path / "out" / "BackTrans"
    assert (folder / "dev.tsv").read_text().splitlines()[1:] == [
        "0\tA DOG RAN.\tIT RAN.\tentailment",
        "9\tTWO CATS SAT.\tONE SAT.\tnot_entailment",
    ]
    said = rows_of(folder / "changes.jsonl")
    assert [(row["id"], row["line"], row["changed"]) for row in said] == [
        ("0", 2, True),
        ("7", 3, False),
        ("9", 4, True),
    ]
    assert said[1]["texts"] == said[1]["new_texts"] == ["KEPT", "KEPT"]
    assert said[1]["what"] == []
    kept = replace(options, untouched="keep", output=str(tmp_path / "kept"))
    perturb(kept, upper)
    lines = (tmp_path / "kept" / "BackTrans" / "dev.tsv").read_text().splitlines()
    assert len(lines) == 4
    assert lines[2] == "7\tKEPT\tKEPT\tnot_entailment"
    assert (tmp_path / "kept" / "BackTrans" / "original" / "dev.tsv").read_bytes() == (
        tmp_path / "raw" / "dev.tsv"
    ).read_bytes()


def test_a_set_without_changes_is_not_written(tmp_path) -> None:
    options = replace(rte(tmp_path, ROWS[1:2]), forward="there.pt", backward="back.pt")
    assert perturb(options, upper).outcomes[0].changed == 0
    assert not (tmp_path / "out").exists()


def test_the_same_job_writes_the_same_bytes_and_another_is_refused(tmp_path) -> None:
    options = replace(rte(tmp_path, ROWS), transformations="AddSent,AddPunc")
    perturb(options)

    def contents():
        files = (path for path in (tmp_path / "out").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    once = contents()
    (tmp_path / "out" / "AddSent" / "dev.tsv").write_text("damaged")
    (tmp_path / "out" / "AddPunc" / "original" / "dev.tsv").unlink()
    perturb(options)
    assert contents() == once
    assert len(once) == 8
    perturb(replace(options, output=str(tmp_path / "again")))
    again = tmp_path / "again" / "AddSent" / "dev.tsv"
    assert again.read_bytes() == once[str(tmp_path / "out" / "AddSent" / "dev.tsv")]
    with pytest.raises(InputError, match=r"another perturbation \(seed 1, now 2\)"):
        perturb(replace(options, seed=2))
    assert contents() == once
    (tmp_path / "out" / "AddSent" / "perturbation.json").unlink()
    with pytest.raises(InputError, match="holds no perturbation.json"):
        perturb(options)


def test_the_order_of_rows_and_the_ids_do_not_matter(tmp_path) -> None:
    options = rte(
        tmp_path, [(str(i), f"Dog {i} ran.", f"It {i} ran.", "entailment") for i in range(9)]
    )
    options = replace(options, transformations="AddPunc")
    perturb(options)
    lines = options.path.read_text().splitlines()
    options.path.write_text("\n".join([lines[0], *reversed(lines[1:])]))  # no end of line
    perturb(replace(options, output=str(tmp_path / "turned")))
    found = [
        (tmp_path / name / "AddPunc" / "dev.tsv").read_text().splitlines()
        for name in ("out", "turned")
    ]
    assert sorted(found[0]) == sorted(found[1])
    assert found[0] != found[1]


def test_a_sample_is_seeded_and_keeps_the_order(tmp_path) -> None:
    rows = [(str(i), f"Dog {i} ran.", "It ran.", "entailment") for i in range(40)]
    options = replace(rte(tmp_path, rows), max_pairs=10)
    ids = [pair.id for pair in running.read_pairs(options)]
    assert ids == sorted(ids, key=int)
    assert len(ids) == 10
    assert ids == [pair.id for pair in running.read_pairs(options)]
    assert ids != [pair.id for pair in running.read_pairs(replace(options, seed=2))]


def test_a_killed_run_leaves_no_folder_that_looks_finished(tmp_path, monkeypatch) -> None:
    options = replace(rte(tmp_path, ROWS), transformations="AddPunc")
    monkeypatch.setattr("json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        perturb(options)
    assert not any((tmp_path / "out").iterdir())


def test_labels_change_in_the_cell_of_the_dataset(tmp_path) -> None:
    write_raw("twitter_url", tmp_path / "raw")
    path = find_splits_of("twitter_url", tmp_path / "raw")["test"]
    rows = open_rows(DATASETS["twitter_url"], path)
    assert rows.edited(1, ("a", "b"), "0").split(b"\t")[2] == b"(0, 6)"
    assert rows.edited(1, ("a", "b"), "0").endswith(b"http://x.invalid/0\n")


class Tagger:
    """Stands for a spaCy pipeline: capitals are names, figures numbers, the rest nouns."""

    def __init__(self, *_: object) -> None:
        self.seen: Counter[str] = Counter()

    def identity(self) -> dict[str, str]:
        return {"name": "tagger", "version": "1", "hash": "0"}

    def annotate_text(self, lines):
        from fairseq_plugins.syntax.annotation import Annotation

        self.seen.update(lines)
        notes = []
        for line in lines:
            words = line.split(" ")
            ends = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
            tags = ["NUM" if w.isdigit() else "PROPN" if w.istitle() else "NOUN" for w in words]
            spans = [(start, start + len(word)) for start, word in zip(ends, words)]
            notes.append(Annotation(words, {"pos": tags}, spans))
        return notes


def test_every_distinct_sentence_is_annotated_once(tmp_path, monkeypatch) -> None:
    tagger = Tagger()
    monkeypatch.setattr("fairseq_plugins.text.annotate.Annotator", lambda *_: tagger)
    rows = (("0", "Anna saw 12 dogs", "Ida saw 7", "entailment"),
            ("1", "Anna saw 12 dogs", "Otto saw 8", "not_entailment"))  # fmt: skip
    options = replace(rte(tmp_path, rows), transformations="NumWord,SwapNamedEnt,TwitterType")
    report = perturb(options)
    assert report.sentences == 3
    assert set(tagger.seen.values()) == {1}
    said = rows_of(tmp_path / "out" / "NumWord" / "changes.jsonl")
    assert {row["new_label"] for row in said} == {"not_entailment"}
    record = json.loads((tmp_path / "out" / "SwapNamedEnt" / "perturbation.json").read_text())
    assert record["annotator"] == "tagger 1 0"
    assert record["wordnet"] is None
    assert "PROPN" in record["note"]
