"""Perturbed examples as others publish them, read by themselves: TextFlint's files, AdvGLUE's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.corpora.readers.expected import Expected
from fairseq_plugins.corpora.readers.foreign import (
    TASKS,
    read_advglue,
    read_textflint,
    transformed_file,
)
from fairseq_plugins.targets.table import TARGETS

CLASSES = ("0", "1")
INFERENCE = ("entailment", "neutral", "contradiction")


def expected(labels=CLASSES, sentences=2):
    return Expected(TARGETS["classes"], labels, sentences)


def sample(number, y="1", **more):
    return {"sentence1": f"a{number}", "sentence2": f"b{number}", "y": y, **more}


def write(folder, before, after):
    for mark, rows in (("ori", before), ("trans", after)):
        (folder / f"{mark}_X.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "trans_X.json"


def refusal(function, *args, error=ValueError):
    with pytest.raises(error) as caught:
        function(*args)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "file", "name"),
    [
        ("ori_Typos_12.json", "trans_Typos_12.json", "Typos"),
        ("trans_Typos.json", "trans_Typos.json", "Typos"),
        ("trans_SwapWord_3.json", "trans_SwapWord_3.json", "SwapAnt"),
        ("ori_trans_ori_3.json", "trans_trans_ori_3.json", "trans_ori"),
        ("trans_3.json", "trans_3.json", "3"),
        ("Typos_12.json", "Typos_12.json", ""),
        ("trans_Typos.jsonl", "trans_Typos.jsonl", ""),
        ("xori_Typos.json", "xori_Typos.json", ""),
    ],
)
def test_a_files_name_says_what_was_done(given, file, name):
    assert transformed_file(Path("folder", given)) == (Path("folder", file), name)


def test_every_transformed_sample_gets_its_original(tmp_path):
    before = [sample(k, sample_id=k) for k in range(2)]
    after = [sample(9, "0", sample_id=1), sample(8, sample_id=0), sample(7, sample_id=1)]
    originals, perturbed = read_textflint(write(tmp_path, before, after), expected())
    assert [e.texts for e in originals] == [("a1", "b1"), ("a0", "b0"), ("a1", "b1")]
    assert [(e.id, e.texts, e.label, e.line) for e in perturbed] == [
        ("1", ("a9", "b9"), "0", 1),
        ("0", ("a8", "b8"), "1", 2),
        ("1", ("a7", "b7"), "1", 3),
    ]


def test_originals_lie_beside_their_samples_whatever_these_are_called(tmp_path):
    for name in ("trans_trans_1.json", "ori_trans_1.json"):
        (tmp_path / name).write_text(json.dumps(sample(0)))
    assert read_textflint(tmp_path / "trans_trans_1.json", expected())


@pytest.mark.parametrize("side", [0, 1])
def test_samples_go_by_their_lines_where_one_file_has_no_ids(tmp_path, side):
    rows = [[sample(0), sample(1)], [sample(2), sample(3)]]
    for number, one in enumerate(rows[side]):
        one["sample_id"] = number
    originals, perturbed = read_textflint(write(tmp_path, *rows), expected())
    assert [e.texts[0] for e in (*originals, *perturbed)] == ["a0", "a1", "a2", "a3"]
    assert [e.id for e in originals] == [e.id for e in perturbed] == ["0", "1"]


def test_one_sample_without_an_id_is_enough_to_go_by_lines(tmp_path):
    rows = [sample(0, sample_id=0), sample(1), sample(2, sample_id=2)]
    originals, _ = read_textflint(write(tmp_path, rows, rows), expected())
    assert [e.id for e in originals] == ["0", "1", "2"]
    assert "has 2 examples" in refusal(read_textflint, write(tmp_path, rows, rows[:2]), expected())


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [(("sentence1", "sentence2"), 2), (("premise", "hypothesis"), 2), (("x",), 1)],
)
def test_samples_of_every_task_are_read(tmp_path, fields, sentences):
    row = {field: field.upper() for field in fields} | {"y": "1"}
    originals, perturbed = read_textflint(
        write(tmp_path, [row], [row]), expected((*"01",), sentences)
    )
    assert (
        originals
        == perturbed
        == [Example("0", tuple(f.upper() for f in fields), label="1", line=1)]
    )


def test_faults_of_samples_are_named(tmp_path):
    good = [sample(0, sample_id=0), sample(1, sample_id=1)]
    read = read_textflint, write(tmp_path, good, [*good, {"x": "a", "sentence1": "b"}])
    told = refusal(*read, expected())
    assert "trans_X.json:3: no sample: found x, sentence1, expected y and one of: sent" in told
    assert told.endswith("sentence1, sentence2; premise, hypothesis; x")
    write(tmp_path, good, [])
    assert refusal(*read, expected()).endswith("trans_X.json: no samples")
    write(tmp_path, good, [*good, sample(2, sample_id=2)])
    assert f"trans_X.json:3: sample_id 2 is in no line of {tmp_path}/ori" in refusal(
        *read, expected()
    )
    write(tmp_path, good, good[:1])
    assert f"ori_X.json:2: sample_id 1 is in no line of {tmp_path}/tr" in refusal(*read, expected())
    write(tmp_path, [*good, good[0]], good)
    assert "ori_X.json:3: sample_id 0 is that of line 1, too" in refusal(*read, expected())
    for mark, what in (("ori", "original"), ("trans", "transformed")):
        write(tmp_path, good, good)
        (tmp_path / f"{mark}_X.json").unlink()
        told = refusal(*read, expected(), error=FileNotFoundError)
        assert told.endswith(f"{mark}_X.json: no such file of {what} samples")


def advglue(folder, **tasks):
    (folder / "dev.json").write_text(json.dumps(tasks))
    return folder / "dev.json"


def item(task="mnli", label=1, **more):
    return {name: name.upper() for name in TASKS[task][1]} | {"label": label, **more}


@pytest.mark.parametrize(
    ("task", "texts", "labels"),
    [
        ("sst2", ("sentence",), ("0", "1")),
        ("qqp", ("question1", "question2"), ("0", "1")),
        ("mnli", ("premise", "hypothesis"), INFERENCE),
        ("mnli-mm", ("premise", "hypothesis"), INFERENCE),
        ("qnli", ("question", "sentence"), ("entailment", "not_entailment")),
        ("rte", ("sentence1", "sentence2"), ("entailment", "not_entailment")),
    ],
)
def test_every_task_has_its_members_and_its_classes(tmp_path, task, texts, labels):
    path = advglue(tmp_path, **{task: [item(task, k, idx=k + 5) for k in range(len(labels))]})
    found = read_advglue(path, task, "", expected(labels, len(texts)))
    assert [*found] == [task]
    assert [(e.id, e.label) for e in found[task]] == [(str(k + 5), n) for k, n in enumerate(labels)]
    assert {e.texts for e in found[task]} == {tuple(name.upper() for name in texts)}


def test_items_without_a_number_are_counted_from_0(tmp_path):
    path = advglue(tmp_path, mnli=[item(), item(idx=7), item()])
    found = read_advglue(path, "mnli", "", expected(INFERENCE))["mnli"]
    assert [e.id for e in found] == ["0", "7", "2"]


def test_the_tasks_of_a_dataset_are_read_or_the_one_that_is_named(tmp_path):
    path = advglue(tmp_path, **{"mnli": [item()], "mnli-mm": [item()], "qqp": None, "cola": [1]})
    measure = expected(INFERENCE)
    assert [*read_advglue(path, "", "mnli", measure)] == ["mnli", "mnli-mm"]
    assert [*read_advglue(path, "mnli-mm", "snli", measure)] == ["mnli-mm"]
    for task, dataset, told in (
        ("", "snli", "no task of dataset 'snli'"),
        ("qqp", "", "no task 'qqp'"),
    ):
        message = refusal(read_advglue, path, task, dataset, measure)
        assert message.endswith(
            f"{told}; those there, to be given as dev.json:TASK, are mnli, mnli-mm"
        )
    assert refusal(read_advglue, advglue(tmp_path), "", "", measure).endswith("are none of AdvGLUE")


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], "task 'mnli' has no examples"),
        ([1], "item 1 of 'mnli': no example, which has premise, hypothesis, label"),
        ([item(), {"premise": "a", "label": 1}], "item 2 of 'mnli': no example"),
        ([{"premise": "a", "hypothesis": "b"}], "item 1 of 'mnli': no example"),
        ([item(label=3)], "label 3; choices: 0 (entailment), 1 (neutral), 2 (contradiction)"),
        ([item(label=-1)], "item 1 of 'mnli': label -1; choices"),
        ([item(label=True)], "item 1 of 'mnli': label True; choices"),
        ([item(label="1")], "item 1 of 'mnli': label '1'; choices"),
        ([item(premise=" ")], "item 1 of 'mnli': ' ' is no sentence"),
    ],
)
def test_faults_of_items_are_named(tmp_path, items, told):
    path = advglue(tmp_path, mnli=items)
    message = refusal(read_advglue, path, "mnli", "", expected(INFERENCE))
    assert message.startswith(str(path))
    assert told in message
