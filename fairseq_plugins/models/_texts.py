"""The common part of text models in fairseq: plans, and options of new models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fairseq.models import ARCH_CONFIG_REGISTRY, BaseFairseqModel

from ..architectures.text_kinds import TextKind
from ..methods.options import architecture, opened, write
from ..methods.plan import Plan
from ..syntax.layers import OF_PAIRS, Layer, digests


class TextModelOfKind(BaseFairseqModel):
    """A model of a kind of text models."""

    kind: ClassVar[TextKind]  # the kind
    takes_text = True  # marks models that the text tasks accept

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        if "build_model" in vars(cls):
            raise TypeError(f"{cls.__name__}: override of_plan in place of build_model")

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Refuse options of a new model of our architectures; see `TextKind.check`."""
        if options["arch"] in cls.kind.architectures:
            cls.kind.check(options)

    @classmethod
    def plan(cls, cfg: Any) -> Plan:
        return cls.kind.plan(cfg)

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any, layers: Sequence[Layer] = ()) -> Plan:
        """Write into a new model's options what follows from the data and the checkpoint.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.text_manifest.TextManifest` of the data folder.

        Returns:
            The plan of the model.
        """
        arch = architecture(cfg)
        if arch not in cls.kind.architectures and arch in ARCH_CONFIG_REGISTRY:  # a user's own
            with opened(cfg):
                ARCH_CONFIG_REGISTRY[arch](cfg)
        labels = json.dumps(manifest.labels, ensure_ascii=False)
        write(cfg, target=manifest.target, labels=labels)
        plan = cls.plan(cfg)
        plan.check_read(cls.kind.presets_of(cfg))
        plan.check_target(manifest.target_kind)
        described = {*plan.needs.reads(training=True)} - {*OF_PAIRS}  # without words
        features = plan.needs.features
        plan.write(
            cfg,
            annotator=manifest.annotator_id if described else None,
            inventories=digests(one for one in layers if one.name in features) or None,
        )
        cls.complete_plan(plan, cfg, manifest)
        return plan

    @classmethod
    def complete_plan(cls, plan: Plan, cfg: Any, manifest: Any) -> None:
        """Write further options of this kind of models; see `complete_config`."""

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> Any:
        return cls.of_plan(cls.plan(cfg), task)

    @classmethod
    def of_plan(cls, plan: Plan, task: Any) -> Any:
        """Build the model, with weights from a file named in its options."""
        raise NotImplementedError
