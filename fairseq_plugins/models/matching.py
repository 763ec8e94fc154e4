"""``esim`` and its relatives: models that match the two sentences of a pair, from scratch.

Every architecture is a value of one model. They read words (``prepare text --words-from``) or any
other vocabulary of a prepared folder. The mathematics lives in `nn`; see `architectures`.
"""

import json
from collections.abc import Sequence
from typing import Any

from fairseq.models import BaseFairseqModel, register_model, register_model_architecture

from ..architectures.matching_model import PairModel
from ..architectures.matching_options import (
    ARCHITECTURES,
    BEFORE,
    FAMILY,
    OPENED,
    needs_of,
    resolve,
)
from ..architectures.options import merged, write
from ..syntax.layers import Layer, digests
from ..syntax.needs import Needs
from ._matching_config import MatchingConfig


@register_model(FAMILY, dataclass=MatchingConfig)
class MatchingModel(PairModel, BaseFairseqModel):
    """A `PairModel` for fairseq; its attributes are those of `models.bert.BertModel`."""

    takes_text = True
    opened = OPENED
    before = BEFORE
    resolve = staticmethod(resolve)

    @classmethod
    def needs_of(cls, cfg: Any) -> Needs:
        """Return what a model of these options reads.

        Raises:
            ValueError: an option that does not fit.
        """
        resolve(cfg)
        return needs_of(merged(cfg, MatchingConfig))

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any, layers: Sequence[Layer] = ()) -> None:
        """Write into a new model's options what follows from the data.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.manifest.Manifest` of the data folder.
            layers: those of the folder, with its inventories.

        Raises:
            ValueError: an option that does not fit.
        """
        features = cls.needs_of(cfg).features
        write(
            cfg,
            target=manifest.target,
            labels=json.dumps(manifest.labels, ensure_ascii=False),
            annotator=manifest.annotator_id if features else None,
            inventories=digests(one for one in layers if one.name in features) or None,
            vocabulary=manifest.inputs.get("vocabulary", {}).get("sha256"),
        )

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "MatchingModel":
        """Build the model.

        Raises:
            ValueError: options or vocabulary that do not fit together.
        """
        resolve(cfg)
        args = merged(cfg, MatchingConfig)
        model = cls(args, task.source_dictionary.vocabulary, task.layers)
        model.log_parameters()
        return model


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
