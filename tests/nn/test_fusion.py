"""Adaptive fusion: equations 1 to 7 against loops, identities, ablations, gradients, memory."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from trees import Row, context_of, random_heads

from fairseq_plugins.nn import fusion as fusion_module
from fairseq_plugins.nn.attention import GlobalMixer, SelfAttention
from fairseq_plugins.nn.dual_attention import DifferenceMixer, DualAttention
from fairseq_plugins.nn.fusion import ABLATIONS, AdaptiveFusion, AdditiveScores, Guide

WIDTH, HEADS, GUIDE = 6, 2, 3
ROW = Row(random_heads(2, 1), random_heads(3, 2))
SIZE = len(ROW.words)
PARTS = tuple(name for name in ABLATIONS if name != "difference")
LITERAL = {"guide": "concat", "output": "replace"}


def module_of(difference: str = "l1", scope: str = "all", **options) -> SelfAttention:
    torch.manual_seed(1)
    fusion = AdaptiveFusion(WIDTH, guide_dim=GUIDE, **options)
    dual = DualAttention(DifferenceMixer(difference, scope), fusion)
    module = SelfAttention(WIDTH, HEADS, GlobalMixer(), dual=dual).double()
    for parameter in module.parameters():
        parameter.data.normal_(std=0.7)
    return module


def states(seed: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(SIZE, WIDTH, dtype=torch.float64, generator=generator)


# The twin: one sentence, lists of numbers, one loop a sum.


def times(matrix, vector, bias=None):
    found = [sum(w * x for w, x in zip(row, vector)) for row in matrix.tolist()]
    return found if bias is None else [a + b for a, b in zip(found, bias.tolist())]


def tanh(vector):
    return [math.tanh(x) for x in vector]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def linear(layer, vector):
    return times(layer.weight, vector, layer.bias)


def softmax(scores):
    whole = sum(math.exp(score) for score in scores)
    return [math.exp(score) / whole for score in scores]


def weighted(weights, rows):
    return [sum(w * row[k] for w, row in zip(weights, rows)) for k in range(len(rows[0]))]


def attended(module, rows, score):
    """Rows of equation 1 or 2: heads side by side, ``score`` of a query and a key."""
    size = WIDTH // HEADS
    qkv = [linear(module.qkv, row) for row in rows]
    out = []
    for t in range(len(rows)):
        row = []
        for h in range(HEADS):
            part = [slice(i * WIDTH + h * size, i * WIDTH + (h + 1) * size) for i in range(3)]
            scores = [score(qkv[t][part[0]], other[part[1]]) / math.sqrt(size) for other in qkv]
            row += weighted(softmax(scores), [other[part[2]] for other in qkv])
        out.append(row)
    return out


def guided(guide, values, by):
    """The vector d-_i (or a-_i) that one vector asks for, equation 5."""
    scores = []
    for value in values:
        keys = times(guide.values.weight, value)
        if guide.guide is None:  # a concatenation: the other half is the same for all values
            scores.append(sum(w * math.tanh(k) for w, k in zip(guide.weight.tolist(), keys)))
        else:
            met = [k + q for k, q in zip(keys, linear(guide.guide, by))]
            scores.append(sum(w * math.tanh(x) for w, x in zip(guide.weight.tolist(), met)))
    return weighted(softmax(scores), values)


def fused(f, affinity, difference, i):
    """Equations 5 to 7 for token i."""
    a, d = affinity[i], difference[i]
    if f.ablate == "regulation":
        return [(x + y) / 2 for x, y in zip(a, d)]
    if f.ablate == "affinity":
        v = tanh(linear(f.difference_hat, tanh(linear(f.difference_star, d + d))))
        seen = []
    else:
        d_bar = d if f.ablate == "guide" else guided(f.guide_difference, difference, a)
        a_bar = a if f.ablate == "guide" else guided(f.guide_affinity, affinity, d_bar)
        d_hat = tanh(linear(f.difference_hat, tanh(linear(f.difference_star, d + d_bar))))
        a_hat = tanh(linear(f.affinity_hat, tanh(linear(f.affinity_star, a + a_bar))))
        g = 0.5
        if f.ablate != "fusion-gate":
            g = sigmoid(times(f.fusion_gate.weight, d_hat + a_hat)[0])
        v = [g * x + (1 - g) * y for x, y in zip(a_hat, d_hat)]
        seen = a
    passed = 1.0
    if f.ablate != "filter-gate":
        passed = sigmoid(times(f.filter_gate.weight, seen + linear(f.filter_map, v))[0])
    found = [passed * x for x in tanh(times(f.last_weight, v, f.last_bias))]
    return [x + y for x, y in zip(a, found)] if f.adds else found


def twin(module, rows):
    rows = rows.tolist()
    norm = module.dual.difference.difference
    distance = {
        "l1": lambda q, k: sum(abs(x - y) for x, y in zip(q, k)),
        "signed": lambda q, k: sum(x - y for x, y in zip(q, k)),
    }[norm]
    affinity = attended(module, rows, lambda q, k: sum(x * y for x, y in zip(q, k)))
    difference = attended(module, rows, distance)
    found = [fused(module.dual.fusion, affinity, difference, i) for i in range(len(rows))]
    return torch.tensor([linear(module.out, row) for row in found], dtype=torch.float64)


@pytest.mark.parametrize("ablate", PARTS)
@pytest.mark.parametrize(
    ("difference", "options"),
    [("l1", {}), ("l1", {"output": "replace"}), ("signed", LITERAL), ("l1", {"guide": "concat"})],
)
def test_equations_1_to_7_equal_their_twin(difference, options, ablate):
    module = module_of(difference, ablate=ablate, **options)
    found = module(states(), context_of([ROW]))
    torch.testing.assert_close(found, twin(module, states()), rtol=1e-9, atol=1e-9)


def test_a_zero_start_is_plain_attention_and_a_normal_one_is_not():
    plain = SelfAttention(WIDTH, HEADS).double()
    for init, same in (("zero", True), ("normal", False)):
        torch.manual_seed(1)
        dual = DualAttention(DifferenceMixer(), AdaptiveFusion(WIDTH, guide_dim=GUIDE, init=init))
        module = SelfAttention(WIDTH, HEADS, dual=dual).double()
        plain.load_state_dict(module.state_dict(), strict=False)
        found = module(states(), context_of([ROW]))
        wanted = plain(states(), context_of([ROW]))
        assert torch.equal(found, wanted) == same


def test_last_map_of_zero_leaves_plain_attention_whatever_the_rest():
    module, plain = module_of(), SelfAttention(WIDTH, HEADS).double()
    with torch.no_grad():
        module.dual.fusion.last_weight.zero_()
        module.dual.fusion.last_bias.zero_()
    plain.load_state_dict(module.state_dict(), strict=False)
    found = module(states(), context_of([ROW]))
    assert torch.equal(found, plain(states(), context_of([ROW])))


@pytest.mark.parametrize(("kind", "equal"), [("additive", False), ("concat", True)])
def test_only_the_concatenated_guide_makes_all_rows_equal(kind, equal):
    torch.manual_seed(1)
    guide = Guide(WIDTH, GUIDE, kind).double()
    for parameter in guide.parameters():
        parameter.data.normal_()
    found = guide(states(1), states(2), context_of([ROW]))
    assert ((found - found[:1]).abs().max() < 1e-12) == equal
    other = guide(states(1), states(3), context_of([ROW]))
    assert torch.equal(found, other) == equal  # the guiding signal cancels, or it does not


def test_a_printed_guide_with_all_its_weights_equals_ours_without_those_that_cancel():
    """Eq. 5 as printed: tanh([W_D D ; W_a a_i + b]), then one row of 2 P weights and a bias."""
    torch.manual_seed(1)
    guide = Guide(WIDTH, GUIDE, "concat").double()
    for parameter in guide.parameters():
        parameter.data.normal_()
    w_a, b_a = torch.randn(GUIDE, WIDTH).double(), torch.randn(GUIDE).double()
    w_second, bias = torch.randn(GUIDE).double(), torch.randn(()).double()
    values, by = states(1), states(2)
    joined = torch.cat(
        [
            (values @ guide.values.weight.T)[None].expand(SIZE, -1, -1),
            (by @ w_a.T + b_a)[:, None].expand(-1, SIZE, -1),
        ],
        -1,
    ).tanh()  # (T, S, 2 P)
    printed = (joined @ torch.cat([guide.weight, w_second]) + bias).softmax(-1) @ values
    torch.testing.assert_close(guide(values, by, context_of([ROW])), printed)


@pytest.mark.parametrize("chunk", [1, 40, 10**6])
def test_additive_scores_and_their_gradients(chunk, monkeypatch):
    monkeypatch.setattr(fusion_module, "CHUNK", {"cpu": chunk})
    torch.manual_seed(1)
    shapes = ((2, 4, 3), (2, 5, 3), (3,))
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    query, key, weight = given
    found = AdditiveScores.apply(*given)
    for n, i, j in product(range(2), range(4), range(5)):
        wanted = sum(
            w * math.tanh(q + k)
            for w, q, k in zip(weight.tolist(), query[n, i].tolist(), key[n, j].tolist())
        )
        assert found[n, i, j].item() == pytest.approx(wanted, abs=1e-12)
    assert torch.autograd.gradcheck(AdditiveScores.apply, given)


def test_neither_guide_nor_distance_keeps_a_tensor_of_queries_by_keys_by_width():
    length, width = 64, 128
    row = Row([0] * (length - 2))
    torch.manual_seed(1)
    fusion = AdaptiveFusion(width, guide_dim=width)
    module = SelfAttention(width, 2, dual=DualAttention(DifferenceMixer(), fusion))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append(t.numel()) or t, lambda t: t
    ):
        module(torch.randn(length, width), context_of([row]))
    assert max(kept) < length * length * width / 4


@pytest.mark.parametrize("ablate", PARTS)
@pytest.mark.parametrize("options", [{}, LITERAL])
def test_every_parameter_gets_a_gradient(ablate, options):
    module = module_of(ablate=ablate, **options)
    module(states(), context_of([ROW])).square().sum().backward()
    without = [name for name, p in module.named_parameters() if p.grad is None]
    assert without == []
    still = [name for name, p in module.dual.named_parameters() if not p.grad.abs().sum() > 0]
    assert still == []


def test_gradients_of_the_whole_layer_are_those_of_finite_differences():
    module = module_of()
    rows = states().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: module(x, context_of([ROW])), (rows,))


def test_ablations_differ_from_the_whole_and_from_each_other():
    found = {}
    whole = module_of()
    for ablate in PARTS:
        module = module_of(ablate=ablate)
        module.load_state_dict(
            {
                k: v
                for k, v in whole.state_dict().items()
                if k in module.state_dict() and v.shape == module.state_dict()[k].shape
            },
            strict=False,
        )
        found[ablate] = module(states(), context_of([ROW]))
    for first, second in product(PARTS, PARTS):
        if first != second:
            assert (found[first] - found[second]).abs().max() > 1e-3


def test_ablated_parts_have_no_parameters():
    names = {a: {n for n, _ in module_of(ablate=a).dual.named_parameters()} for a in PARTS}
    assert names["regulation"] == set()
    assert not any("affinity" in name or "guide" in name for name in names["affinity"])
    assert not any("guide" in name for name in names["guide"])
    assert names["none"] - names["fusion-gate"] == {"fusion.fusion_gate.weight"}
    assert names["none"] - names["filter-gate"] == {
        "fusion.filter_gate.weight",
        "fusion.filter_map.weight",
        "fusion.filter_map.bias",
    }


def test_ablated_gates_are_told_as_what_stands_in_their_place():
    for ablate, share, passed in (("fusion-gate", 0.5, None), ("filter-gate", None, 1.0)):
        context = context_of([ROW])
        module_of(ablate=ablate)(states(), context)
        gates = context.outputs.fusions[0]
        assert share is None or (gates[:, 0] == share).all()
        assert passed is None or (gates[:, 1] == passed).all()
