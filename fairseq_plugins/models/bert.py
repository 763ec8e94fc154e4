"""``bert_plain`` and its relatives: BERT with a layer that classifies, tags or finds answers.

Every architecture is a value of one model: sizes, features (``bert_pos``), local attention
(``bert_sla``, ``bert_wla``, ``bert_syntax_masks``), supervised heads (``bert_lisa``), layers on top
(``bert_sgnet``), difference attention (``dabert``), word similarities (``bert_uer``), coattention
(``bertqa``, for question answering); all of them combine. The mathematics lives in `nn`; here
options become its parts, and a Hugging Face checkpoint its weights.
"""

import json
import logging
from argparse import Namespace
from dataclasses import replace
from typing import Any, Optional

import torch
from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import Tensor

from ..checkpoints.records import read_list
from ..nn.bert import BertEncoder, BertShape
from ..nn.heads import ClassificationHead, TaggingHead
from ..nn.infusion import FeatureInfusion
from ..nn.span_heads import SpanReader
from ..pretrained import huggingface
from ..syntax.labels import FEATURES
from . import _bert_plan
from ._bert_config import ARCHITECTURES, BEFORE, FAMILY, NO_CHECKPOINT, BertConfig, resolve
from ._dual_options import check_pairs, check_similarity
from ._options import merged, write
from ._span_options import SPANS, check_target, read_spans
from ._syntax_plan import SyntaxPlan, check_trees, read_syntax

logger = logging.getLogger(__name__)

