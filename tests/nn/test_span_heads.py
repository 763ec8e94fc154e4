"""Span heads: convolutions and LSTM against torch's on single sentences, padding, gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from question_pairs import PAIRS, WIDTH, shape, states
from torch import nn
from trees import context_of

from fairseq_plugins.nn.bert import BertEncoder
from fairseq_plugins.nn.coattention import DirectedCoattention
from fairseq_plugins.nn.convolution import TokenConvolution
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.span_heads import (
    LSTMS,
    Answerability,
    JointSpanHead,
    LayerInputs,
    SeparateSpanHead,
    SpanReader,
    TokenLstm,
)

HEADS = {
    "joint": lambda: JointSpanHead(shape()),
    **{lstm: lambda lstm=lstm: SeparateSpanHead(shape(), lstm) for lstm in LSTMS},
}


def layout_of(lengths: list[int], *, left: bool = False) -> BatchLayout:
    width = max(lengths) + 2
    mask = torch.arange(width) >= torch.tensor(lengths)[:, None]
    return BatchLayout.of(mask.flip(1) if left else mask)


def loud(module: nn.Module) -> nn.Module:
    torch.manual_seed(3)
    for parameter in module.parameters():
        parameter.data.normal_(std=0.5)
    return module.double()


batches = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(batches, st.sampled_from([1, 3, 7]), st.booleans())
def test_convolution_is_torchs_on_every_sentence(lengths, width, left):
    module, layout = loud(TokenConvolution(4, 5, width)), layout_of(lengths, left=left)
    rows = torch.randn(sum(lengths), 4, dtype=torch.float64)
    wanted = [module.map(own.T[None])[0].T for own in rows.split(lengths)]
    torch.testing.assert_close(module(rows, layout), torch.cat(wanted))


@settings(max_examples=40, deadline=None)
@given(batches, st.booleans(), st.booleans())
def test_lstm_is_torchs_on_every_sentence(lengths, both_ways, left):
    module, layout = loud(TokenLstm(4, 3, both_ways=both_ways)), layout_of(lengths, left=left)
    rows = torch.randn(sum(lengths), 4, dtype=torch.float64)
    wanted = [module.map(own)[0] for own in rows.split(lengths)]
    torch.testing.assert_close(module(rows, layout), torch.cat(wanted))


def test_a_convolution_needs_a_middle():
    with pytest.raises(ValueError, match="odd"):
        TokenConvolution(2, 2, 4)


@pytest.mark.parametrize("name", HEADS)
def test_heads_do_not_depend_on_the_batch(name):
    head, context = loud(HEADS[name]()), context_of(PAIRS, extra=2)
    rows = states(context)
    sizes = [len(row.words) for row in PAIRS]
    alone = [head(own, context_of([row])) for own, row in zip(rows.split(sizes), PAIRS)]
    torch.testing.assert_close(head(rows, context), torch.cat(alone))


@pytest.mark.parametrize("name", HEADS)
def test_gradients_reach_every_parameter_of_heads(name):
    head, context = loud(HEADS[name]()), context_of(PAIRS)
    (head(states(context), context) * torch.tensor([1.0, 2.0])).square().sum().backward()
    for part, parameter in head.named_parameters():
        assert parameter.grad.any(), part


def test_the_lstm_reads_the_end_first_and_from_the_left():
    head, context = loud(SeparateSpanHead(shape())), context_of(PAIRS[:1])
    rows = states(context)
    start = head.start_layer(rows, context)
    end = head.end_layer(rows, context)
    read, _ = head.lstm.map(torch.cat([end, start], dim=1))
    wanted = torch.cat([head.start(start), head.end(read)], dim=1)
    torch.testing.assert_close(head(rows, context), wanted)


def reader(**parts) -> tuple[BertEncoder, SpanReader]:
    sizes = shape(layers=3, heads=2)
    encoder = BertEncoder(sizes).double()
    return encoder, loud(SpanReader(SeparateSpanHead(sizes), **parts))


def test_all_parts_together_and_padding():
    sizes = shape(layers=3)
    encoder, module = reader(
        coattention=DirectedCoattention(sizes, 2),
        inputs=LayerInputs(WIDTH, 2),
        answerability=Answerability(WIDTH),
    )
    context = context_of(PAIRS, extra=2)
    tokens = context.layout.padding_mask.long().neg() + 1  # padding is 0
    encoder.embeddings.words = nn.Embedding(2, WIDTH, padding_idx=0).double()
    output = encoder(tokens, context.segments, need_layers=module.reads_layers)
    logits, extra = module(output, context.segments, need_weights=True)
    assert logits.shape == (*tokens.shape, 2)
    assert torch.equal(logits.isinf(), (tokens == 0)[..., None].expand_as(logits))
    assert extra["answerability"].shape == (len(PAIRS),)
    assert len(extra["coattention"]) == 2
    real = logits[tokens != 0]
    (real.sum() + extra["answerability"].sum()).backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name


def test_layer_inputs_read_every_layer():
    module = loud(LayerInputs(WIDTH, 2))
    rows, *layers = (torch.randn(5, WIDTH, dtype=torch.float64) for _ in range(4))
    before = module(rows, layers)
    assert not torch.equal(before, module(rows, [layers[0], layers[1] + 1, layers[2]]))
    assert torch.equal(before, module(rows, [layers[0] + 1, *layers[1:]]))
