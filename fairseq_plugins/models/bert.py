"""``bert_plain`` and its relatives: BERT with a classification or tagging layer.

Every architecture is a value of one model: sizes, features (``bert_pos``), later the attention. The
mathematics lives in `nn.bert`; here options become its parts, and a Hugging Face checkpoint its
weights.
"""

import json
import logging
from argparse import Namespace
from dataclasses import replace
from typing import Any, Optional

from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import Tensor

from ..nn.bert import BertEncoder, BertShape
from ..nn.heads import ClassificationHead, TaggingHead
from ..nn.infusion import FeatureInfusion
from ..pretrained import huggingface
from ..syntax.labels import FEATURES
from . import _bert_plan
from ._bert_config import ARCHITECTURES, FAMILY, NO_CHECKPOINT, BertConfig, resolve
from ._options import merged, write

logger = logging.getLogger(__name__)

WORD_LABELS = "word_labels"


@register_model(FAMILY, dataclass=BertConfig)
class BertModel(BaseFairseqModel):
    """BERT for one task.

    Args:
        encoder: BERT.
        head: what makes logits of its states.

    Attributes:
        takes_text: marks models that the text tasks accept.
        features: names of the features it reads, in the column order of ``src_factors``.
    """

    takes_text = True

    def __init__(self, encoder: BertEncoder, head: Any, features: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.features = features

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any) -> None:
        """Write into a new model's options what follows from the data and the checkpoint.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `prep.text_manifest.TextManifest` of the data folder.

        Raises:
            FileNotFoundError: no such checkpoint.
            ValueError: features the folder lacks, or a checkpoint of other sizes or segments.
        """
        resolve(cfg)
        args = merged(cfg, BertConfig)
        names = _bert_plan.read_features(args.features)
        _bert_plan.check_features(names, manifest)
        checkpoint = args.pretrained or manifest.options.get("pretrained") or NO_CHECKPOINT
        write(
            cfg,
            pretrained=checkpoint,
            target=manifest.target,
            labels=json.dumps(manifest.labels, ensure_ascii=False),
            annotator=manifest.annotator_id if names else None,
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
        encoder = BertEncoder(shape, features=_infusion(args, features))
        model = cls(encoder, _head(args), features)
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

    def max_positions(self) -> int:
        """Longest input in wordpieces, specials included."""
        return self.encoder.shape.positions

    def parameter_counts(self) -> dict[str, int]:
        """Count parameters: BERT itself, features, head, the whole model, its trainable part."""
        features = self.encoder.embeddings.features
        added = sum(p.numel() for p in features.parameters()) if features is not None else 0
        return {
            "encoder": sum(p.numel() for p in self.encoder.parameters()) - added,
            "features": added,
            "head": sum(p.numel() for p in self.head.parameters()),
            "model": sum(p.numel() for p in self.parameters()),
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
            need_weights: whether to return attention weights.

        Returns:
            Logits (B, C) or (W, C); ``losses`` (named auxiliary losses) and ``attention``
            (one (B, H, T, S) a layer).
        """
        output = self.encoder(src_tokens, segments, places, src_factors, need_weights=need_weights)
        if isinstance(self.head, TaggingHead):
            logits = self.head(output, word_rows)  # (W, C)
        else:
            logits = self.head(self.encoder, output)  # (B, C)
        return logits, {"losses": {}, "attention": output.weights}


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


def _head(args: Namespace) -> Any:
    dropout = args.dropout if args.classifier_dropout is None else args.classifier_dropout
    classes = max(1, len(json.loads(args.labels or "[]")))
    kind = TaggingHead if args.target == WORD_LABELS else ClassificationHead
    return kind(args.hidden_size, classes, dropout)


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