WORD_LABELS = "word_labels"
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
        features: see below.
        plan: of its attention; None: plain.

    Attributes:
        takes_text: marks models that the text tasks accept.
        opened: options that name files; a checkpoint, which has all weights, has no say in them.
        before: what an older checkpoint means by options that it does not have.
        features: names of the features it reads, in the column order of ``src_factors``.
        reads_words: whether it reads ``word_of``.
        reads_heads: whether it reads ``heads``, be it to learn.
        predicts_by_heads: whether its answers depend on them.
        reads_similarity: whether it reads ``similarity``.
        needs_pairs: whether it compares the two sentences of a pair, and takes nothing else.
        answerability_weight: of the loss of judging whether a question has an answer.
    """

    takes_text = True
    opened = ("pretrained",)
    before = BEFORE
    resolve = staticmethod(resolve)

    def __init__(
        self,
        encoder: BertEncoder,
        head: Any,
        features: tuple[str, ...] = (),
        plan: Optional[SyntaxPlan] = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.features = features
        self.reads_words = plan is not None and plan.reads_words
        self.reads_heads = plan is not None and plan.reads_heads
        self.predicts_by_heads = plan is not None and plan.predicts_by_heads
        self.reads_similarity = plan is not None and plan.dual.reads_similarity
        self.needs_pairs = plan is not None and plan.dual.needs_pairs
        self.parent_weight = 0.0 if plan is None else plan.parent_weight
        self.answerability_weight = 0.0

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any) -> None:
        """Write into a new model's options what follows from the data and the checkpoint.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.text_manifest.Manifest` of the data folder.

        Raises:
            FileNotFoundError: no such checkpoint.
            ValueError: features or trees the folder lacks, options of attention that do not fit,
                or a checkpoint of other sizes or segments.
        """
        resolve(cfg)
        args = merged(cfg, BertConfig)
        names = _bert_plan.read_features(args.features)
        _bert_plan.check_features(names, manifest)
        plan = read_syntax(args)
        check_target(read_spans(args), manifest.target, args.classifier_dropout)
        check_pairs(plan.dual, manifest)
        check_trees(plan, manifest)
        check_similarity(plan.dual, manifest)
        checkpoint = args.pretrained or manifest.options.get("pretrained") or NO_CHECKPOINT
        write(
            cfg,
            pretrained=checkpoint,
            target=manifest.target,
            labels=json.dumps(manifest.labels, ensure_ascii=False),
            annotator=manifest.annotator_id if names or plan.reads_heads else None,
        )
        args = merged(cfg, BertConfig)
        constants = _bert_plan.constants(args, _pretrained_shape(args))
        _bert_plan.check_segments(constants["type_vocab_size"], manifest.sentences)
        write(cfg, **constants)

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "BertModel":
        """Build the model, with the weights of ``--pretrained`` when the task asks for them.

        Raises:
            ValueError: options, vocabulary or checkpoint that do not fit together.
        """
        resolve(cfg)
        args = merged(cfg, BertConfig)
        features = _bert_plan.read_features(args.features)
        shape = _bert_plan.shape_of(args, task.source_dictionary)
        plan = read_syntax(args)
        infusion = _infusion(args, features)
        encoder = BertEncoder(shape, plan.attention(shape), infusion, plan.top(shape))
        model = cls(encoder, _head(args, shape), features, plan)
        model.answerability_weight = args.answerability_loss_weight
        if args.pretrained not in (None, NO_CHECKPOINT):
            model.load_pretrained(args.pretrained, task.source_dictionary)
        _bert_plan.freeze(encoder, args.freeze_layers)
        model.log_parameters()
        return model

    def load_pretrained(self, checkpoint: str, dictionary: Any) -> None:
        """Load a Hugging Face BERT into the encoder; features keep their start."""
        folder = huggingface.resolve_directory(checkpoint)
        _bert_plan.check_vocabulary(dictionary, huggingface.read_vocabulary(folder), folder)
        shape = self.encoder.shape
        if shape.pooler and not huggingface.read_config(folder).pooler:
            logger.warning("%s has no pooler: it starts from random weights", folder)
            shape = replace(shape, pooler=False)
        state = huggingface.load_state(folder, shape)  # complete, or an error
        self.encoder.load_state_dict({**self.encoder.state_dict(), **state})

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Let a plainer model's weights in (``--finetune-from-model``); what it lacks is new."""
        super().upgrade_state_dict_named(state_dict, name)
        filled = _bert_plan.fill_new_parts(state_dict, self.state_dict(), NEW_PARTS)
        if filled:
            logger.warning("the checkpoint has no %s: they start anew", " and no ".join(filled))

    def max_positions(self) -> int:
        """Longest input in wordpieces, specials included."""
        return self.encoder.shape.positions

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
        logger.info("features: %s; parameters: %s", ",".join(self.features) or "none", counts)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        segments: Optional[Tensor] = None,
        places: Optional[Tensor] = None,
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
            segments: (B, S).
            places: (N,) flat positions of the real tokens.
            src_factors: (B, S, F), for a model with features.
            word_rows: (W,) packed rows of the words' first subwords, for word labels.
            word_of: (B, S) number of each token's word in its row, -1 at special tokens, for a
                model that reads words.
            heads: (B, W) head of each word, for a model that reads trees.
            similarity: (B, W, W) from 0 to 1, for a model that reads word similarities.
            need_weights: whether to return attention weights.

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
            places,
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
        elif isinstance(self.head, TaggingHead):
            logits = self.head(output, word_rows)  # (W, C)
        else:
            logits = self.head(self.encoder, output)  # (B, C)
        journal = output.journal
        return logits, extra | {
            "losses": self._losses(journal.parent_losses),
            "gates": journal.gates,
            "fusion": journal.fusions,
            "difference": journal.differences,
            "attention": output.weights,
        }

    def _losses(self, parents: list[Tensor]) -> dict[str, Tensor]:
        """Weigh the losses of supervised heads, the mean over the layers."""
        return {"parent": self.parent_weight * torch.stack(parents).mean()} if parents else {}


def _size(*modules: Any) -> int:
    """Count the parameters of modules, of which some may be None."""
    return sum(p.numel() for part in modules if part is not None for p in part.parameters())


def _pretrained_shape(args: Namespace) -> Optional[BertShape]:
    if args.pretrained == NO_CHECKPOINT:
        return None
    return huggingface.read_config(huggingface.resolve_directory(args.pretrained))


def _infusion(args: Namespace, features: tuple[str, ...]) -> Optional[FeatureInfusion]:
    if not features:
        return None
    return FeatureInfusion(
        args.hidden_size,
        {name: len(FEATURES[name]) for name in features},
        merge=str(args.feature_merge),
        dim=args.feature_embed_dim,
        init=str(args.feature_init),
    )


def _head(args: Namespace, shape: BertShape) -> Any:
    if args.target == SPANS:
        return read_spans(args).reader(shape)
    dropout = args.dropout if args.classifier_dropout is None else args.classifier_dropout
    classes = max(1, len(read_list(args.labels, "labels")))
    kind = TaggingHead if args.target == WORD_LABELS else ClassificationHead
    return kind(args.hidden_size, classes, dropout)


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
