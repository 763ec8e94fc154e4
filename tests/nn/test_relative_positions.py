"""Positions that attention knows by itself: twins in loops, all ways of computing, every method."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from unittest import mock

import pytest
import torch
from trees import Row, context_of, random_heads, run

from fairseq_plugins.nn import banded_attention
from fairseq_plugins.nn.ancestor_attention import SyntaxLayers
from fairseq_plugins.nn.attention import GlobalMixer, SelfAttention
from fairseq_plugins.nn.bert import BertEncoder, BertShape
from fairseq_plugins.nn.dual_attention import CONTROLS, DifferenceMixer, DualAttention
from fairseq_plugins.nn.fusion import AdaptiveFusion
from fairseq_plugins.nn.local_attention import Gate, LocalMixer
from fairseq_plugins.nn.packed_attention import PackedAttention
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.padded_model import PaddedModel
from fairseq_plugins.nn.parent_attention import ParentSupervision
from fairseq_plugins.nn.relative_positions import (
    Buckets,
    Disentangled,
    Rotary,
    deberta_bucket,
    mpnet_bucket,
    place,
    shared_part,
    stretch,
)
from fairseq_plugins.nn.tree_masks import TreeRule, WindowRule

SHAPE = BertShape(30, 8, 2, 2, 12, dropout=0.0, attention_dropout=0.0)
SMALL = {"furthest": 9, "buckets": 6}
FORMS = {
    "turned": Rotary(50.0, 20.0, window=4, every=2),
    "buckets": Buckets(),
    "distances": Disentangled(**SMALL),
    "own maps": Disentangled(**SMALL, shared=False, normed=False),
    "queries alone": Disentangled(**SMALL, position_to_content=False),
    "keys alone": Disentangled(**SMALL, shared=False, content_to_position=False),
    "no buckets": Disentangled(furthest=4, buckets=0),
    "many": Disentangled(),
}
ROWS = [Row(random_heads(9, 1)), Row(random_heads(2, 2), random_heads(3, 3)), Row([0])]
SIZES = [len(row.words) for row in ROWS]
RULES = (TreeRule(1, "none"), WindowRule(1))


def mixer_of(kind: str, dropout: float = 0.0) -> GlobalMixer | LocalMixer:
    if kind == "global":
        return GlobalMixer(dropout)
    return LocalMixer(RULES, Gate(8, 2, 0.3), dropout, separate=kind != "mixture")


class Attention(torch.nn.Module):
    """A layer's attention with the encoder's part of its positions."""

    def __init__(self, form, kind: str = "global", layer: int = 1, **parts) -> None:
        super().__init__()
        torch.manual_seed(1)
        shape, dropout = replace(SHAPE, relative=form), parts.pop("dropout", 0.0)
        own = SelfAttention(8, 2, mixer_of(kind, dropout), **parts)
        self.attention, self.shared = place(own, shape, layer), shared_part(shape)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
        self.double()

    def forward(self, rows, context):
        context.relative = self.shared and self.shared(context.layout, rows)
        return self.attention(rows, context)


def states() -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(sum(SIZES), 8, dtype=torch.float64, generator=generator).requires_grad_()


def bucket(away: int, form: Disentangled) -> int:
    """The row of DeBERTa's table for a distance, by its equation."""
    if form.buckets and abs(away) > form.buckets // 2:
        middle = form.buckets // 2
        share = math.log(abs(away) / middle) / math.log((form.furthest - 1) / middle)
        away = int(math.copysign(math.ceil(share * (middle - 1)) + middle, away))
    return min(max(away + form.span, 0), 2 * form.span - 1)


def turned(vector: torch.Tensor, position: int, base: float) -> torch.Tensor:
    """A head's query or key as complex numbers, each turned by its own angle."""
    half = len(vector) // 2
    numbers = torch.complex(vector[:half], vector[half:])
    powers = [position / base ** (2 * k / len(vector)) for k in range(half)]
    angles = torch.tensor(powers, dtype=torch.float64)
    numbers = numbers * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([numbers.real, numbers.imag])


def score(module, head: int, i: int, j: int, query, key, *, layer: int = 1):
    """One score from a head's query i and key j, (K,) each."""
    own, shared, form = module.attention, module.shared, module.form
    size, part = len(query), slice(head * len(query), (head + 1) * len(query))
    if isinstance(form, Rotary):
        base = form.local_base if layer % form.every else form.global_base
        return turned(query, i, base) @ turned(key, j, base) / math.sqrt(size)
    found = query @ key
    if isinstance(form, Buckets):
        return (
            found / math.sqrt(size) + shared.table.weight[mpnet_bucket(torch.tensor(i - j)), head]
        )
    vector = shared.table.weight[bucket(i - j, form)]
    vector = vector if shared.norm is None else shared.norm(vector)
    wanted, offered, _ = own.qkv(vector).chunk(3)
    if not form.shared:
        wanted, offered = (map and map(vector) for map in (own.positions.query, own.positions.key))
    if form.content_to_position:
        found = found + query @ offered[part]
    if form.position_to_content:
        found = found + key @ wanted[part]
    return found / math.sqrt(form.terms * size)


