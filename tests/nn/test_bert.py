"""The encoder: padding, batches, features, injection."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
import torch

from fairseq_plugins.nn.attention import AttentionContext, Mixer, SelfAttention
from fairseq_plugins.nn.bert import ACTIVATIONS, BertEncoder, BertShape
from fairseq_plugins.nn.heads import LabelHead
from fairseq_plugins.nn.infusion import FeatureInfusion

SHAPE = BertShape(vocabulary=30, hidden=16, layers=2, heads=2, intermediate=32, positions=12)
SIZES = {"pos": 7}


def build(features=None, shape=SHAPE, **kwargs) -> BertEncoder:
    torch.manual_seed(3)
    encoder = BertEncoder(shape, features=features, **kwargs).double().eval()
    with torch.no_grad():  # biases and norms away from their idle start
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return encoder


def sentences() -> list[torch.Tensor]:
    torch.manual_seed(4)
    return [torch.randint(1, 30, (n,)) for n in (5, 9, 2)]


def batch(rows, width=10, side="right") -> torch.Tensor:
    out = torch.zeros(len(rows), width, dtype=torch.long)
    for line, row in zip(out, rows):
        line[slice(0, len(row)) if side == "right" else slice(width - len(row), width)] = row
    return out


def segments_like(tokens: torch.Tensor) -> torch.Tensor:
    return tokens.ne(0).cumsum(1).gt(3).long()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("width", [9, 12])
def test_padding_changes_nothing(side, width):
    encoder, rows = build(), sentences()
    tokens = batch(rows, width, side)
    output = encoder(tokens, segments_like(tokens))
    pooled = encoder.pool(output)
    for number, found in enumerate(torch.split(output.rows, [5, 9, 2])):
        alone = rows[number][None]
        single = encoder(alone, segments_like(alone))
        torch.testing.assert_close(found, single.rows)
        torch.testing.assert_close(pooled[number], encoder.pool(single)[0])


def test_padded_states_are_zero_at_padding_and_rows_elsewhere():
    tokens = batch(sentences())
    output = build()(tokens)
    assert output.layout.pad(output.rows).shape == (3, 10, 16)
    assert output.layout.pad(output.rows)[tokens.eq(0)].eq(0).all()
    assert torch.equal(output.layout.pad(output.rows)[tokens.ne(0)], output.rows)
    assert torch.equal(output.first, output.layout.pad(output.rows)[:, 0])


def test_given_places_equal_found_ones():
    encoder, tokens = build(), batch(sentences())
    places = tokens.ne(0).flatten().nonzero().squeeze(1)
    assert torch.equal(encoder(tokens, token_positions=places).rows, encoder(tokens).rows)


def test_weights_and_layers_come_on_request():
    encoder, tokens = build(), batch(sentences())
    plain = encoder(tokens)
    assert (plain.outputs.weights, plain.layers) == ([], [])
    full = encoder(tokens, need_weights=True, need_layers=True)
    assert [tuple(w.shape) for w in full.outputs.weights] == [(3, 2, 10, 10)] * 2
    assert len(full.layers) == 3
    assert full.layers[-1] is full.rows
    torch.testing.assert_close(full.rows, plain.rows)


def test_order_words_and_segments_all_matter():
    encoder = build()
    tokens = torch.tensor([[5, 6, 7, 8]])
    base = encoder(tokens, torch.tensor([[0, 0, 1, 1]])).rows
    assert torch.equal(encoder(tokens).rows, encoder(tokens, torch.zeros(1, 4).long()).rows)
    for other in (
        encoder(tokens),
        encoder(tokens.flip(1), torch.tensor([[0, 0, 1, 1]])),
        encoder(torch.tensor([[5, 6, 7, 9]]), torch.tensor([[0, 0, 1, 1]])),
    ):
        assert not torch.allclose(other.rows, base)


@pytest.mark.parametrize("other", [{}, {"embedding": 24}, {"shared": True}], ids=str)
def test_weights_start_small_and_biases_and_padding_at_zero(other):
    torch.manual_seed(1)
    encoder = BertEncoder(replace(SHAPE, vocabulary=300, hidden=64, positions=64, **other))
    assert not encoder.embeddings.words.weight[SHAPE.padding].any()
    for name, one in encoder.named_parameters():
        if one.dim() == 2 and len(one) > 2:  # few segments tell no spread
            assert 0.017 < one.std() < 0.023, name
        elif "norm" not in name and name.endswith("bias"):
            assert not one.any(), name


def test_attention_is_injected_layer_by_layer():
    asked = []

    class Silent(Mixer):
        def packs(self, context):
            return False

        def mix(self, qkv, extras, block, context, bias=None):
            return torch.zeros_like(qkv[2]), None

    def make(layer):
        asked.append(layer)
        return SelfAttention(16, 2, Silent() if layer == 1 else None)

    encoder, plain = build(attention=make), build()
    assert asked == [0, 1]
    encoder.load_state_dict(plain.state_dict())
    tokens = batch(sentences())
    ours, theirs = (e(tokens, need_layers=True).layers for e in (encoder, plain))
    assert torch.equal(ours[1], theirs[1])
    assert not torch.allclose(ours[2], theirs[2])


def factors_for(tokens: torch.Tensor) -> torch.Tensor:
    ids = torch.randint(1, 7, (*tokens.shape, 1), generator=torch.Generator().manual_seed(5))
    return ids.masked_fill(tokens.eq(0)[..., None], 0)


@pytest.mark.parametrize("merge", ["add", "affine"])
def test_zero_features_are_exactly_bert_and_learn_away_from_it(merge):
    plain = build()
    infusion = FeatureInfusion(16, SIZES, merge=merge, dim=4, init="zero").double()
    encoder = BertEncoder(SHAPE, features=infusion).double().eval()
    encoder.load_state_dict(plain.state_dict(), strict=False)
    tokens = batch(sentences())
    found = encoder(tokens, factors=factors_for(tokens)).rows
    assert torch.equal(found, plain(tokens).rows)
    found.square().sum().backward()
    moving = [infusion.factors.tables["pos"].weight] if merge == "add" else [infusion.affine.weight]
    assert all(p.grad.abs().sum() > 0 for p in moving)
    with torch.no_grad():
        for parameter in moving:
            parameter.sub_(0.1 * parameter.grad)
    assert not torch.allclose(encoder(tokens, factors=factors_for(tokens)).rows, plain(tokens).rows)


@pytest.mark.parametrize("merge", ["add", "affine"])
def test_features_change_the_output_and_get_gradient(merge):
    infusion = FeatureInfusion(16, SIZES, merge=merge, dim=4).double()
    encoder = build(infusion)
    tokens = batch(sentences())
    factors = factors_for(tokens)
    found = encoder(tokens, factors=factors).rows
    other = factors.clone()
    other[0, 0] = other[0, 0] % 6 + 1
    changed = encoder(tokens, factors=other).rows
    assert not torch.allclose(found[:5], changed[:5])
    assert torch.equal(found[5:], changed[5:])
    found.square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in infusion.parameters())
    assert infusion.factors.tables["pos"].weight.grad[0].eq(0).all()


def test_added_parameters_are_exactly_the_table_and_the_map():
    def count(features):
        return sum(p.numel() for p in BertEncoder(SHAPE, features=features).parameters())

    plain = count(None)
    assert count(FeatureInfusion(16, SIZES)) - plain == 7 * 16
    assert count(FeatureInfusion(16, SIZES, merge="affine", dim=4)) - plain == 7 * 4 + 20 * 16 + 16


def test_features_add_to_the_word_before_the_norm():
    infusion = FeatureInfusion(16, SIZES).double()
    encoder = build(infusion)
    tokens = torch.tensor([[5, 6]])
    factors = torch.tensor([[[2], [3]]])
    wanted = encoder.embeddings.norm(
        encoder.embeddings.words.weight[[5, 6]]
        + infusion.factors.tables["pos"].weight[[2, 3]]
        + encoder.embeddings.positions.weight[:2]
        + encoder.embeddings.segments.weight[0]
    )
    found = encoder(tokens, factors=factors, need_layers=True).layers[0]
    torch.testing.assert_close(found, wanted)


def test_missing_features_are_an_error():
    with pytest.raises(ValueError, match="has no src_factors"):
        build(FeatureInfusion(16, SIZES).double())(torch.tensor([[5, 6]]))


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_activation_is_used(activation):
    tokens = batch(sentences())
    other = build(shape=replace(SHAPE, activation=activation))
    other.load_state_dict(build().state_dict())
    assert not torch.allclose(other(tokens).rows, build()(tokens).rows)


def test_encoder_without_pooler_says_so():
    encoder = build(shape=replace(SHAPE, pooler=False))
    assert not any("pooler" in name for name, _ in encoder.named_parameters())


def test_heads_read_the_first_token_and_the_words():
    encoder, tokens = build(), batch(sentences())
    output = encoder(tokens)
    head, words = LabelHead(16, 3).double().eval(), torch.tensor([1, 6, 15])
    classes, labels = head(encoder.pool(output)), head(output.rows[words])
    assert torch.equal(classes, head.out(encoder.pool(output)))
    (classes.square().sum() + labels.square().sum()).backward()
    for parameter in [*encoder.parameters(), *head.parameters()]:
        assert parameter.grad.abs().sum() > 0


def test_dropout_acts_in_training_alone():
    encoder, tokens = build(), batch(sentences())
    assert torch.equal(encoder(tokens).rows, encoder(tokens).rows)
    encoder.train()
    assert not torch.equal(encoder(tokens).rows, encoder(tokens).rows)


def test_dropout_stands_behind_embeddings_and_behind_both_blocks():
    """With dropout that leaves nothing, a layer is its two norms."""
    encoder, tokens = build(), batch(sentences())
    output = encoder(tokens, need_layers=True)
    embeddings, layer = encoder.embeddings, encoder.layers[0]
    layer.dropout.add = lambda values, change: values
    found = layer(output.layers[0], AttentionContext(output.layout))
    assert torch.equal(found, layer.output_norm(layer.attention_norm(output.layers[0])))
    embeddings.dropout.forward = lambda values: 0 * values
    assert embeddings(tokens, None, output.layout, None).eq(0).all()


def test_heads_drop_in_training_alone():
    head, states = LabelHead(16, 3, 0.5), torch.randn(9, 16)
    assert not torch.equal(head(states), head(states))
    head.eval()
    assert torch.equal(head(states), head(states))


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_answers_without_gradients_are_the_same(activation):
    encoder, tokens = build(shape=replace(SHAPE, activation=activation)), batch(sentences())
    found = encoder(tokens).rows
    assert found.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(encoder(tokens).rows, found)


def test_an_encoder_can_be_pickled():
    encoder, tokens = build(), batch(sentences())
    assert torch.equal(pickle.loads(pickle.dumps(encoder))(tokens).rows, encoder(tokens).rows)
