"""``bert_plain`` and its relatives: BERT with a layer that classifies, tags or finds answers.

Every architecture is a value of one model: sizes, features (``bert_pos``), local attention
(``bert_sla``, ``bert_wla``, ``bert_syntax_masks``), supervised heads (``bert_lisa``), layers on top
(``bert_sgnet``), difference attention (``dabert``), word similarities (``bert_uer``), coattention
(``bertqa``, for question answering); all of them combine, in encoders of every family of
`pretrained.families`. The mathematics lives in `nn`; here options become its parts, and a
pretrained checkpoint its weights.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional

import torch
from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import Tensor

from ..checkpoints.records import read_list
from ..nn.bert import BertEncoder, BertShape
from ..nn.heads import LabelHead
from ..nn.infusion import FeatureInfusion
from ..nn.span_heads import SpanReader
from ..pretrained import huggingface
from ..pretrained.directory import resolve_directory
from ..pretrained.tokenizer_sources import read_vocabulary
from ..syntax.layers import OF_PAIRS, Layer, digests
from ..syntax.needs import Needs
from . import _bert_plan, _syntax_plan
from ._bert_config import ARCHITECTURES, BEFORE, FAMILY, BertConfig, resolve
from ._options import NONE, merged, write
from ._span_options import SPANS, check_spans, span_reader

logger = logging.getLogger(__name__)

# What a model may have beside a plain one, and how its parameters are recognised.
NEW_PARTS = {
    "features": "embeddings.features.",
    "gates": "attention.mixer.",
    "dual attention": "attention.dual.",
    "syntax-guided layers": "encoder.top.",
    "coattention": "head.coattention.",
}


@register_model(FAMILY, dataclass=BertConfig)
class BertModel(BaseFairseqModel):
    """BERT for one task.

    Args:
        encoder: BERT.
        head: what makes logits of its states.
        needs: what it reads; nothing but tokens for a plain one.
        args: resolved options, of which the weights of losses are taken.

    Attributes:
        takes_text: marks models that the text tasks accept.
        opened: options that name files; a checkpoint, which has all weights, has no say in them.
        before: what an older checkpoint means by options that it does not have.
        parent_weight: of the loss of supervised heads.
        answerability_weight: of the loss of judging whether a question has an answer.
    """

    takes_text = True
    opened = ("pretrained",)
    before = BEFORE
    resolve = staticmethod(resolve)

    def __init__(self, encoder: BertEncoder, head: Any, needs: Needs, args: BertConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.needs = needs
        self.parent_weight = args.parent_loss_weight
        self.answerability_weight = args.answerability_loss_weight

    @classmethod
    def needs_of(cls, cfg: Any) -> Needs:
        """Return what a model of these options reads.

        Raises:
            ValueError: an option that does not fit.
        """
        resolve(cfg)
        return _syntax_plan.needs_of(merged(cfg, BertConfig))

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any, layers: Sequence[Layer] = ()) -> None:
        """Write into a new model's options what follows from the data and the checkpoint.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.manifest.Manifest` of the data folder.
            layers: those of the folder, with its inventories.

        Raises:
            FileNotFoundError: no such checkpoint.
            ValueError: options of attention that do not fit, or a checkpoint of other sizes,
                segments or another family.
        """
        needs = cls.needs_of(cfg)
        described = {*needs.reads(training=True)} - {*OF_PAIRS}  # words are
        args = merged(cfg, BertConfig)
        check_spans(args, manifest.target)
        checkpoint = args.pretrained or manifest.options.get("pretrained") or NONE
        write(
            cfg,
            pretrained=checkpoint,
            target=manifest.target,
            labels=json.dumps(manifest.labels, ensure_ascii=False),
            annotator=manifest.annotator_id if described else None,
            inventories=digests(one for one in layers if one.name in needs.features) or None,
        )
        args = merged(cfg, BertConfig)
        folder = None if args.pretrained == NONE else resolve_directory(args.pretrained)
        family = _bert_plan.family_of(args, folder, manifest.family)
        shape = None if folder is None else huggingface.read_config(folder)
        write(
            cfg, family=family.name, **_bert_plan.constants(args, shape, family, manifest.sentences)
        )

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "BertModel":
        """Build the model, with the weights of ``--pretrained`` when the task asks for them.

        Raises:
            ValueError: options, vocabulary or checkpoint that do not fit together.
        """
        needs = cls.needs_of(cfg)
        args = merged(cfg, BertConfig)
        shape = _bert_plan.shape_of(args, task.source_dictionary)
        infusion = _infusion(args, shape, needs.features, task.layers)
        attention, top = (make(args, shape) for make in (_syntax_plan.attention, _syntax_plan.top))
        encoder = BertEncoder(shape, attention, infusion, top)
        model = cls(encoder, _head(args, shape), needs, args)
        if args.pretrained not in (None, NONE):
            model.load_pretrained(args.pretrained, task.source_dictionary)
        _bert_plan.freeze(encoder, args.freeze_layers)
        model.log_parameters()
        return model

    def load_pretrained(self, checkpoint: str, dictionary: Any) -> None:
        """Load a pretrained directory into the encoder; features keep their start."""
        folder = resolve_directory(checkpoint)
        _bert_plan.check_vocabulary(dictionary, read_vocabulary(folder), folder)
        shape = self.encoder.shape
        if shape.pooler and not huggingface.read_config(folder).pooler:
            logger.warning("%s has no pooler: it starts from random weights", folder)
            shape = replace(shape, pooler=False)
        state = huggingface.load_state(folder, shape)  # complete, or an error
        self.encoder.load_state_dict({**self.encoder.state_dict(), **state})

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Let a plainer model's weights in (``--finetune-from-model``); what it lacks is new."""
        super().upgrade_state_dict_named(state_dict, name)
        filled = []
        for part, mark in NEW_PARTS.items():
            new = {key: value for key, value in self.state_dict().items() if mark in key}
            if new and not any(mark in key for key in state_dict):
                state_dict.update(new)
                filled.append(part)
        if filled:
            logger.warning("the checkpoint has no %s: they start anew", " and no ".join(filled))

    def max_positions(self) -> int:
        """Longest input in wordpieces, specials included."""
        return self.encoder.shape.longest

    def parameter_counts(self) -> dict[str, int]:
        """Count parameters: BERT, features, attention beside BERT's, head, all, trainable ones."""
        layers = [layer.attention for layer in self.encoder.layers]
        beside = [part for layer in layers for part in (layer.mixer, layer.dual)]
        features = _size(self.encoder.embeddings.features)
        attention = _size(self.encoder.top, *beside)
        return {
            "encoder": _size(self.encoder) - features - attention,
            "features": features,
            "attention": attention,
            "head": _size(self.head),
            "model": _size(self),
            "trainable": sum(p.numel() for p in self.parameters() if p.requires_grad),
        }

    def log_parameters(self) -> None:
        """Log features and parameter counts."""
        counts = ", ".join(f"{name} {count:,}" for name, count in self.parameter_counts().items())
        logger.info("features: %s; parameters: %s", ",".join(self.needs.features) or "none", counts)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        segments: Optional[Tensor] = None,
        token_positions: Optional[Tensor] = None,
        src_factors: Optional[Tensor] = None,
        word_rows: Optional[Tensor] = None,
        word_of: Optional[Tensor] = None,
        heads: Optional[Tensor] = None,
        similarity: Optional[Tensor] = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Score examples, or the words of examples.

        Args:
            src_tokens: (B, S).
            src_lengths: (B,); not needed.
            segments, token_positions, heads, similarity, need_weights: see `BertEncoder.forward`.
            src_factors: its ``factors``.
            word_rows: (W,) packed rows of the words' first subwords, for word labels.
            word_of: its ``words``.

        Returns:
            Logits (B, C), (W, C), or of answers (B, S, 2), see `nn.span_heads`, which adds
            ``answerability`` and ``coattention`` to what follows; ``losses`` (named auxiliary
            losses), ``gates`` (layer number -> shares of its C local attentions (N, C), for layers
            that have them), ``fusion`` (layer number -> fusion and filter gate (N, 2), for layers
            with dual attention), ``difference`` (layer number -> weights of its difference
            attention (B, H, T, S)) and ``attention`` (one (B, H, T, S) a layer, those on top
            included).
        """
        output = self.encoder(
            src_tokens,
            segments,
            token_positions,
            src_factors,
            words=word_of,
            heads=heads,
            similarity=similarity,
            need_weights=need_weights,
            need_layers=isinstance(self.head, SpanReader) and self.head.reads_layers,
        )
        extra: dict[str, Any] = {}
        if isinstance(self.head, SpanReader):
            logits, extra = self.head(output, segments, need_weights=need_weights)  # (B, S, 2)
        elif self.encoder.pooler is None:
            logits = self.head(output.rows.index_select(0, word_rows))  # (W, C)
        else:
            logits = self.head(self.encoder.pool(output))  # (B, C)
        outputs, losses = output.outputs, {}
        if outputs.parent_losses:
            losses["parent"] = self.parent_weight * torch.stack(outputs.parent_losses).mean()
        return logits, extra | {
            "losses": losses,
            "gates": outputs.gates,
            "fusion": outputs.fusions,
            "difference": outputs.differences,
            "attention": outputs.weights,
        }


def _size(*modules: Any) -> int:
    """Count the parameters of modules, of which some may be None."""
    return sum(p.numel() for part in modules if part is not None for p in part.parameters())


def _infusion(
    args: BertConfig, shape: BertShape, features: tuple[str, ...], layers: Sequence[Layer]
) -> Optional[FeatureInfusion]:
    if not features:
        return None
    held = {layer.name: layer for layer in layers}
    return FeatureInfusion(
        shape.embedding_width,
        {name: len(held[name].inventory) for name in features},
        merge=args.feature_merge,
        dim=args.feature_embed_dim,
        init=args.feature_init,
    )


def _head(args: BertConfig, shape: BertShape) -> Any:
    if args.target == SPANS:
        return span_reader(args, shape)
    dropout = args.dropout if args.classifier_dropout is None else args.classifier_dropout
    classes = max(1, len(read_list(args.labels, "labels")))
    return LabelHead(args.hidden_size, classes, dropout)


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
