"""Fractions of the training examples of texts: nested, seeded, all else unchanged."""

from __future__ import annotations

import json

import prepared_questions
import prepared_text
import pytest
from prepared_text import examples
from raw_corpora import contents

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import choose_lines, write_subset
from fairseq_plugins.syntax.rows import Rows

KINDS = ("classes", "score", "multi_label", "entities", "spans")


def prepare(folder, kind):
    if kind == "spans":
        splits = {"train": prepared_questions.passages(12, 1)}
        splits["valid"] = prepared_questions.passages(3, 2)
        return prepared_questions.prepare(folder, splits)
    splits = {
        "train": examples(kind, 23, 1, pairs=kind == "score"),
        "valid": examples(kind, 5, 2, pairs=kind == "score"),
    }
    return prepared_text.prepare(folder, kind, splits, annotations=("pos", "heads"))


def rows_of(folder, name):
    rows = Rows.read(folder / name)
    return [rows[number].tolist() for number in range(len(rows))]


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("kind", KINDS)
def test_examples_keep_what_belongs_to_them(kind, tmp_path):
    folder = prepare(tmp_path / "whole", kind)
    count = read_manifest(folder, TextManifest).splits["train"]["examples"]
    manifest = write_subset(folder, tmp_path / "half", Share(0.5, 3))
    chosen = choose_lines(count, Share(0.5, 3))[0]
    assert manifest.splits["train"]["examples"] == len(chosen)
    found = lines_of(tmp_path / "half" / "train.examples.jsonl")
    assert found == [lines_of(folder / "train.examples.jsonl")[i] for i in chosen]
    names = {p.name.removesuffix(".bin") for p in folder.glob("train.*.bin")}
    assert len(names) > 3
    for name in names:
        before, after = rows_of(folder, name), rows_of(tmp_path / "half", name)
        shared = kind == "spans" and name.endswith("1")
        assert after == (before if shared else [before[i] for i in chosen]), name
    if kind == "score":
        scores = lines_of(folder / "train.score.txt")
        assert lines_of(tmp_path / "half" / "train.score.txt") == [scores[i] for i in chosen]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_else_stays_and_the_whole_is_the_whole(kind, tmp_path):
    folder = prepare(tmp_path / "whole", kind)
    before = contents(folder)
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    after = contents(tmp_path / "half")
    assert set(before) == set(after)
    for name in before:
        if not name.startswith(("train", FILE_NAME)):
            assert after[name] == before[name], name
    write_subset(folder, tmp_path / "all", Share(1.0, 1))
    for name, text in contents(tmp_path / "all").items():
        if kind == "spans" and name.endswith(".bin"):  # the toy's numbers are wider than need be
            stem = name.removesuffix(".bin")
            assert rows_of(tmp_path / "all", stem) == rows_of(folder, stem)
        elif kind != "spans" and name != FILE_NAME:
            assert text == before[name], name
    splits = json.loads((tmp_path / "half" / FILE_NAME).read_text())["splits"]
    assert splits["valid"] == read_manifest(folder, TextManifest).splits["valid"]


def test_counts_are_of_what_is_left(tmp_path):
    folder = prepare(tmp_path / "whole", "spans")
    counts = write_subset(folder, tmp_path / "half", Share(0.4, 2)).splits["train"]
    answers = rows_of(tmp_path / "half", "train.answers")
    assert counts["answerable"] == sum(row[0] == 2 for row in answers)
    assert counts["labelled"] == counts["examples"] == len(answers)
    questions = rows_of(tmp_path / "half", "train.tokens0")
    contexts = rows_of(tmp_path / "half", "train.tokens1")
    assert counts["tokens"] == sum(map(len, questions + contexts))
    lengths = [
        len(tokens) + len(contexts[number]) + 3
        for tokens, (number,) in zip(questions, rows_of(tmp_path / "half", "train.paragraph"))
    ]
    assert counts["longest"] == max(lengths)
    assert counts["paragraphs"] == 12


