"""Rows with two separators between texts differ from BERT's by special tokens alone."""

from __future__ import annotations

import numpy as np
import pytest
from prepared_text import encode

from fairseq_plugins.data.qa_columns import QuestionColumns, SpanGold
from fairseq_plugins.data.qa_dataset import QuestionDataset
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.data.text_dataset import TextDataset
from fairseq_plugins.data.text_items import SPLIT, TRUNCATE, WINDOWS, InputFormat
from fairseq_plugins.pretrained.families import RowFormat

CLS, SEP, PAD = 101, 102, 7
TWO = RowFormat(separators=2)
NAMES = ("subword", "pos", "case", "heads")
FIRST = [encode(["The", "dogs", "run"]), encode(["a", "cat"] * 6), encode(["run"])]
SECOND = [encode(["a", "cat"]), encode(["dogs", "run"] * 5), encode(["the", "dog"] * 7)]


def dataset(row, sides=(FIRST, SECOND), **reading) -> TextDataset:
    columns = [SentenceColumns.of(side, ["pos", "case", "heads"]) for side in sides]
    return TextDataset(columns, InputFormat(CLS, SEP, PAD, row, layers=NAMES, **reading))


def told(item) -> dict[str, np.ndarray]:
    """What an item says of the tokens that are not special."""
    own = np.isin(item["tokens"], [CLS, SEP], invert=True)
    return {name: item[name][own] for name in ("tokens", "segments", "factors", "word_of")}


@pytest.mark.parametrize("sides", [(FIRST,), (FIRST, SECOND)], ids=["single", "pair"])
@pytest.mark.parametrize(
    "how", [{}, {"long_examples": TRUNCATE}, {"long_examples": SPLIT}], ids=str
)
def test_rows_say_the_same_of_their_texts(sides, how) -> None:
    pair = len(sides) == 2
    if pair and how.get("long_examples") == SPLIT:
        how = {}  # a pair is never split
    by_word = how.get("long_examples") == SPLIT
    limits = [{"limit": 9 + row.specials(len(sides))} if how else {} for row in (RowFormat(), TWO)]
    one, two = (
        dataset(row, sides, by_word=by_word, **how, **limit)
        for row, limit in zip((RowFormat(), TWO), limits)
    )
    assert one.items.refitted == two.items.refitted == ([1, 2][: 1 + pair] if how else [])
    for index in range(len(one)):
        plain, other = one[index], two[index]
        rows = len(plain["lengths"])
        np.testing.assert_equal(told(other), told(plain))
        np.testing.assert_equal(other["heads"], plain["heads"])
        assert two.sizes[index] == len(other["tokens"]) == len(plain["tokens"]) + rows * pair
        special = np.isin(other["tokens"], [CLS, SEP])
        assert (other["word_of"][special] == -1).all()
        if by_word:
            assert (other["words"] == plain["words"]).all()
        if pair:
            border = np.flatnonzero(other["tokens"] == SEP)[0] + 1
            assert other["tokens"][border] == SEP  # the second one begins the second side
            assert (other["segments"] == (np.arange(len(special)) >= border)).all()


@pytest.mark.parametrize("row", [RowFormat(), TWO], ids=["one", "two"])
def test_answers_and_windows_stand_where_the_row_has_them(row) -> None:
    tokens = [np.arange(200, 205), np.arange(300, 330)]
    asked, passage = (
        [type("Sentence", (), {"tokens": t, "word_of": np.arange(len(t)), "layers": {}})]
        for t in tokens
    )
    offsets = [np.stack([np.arange(30), np.arange(30) + 1], axis=1)]
    columns = QuestionColumns.of(asked, passage, [0], offsets)
    object.__setattr__(columns, "gold", SpanGold(np.array([2]), np.array([(11, 13)])))
    form = InputFormat(
        CLS, SEP, PAD, row, limit=20, long_examples=WINDOWS, stride=6, longest_question=3
    )
    found = QuestionDataset(columns, form)
    item = found[0]
    rows = np.split(item["tokens"], np.cumsum(item["lengths"])[:-1])
    assert len(rows) > 2
    assert max(item["lengths"]) == 20
    for tokens, (first, last) in zip(rows, item["target"].tolist()):
        assert tokens[:4].tolist() == [CLS, 200, 201, 202]
        assert (tokens == SEP).sum() == 1 + row.separators
        shown = {311, 313} <= {*tokens.tolist()}
        expected = [311, 313] if shown else [CLS, CLS]
        assert [tokens[first], tokens[last]] == expected
