"""Which attention is looked at: affinity, difference, or both by the fusion gate."""

from __future__ import annotations

import pytest
import torch

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.attention import select_tables
from fairseq_plugins.inference.options import ATTENTIONS

HEADS, LENGTH, LAYERS = 3, 5, 3


def told(*dual, gated=True):
    """What a model with dual attention in some layers says."""
    generator = torch.Generator().manual_seed(1)

    def table():
        return torch.randn(1, HEADS, LENGTH, LENGTH, generator=generator).softmax(-1)

    extra = {
        "attention": [table() for _ in range(LAYERS)],
        "difference": {layer: table() for layer in dual},
    }
    gates = {layer: torch.rand(LENGTH, 2, generator=generator) for layer in dual if gated}
    return {**extra, "fusion": gates}


def same(found, expected):
    torch.testing.assert_close(torch.stack(found), torch.stack(expected).double())


def test_fused_weighs_row_by_row_with_the_fusion_gate():
    extra = told(1)
    (found,) = select_tables(extra, "fused", 1)
    affinity, difference, gates = (extra[k][1] for k in ("attention", "difference", "fusion"))
    for head in range(HEADS):
        for i in range(LENGTH):
            g = gates[i, 0]
            row = g * affinity[0, head, i] + (1 - g) * difference[0, head, i]
            torch.testing.assert_close(found[head, i], row.double())
    torch.testing.assert_close(found.sum(-1), torch.ones(HEADS, LENGTH).double())


def test_without_a_gate_fused_is_the_mean():
    extra = told(1, gated=False)
    mean = (extra["attention"][1][0] + extra["difference"][1][0]) / 2
    same(select_tables(extra, "fused", 1), [mean])


def test_what_is_shown_unless_said_otherwise():
    """Fused where there is something to fuse, the layer's own attention elsewhere."""
    extra = told(0, 2)
    affinity = [table[0] for table in extra["attention"]]
    same(select_tables(extra, "affinity"), affinity)
    assert select_tables(extra, "affinity", 0)[0].equal(affinity[0].double())
    same(select_tables(extra, "difference"), [extra["difference"][n][0] for n in (0, 2)])
    fused = select_tables(extra, "fused")
    assert torch.equal(fused[1], affinity[1].double())
    assert not torch.equal(fused[0], affinity[0].double())
    same(select_tables(extra), fused)
    same(select_tables(extra, None, 2), fused[2:])
    plain = told()
    same(select_tables(plain), [table[0] for table in plain["attention"]])
    same(select_tables({"attention": plain["attention"]}), select_tables(plain))


@pytest.mark.parametrize("kind", ATTENTIONS[1:])
def test_impossible_choices_name_the_choices(kind):
    with pytest.raises(InputError, match=f"no {kind} attention.*choices: affinity$"):
        select_tables(told(), kind)
    with pytest.raises(InputError, match=rf"layer 1 has no {kind} .*affinity .*, or layer 0, 2$"):
        select_tables(told(0, 2), kind, 1)
    with pytest.raises(InputError, match="no layer 3: choices are 0 to 2"):
        select_tables(told(0), kind, 3)
    with pytest.raises(InputError, match="'loud'; choices: affinity, difference, fused"):
        select_tables(told(0), "loud")
