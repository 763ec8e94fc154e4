"""``bert_plain`` and variants: BERT with a layer that classifies, tags or finds answers.

Every architecture is a value of one model: sizes, and the methods of `methods.table`, which can all
be combined, in encoders of every family of `pretrained.families`. `nn` has the mathematics; here
options become a plan, and a pretrained checkpoint weights.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairseq.models import register_model, register_model_architecture
from torch import Tensor

from ..architectures import bert_plan
from ..architectures.bert_options import PLAIN, SIZES
from ..architectures.text_kinds import BERT
from ..architectures.text_model import TextModel
from ..methods.options import NONE
from ..methods.plan import Plan
from ..nn.layer_depths import mark_layers
from ..option_flags import flag_of
from ..pretrained import huggingface
from ..pretrained.directory import resolve_directory
from ..pretrained.tokenizer_sources import read_vocabulary
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from ._bert_config import BertConfig
from ._texts import TextModelOfKind

logger = logging.getLogger(__name__)


@register_model(BERT.family, dataclass=BertConfig)
class BertModel(TextModel, TextModelOfKind):
    """A `TextModel` for fairseq; see `TextModelOfKind`.

    Attributes:
        new_parts: parts that a plain model lacks -> pattern in the names of their weights.
    """

    kind = BERT
    opened, before, resolve = kind.opened, kind.before, staticmethod(kind.resolve)

    def __init__(self, plan: Plan, vocabulary: Vocabulary, layers: Sequence[Layer]) -> None:
        super().__init__(plan, vocabulary, layers)
        self.new_parts = plan.new_parts

    @classmethod
    def complete_plan(cls, plan: Plan, cfg: Any, manifest: Any) -> None:
        """Write family, sizes and constants from the checkpoint or the family."""
        args = plan.args
        _warn_of_departures(args, cls.kind.presets_of(cfg))
        plan.write(cfg, pretrained=args.pretrained or manifest.options.get("pretrained") or NONE)
        folder = None if args.pretrained == NONE else resolve_directory(args.pretrained)
        family = bert_plan.family_of(args, folder, manifest.family)
        shape = None if folder is None else huggingface.read_config(folder)
        plan.write(cfg, family=family.name, **bert_plan.constants(args, shape, family))

    @classmethod
    def of_plan(cls, plan: Plan, task: Any) -> "BertModel":
        """Build the model, with the weights of ``--pretrained``."""
        args, vocabulary = plan.args, task.source_dictionary.vocabulary
        model = cls(plan, vocabulary, task.layers)
        if args.pretrained not in (None, NONE):
            model.load_pretrained(args.pretrained, vocabulary)
        new = [*model.new_parts.values()]
        bert_plan.freeze(model.encoder, args.freeze_layers, new)
        mark_layers(model.encoder, new)
        model.log_parameters()
        return model

    def load_pretrained(self, checkpoint: str, vocabulary: Vocabulary) -> None:
        """Load a pretrained directory into the encoder; features keep their initial values."""
        folder = resolve_directory(checkpoint)
        bert_plan.check_same_pieces(vocabulary, read_vocabulary(folder), folder)
        shape = self.encoder.shape
        if shape.pooler and not huggingface.read_config(folder).pooler:
            logger.warning("%s has no pooler: it starts from random weights", folder)
            shape = replace(shape, pooler=False)
        state = huggingface.load_state(folder, shape)  # complete, or an error
        self.encoder.load_state_dict({**self.encoder.state_dict(), **state})

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Accept a plainer model's weights (``--finetune-from-model``); missing parts stay new."""
        super().upgrade_state_dict_named(state_dict, name)
        filled, own = [], self.state_dict()
        if self.semantics is not None and not any("semantics." in key for key in state_dict):
            for key in [key for key in state_dict if key.startswith(("head.", "encoder.pooler."))]:
                del state_dict[key]  # of a plain model's width
            state_dict.update({key: value for key, value in own.items() if key.startswith("head.")})
        for part, mark in self.new_parts.items():
            new = {key: value for key, value in own.items() if mark in key}
            if new and not any(mark in key for key in state_dict):
                state_dict.update(new)
                filled.append(part)
        if filled:
            logger.warning("the checkpoint has no %s: they start anew", " and no ".join(filled))


def _warn_of_departures(args: Any, presets: Mapping[str, Any]) -> None:
    """Warn of options with a default whose value differs from the architecture's preset."""
    for name, value in presets.items():
        if name not in PLAIN | SIZES["base"] and getattr(args, name) != value:
            told = (args._name, flag_of(name), value, getattr(args, name))
            logger.warning("%s presets %s %s, this model has %s", *told)


for _arch in BERT.architectures:
    if _arch != BERT.family:  # registered with the model
        register_model_architecture(BERT.family, _arch)(BERT.resolve)
