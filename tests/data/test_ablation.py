"""Dropping and shuffling features of a sentence."""

from __future__ import annotations

import torch

from fairseq_plugins.data.factored_pair_dataset import Ablation
from fairseq_plugins.syntax.labels import PAD_ID, SPECIAL_ID


def row(length=12):
    values = torch.randint(2, 9, (length, 3), generator=torch.Generator().manual_seed(0))
    return torch.cat((values, torch.full((1, 3), SPECIAL_ID)))


def test_drop_blanks_its_column_alone():
    found = Ablation([1], "drop")(row(), 0)
    assert (found[:, 1] == PAD_ID).all()
    assert torch.equal(found[:, [0, 2]], row()[:, [0, 2]])


def test_shuffle_permutes_its_columns_alone_and_keeps_the_end():
    found = Ablation([0, 2], "shuffle")(row(), 5)
    assert torch.equal(found[:, 1], row()[:, 1])
    assert (found[-1] == SPECIAL_ID).all()
    for column in (0, 2):
        assert not torch.equal(found[:, column], row()[:, column])
        assert torch.equal(found[:, column].sort().values, row()[:, column].sort().values)


def test_shuffle_depends_on_seed_and_sentence_only():
    first = Ablation([0], "shuffle", seed=3)(row(), 5)
    assert torch.equal(first, Ablation([0], "shuffle", seed=3)(row(), 5))
    assert not torch.equal(first, Ablation([0], "shuffle", seed=4)(row(), 5))
    assert not torch.equal(first, Ablation([0], "shuffle", seed=3)(row(), 6))


def test_columns_are_shuffled_apart():
    same = torch.arange(2, 40).unsqueeze(1).expand(-1, 2)
    found = Ablation([0, 1], "shuffle")(same, 0)
    assert not torch.equal(found[:, 0], found[:, 1])


def test_the_given_row_is_not_touched():
    given = row()
    for mode in ("drop", "shuffle"):
        Ablation([0, 1, 2], mode)(given, 1)
    assert torch.equal(given, row())


def test_the_shortest_sentences_survive():
    for length in (0, 1):
        assert Ablation([0, 1], "shuffle")(row(length), 0).shape == (length + 1, 3)