def test_a_subset_is_read_as_the_whole_is(tmp_path):
    folder = prepare(tmp_path / "whole", "spans")
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    tasks = [prepared_questions.make_task(path) for path in (folder, tmp_path / "half")]
    for task in tasks:
        task.load_dataset("train")
    whole, half = (task.datasets["train"] for task in tasks)
    for place, number in enumerate(choose_lines(len(whole), Share(0.5, 1))[0]):
        one, other = whole.collater([whole[int(number)]]), half.collater([half[place]])
        assert one["target"].tolist() == other["target"].tolist()
        assert one["net_input"]["src_tokens"].tolist() == other["net_input"]["src_tokens"].tolist()
    with pytest.raises(InputError, match="is itself a subset"):
        write_subset(tmp_path / "half", tmp_path / "quarter", Share(0.5, 1))
    with pytest.raises(InputError, match="holds other data"):
        write_subset(folder, tmp_path / "half", Share(0.5, 2))
    manifest = read_manifest(folder, TextManifest)  # prepared anew by another release of a tool
    manifest.versions["numpy"] = "0"
    manifest.save(folder)
    with pytest.raises(InputError, match="holds other data .*numpy"):
        write_subset(folder, tmp_path / "half", Share(0.5, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_held_out_and_what_stays_are_the_whole(kind, tmp_path):
    folder = prepare(tmp_path / "whole", kind)
    count = read_manifest(folder, TextManifest).splits["train"]["examples"]
    share = Share(1.0, 2, 0.3)
    splits = write_subset(folder, tmp_path / "parted", share).splits
    wanted = share.counts(count)
    assert {name: splits[name]["examples"] for name in wanted} == wanted
    assert splits["select"]["labelled"] == wanted["select"] == round(count * 0.3)
    whole = lines_of(folder / "train.examples.jsonl")
    parts = [lines_of(tmp_path / "parted" / f"{name}.examples.jsonl") for name in wanted]
    assert sorted(parts[0] + parts[1]) == sorted(whole)
    held = [whole.index(line) for line in parts[1]]
    assert held == sorted(held) != [*range(len(held))]
    for path in folder.glob("train.*.bin"):
        name = path.name.removesuffix(".bin").removeprefix("train.")
        before, after = (
            rows_of(folder, f"train.{name}"),
            rows_of(tmp_path / "parted", f"select.{name}"),
        )
        shared = kind == "spans" and name.endswith("1")
        assert after == (before if shared else [before[i] for i in held]), name
    half = write_subset(folder, tmp_path / "half", Share(0.5, 2, 0.3))
    assert lines_of(tmp_path / "half" / "select.examples.jsonl") == parts[1]
    assert {*lines_of(tmp_path / "half" / "train.examples.jsonl")} < {*parts[0]}
    assert half.splits["valid"] == splits["valid"]


def test_questions_about_one_passage_are_held_out_together(tmp_path):
    folder = prepare(tmp_path / "whole", "spans")
    for seed in range(4):
        place = tmp_path / f"parted{seed}"
        write_subset(folder, place, Share(1.0, seed, 0.4))
        kept, held = (
            {number for (number,) in rows_of(place, f"{split}.paragraph")}
            for split in ("train", "select")
        )
        assert len(held) > 2
        assert len(kept & held) <= 1  # where the share ends within a passage


def test_a_held_out_part_is_a_split_of_the_task(tmp_path):
    folder = prepare(tmp_path / "whole", "spans")
    write_subset(folder, tmp_path / "parted", Share(1.0, 1, 0.4))
    task = prepared_questions.make_task(tmp_path / "parted")
    whole = prepared_questions.make_task(folder)
    for name, one in (("train", task), ("select", task), ("train", whole)):
        one.load_dataset(name)
    assert len(task.datasets["train"]) + len(task.datasets["select"]) == len(
        whole.datasets["train"]
    )
    first = task.datasets["select"].collater([task.datasets["select"][0]])
    assert first["target"].numel()


@pytest.mark.parametrize("select", [-0.1, 1, 1.5, float("nan"), 0.99])
def test_a_share_that_cannot_be_held_out_is_refused(select, tmp_path):
    folder = prepare(tmp_path / "whole", "classes")
    with pytest.raises(InputError, match=f"select fraction {select}: "):
        write_subset(folder, tmp_path / "parted", Share(1.0, 1, select))
    assert not (tmp_path / "parted").exists()
