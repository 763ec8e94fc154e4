"""Positions that attention knows by itself: a rotation of queries and keys, or biases of scores.

Values say how, from a family's configuration; see `nn.bert.BertShape`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rotary:
    """Rotated queries and keys, some layers with a window (Warner et al. 2024, "ModernBERT")."""

    global_base: float = 160000.0  # of the angles in layers that see all tokens
    local_base: float = 10000.0  # in layers with a window
    window: int = 128  # a token sees keys at most half of this away, in layers with a window
    every: int = 3  # layers 0, 3, 6 ... see all tokens


@dataclass(frozen=True)
class Buckets:
    """A learnt number for each head and distance (Song et al. 2020, "MPNet")."""

    buckets: int = 32  # of distances, half of them for each direction


@dataclass(frozen=True)
class Disentangled:
    """Products of contents and learnt vectors of distances (He et al. 2021, "DeBERTa")."""

    furthest: int = 512  # distance from which on all are alike
    buckets: int = 256  # of distances, to each side; 0: each distance has its own vector
    content_to_position: bool = True  # whether queries meet the vectors
    position_to_content: bool = True  # whether keys meet them
    # whether the maps of contents make queries and keys of the vectors, too; else own maps
    shared: bool = True
    normed: bool = True  # whether LayerNorm precedes these maps
    kernel: int = 0  # width of a convolution beside the first layer; 0: none
    kernel_activation: str = "tanh"  # behind it: ``tanh`` | ``gelu`` | ``relu``


Relative = Rotary | Buckets | Disentangled
