"""A model of text in plain torch: an encoder of any family, and a head.

`models.bert` registers the model with fairseq, `bundles` load it without fairseq. This module turns
options into parts of `nn`.
"""

from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch import Tensor, nn

from ..door.records import read_list
from ..methods.plan import Plan
from ..nn.bert import BertEncoder
from ..nn.entity_spans import EntityReader
from ..nn.heads import LabelHead
from ..nn.packing import Known
from ..nn.span_heads import SpanReader
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from ..syntax.subwords import is_sign
from . import bert_plan
from .bert_options import EncoderOptions
from .model_parts import counted, fitting, log_counts, size


class TextModel(nn.Module):
    """An encoder with the head of one task.

    Args:
        layers: of the folder, with their inventories.

    Attributes:
        semantics: joins layers of labels to the encoder's states; None without such layers.
        needs: the inputs of the model; only tokens for a plain model.
        loss_weights: auxiliary loss -> its weight.
    """

    @fitting()
    def __init__(self, plan: Plan, vocabulary: Vocabulary, layers: Sequence[Layer]) -> None:
        super().__init__()
        methods, columns = plan.methods, plan.needs.features
        pools = plan.target.pools and not any(method.joins_words for method in methods)
        shape = bert_plan.shape_of(plan.args, vocabulary, pooler=pools)
        features = plan.made(lambda one: one.embedding(shape.embedding_width, layers))
        top = plan.made(lambda one: one.top(shape))
        signs = _signs(vocabulary) if any(one.reads_punctuation for one in methods) else None
        self.encoder = BertEncoder(shape, plan.attention(shape), features, top, signs)
        self.encoder.recomputes = plan.args.checkpoint_activations
        self.semantics = plan.made(lambda one: one.beside(shape, columns, layers))
        width = shape.hidden if self.semantics is None else self.semantics.outputs
        own = plan.head(shape)
        self.head: Any = _label_head(plan.args, width) if own is None else own
        self.chain = plan.made(lambda one: one.chain(_labels(plan.args)))
        self.needs = plan.needs
        self.loss_weights = plan.loss_weights

    def max_positions(self) -> int:
        """Longest input in wordpieces, specials included."""
        return self.encoder.shape.longest

    def parameter_counts(self) -> dict[str, int]:
        """Count the parameters of the parts, of all, and of the trainable ones."""
        layers = [layer.attention for layer in self.encoder.layers]
        beside = [part for layer in layers for part in (layer.mixer, layer.dual)]
        features = size(self.encoder.embeddings.features)
        attention = size(self.encoder.top, *beside)
        encoder = size(self.encoder) - features - attention
        parts = {"encoder": encoder, "features": features, "attention": attention}
        parts |= {} if self.semantics is None else {"semantic layers": size(self.semantics)}
        return counted(self, parts)

    def log_parameters(self) -> None:
        """Log features and parameter counts."""
        log_counts(self.needs.features, self.parameter_counts())

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        segments: Optional[Tensor] = None,
        token_positions: Optional[Tensor] = None,
        src_factors: Optional[Tensor] = None,
        word_rows: Optional[Tensor] = None,
        word_counts: Optional[Tensor] = None,
        marks: Optional[Tensor] = None,
        word_of: Optional[Tensor] = None,
        heads: Optional[Tensor] = None,
        similarity: Optional[Tensor] = None,
        known: Optional[Known] = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Score examples, or the words of examples.

        Args:
            src_tokens: (B, S).
            src_lengths: (B,); not needed.
            segments, token_positions, heads, similarity, known, need_weights: see
                `BertEncoder.forward`.
            src_factors: its ``factors``.
            word_rows: (W,) packed rows of the words' first subwords, for word labels and entities.
            word_counts, marks: for entities, see `nn.entity_spans.EntityReader.forward`.
            word_of: its ``words``.

        Returns:
            Logits (B, C), (W, C), of answers (B, S, 2), see `nn.span_heads`, which adds
            ``answerability`` and ``coattention`` to what follows, or of entities (W, 2, 2), see
            `nn.entity_spans`, which adds ``first``, ``last`` and ``match``; ``chain``, see
            `nn.label_chain`, for models that have it; ``losses`` (named
            auxiliary losses), ``gates`` (layer number -> shares of its C local attentions (N, C),
            for layers that have them), ``fusion`` (layer number -> fusion and filter gate (N, 2),
            for layers with dual attention), ``difference`` (layer number -> weights of its
            difference attention (B, H, T, S)) and ``attention`` (one (B, H, T, S) a layer, those on
            top included).
        """
        output = self.encoder(
            src_tokens,
            segments,
            token_positions,
            src_factors,
            words=word_of,
            heads=heads,
            similarity=similarity,
            known=known,
            need_weights=need_weights,
            need_layers=isinstance(self.head, SpanReader) and self.head.reads_layers,
        )
        extra: dict[str, Any] = {}
        if isinstance(self.head, SpanReader):
            logits, extra = self.head(output, segments, need_weights=need_weights)  # (B, S, 2)
        elif isinstance(self.head, EntityReader):
            words = output.rows.index_select(0, word_rows)
            logits, extra = self.head(words, word_counts, marks, output.layout)  # (W, 2, 2)
        elif self.semantics is not None:
            logits = self.head(self.semantics(output, word_of, src_factors, word_rows))
        elif self.encoder.pooler is None:
            logits = self.head(output.rows.index_select(0, word_rows))  # (W, C)
        else:
            logits = self.head(self.encoder.pool(output))  # (B, C)
        if self.chain is not None:
            extra["chain"] = self.chain()
        outputs, losses = output.outputs, {}
        if outputs.parent_losses:
            losses["parent"] = (
                self.loss_weights["parent"] * torch.stack(outputs.parent_losses).mean()
            )
        return logits, extra | {
            "losses": losses,
            "gates": outputs.gates,
            "fusion": outputs.fusions,
            "difference": outputs.differences,
            "attention": outputs.weights,
        }


def _signs(vocabulary: Vocabulary) -> Tensor:
    """Return whether each subword is a punctuation sign, (V,)."""
    return torch.tensor([is_sign(piece) for piece in vocabulary.pieces])


def _label_head(args: EncoderOptions, width: int) -> LabelHead:
    dropout = args.dropout if args.classifier_dropout is None else args.classifier_dropout
    return LabelHead(width, max(1, len(_labels(args))), dropout)


def _labels(args: EncoderOptions) -> list[str]:
    return read_list(args.labels, "labels")
