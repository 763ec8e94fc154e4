"""Words and heads in batches: against the plainest layout, and the masks that follow from them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_trees import FORESTS, above, hulls, near, related, window
from prepared_text import WORDS, encode, examples, prepare

from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.data.text_dataset import TextDataset
from fairseq_plugins.data.text_items import SPLIT, TRUNCATE, InputFormat
from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.tree_masks import AncestorRule, RelationRule, TreeRule, WindowRule
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows

PAD = 7


@st.composite
def sentences(draw) -> SimpleNamespace:
    """A sentence of some words with a tree, or several trees, of any shape."""
    heads = draw(FORESTS)
    words = draw(st.lists(st.sampled_from(WORDS), min_size=len(heads), max_size=len(heads)))
    made = encode(words)
    made.layers["heads"] = heads
    return made


SINGLES = st.lists(st.tuples(sentences()), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(sentences(), sentences()), min_size=1, max_size=5)


def columns_of(given, names=()):
    return [SentenceColumns.of(side, ["pos", *names]) for side in zip(*given)]


def batch_of(given, **reading):
    """Collate examples, each a tuple of sentences; ``owners`` says which example a row shows."""
    how = InputFormat(101, 102, PAD, **{"layers": ("heads",), **reading})
    dataset = TextDataset(columns_of(given, how.layers), how)
    batch = dataset.collater([dataset[i] for i in range(len(dataset))])
    batch["owners"] = [i for i in batch["id"].tolist() for _ in dataset[i]["lengths"]]
    return batch


def row_of(example):
    """Lay an example out by hand: word of each token, and the trees with a gap between them."""
    word_of, heads = [-1], []
    for side in example:
        start = len(heads) + bool(heads)
        heads += [len(heads)] * bool(heads)
        word_of += [start + word for word in side.word_of] + [-1]
        heads += [start + (h - 1 if h else w) for w, h in enumerate(side.layers["heads"])]
    return word_of, heads


def padded(row, width):
    return row + [-1] * (width - len(row))


@settings(max_examples=80, deadline=None)
@given(st.one_of(SINGLES, PAIRS))
def test_words_and_heads_are_laid_out_by_row(given):
    batch = batch_of(given)
    inputs = batch["net_input"]
    rows = [row_of(given[i]) for i in batch["id"].tolist()]
    width = inputs["src_tokens"].size(1)
    assert inputs["word_of"].tolist() == [padded(words, width) for words, _ in rows]
    most = max(len(heads) for _, heads in rows)
    assert inputs["heads"].tolist() == [h + [*range(len(h), most)] for _, h in rows]
    assert inputs["word_of"].dtype == inputs["heads"].dtype == torch.int64


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_batches_hold_what_is_asked_for_alone(given):
    full, words, none = (
        batch_of(given, **reading)["net_input"]
        for reading in ({}, {"words": True, "layers": ()}, {"layers": ()})
    )
    assert set(full) - set(words) == {"heads"}
    assert set(words) - set(none) == {"word_of"}
    assert set(words.pop("known")) - set(none.pop("known")) == {"runs", "run_sizes"}
    for less in (words, none):
        assert all(torch.equal(full[name], value) for name, value in less.items())


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_pair_is_two_singles_with_a_gap(given):
    for first, second in given:
        pair = batch_of([(first, second)])["net_input"]
        one, two = (batch_of([(side,)])["net_input"] for side in (first, second))
        size, gap = len(one["word_of"][0]), len(first.layers["heads"])
        assert torch.equal(pair["word_of"][:, :size], one["word_of"])
        later = two["word_of"][:, 1:]
        assert torch.equal(pair["word_of"][:, size:], torch.where(later < 0, -1, later + gap + 1))
        middle = torch.tensor([[gap]])
        expected = torch.cat([one["heads"], middle, two["heads"] + gap + 1], dim=1)
        assert torch.equal(pair["heads"], expected)
        assert not (pair["word_of"] == gap).any()


RULES = {
    TreeRule(2): lambda heads: near(heads, 2),
    TreeRule(1, "symmetric"): lambda heads: near(heads, 1, "symmetric"),
    RelationRule("sibling"): lambda heads: related(heads, "sibling"),
    AncestorRule(): above,
    AncestorRule("span"): hulls,
    WindowRule(1, "words"): lambda heads: window(len(heads), 1),
}


@settings(max_examples=50, deadline=None)
@given(st.one_of(SINGLES, PAIRS), st.sampled_from(list(RULES)), st.integers(7, 30))
def test_masks_of_a_batch_are_those_of_its_sentences(given, rule, limit):
    """Shortened or not, tokens of a sentence see each other as the masks of the whole have it."""
    check_masks(given, rule, limit=limit, long_examples=TRUNCATE)


@settings(max_examples=50, deadline=None)
@given(SINGLES, st.sampled_from(list(RULES)), st.integers(6, 14))
def test_masks_of_windows_are_parts_of_the_whole_sentences(given, rule, limit):
    rows = check_masks(given, rule, limit=limit, long_examples=SPLIT, by_word=True)
    assert rows > len(given) or all(len(side.tokens) + 2 <= limit for (side,) in given)


def check_masks(given, rule, **reading):
    """Compare a rule on a batch with its plain twin on each whole sentence; return its rows."""
    batch = batch_of(given, **reading)
    inputs = batch["net_input"]
    numbers = batch_of(given, words=True, layers=(), **reading)["net_input"]["word_of"]
    pair = len(given[0]) == 2
    allowed = rule(inputs["word_of"], inputs["segments"] if pair else None, inputs["heads"])
    for row, owner in enumerate(batch["owners"]):
        start = 0
        for number, side in enumerate(given[owner]):
            places = (numbers[row] >= 0) & (inputs["segments"][row] == number)
            shown = numbers[row][places].numpy() - start  # which words of the whole sentence
            found = allowed[row][places][:, places].numpy()
            assert np.array_equal(found, RULES[rule](side.layers["heads"])[shown][:, shown])
            start += len(side.layers["heads"]) + 1
    return len(batch["owners"])


def test_long_documents_cost_a_row_the_trees_it_shows():
    """Fifty sentences of ten words each, in one text."""
    side = encode(["by"] * 500)
    side.layers["heads"] = [0 if word % 10 == 0 else 10 * (word // 10) + 1 for word in range(500)]
    for reading in ({"long_examples": TRUNCATE}, {"long_examples": SPLIT, "by_word": True}):
        inputs = batch_of([(side,)], limit=28, **reading)["net_input"]
        assert inputs["heads"].size(1) <= 40
        assert inputs["word_of"].max() < inputs["heads"].size(1)
    pair = batch_of([(side, side)], limit=29, long_examples=TRUNCATE)["net_input"]
    assert pair["heads"].tolist() == [
        row_of([SimpleNamespace(word_of=[], layers={"heads": side.layers["heads"][:20]})] * 2)[1]
    ]
    assert pair["word_of"].tolist() == [[-1, *range(13), -1, *range(21, 34), -1]]


def test_windows_keep_all_heads_and_the_numbers_of_the_sentence():
    side = encode(["garden", "by"] * 8)  # 24 wordpieces
    inputs = batch_of([(side,)], limit=12, long_examples=SPLIT, by_word=True)["net_input"]
    rows = len(inputs["src_tokens"])
    assert rows > 2
    assert inputs["heads"].tolist() == [row_of((side,))[1]] * rows
    assert set(inputs["word_of"].flatten().tolist()) == {-1, *range(16)}
    assert inputs["word_of"][-1].max() == 15
    assert inputs["word_of"][1, 1] > 0


def test_truncated_pair_keeps_all_heads_and_its_gap():
    first, second = encode(["garden", "by"] * 4), encode(["by"] * 5)
    inputs = batch_of([(first, second)], limit=9, long_examples=TRUNCATE)["net_input"]
    assert inputs["heads"].tolist() == [row_of((first, second))[1]]
    assert inputs["word_of"].tolist() == [[-1, 0, 0, 1, -1, 9, 10, 11, -1]]


def test_numbers_of_long_pairs_do_not_overflow(tmp_path):
    """Streams hold small integers where they fit: those of a pair must not run over."""
    count = 200
    chain = list(range(count))
    for k in (0, 1):
        write_stream(tmp_path / f"train.tokens{k}", [[1] * count], 256)
        write_stream(tmp_path / f"train.words{k}", [chain], 256)
        write_stream(tmp_path / f"train.heads{k}", [chain], 256)
    columns = [SentenceColumns.read(tmp_path, "train", k, layers_of(["heads"])) for k in (0, 1)]
    dataset = TextDataset(columns, InputFormat(101, 102, PAD, layers=("heads",)))
    inputs = dataset.collater([dataset[0]])["net_input"]
    assert inputs["word_of"].max() == 2 * count
    second = [count + 1, *range(count + 1, 2 * count)]
    assert inputs["heads"][0].tolist() == [0, *range(count - 1), count, *second]


@pytest.fixture
def folder(tmp_path):
    splits = {"train": examples("classes", 9, pairs=True)}
    return prepare(tmp_path, "classes", splits, annotations=("pos", "heads"))


def test_stored_heads_are_those_of_raw_text(folder):
    raw = [[encode(text.split()) for text in e.texts] for e in examples("classes", 9, pairs=True)]
    taken = columns_of(raw, ["heads"])
    for k in (0, 1):
        read = SentenceColumns.read(folder, "train", k, layers_of(["pos", "heads"]))
        for index in range(9):
            assert np.array_equal(read.layers["heads"][index], taken[k].layers["heads"][index])
        assert np.array_equal(read.layers["heads"].lengths, taken[k].layers["heads"].lengths)
    assert SentenceColumns.read(folder, "train", 0, []).layers == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "has 8 rows instead of 9"),
        (lambda rows: with_fifth(rows, [*rows[4], 0]), "example 5 has . entries instead of ."),
        (lambda rows: with_fifth(rows, rows[4][1:]), "example 5 has . entries instead of ."),
        (lambda rows: with_fifth(rows, [99, *rows[4][1:]]), "example 5: word 1 has head 99"),
        (
            lambda rows: with_fifth(rows, [1, *rows[4][1:]]),
            "example 5: word 1 of . is its own",
        ),
        (lambda rows: with_fifth(rows, turning(rows[4])), "example 5: .* form a cycle: word 1"),
    ],
)
def test_stored_heads_that_do_not_fit_are_refused(folder, change, message):
    rows = [row.tolist() for row in Rows.read(folder / "train.heads1")]
    assert len(rows[4]) > 1
    write_stream(folder / "train.heads1", change(rows), 600)
    with pytest.raises(InputError, match=f"train.heads1:? {message}.*prepare (the folder )?again"):
        SentenceColumns.read(folder, "train", 1, layers_of(["heads"]))
    SentenceColumns.read(folder, "train", 1, [])


def with_fifth(rows, row):
    return [*rows[:4], row, *rows[5:]]


def turning(row):
    """Return heads that go round."""
    return [*range(2, len(row) + 1), 1]


def test_missing_heads_are_named(folder):
    (folder / "train.heads1.idx").unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.heads1.*prepare the folder again"):
        SentenceColumns.read(folder, "train", 1, layers_of(["heads"]))


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        (
            None,
            "example 1 was not parsed, but .* parse trees; .*--layers pos,heads",
        ),
        ([2, 1], "raw text: example 2: .* form a cycle"),
        ([0], "raw text: example 2 has 1 entries instead of 2"),
    ],
)
def test_raw_heads_that_do_not_fit_are_refused(heads, message):
    sides = [encode(["by", "night"]) for _ in range(2)]
    sides[1].layers.pop("heads")
    sides[1].layers |= {} if heads is None else {"heads": heads}
    with pytest.raises(InputError, match=message):
        SentenceColumns.of(sides, ["heads"])
    assert SentenceColumns.of(sides, []).layers == {}
