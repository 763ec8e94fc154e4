"""Layers of labels beside an encoder's states, against loops over words."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from fairseq_plugins.nn.bert import BertOutput, BertShape
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.semantic_layers import FIRST, MAX, LabelReader, SemanticLayers, WordRuns

SHAPE = BertShape(20, 6, 1, 2, 8, dropout=0.0)
SYMBOLS = [["<pad>", "<special>", "<unknown>", "B-V", "O"], ["<pad>", "<special>", "O", "B-A0"]]
ROWS = [  # words of subwords, -1 at special tokens
    [-1, 0, 0, 0, 0, 1, 2, 2, -1],
    [-1, 0, 1, 1, 1, -1, 3, 4, -1],
    [-1, 0, -1, -1],
]


def module(pooling: str | None = MAX, kernel: int = 3) -> SemanticLayers:
    torch.manual_seed(2)
    reader = LabelReader(SYMBOLS, (2, 0), embedding=4, hidden=3, outputs=5, dropout=0.0)
    found = SemanticLayers(SHAPE, reader, kernel=kernel, pooling=pooling).double()
    for parameter in found.parameters():
        nn.init.normal_(parameter, std=0.7)
    return found.eval()


def batch(rows=ROWS, *, left: bool = False, extra: int = 0):
    """Return the output of an encoder, words and factors of rows, each row's own."""
    width = max(map(len, rows)) + extra
    words = torch.full((len(rows), width), -1)
    factors = torch.zeros(len(rows), width, 3, dtype=torch.long)
    states, padding = [], torch.ones(len(rows), width, dtype=torch.bool)
    for number, row in enumerate(rows):
        dice = torch.Generator().manual_seed(len(row) + sum(row))
        start = width - len(row) if left else 0
        place = slice(start, start + len(row))
        words[number, place], padding[number, place] = torch.tensor(row), False
        by_word = torch.randint(2, 4, (len(row) + 1, 3), generator=dice)
        by_word[-1] = 1  # of special tokens
        factors[number, place] = by_word[row]
        states.append(torch.randn(len(row), SHAPE.hidden, dtype=torch.float64, generator=dice))
    return BertOutput(torch.cat(states), BatchLayout.of(padding)), words, factors


def read_one(gru: nn.GRU, vectors: list, suffix: str) -> list:
    """Read vectors from the left with the weights of a direction."""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w_in, w_own, b_in, b_own = (getattr(gru, name + suffix) for name in names)
    state, found = torch.zeros(gru.hidden_size, dtype=torch.float64), []
    for vector in vectors:
        r, z, n = (w_in @ vector + b_in).chunk(3)
        own_r, own_z, own_n = (w_own @ state + b_own).chunk(3)
        r, z = torch.sigmoid(r + own_r), torch.sigmoid(z + own_z)
        state = (1 - z) * torch.tanh(n + r * own_n) + z * state
        found.append(state)
    return found


