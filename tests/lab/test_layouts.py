"""Layouts of papers' tables: one YAML file makes a table; a wrong one says where it is wrong."""

from __future__ import annotations

import pytest
from lab.filled_tables import cells, fill, table_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.results import layouts as room
from fairseq_plugins.lab.results.experiment_tables import lay_out

MINE = """
title: A table of mine
source: Somebody (2030)
systems: {bert_mine: + Mine}
own: [bert_mine]
columns:
- {dataset: rte, title: RTE, metrics: {Acc: accuracy}}
- {dataset: qqp, title: QQP, metrics: {Acc: accuracy, F1: f1}}
paper:
  base:
    bert_mine: [70.5, null, 88.25]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the layouts' folder, which is read in its place."""
    copied = tmp_path / "layouts"
    copied.mkdir()
    for path in room.FOLDER.glob("*.yaml"):
        (copied / path.name).write_bytes(path.read_bytes())
    (copied / "special").symlink_to(room.FOLDER / "special")
    monkeypatch.setattr(room, "FOLDER", copied)
    forget()
    yield copied
    monkeypatch.undo()
    forget()


def forget():
    for cached in (room.layouts, room.labels):
        cached.cache_clear()


def test_one_file_makes_a_table(folder, tmp_path):
    root = tmp_path / "rte"
    fill(root, "rte", "accuracy", {"bert_plain_base": [0.5, 0.51], "bert_mine_base": [0.6, 0.61]})
    with pytest.raises(InputError, match="choices are"):
        room.check_names(["mine"])
    (folder / "mine.yaml").write_text(MINE)
    forget()
    room.check_names(["mine"])
    assert cells(table_of([root], "mine")) == [
        ["system", "parameters", "RTE (Acc)"],
        ["BERT", "–", "50.50 ± 0.71 (2 seeds)"],
        ["+ Mine", "–", "60.50 ± 0.71 ↑ (2 seeds · +10.00 · p 0.005 · paper 70.5)"],
    ]
    (text,) = lay_out([root])  # unasked, since it has a system of its own
    assert "Paper: Somebody (2030), of the same size" in text
    assert room.layouts()["mine"].figures("base", "bert_mine")["qqp", "", "f1"] == 88.25


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        ("title: A", "titel: A", "mine.yaml: key 'title' is missing"),
        ("Acc: accuracy}}", "Acc: acuracy}}", "value 1: metrics: no metric 'acuracy'; choices"),
        ("[70.5, null", "[70.5, high", "paper: base: bert_mine: value 2: 'high': Input should"),
        ("[70.5,", "[1, 1, 70.5,", "paper: base: bert_mine: 5 figures for 3 metrics"),
        ("  base:", "  huge:", "paper: huge: .*'huge': Input should be 'tiny', 'minilm'"),
        ("own: [bert_mine]", "own: [bert_mime]", "no system 'bert_mime'; choices: bert_mrc"),
        ("own: [", "own: [", ""),
    ],
)
def test_a_wrong_file_is_refused_with_place_and_value(folder, line, wrong, message):
    path = folder / "mine.yaml"
    path.write_text(MINE.replace(line, wrong, 1))
    if not message:
        assert "mine" in room.layouts()
        return
    with pytest.raises(InputError, match=message) as refused:
        room.layouts()
    assert str(refused.value).startswith(str(path))
