"""Feature embeddings against a slow twin, and what must hold of any of them."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from fairseq_plugins.nn.factors import FactoredEmbedding, FactorEmbedding, glorot_, init_table

SIZES = {"pos": 7, "case": 4, "subword": 6}


def embedding(combine="sum", dims=None, **options):
    torch.manual_seed(1)
    dims = dims or ((5, 5, 5) if combine == "sum" else (5, 2, 3))
    return FactorEmbedding(SIZES, dims, combine=combine, **options).double()


def factors(B=3, S=6, F=3):
    generator = torch.Generator().manual_seed(2)
    return torch.randint(0, 4, (B, S, F), generator=generator)


def twin(module, ids):
    """One token, one table, one number at a time."""
    tables = [t.weight.tolist() for t in module.tables.values()]
    rows = []
    for sentence in ids.tolist():
        row = []
        for token in sentence:
            parts = [table[token[c]] for c, table in zip(module.columns, tables)]
            if module.combine == "sum":
                vector = [math.fsum(numbers) for numbers in zip(*parts)]
            else:
                vector = [number for part in parts for number in part]
            row.append([module.scale * number for number in vector])
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("combine", ["sum", "concat"])
@pytest.mark.parametrize("columns", [(0, 1, 2), (3, 0, 2)])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_factor_embedding_equals_loops(combine, columns, scale):
    module = embedding(combine, columns=columns, scale=scale)
    ids = factors(F=4)
    assert module(ids).shape[-1] == module.embedding_dim
    torch.testing.assert_close(module(ids), twin(module, ids), rtol=0, atol=1e-15)


@pytest.mark.parametrize("merge", ["concat", "overlay", "add"])
def test_factored_embedding_equals_loops(merge):
    module = embedding()
    words = nn.Embedding(9, 5 if merge == "add" else 8, padding_idx=1).double()
    both = FactoredEmbedding(words, module, merge)
    tokens, ids = torch.arange(18).reshape(3, 6) % 9, factors()
    out = both(tokens, ids)
    assert out.shape == (3, 6, both.embedding_dim)
    for b in range(3):
        for s in range(6):
            e, f = words.weight[tokens[b, s]].tolist(), twin(module, ids)[b, s].tolist()
            whole = {
                "concat": e + f,
                "overlay": e[: len(e) - len(f)] + f,
                "add": [x + y for x, y in zip(e, f)],
            }[merge]
            torch.testing.assert_close(out[b, s], torch.tensor(whole, dtype=torch.float64))


@pytest.mark.parametrize("merge", ["concat", "overlay", "add"])
def test_every_table_changes_the_output_and_learns(merge):
    both = FactoredEmbedding(nn.Embedding(9, 8, padding_idx=1), FactorEmbedding(SIZES, (8, 8, 8)))
    if merge != "concat":
        width = 8 if merge == "add" else 9
        both = FactoredEmbedding(nn.Embedding(9, width), FactorEmbedding(SIZES, (8, 8, 8)), merge)
    tokens, ids = torch.full((1, 4), 3), torch.full((1, 4, 3), 2)
    both(tokens, ids).square().sum().backward()
    for column, table in enumerate(both.factors.tables.values()):
        assert table.weight.grad[2].abs().sum() > 0
        other = ids.clone()
        other[0, 1, column] = 3
        changed = (both(tokens, other) != both(tokens, ids)).any(-1)
        assert changed.tolist() == [[False, True, False, False]]


def test_padding_row_is_zero_and_stays_zero():
    module = embedding()
    module.reset_parameters("normal", 1.0)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (module(factors()) - 1).square().sum().backward()
        optimizer.step()
    assert module(torch.zeros(1, 2, 3, dtype=torch.long)).abs().max() == 0
    assert module(torch.full((1, 2, 3), 2)).abs().min() > 0


@pytest.mark.parametrize(("combine", "dims"), [("sum", (400,) * 3), ("concat", (300, 200, 100))])
def test_normal_start_gives_the_whole_vector_its_deviation(combine, dims):
    torch.manual_seed(0)
    module = FactorEmbedding(dict.fromkeys("abc", 200), dims, combine=combine)
    module.reset_parameters("normal", 0.25)
    vector = module(torch.randint(1, 200, (1, 500, 3)))
    assert vector.std().item() == pytest.approx(0.25, rel=0.03)


def test_starts_by_name():
    table = nn.Embedding(30, 50, padding_idx=0)
    init_table(table, "glorot", 1.0)
    bound = math.sqrt(6 / (30 + 50))
    assert 0.9 * bound < table.weight.abs().max() <= bound
    assert table.weight[0].abs().max() == 0
    init_table(table, "zero", 1.0)
    assert table.weight.abs().max() == 0


def test_glorot_reaches_matrices_only_and_spares_padding():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Embedding(20, 30, padding_idx=3), nn.Linear(30, 10))
    bias = module[1].bias.clone()
    glorot_(module)
    for matrix in (module[0].weight, module[1].weight):
        bound = math.sqrt(6 / sum(matrix.shape))
        assert 0.9 * bound < matrix.abs().max() <= bound
    assert module[0].weight[3].abs().max() == 0
    assert torch.equal(module[1].bias, bias)
