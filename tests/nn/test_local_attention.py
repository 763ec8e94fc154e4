"""Local attention under a gate: twins, identities with plain attention, gradients, padding."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from trees import Row, context_of, on_an_accelerator, random_heads, run

from fairseq_plugins.nn.attention import GlobalMixer, SelfAttention
from fairseq_plugins.nn.local_attention import Gate, LocalMixer
from fairseq_plugins.nn.packed_attention import PackedAttention
from fairseq_plugins.nn.tree_masks import RelationRule, TreeRule, WindowRule

SLA = (TreeRule(1, "none"),)
THREE = (TreeRule(1), WindowRule(1), RelationRule("parent"))
ROWS = [Row(random_heads(6, 1)), Row(random_heads(2, 2), random_heads(3, 3)), Row([0])]
SIZES = [len(row.words) for row in ROWS]


def attention(
    rules=SLA, *, gated=True, dropout=0.0, bias=0.3, separate=True, similar=False
) -> SelfAttention:
    torch.manual_seed(1)
    gate = Gate(8, len(rules), bias) if gated else None
    how = {"layer": 3, "separate": separate, "similar": similar}
    return SelfAttention(8, 2, LocalMixer(rules, gate, dropout, **how)).double()


def states() -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(sum(SIZES), 8, dtype=torch.float64, generator=generator).requires_grad_()


def plain_like(module: SelfAttention, dropout: float = 0.0) -> SelfAttention:
    plain = SelfAttention(8, 2, GlobalMixer(dropout)).double()
    plain.load_state_dict(module.state_dict(), strict=False)
    return plain


def twin(module: SelfAttention, sentence: torch.Tensor, row: Row) -> torch.Tensor:
    """Equations 4 to 6 for one sentence (S, D), by loops over heads, queries and keys."""
    width, size = sentence.shape[1], sentence.shape[1] // module.heads
    query, key, value = (sentence @ module.qkv.weight.T + module.qkv.bias).split(width, dim=1)
    context, out = context_of([row]), torch.zeros_like(sentence)
    masks = [r(context.words, context.segments, context.heads)[0] for r in module.mixer.rules]
    for t, h in enumerate(sentence):
        wishes = [math.exp(0.0)]
        for w, b in zip(module.mixer.gate.weight, module.mixer.gate.bias):
            wishes.append(math.exp((w @ h + b).item()))
        for start in range(0, width, size):
            part = slice(start, start + size)
            scores = [(query[t, part] @ k[part]).item() / math.sqrt(size) for k in key]
            for wish, mask in zip(wishes, [None, *masks]):
                seen = [s for s in range(len(scores)) if mask is None or mask[t, s]]
                whole = sum(math.exp(scores[s]) for s in seen)
                for s in seen:
                    weight = wish / sum(wishes) * math.exp(scores[s]) / whole
                    out[t, part] += weight * value[s, part]
    return out @ module.out.weight.T + module.out.bias


WAYS = {  # of computing: whether weights are asked for, and whether a block is padded
    "packed": (False, False),
    "openly": (True, False),
    "fused": (False, True),
    "openly padded": (True, True),
}


@pytest.fixture(params=WAYS)
def need_weights(request, monkeypatch):
    """Every way in turn; whether weights are asked for."""
    need, padded = WAYS[request.param]
    if padded:
        on_an_accelerator(monkeypatch)
    return need


@pytest.mark.parametrize("rules", [SLA, THREE], ids=["one", "three"])
@pytest.mark.parametrize("separate", [True, False], ids=["separate", "mixture"])
def test_local_attention_equals_its_twin(rules, separate, need_weights):
    module, rows = attention(rules, dropout=0.4, separate=separate).eval(), states()
    found, weights = run(module, rows, context_of(ROWS), need_weights)
    for number, sentence in enumerate(rows.split(SIZES)):
        wanted = twin(module, sentence, ROWS[number])
        torch.testing.assert_close(found.split(SIZES)[number], wanted)
    if need_weights:
        sums = weights[0].sum(-1)[:, 0]  # (B, S)
        torch.testing.assert_close(sums, (~context_of(ROWS).layout.padding_mask).double())


def test_a_closed_gate_is_plain_attention_exactly_and_an_open_one_is_not():
    rows, context = states(), context_of(ROWS)
    closed, plain = attention(bias=-math.inf), plain_like(attention())
    ours, (table,) = run(closed, rows, context)
    theirs, (weights,) = run(plain, rows, context)
    assert torch.equal(ours, theirs)
    assert torch.equal(table, weights)
    fused = plain(rows, context)
    torch.testing.assert_close(closed(rows, context), fused, atol=1e-6, rtol=0)
    other = attention(bias=math.inf)
    assert not torch.allclose(other(rows, context), fused, atol=1e-3)


def test_a_threshold_as_wide_as_the_tree_is_plain_attention_whatever_the_gate():
    rows, context = states(), context_of(ROWS)
    wide = attention((TreeRule(5, "none"),))
    plain = plain_like(wide)(rows, context)
    torch.testing.assert_close(wide(rows, context), plain, atol=1e-12, rtol=0)
    narrow = attention((TreeRule(1, "none"),))
    assert not torch.allclose(narrow(rows, context), plain, atol=1e-3)


def test_other_heads_change_sla_and_leave_wla():
    rows = states()
    others = [Row(random_heads(6, 9)), *ROWS[1:]]
    for rules, change in ((SLA, True), ((WindowRule(1),), False)):
        first, second = (attention(rules)(rows, context_of(x)) for x in (ROWS, others))
        assert torch.allclose(first, second) is not change


@pytest.mark.parametrize("rules", [SLA, THREE], ids=["one", "three"])
def test_every_parameter_gets_gradient(rules):
    module, rows = attention(rules), states()
    module(rows, context_of(ROWS)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())
    assert rows.grad.abs().sum() > 0


@pytest.mark.parametrize("rules", [SLA, THREE], ids=["one", "three"])
@pytest.mark.parametrize("gated", [True, False])
def test_the_gradient_by_hand_is_that_of_ordinary_operations(rules, gated):
    module, rows = attention(rules if gated else rules[:1], gated=gated), states()
    wanted = [rows, *module.parameters()]
    results = []
    for need_weights in (False, True):  # by hand, openly
        out, _ = run(module, rows, context_of(ROWS), need_weights)
        results.append((out, torch.autograd.grad(out.sin().sum(), wanted)))
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize("separate", [True, False])
@pytest.mark.parametrize("drop", [0.0, 0.4])
def test_packed_mixture_has_the_gradient_of_its_values(drop, separate):
    context = context_of([Row([0, 1]), Row([2, 0]), Row([0])])
    blocks = context.layout.blocks
    additive_masks = [(None, context.additive_mask(TreeRule(0, "none"), block)) for block in blocks]
    torch.manual_seed(3)
    qkv = torch.randn(11, 12, dtype=torch.float64, requires_grad=True)
    gates = torch.rand(11, 2, dtype=torch.float64, requires_grad=True)

    def mixed(qkv, gates):
        torch.manual_seed(7)  # the same weights are dropped each time
        return PackedAttention.apply(qkv, gates, blocks, additive_masks, 2, drop, separate)

    assert torch.autograd.gradcheck(mixed, (qkv, gates))


@pytest.mark.slow
@pytest.mark.parametrize("rules", [SLA, THREE], ids=["one", "three"])
@pytest.mark.parametrize("separate", [True, False], ids=["separate", "mixture"])
def test_dropout_changes_no_mean_and_acts_in_training_alone(rules, separate, need_weights):
    rows, context = states(), context_of(ROWS)
    module = attention(rules, dropout=0.5, separate=separate)
    module.eval()
    first, second = (run(module, rows, context, need_weights)[0] for _ in range(2))
    assert torch.equal(first, second)
    module.train()
    assert not torch.allclose(*(run(module, rows, context, need_weights)[0] for _ in range(2)))
    torch.manual_seed(5)
    with torch.no_grad():
        for row, part in zip(ROWS, rows.split(SIZES)):  # one batch of many copies
            many = [part.repeat(3000, 1), context_of([row] * 3000)]
            mean = run(module.train(), *many, need_weights)[0].unflatten(0, (3000, -1)).mean(0)
            wanted, _ = run(module.eval(), part, context_of([row]), need_weights)
            torch.testing.assert_close(mean, wanted, atol=0.05, rtol=0)


@pytest.mark.parametrize("similar", [False, True])
@pytest.mark.parametrize("separate", [True, False], ids=["separate", "mixture"])
def test_each_softmax_loses_weights_of_its_own_or_the_mixture_does(separate, similar, need_weights):
    """Values are unit vectors and all is open, so results are the weights that were used."""
    copies, row = 1500, Row([0, 1])
    module = attention((WindowRule(9),), dropout=0.5, separate=separate, similar=similar)
    mixer = module.mixer
    torch.nn.init.zeros_(mixer.gate.weight)
    torch.nn.init.constant_(mixer.gate.bias, -math.log(3))  # a quarter is local
    context = context_of([row] * copies, extra=1)
    alike = torch.ones(copies, 4, 4)
    alike[:, 1:3, 1:3] = torch.rand(copies, 2, 2)  # of the words
    context = replace(context, similarity=alike[:, 1:3, 1:3], need_weights=need_weights)
    query, key = torch.randn(2, copies, 4, 2, 4, dtype=torch.float64)
    value = torch.eye(4, dtype=torch.float64)[None, :, None].expand_as(query)
    qkv = torch.stack([query, key, value], 2).flatten(2).flatten(0, 1)  # (N, 3 D)
    used, _ = mixer(qkv, 2, qkv[:, :8], context)
    scores = torch.einsum("nthk,nshk->nths", query, key) / 2
    weights = (scores * alike[:, :, None] if similar else scores).softmax(-1)
    shares = used.view_as(weights) / weights
    wanted = [0.0, 0.5, 1.5, 2.0] if separate else [0.0, 2.0]
    found, counts = shares.mul(1e6).round().div(1e6).unique(return_counts=True)
    assert found.tolist() == wanted
    chance = 1 / len(wanted)
    bound = 5 * (chance * (1 - chance) / shares.numel()) ** 0.5
    torch.testing.assert_close(
        counts / shares.numel(), torch.full((len(wanted),), chance), atol=bound, rtol=0
    )


@pytest.mark.parametrize("need_weights", [False, True])
def test_padding_and_batch_change_nothing(need_weights, monkeypatch):
    module, rows = attention(THREE), states()
    alone = [
        run(module, part, context_of([row]), need_weights)[0]
        for part, row in zip(rows.split(SIZES), ROWS)
    ]
    for left in (False, True):
        context = context_of(ROWS, left=left, extra=2)
        torch.testing.assert_close(module(rows, context), torch.cat(alone))
    on_an_accelerator(monkeypatch)
    for left in (False, True):
        context = context_of(ROWS, left=left, extra=2)
        found, tables = run(module, rows, context, need_weights)
        torch.testing.assert_close(found, torch.cat(alone))
        for table in tables:
            assert table.masked_select(context.layout.padding_mask[:, None, None]).eq(0).all()


def test_the_shares_of_local_attention_are_told():
    module, rows, context = attention(), states(), context_of(ROWS)
    module(rows, context)
    gate = module.mixer.gate
    wanted = torch.sigmoid(rows @ gate.weight.T + gate.bias)  # (N, 1), equation 5
    torch.testing.assert_close(context.outputs.gates, {3: wanted.detach()})
    assert not context.outputs.gates[3].requires_grad


def test_one_gate_a_token_serves_all_heads():
    assert sum(p.numel() for p in Gate(768).parameters()) * 12 == 9_228
    assert sum(p.numel() for p in Gate(1024).parameters()) * 24 == 24_600
    shares = Gate(8, 3)(torch.randn(5, 8))
    assert shares.shape == (5, 4)
    torch.testing.assert_close(shares.sum(-1), torch.ones(5))


def test_several_rules_need_a_gate():
    with pytest.raises(ValueError, match="3 rules of attention without a gate"):
        LocalMixer(THREE)
    with pytest.raises(ValueError, match="0 rules"):
        LocalMixer(())
