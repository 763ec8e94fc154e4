"""Plain layers with as many parameters as a module: the effect of depth alone.

A control of coattention (`nn.coattention`): layers of BERT's kind on top, in which all tokens of a
row attend to each other as below, and the sides have no attention of their own.
A layer of width D and feed-forward width I has 4 D^2 + 9 D + I (2 D + 1) parameters; I is the
nearest fit.
"""

from dataclasses import replace

from torch import Tensor, nn

from .bert import BertLayer, BertShape, draw, plain_attention
from .context import AttentionContext


class PlainLayers(nn.Module):
    """Layers in place of coattention.

    Args:
        shape: sizes of the encoder below.
        layers: number of layers, at least 1.
        parameters: wanted number over all layers.

    Raises:
        ValueError: fewer than attention alone has.
    """

    def __init__(self, shape: BertShape, layers: int, parameters: int) -> None:
        super().__init__()
        hidden = shape.hidden
        width = round((parameters / layers - 4 * hidden**2 - 9 * hidden) / (2 * hidden + 1))
        if width < 1:
            raise ValueError(
                f"{parameters:,} parameters are too few for {layers} layers of width {hidden}"
            )
        wide = replace(shape.added, intermediate=width)
        self.layers = nn.ModuleList(
            BertLayer(wide, plain_attention(wide)).apply(draw) for _ in range(layers)
        )

    def forward(
        self, rows: Tensor, context: AttentionContext, *, need_weights: bool = False
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Return new states (N, D) from states (N, D), and no weights of coattention."""
        for layer in self.layers:
            rows = layer(rows, context)
        return rows, []