def slowly(part: SemanticLayers, row: list[int], states, ids) -> list:
    """Return z of every word and special token of one row, word by word, by the file's head."""
    runs: list[list[int]] = []
    for place, word in enumerate(row):
        if word >= 0 and place and row[place - 1] == word:
            runs[-1].append(place)
        else:
            runs.append([place])
    names = [*dict.fromkeys(symbol for symbols in SYMBOLS for symbol in symbols)]
    reader, said = part.labels, [[] for _ in runs]
    for symbols, column in zip(SYMBOLS, (2, 0)):
        rows = [reader.table.weight[names.index(symbols[ids[run[0], column]])] for run in runs]
        vectors = [reader.norm(vector) for vector in rows]
        there = read_one(reader.gru, vectors, "")
        back = read_one(reader.gru, vectors[::-1], "_reverse")[::-1]
        for found, left, right in zip(said, there, back):
            found += [left, right]
    made, kernel = [], part.words.kernel
    for run, found in zip(runs, said):
        whole = [states[place] for place in run]
        whole += [torch.zeros_like(whole[0])] * max(0, kernel - len(whole))
        windows = [
            part.words.map(torch.cat(whole[i : i + kernel])).relu()
            for i in range(len(whole) - kernel + 1)
        ]
        values = [max(column) for column in zip(*windows)]
        made.append(torch.cat([torch.stack(values), reader.out(torch.cat(found))]))
    return made


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("pooling", [MAX, FIRST, None])
def test_it_is_what_loops_make(pooling, kernel) -> None:
    part, (output, words, factors) = module(pooling, kernel), batch()
    starts = [row.index(word) for row in ROWS for word in sorted({*row} - {-1})]
    counts = [len({*row} - {-1}) for row in ROWS]
    before = torch.tensor([0, *map(len, ROWS)]).cumsum(0)[:-1]
    word_rows = torch.tensor(starts) + before.repeat_interleave(torch.tensor(counts))
    found = part(output, words, factors, None if pooling else word_rows)
    wanted, at = [], 0
    for number, row in enumerate(ROWS):
        made = slowly(part, row, output.rows[at : at + len(row)], factors[number, : len(row)])
        at += len(row)
        if pooling is None:
            specials = [i for i, first in enumerate(firsts(row)) if row[first] >= 0]
            wanted += [made[i] for i in specials]
            continue
        best = made[0] if pooling == FIRST else torch.stack(made).amax(0)
        wanted.append(torch.tanh(part.pooler(best)))
    torch.testing.assert_close(found, torch.stack(wanted))


def firsts(row: list[int]) -> list[int]:
    """Return where the words and special tokens of a row begin."""
    return [i for i, word in enumerate(row) if word < 0 or not i or row[i - 1] != word]


def test_special_tokens_are_words_and_equal_numbers_of_two_rows_are_two() -> None:
    output, words, _ = batch([[-1, 3, 3, -1], [-1, 3, -1, -1]])
    runs = WordRuns.find(words, output.layout)
    assert runs.firsts.tolist() == [0, 1, 3, 4, 5, 6, 7]
    assert runs.sizes.tolist() == [1, 2, 1, 1, 1, 1, 1]
    assert runs.lengths.tolist() == [3, 4]
    assert runs.rows.tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("left", [False, True])
def test_neither_padding_nor_neighbours_matter(left) -> None:
    part = module()
    whole = part(*batch(left=left, extra=3))
    for number, row in enumerate(ROWS):
        torch.testing.assert_close(part(*batch([row])), whole[[number]])


def test_a_label_is_the_same_in_all_layers_and_padding_is_none() -> None:
    reader = module().labels
    assert reader.shared.tolist() == [[0, 1, 2, 3, 4], [0, 1, 4, 5, 0]]
    assert reader.table.num_embeddings == 6
    assert "labels.shared" not in module().state_dict()


def test_every_parameter_learns_and_every_layer_counts() -> None:
    part, (output, words, factors) = module(), batch()
    part(output, words, factors).square().sum().backward()
    assert {name for name, one in part.named_parameters() if not one.grad.any()} == set()
    with torch.no_grad():
        before = part(output, words, factors)
        for column, counts in ((0, True), (1, False), (2, True)):
            other = factors.clone()
            other[0, 5, column] ^= 1
            after = part(output, words, other)
            assert torch.equal(before[0], after[0]) is not counts
            assert torch.equal(before[1:], after[1:])


def test_dropout_falls_on_labels_and_words() -> None:
    shape = BertShape(20, 6, 1, 2, 8, dropout=0.5)
    reader = LabelReader(SYMBOLS, (2, 0), dropout=0.5)
    part, given = SemanticLayers(shape, reader, pooling=None).double(), batch()
    rows = torch.arange(4)
    part.eval()
    assert torch.equal(part(*given, rows), part(*given, rows))
    one, other = (part.train()(*given, rows) for _ in range(2))
    for half in (slice(0, 6), slice(6, None)):
        assert not torch.equal(one[:, half], other[:, half])


def test_a_batch_without_words_or_labels_is_refused() -> None:
    output, words, factors = batch()
    for given in ((None, factors), (words, None)):
        with pytest.raises(ValueError, match="reads layers of words, but the batch has none"):
            module()(output, *given)
