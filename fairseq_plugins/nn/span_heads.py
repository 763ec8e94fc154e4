"""Heads of extractive question answering: begin and end of an answer.

Devlin et al. 2019, section 4.2-4.3: a start and an end logit per token, [CLS] means "no answer".
Chadha and Sood 2019, section 3.1: start and end each after their own encoder layer, the end also
after an LSTM over the end's and the start's states side by side.

Letters: N packed tokens, B batch, S length, D width.
"""

from typing import Any

import torch
from torch import Tensor, nn

from .bert import ACTIVATIONS, BertLayer, BertOutput, BertShape, draw, plain_attention
from .coattention import DirectedCoattention
from .context import AttentionContext
from .packing import BatchLayout
from .plain_layers import PlainLayers
from .recurrent import Steps, read_rows

LSTMS = ("none", "forward", "bidirectional")
JOINED_LAYERS = 4


class JointSpanHead(nn.Module):
    """One linear map to both logits."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.out = nn.Linear(shape.hidden, 2).apply(draw)

    def forward(self, rows: Tensor, context: AttentionContext) -> Tensor:
        """Return start and end logits, (N, 2), of states (N, D)."""
        return self.out(rows)


class SeparateSpanHead(nn.Module):
    """An encoder layer and a linear map for each logit; an LSTM before the end's map.

    Args:
        shape: sizes of the encoder below.
        lstm: its directions, of `LSTMS`; ``forward`` as published.
    """

    def __init__(self, shape: BertShape, lstm: str = "forward") -> None:
        super().__init__()
        self.start_layer, self.end_layer = (
            BertLayer(shape.added, plain_attention(shape.added)) for _ in range(2)
        )
        self.lstm = None
        width = shape.hidden
        if lstm != "none":
            self.lstm = TokenLstm(2 * shape.hidden, shape.hidden, both_ways=lstm == "bidirectional")
            width = self.lstm.outputs
        self.start, self.end = nn.Linear(shape.hidden, 1), nn.Linear(width, 1)
        for part in (self.start_layer, self.end_layer, self.start, self.end):
            part.apply(draw)

    def forward(self, rows: Tensor, context: AttentionContext) -> Tensor:
        """Return start and end logits, (N, 2), of states (N, D)."""
        start = self.start_layer(rows, context)  # (N, D)
        end = self.end_layer(rows, context)  # (N, D)
        read = end
        if self.lstm is not None:
            read = self.lstm(torch.cat([end, start], dim=1), context.layout)  # (N, D or 2 D)
        return torch.cat([self.start(start), self.end(read)], dim=1)


class TokenLstm(nn.Module):
    """An LSTM over the tokens of every sentence, without padding.

    Args:
        inputs: width in, C.
        hidden: width of a direction's state, D.
        both_ways: whether to add a backward direction.

    Attributes:
        outputs: width out, D or 2 D.
    """

    def __init__(self, inputs: int, hidden: int, *, both_ways: bool = False) -> None:
        super().__init__()
        self.map = nn.LSTM(inputs, hidden, bidirectional=both_ways)
        self.outputs = hidden * (1 + both_ways)

    def forward(self, rows: Tensor, layout: BatchLayout) -> Tensor:
        """Read: (N, C) to (N, outputs)."""
        return read_rows(self.map, rows, Steps.of(layout.lengths, layout.known.get("lengths")))


class LayerInputs(nn.Module):
    """States of several layers as the head's input, mapped to one width (section 2, "FlowQA").

    Args:
        hidden: width D.
        layers: number of the encoder's last layers, beside the head's usual input.
    """

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        self.layers = layers
        self.out = nn.Linear((1 + layers) * hidden, hidden).apply(draw)

    def forward(self, rows: Tensor, states: list[Tensor]) -> Tensor:
        """Return (N, D) from the head's input and the encoder's states, (N, D) each."""
        return self.out(torch.cat([rows, *states[-self.layers :]], dim=1))


class Answerability(nn.Module):
    """Whether the question has an answer, from the state of [CLS] (section 2, "U-Net").

    The paper's convolutions see one token, which makes them linear maps.

    Args:
        hidden: width D.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.inner, self.out = nn.Linear(hidden, hidden // 2), nn.Linear(hidden // 2, 1)
        for part in (self.inner, self.out):
            draw(part)

    def forward(self, first: Tensor) -> Tensor:
        """Return logits (B,) of the first tokens' states (B, D); positive for an answer."""
        return self.out(ACTIVATIONS["gelu"](self.inner(first))).squeeze(1)


class SpanReader(nn.Module):
    """The layers between an encoder and the logits of answers.

    Args:
        head: of the two above.
        coattention: between encoder and head, or layers in its place, or None.
        inputs: joins the encoder's layers to the head's input, or None.
        answerability: judges [CLS], or None.
    """

    def __init__(
        self,
        head: nn.Module,
        coattention: DirectedCoattention | PlainLayers | None = None,
        inputs: LayerInputs | None = None,
        answerability: Answerability | None = None,
    ) -> None:
        super().__init__()
        self.coattention = coattention
        self.inputs = inputs
        self.head = head
        self.answerability = answerability

    @property
    def reads_layers(self) -> bool:
        """Whether the states of all layers are needed."""
        return self.inputs is not None

    def forward(
        self, output: BertOutput, segments: Tensor | None, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[str, Any]]:
        """Score every token as begin and end of the answer.

        Args:
            output: of the encoder.
            segments: (B, S), 0 for the question's side and 1 for the context's.
            need_weights: whether to return coattention weights.

        Returns:
            Start and end logits (B, S, 2), -inf at padding; and by name ``answerability`` (B,) and
            ``coattention``, a pair of weights per block, if there are such parts.
        """
        context = AttentionContext(output.layout, segments)
        rows, extra = output.rows, {}
        if self.coattention is not None:
            rows, weights = self.coattention(rows, context, need_weights=need_weights)
            extra |= {"coattention": weights} if need_weights else {}
        if self.inputs is not None:
            rows = self.inputs(rows, output.layers)
        logits = output.layout.pad(self.head(rows, context))  # (B, S, 2)
        logits = logits.masked_fill(output.layout.padding_mask[..., None], -torch.inf)
        if self.answerability is not None:
            extra["answerability"] = self.answerability(output.first)
        return logits, extra