def twin(module, sentence: torch.Tensor, row: Row) -> torch.Tensor:
    """The attention of one sentence (S, D) by loops over heads, queries and keys."""
    own, size = module.attention, len(row.words)
    query, key, value = own.qkv(sentence).chunk(3, 1)
    mixer, context = own.mixer, context_of([row])
    masks = [torch.ones(size, size, dtype=torch.bool)]
    shares = torch.ones(size, 1).double()
    if isinstance(mixer, LocalMixer):
        masks += [r(context.words, context.segments, context.heads)[0] for r in mixer.rules]
        shares = mixer.gate(sentence)
    out = []
    for i in range(size):
        parts = []
        for head in range(2):
            part = slice(4 * head, 4 * head + 4)
            scores = [score(module, head, i, j, query[i, part], key[j, part]) for j in range(size)]
            mixed = 0.0
            for mask, share in zip(masks, shares[i]):
                seen = [
                    j
                    for j in range(size)
                    if mask[i, j] and (mixer.reach is None or abs(i - j) <= mixer.reach)
                ]
                weights = torch.stack([scores[j] for j in seen]).softmax(0)
                mixed = mixed + share * weights @ value[seen][:, part]
            parts.append(mixed)
        out.append(torch.cat(parts))
    return own.out(torch.stack(out))


def all_ways(module, rows):
    """Values, and gradients if there are any, by every way of computing."""
    inputs = [rows, *module.parameters()]
    for padded, need_weights in ((False, False), (False, True), (True, False), (True, True)):
        with mock.patch.object(BatchLayout, "by_length", not padded):
            found, _ = run(module, rows, context_of(ROWS, extra=1), need_weights)
        yield found, torch.autograd.grad(found.sin().sum(), inputs, allow_unused=True)
    with torch.no_grad():
        yield module(rows, context_of(ROWS)), None
        yield module(rows, context_of(ROWS, left=True, extra=2)), None


@pytest.mark.parametrize("kind", ["global", "local"])
@pytest.mark.parametrize("name", FORMS)
def test_attention_is_the_loop_over_its_equations_every_way(name, kind) -> None:
    module, rows = Attention(FORMS[name], kind), states()
    module.form = FORMS[name]
    wanted = torch.cat([twin(module, s, row) for s, row in zip(rows.split(SIZES), ROWS)])
    inputs = [rows, *module.parameters()]
    gradients = torch.autograd.grad(wanted.sin().sum(), inputs, allow_unused=True)
    for found, own in all_ways(module, rows):
        torch.testing.assert_close(found, wanted)
        for one, other in zip(own or (), gradients):
            torch.testing.assert_close(one, other)
    assert sum(one is None for one in gradients) == 0
    others = [Attention(form, kind)(rows, context_of(ROWS)) for form in (None, *FORMS.values())]
    assert sum(torch.allclose(wanted, other) for other in others) == 1


@pytest.mark.parametrize("kind", ["global", "separate", "mixture"])
@pytest.mark.parametrize("name", ["turned", "buckets", "distances"])
def test_gradients_under_dropout_are_those_of_differences(name, kind) -> None:
    module, rows = Attention(FORMS[name], kind, dropout=0.4), states()
    tables = [p for n, p in module.named_parameters() if n.startswith("shared")]

    def mixed(rows, *_):
        torch.manual_seed(3)
        return module(rows, context_of(ROWS))

    with mock.patch.object(PackedAttention, "apply", wraps=PackedAttention.apply) as packed:
        torch.autograd.gradcheck(mixed, (rows, *tables), fast_mode=True)
    assert packed.called


@pytest.mark.parametrize("form", [None, *FORMS.values()])
@pytest.mark.parametrize("control", CONTROLS)
def test_distances_are_of_contents_and_a_second_affinity_knows_positions(form, control) -> None:
    dual = DualAttention(DifferenceMixer(control=control), AdaptiveFusion(8, guide_dim=3))
    module, rows = Attention(form, dual=dual), states()
    context = context_of(ROWS)
    with mock.patch.object(dual.fusion, "forward", wraps=dual.fusion.forward) as fusion:
        module(rows, context)
    second = fusion.call_args.args[1]
    module.attention.positions, dual.difference.reach = None, None
    found, _ = dual.difference(module.attention.qkv(rows), 2, rows, context_of(ROWS))
    knows = control == "second-affinity" or (control == "none" and isinstance(form, Rotary))
    assert torch.allclose(second, found) == (form is None or not knows)


