"""Word similarities in batches: against the plainest layout, cut or not, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_text import WORDS, encode_texts, examples, prepare

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.data.text_dataset import TextDataset
from fairseq_plugins.data.text_folders import read_sentences
from fairseq_plugins.data.text_items import TRUNCATE, InputFormat
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.rows import Rows

TEXTS = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5)
TREES = st.booleans()
LAYERS_READ = {True: ("heads", "similarity"), False: ("similarity",)}  # with a tree, and without


def batch_of(pairs, **reading):
    """Collate pairs of texts; ``order`` says which stands in which row."""
    how = InputFormat(101, 102, 7, **{"layers": ("similarity",), **reading})
    sides = list(zip(*(encode_texts(pair) for pair in pairs)))
    first = SentenceColumns.of(sides[0], how.layers)
    columns = [first, SentenceColumns.of(sides[1], how.layers, first=first)]
    dataset = TextDataset(columns, how)
    batch = dataset.collater([dataset[i] for i in range(len(dataset))])
    return {**batch["net_input"], "order": batch["id"].tolist()}


def square_of(pair, width):
    """Lay the similarities of a pair out by hand."""
    first, second = encode_texts(pair)
    square = torch.ones(width, width)
    start = len(first.words) + 1
    for j in range(len(second.words)):
        for i in range(len(first.words)):
            value = second.layers["similarity"][j * len(first.words) + i] / 255
            square[start + j, i] = square[i, start + j] = value
    return square


@settings(max_examples=60, deadline=None)
@given(PAIRS, TREES)
def test_squares_are_laid_out_by_row(pairs, heads):
    inputs = batch_of(pairs, layers=LAYERS_READ[heads])
    found = inputs["similarity"]
    width = max(len(" ".join(pair).split()) + 1 for pair in pairs)
    assert found.shape == (len(pairs), width, width)
    assert found.dtype == torch.float32
    if heads:
        assert inputs["heads"].shape == (len(pairs), width)
    assert inputs["word_of"].max() < width
    for square, index in zip(found, inputs["order"]):
        assert torch.equal(square, square.T)
        torch.testing.assert_close(square, square_of(pairs[index], width), atol=1e-7, rtol=0)
    assert found.min() >= 0
    assert found.max() == 1


@settings(max_examples=40, deadline=None)
@given(PAIRS, TREES)
def test_padding_changes_no_similarity(pairs, heads):
    together = batch_of(pairs, layers=LAYERS_READ[heads])
    for square, index in zip(together["similarity"], together["order"]):
        alone = batch_of([pairs[index]], layers=LAYERS_READ[heads])["similarity"][0]
        size = len(alone)
        assert torch.equal(square[:size, :size], alone)
        assert (square[size:] == 1).all()
        assert (square[:, size:] == 1).all()


def spread(inputs, row):
    """Return token by token what the numbers of a row's words say; 1 at special tokens."""
    words = inputs["word_of"][row]
    known = words.clamp(min=0)
    found = inputs["similarity"][row][known][:, known]
    special = words < 0
    return found.masked_fill(special[:, None] | special[None, :], 1.0)


@settings(max_examples=60, deadline=None)
@given(PAIRS, TREES, st.integers(6, 20))
def test_tokens_that_are_shown_keep_their_similarity(pairs, heads, limit):
    """Of a pair that is shortened, too; it costs a square of the words that it shows."""
    cut = batch_of(
        pairs,
        layers=LAYERS_READ[heads],
        limit=limit,
        long_examples=TRUNCATE,
    )
    for row, index in enumerate(cut["order"]):
        whole = batch_of([pairs[index]])
        sides = [whole["segments"][0] == k for k in (0, 1)]
        counts = [int((cut["segments"][row] == k).sum()) for k in (0, 1)]
        width = int(cut["src_lengths"][row])
        counts[0] -= cut["segments"].size(1) - width  # padding is of segment 0
        kept = torch.cat(
            [torch.nonzero(side)[: count - 1].flatten() for side, count in zip(sides, counts)]
        )
        places = [*range(counts[0] - 1), *range(counts[0], width - 1)]
        found = spread(cut, row)[places][:, places]
        assert torch.equal(found, spread(whole, 0)[kept][:, kept])
    if not heads:
        assert cut["similarity"].size(1) <= limit - 3 + 1 + 1


def test_wordpieces_share_their_words_similarity():
    inputs = batch_of([("alice sees", "garden paris")])
    words, square = inputs["word_of"][0], spread(inputs, 0)
    assert len(words) > 4 + 3
    for a in range(len(words)):
        for b in range(len(words)):
            same = (words == words[a])[:, None] & (words == words[b])[None, :]
            assert (square[same] == square[a, b]).all()
    assert len({*square.flatten().tolist()}) > 3


@settings(max_examples=30, deadline=None)
@given(PAIRS)
def test_batches_hold_what_is_asked_for_alone(pairs):
    full, words = batch_of(pairs), batch_of(pairs, layers=(), words=True)
    assert set(full) - set(words) == {"similarity"}
    assert all(torch.equal(full[k], words[k]) for k in words.keys() - {"order", "known"})
    assert "similarity" not in batch_of(pairs, layers=("heads",))


@pytest.fixture
def folder(tmp_path):
    splits = {"train": examples("classes", 9, pairs=True)}
    return prepare(tmp_path, "classes", splits, annotations=("pos", "similarity"))


def read(folder):
    return read_sentences(folder, read_manifest(folder, TextManifest), "train", ["similarity"])


def test_stored_similarities_are_those_of_raw_text(folder):
    first, second = read(folder)
    assert first.layers == {}
    for index, example in enumerate(examples("classes", 9, pairs=True)):
        assert (
            second.layers["similarity"][index].tolist()
            == encode_texts(example.texts)[1].layers["similarity"]
        )
    assert second.layers["similarity"].values.dtype == np.uint8
    assert read_sentences(folder, read_manifest(folder, TextManifest), "train", [])[1].layers == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "has 8 rows instead of 9"),
        (lambda rows: [*rows[:4], rows[4][1:], *rows[5:]], "example 5 has .* entries instead of"),
    ],
)
def test_stored_similarities_that_do_not_fit_are_refused(folder, change, message):
    rows = [row.tolist() for row in Rows.read(folder / "train.similarity1")]
    write_stream(folder / "train.similarity1", change(rows), 256)
    with pytest.raises(InputError, match=f"train.similarity1:? {message}.*prepare .*again"):
        read(folder)


def test_missing_similarities_are_named(folder):
    (folder / "train.similarity1.idx").unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.similarity1.*prepare the folder again"):
        read(folder)
