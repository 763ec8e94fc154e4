"""``bert_plain`` and its relatives: BERT with a layer that classifies, tags or finds answers.

Every architecture is a value of one model: sizes, features (``bert_pos``), local attention
(``bert_sla``, ``bert_sla_released``, ``bert_wla``, ``bert_syntax_masks``), supervised heads
(``bert_lisa``), layers on top (``bert_sgnet``), difference attention (``dabert``), word
similarities (``bert_uer``), layers of labels beside the states (``bert_sembert``), coattention
(``bertqa``, for question answering), questions that find entities (``bert_mrc``); all of them
combine, in encoders of every family of `pretrained.families`. The mathematics lives in `nn`; here
options become its parts, and a pretrained checkpoint its weights.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import Tensor

from ..architectures import bert_plan, syntax_plan
from ..architectures.bert_options import (
    ARCHITECTURES,
    BEFORE,
    FAMILY,
    departures,
    presets_of,
    resolve,
)
from ..architectures.entity_options import check_entities
from ..architectures.options import NONE, merged, write
from ..architectures.semantic_options import check_semantics
from ..architectures.span_options import check_spans
from ..architectures.text_kinds import check_options
from ..architectures.text_model import TextModel
from ..architectures.unread_options import OF_BERT, check_read
from ..option_flags import flag_of
from ..pretrained import huggingface
from ..pretrained.directory import resolve_directory
from ..pretrained.tokenizer_sources import read_vocabulary
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import OF_PAIRS, Layer, digests
from ..syntax.needs import Needs
from ._bert_config import BertConfig

logger = logging.getLogger(__name__)

# What a model may have beside a plain one, and how its parameters are recognised.
NEW_PARTS = {
    "features": "embeddings.features.",
    "gates": "attention.mixer.",
    "dual attention": "attention.dual.",
    "syntax-guided layers": "encoder.top.",
    "coattention": "head.coattention.",
    "semantic layers": "semantics.",
}


@register_model(FAMILY, dataclass=BertConfig)
class BertModel(TextModel, BaseFairseqModel):
    """A `TextModel` for fairseq.

    Attributes:
        takes_text: marks models that the text tasks accept.
        opened: options that name files; a checkpoint, which has all weights, has no say in them.
        before: what an older checkpoint means by options that it does not have.
    """

    takes_text = True
    opened = ("pretrained",)
    before = BEFORE
    resolve = staticmethod(resolve)
    check_options = staticmethod(check_options)

    @classmethod
    def needs_of(cls, cfg: Any) -> Needs:
        """Return what a model of these options reads.

        Raises:
            InputError: an option that does not fit.
        """
        resolve(cfg)
        return syntax_plan.needs_of(merged(cfg, BertConfig))

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any, layers: Sequence[Layer] = ()) -> None:
        """Write into a new model's options what follows from the data and the checkpoint.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.manifest.Manifest` of the data folder.
            layers: those of the folder, with its inventories.

        Raises:
            FileNotFoundError: no such checkpoint.
            InputError: options that do not fit, or a checkpoint of other sizes or another family.
        """
        needs = cls.needs_of(cfg)
        described = {*needs.reads(training=True)} - {*OF_PAIRS}  # words are
        args = merged(cfg, BertConfig)
        _warn_of_departures(args)
        check_read(args, OF_BERT, presets_of(cfg))
        check_spans(args, manifest.target_kind)
        check_semantics(args, manifest.target_kind)
        check_entities(args, manifest.target_kind)
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
        family = bert_plan.family_of(args, folder, manifest.family)
        shape = None if folder is None else huggingface.read_config(folder)
        write(cfg, family=family.name, **bert_plan.constants(args, shape, family))

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "BertModel":
        """Build the model, with the weights of ``--pretrained`` when the task asks for them.

        Raises:
            InputError: options, vocabulary or checkpoint that do not fit together.
        """
        resolve(cfg)
        args = merged(cfg, BertConfig)
        model = cls(args, task.source_dictionary.vocabulary, task.layers)
        if args.pretrained not in (None, NONE):
            model.load_pretrained(args.pretrained, task.source_dictionary.vocabulary)
        bert_plan.freeze(model.encoder, args.freeze_layers)
        model.log_parameters()
        return model

    def load_pretrained(self, checkpoint: str, vocabulary: Vocabulary) -> None:
        """Load a pretrained directory into the encoder; features keep their start."""
        folder = resolve_directory(checkpoint)
        bert_plan.check_same_pieces(vocabulary, read_vocabulary(folder), folder)
        shape = self.encoder.shape
        if shape.pooler and not huggingface.read_config(folder).pooler:
            logger.warning("%s has no pooler: it starts from random weights", folder)
            shape = replace(shape, pooler=False)
        state = huggingface.load_state(folder, shape)  # complete, or an error
        self.encoder.load_state_dict({**self.encoder.state_dict(), **state})

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Let a plainer model's weights in (``--finetune-from-model``); what it lacks is new."""
        super().upgrade_state_dict_named(state_dict, name)
        filled, own = [], self.state_dict()
        if self.semantics is not None and not any("semantics." in key for key in state_dict):
            for key in [key for key in state_dict if key.startswith(("head.", "encoder.pooler."))]:
                del state_dict[key]  # of a plain model's width
            state_dict.update({key: value for key, value in own.items() if key.startswith("head.")})
        for part, mark in NEW_PARTS.items():
            new = {key: value for key, value in own.items() if mark in key}
            if new and not any(mark in key for key in state_dict):
                state_dict.update(new)
                filled.append(part)
        if filled:
            logger.warning("the checkpoint has no %s: they start anew", " and no ".join(filled))


def _warn_of_departures(args: BertConfig) -> None:
    for name, (preset, value) in departures(args).items():
        told = (args._name, flag_of(name), preset, value)
        logger.warning("%s presets %s %s, this model has %s", *told)


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
