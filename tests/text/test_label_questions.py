"""Files of questions: what is read, and what is refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked_entities import examples, flat_folder, questions_file
from entity_tasks import make_task
from prepared_text import make_model

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.entity_spans import types_of
from fairseq_plugins.text.label_questions import read_questions

TYPES = ("LOC", "PER")
WHOLE = "# two labels\n\nPER\twho is named\nLOC\twhich places are named\n"
EXAMPLES = Path(__file__).parents[2] / "examples" / "tagging" / "questions"


def written(tmp_path, text):
    path = tmp_path / "q.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_are_read_in_the_order_of_the_labels(tmp_path):
    found = read_questions(written(tmp_path, WHOLE), TYPES)
    assert list(found.items()) == [("LOC", "which places are named"), ("PER", "who is named")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LOC\tplaces\nORG\tfirms\n", r"q\.tsv:2: 'ORG' is no label of the data: LOC, PER"),
        ("LOC\tplaces\nLOC\tmore\n", r"q\.tsv:2: 'LOC' stands there twice"),
        ("LOC places\n", r"q\.tsv:1: expected label, TAB, question; found 'LOC places'"),
        ("LOC\t \n", r"q\.tsv:1: expected label, TAB, question"),
        ("LOC\ta\tb\n", r"q\.tsv:1: expected label, TAB, question"),
        ("LOC\t${oc.env:HOME}\n", r"q\.tsv:1: a question cannot hold \$\{"),
        ("LOC\t" + "a" * 2001, r"q\.tsv:1: the question is longer than 2,000 characters"),
        ("PER\twho\n", r"q\.tsv: no question for LOC; add lines such as\nLOC\tfind loc"),
        ("", r"q\.tsv: no question for LOC, PER"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_questions(written(tmp_path, text), TYPES)


def test_without_a_file_the_error_is_a_template(tmp_path):
    with pytest.raises(InputError, match="--label-questions FILE is missing") as caught:
        read_questions(None, TYPES)
    template = str(caught.value).partition("\n")[2]
    assert read_questions(written(tmp_path, template), TYPES).keys() == {*TYPES}
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_questions(tmp_path / "none.tsv", TYPES)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.tsv")), ids=lambda path: path.stem)
def test_shipped_questions_are_those_of_their_dataset(path):
    types = types_of(DATASETS[path.stem].labels)
    assert read_questions(path, types).keys() == {*types}
    assert len({*read_questions(path, types).values()}) == len(types)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("the garden", "\u200b"), "knows no subword of the question of 'PER'"),
        (("the garden", "Ωμέγα Ωμέγα"), "knows no subword of the question of 'PER'"),
        (("the garden", "The  GARDEN"), "'LOC' and 'PER' have the same question to this encoder"),
    ],
)
def test_questions_that_tell_an_encoder_nothing_are_refused(tmp_path, texts, message):
    folder = flat_folder(tmp_path / "flat", {"train": examples(3)})
    task = make_task(folder, questions_file(tmp_path / "q.tsv", dict(zip(TYPES, texts))))
    make_model(task, "bert_mrc_tiny")
    with pytest.raises(InputError, match=message):
        task.load_dataset("train")
