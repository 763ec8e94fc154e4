"""COMET (Rei et al. 2020, "COMET: A Neural Framework for MT Evaluation"): scores of translations.

An encoder reads source, translation and reference separately. The states of all its layers k are
mixed, h = gamma * sum_k a_k h_k, with weights a that add up to 1; the vector of a text pools h over
its tokens. A feed-forward network gets the score from the vectors s, t, r of the texts; it reads

    [t; r; t * r; |t - r|; t * s; |t - s|]    or, without a reference,    [t; s; t * s; |t - s|].

Parts and weights have the names of COMET's checkpoints. Letters: B texts, S length, N real tokens
of the batch, D width, L layers of states, the embeddings included.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..option_flags import choice
from .bert import BertEncoder, BertShape
from .packing import BatchLayout

NORM_EPSILON = 1e-12
WITH_REFERENCE = "regression_metric"
PATCH = "sparsemax_patch"  # a softmax: COMET's correction of metrics that were trained with one


@dataclass(frozen=True)
class CometOptions:
    """The options of a metric that decide a score, with COMET's names and defaults."""

    class_identifier: choice([WITH_REFERENCE, "referenceless_regression_metric"]) = WITH_REFERENCE
    encoder_model: choice(["XLM-RoBERTa"]) = "XLM-RoBERTa"
    pool: choice(["avg", "cls"]) = "avg"  # mean over the tokens, first token
    layer: choice(["mix"]) = "mix"
    layer_transformation: choice(["softmax", "sparsemax", PATCH]) = "softmax"  # of the weights a
    layer_norm: bool = True  # whether states are normalised before they are mixed
    hidden_sizes: list[int] = field(default_factory=lambda: [3072, 1024])  # of the network
    activations: choice(["Tanh", "Sigmoid"]) = "Tanh"  # behind each of these
    final_activation: choice(["Tanh", "Sigmoid"]) | None = None  # behind the score


def sparsemax(scores: Tensor) -> Tensor:
    """Return the point of the simplex nearest to scores (L,) (Martins and Astudillo 2016)."""
    ordered = scores.sort(descending=True).values  # (L,)
    excess = ordered.cumsum(0) - 1  # (L,)
    ranks = torch.arange(1, len(scores) + 1).to(scores)  # (L,)
    support = int((ranks * ordered > excess).sum())
    return (scores - excess[support - 1] / support).clamp(min=0)


class LayerMixture(nn.Module):
    """A learnt mixture of the states of all layers."""

    def __init__(self, layers: int, *, sparse: bool, norm: bool) -> None:
        super().__init__()
        self.scalar_parameters = nn.ParameterList(torch.zeros(1) for _ in range(layers))
        self.gamma = nn.Parameter(torch.ones(1))
        self.sparse, self.norm = sparse, norm

    def forward(self, layers: Sequence[Tensor], layout: BatchLayout) -> Tensor:
        """Mix states (N, D) of each layer to (N, D)."""
        scores = torch.cat([*self.scalar_parameters])  # (L,)
        shares = sparsemax(scores) if self.sparse else scores.softmax(0)
        mixed = torch.zeros_like(layers[0])
        for share, states in zip(shares, layers, strict=True):
            mixed += share * (_normalised(states, layout) if self.norm else states)
        return self.gamma * mixed


def _normalised(states: Tensor, layout: BatchLayout) -> Tensor:
    """Give all numbers of a text, of states (N, D), mean 0 and variance 1."""
    count = layout.lengths * states.shape[1]  # (B,)
    mean = layout.pad(states).sum((1, 2)) / count  # (B,)
    centred = states - mean[layout.sentences, None]  # (N, D)
    variance = layout.pad(centred**2).sum((1, 2)) / count  # (B,)
    return centred / (variance + NORM_EPSILON).sqrt()[layout.sentences, None]


class Comet(nn.Module):
    """A metric: vectors of texts, and scores from vectors."""

    def __init__(self, shape: BertShape, options: CometOptions) -> None:
        super().__init__()
        self.mean, last = options.pool == "avg", options.final_activation
        self.referenced = options.class_identifier == WITH_REFERENCE
        self.encoder = BertEncoder(shape)
        sparse = options.layer_transformation == "sparsemax"
        mixture = LayerMixture(shape.layers + 1, sparse=sparse, norm=options.layer_norm)
        self.layerwise_attention = mixture
        widths = [(6 if self.referenced else 4) * shape.hidden, *options.hidden_sizes]
        parts: list[nn.Module] = []
        for pair in zip(widths, widths[1:]):
            parts += [nn.Linear(*pair), getattr(nn, options.activations)(), nn.Dropout()]
        parts += [nn.Linear(widths[-1], 1), *([getattr(nn, last)()] if last else [])]
        self.estimator = nn.ModuleDict({"ff": nn.Sequential(*parts)})

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the vector of each text: tokens (B, S) to (B, D)."""
        found = self.encoder(tokens, need_layers=True)
        states = self.layerwise_attention(found.layers, found.layout)  # (N, D)
        if self.mean:
            return found.layout.pad(states).sum(1) / found.layout.lengths[:, None]
        return states.index_select(0, found.layout.first_rows)

    def forward(self, source: Tensor, translation: Tensor, reference: Tensor) -> Tensor:
        """Return the scores (B,) of translations from the vectors of texts, (B, D) each."""
        others = [reference, source] if self.referenced else [source]
        parts = [translation, others[0]]
        for other in others:
            parts += [translation * other, (translation - other).abs()]
        return self.estimator["ff"](torch.cat(parts, dim=1)).squeeze(1)