@pytest.mark.parametrize("form", FORMS.values())
def test_the_loss_of_parents_reads_the_scores_of_its_head(form) -> None:
    module, rows = Attention(form, supervision=ParentSupervision()), states()
    context = context_of(ROWS)
    with mock.patch("fairseq_plugins.nn.parent_attention.parent_loss") as loss:
        loss.side_effect = lambda scores, *_: scores.sum()
        module(rows, context)
    given = torch.cat([call.args[0].softmax(-1).flatten() for call in loss.call_args_list])
    module.attention.mixer.reach = None
    _, (weights,) = run(module, rows, context_of(ROWS))
    wanted = [w[-1, :size, :size].flatten() for w, size in zip(weights, SIZES)]
    torch.testing.assert_close(given, torch.cat(wanted))


@pytest.mark.parametrize("form", FORMS.values())
def test_an_encoder_recomputes_its_layers_and_adds_plain_ones(form) -> None:
    conv = replace(form, kernel=3) if isinstance(form, Disentangled) else form
    shape = replace(SHAPE, relative=conv, norm_first=True, gated=True, biases=False)
    encoder = BertEncoder(shape, top=SyntaxLayers(shape)).double()
    tokens = torch.tensor([[3, 4, 5, 6, 7], [3, 4, 5, 0, 0]])
    words = torch.tensor([[-1, 0, 1, 2, -1], [-1, 0, -1, -1, -1]])
    heads = torch.tensor([[0, 0, 1], [0, 1, 2]])
    found = []
    for encoder.recomputes in (False, True):
        encoder.zero_grad()
        rows = encoder(tokens, words=words, heads=heads).rows
        rows.square().sum().backward()
        found.append([rows, *(p.grad for n, p in encoder.named_parameters() if "pooler" not in n)])
    for one, other in zip(*found):
        assert one.any()
        assert torch.equal(one, other)
    added = encoder.top.layers[0]
    assert added.inner.bias is not None
    assert added.attention.positions is None
    assert not added.norm_first


@pytest.mark.parametrize("form", [Disentangled(furthest=40, buckets=20), Rotary(window=12)])
def test_a_graph_from_short_texts_holds_for_long_ones(form) -> None:
    shape = replace(SHAPE, relative=form, pooler=False)
    model = PaddedModel(BertEncoder(shape), torch.nn.Linear(8, 2)).eval()
    tokens = torch.arange(3, 9).expand(2, -1)
    batch = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    graph = torch.export.export(model, (), batch, dynamic_shapes=dict.fromkeys(batch, axes))
    for length in (2, 9, 10, 11, 70):
        tokens = torch.randint(1, 30, (3, length))
        batch = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        torch.testing.assert_close(graph.module()(**batch)[0], model(**batch)[0])


def test_buckets_are_those_of_their_equations() -> None:
    away = torch.arange(-700, 701)
    for form in (Disentangled(), Disentangled(**SMALL), Disentangled(furthest=20, buckets=0)):
        rows = deberta_bucket(away, form.buckets, stretch(form)) + form.span
        wanted = [bucket(a, form) for a in away.tolist()]
        assert rows.clamp(0, 2 * form.span - 1).tolist() == wanted
    found = dict(zip(away.tolist(), mpnet_bucket(away).tolist()))
    assert [found[a] for a in (0, 1, 7, 8, 127, 128, 700)] == [0, 1, 7, 8, 15, 15, 15]
    assert [found[a] for a in (-1, -7, -8, -700)] == [17, 23, 24, 31]
    assert all(found[a + 1] >= found[a] for a in range(700))


def test_far_tokens_are_closed_in_every_attention_of_a_layer_with_a_window() -> None:
    module, rows = Attention(FORMS["turned"], "local"), states()
    row = Row(random_heads(9, 1))
    first = rows[: SIZES[0]]
    _, (weights,) = run(module, first, context_of([row]))
    place = torch.arange(SIZES[0])
    near = (place[:, None] - place).abs() <= 2
    assert (weights[0] > 0).any(0).equal(near)
    wide = Attention(FORMS["turned"], "local", layer=0)
    assert (run(wide, first, context_of([row]))[1][0] > 0).all()


@pytest.mark.parametrize("window", [2, 4, 6])
def test_long_sentences_are_cut_into_blocks_with_equal_results(window) -> None:
    rows = [Row(random_heads(size, 1)) for size in (40, 40, 33, 25, 3)]
    module = Attention(Rotary(50.0, 20.0, window=window, every=2))
    generator = torch.Generator().manual_seed(2)
    count = sum(len(row.words) for row in rows)
    given = torch.randn(count, 8, dtype=torch.float64, generator=generator).requires_grad_()
    wanted, _ = run(module, given, context_of(rows))  # with weights, which need all pairs
    (gradient,) = torch.autograd.grad(wanted.sin().sum(), given)
    for by_length, how in product((True, False), ({}, {"left": True}, {"extra": 3})):
        banded = mock.patch("fairseq_plugins.nn.attention.banded", wraps=banded_attention.banded)
        with mock.patch.object(BatchLayout, "by_length", by_length), banded as cut:
            found = module(given, context_of(rows, **how))
            with torch.no_grad():
                torch.testing.assert_close(module(given, context_of(rows, **how)), wanted)
        assert cut.called
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(torch.autograd.grad(found.sin().sum(), given)[0], gradient)
