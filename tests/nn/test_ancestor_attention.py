"""SGNet's layers on top of BERT."""

from __future__ import annotations

import pytest
import torch
from trees import Row, context_of, random_heads, run

from fairseq_plugins.nn.ancestor_attention import ScalarMix, SyntaxLayers
from fairseq_plugins.nn.bert import BertShape

SHAPE = BertShape(30, 16, 1, 2, 32, dropout=0.0, attention_dropout=0.0)
ROWS = [Row(random_heads(6, 1)), Row([0, 1], [2, 0])]
BASE = BertShape(1, 768, 1, 12, 3072)
LARGE = BertShape(1, 1024, 1, 16, 4096)


def rows() -> torch.Tensor:
    torch.manual_seed(5)
    return torch.randn(sum(len(row.words) for row in ROWS), 16)


@pytest.mark.parametrize(("shape", "added"), [(BASE, 7_087_875), (LARGE, 12_596_227)])
def test_added_parameters_are_those_of_the_papers_program(shape, added):
    with torch.device("meta"):
        assert sum(p.numel() for p in SyntaxLayers(shape).parameters()) == added
        three = sum(p.numel() for p in SyntaxLayers(shape, 3).parameters())
        fixed = sum(p.numel() for p in SyntaxLayers(shape, mix="fixed").parameters())
    assert three == 3 * (added - 3) + 3
    assert fixed == added - 3


def test_the_mixture_begins_in_the_middle_and_learns():
    below, above = torch.randn(2, 4, 16).unbind()
    mix = ScalarMix()
    torch.testing.assert_close(mix(below, above), 0.5 * (below + above))
    mix(below, above).square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in mix.parameters())


@pytest.mark.parametrize("mix", ["scalar", "fixed"])
def test_the_output_is_the_mixture_of_both_states(mix):
    top, below, context = SyntaxLayers(SHAPE, 2, mix=mix).eval(), rows(), context_of(ROWS)
    above = below
    for layer in top.layers:
        above = layer(above, context)
    found, tables = run(top, below, context)
    torch.testing.assert_close(found, 0.5 * (below + above))
    assert [table.shape for table in tables] == [(2, 2, 8, 8)] * 2


def test_words_attend_to_their_ancestors_alone():
    context = context_of(ROWS[:1])
    (block,) = context.layout.blocks
    top = SyntaxLayers(SHAPE).eval()
    table = run(top, rows()[:8], context)[1][0]  # (1, H, 8, 8)
    allowed = context.allowed(top.layers[0].attention.mixer.rules[0], block)[:, None]
    assert torch.equal(table > 0, allowed.expand_as(table))


def test_other_trees_change_the_output():
    top = SyntaxLayers(SHAPE).eval()
    first = top(rows(), context_of(ROWS))
    second = top(rows(), context_of([Row(random_heads(6, 2)), ROWS[1]]))
    assert not torch.allclose(first, second)
