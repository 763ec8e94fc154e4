"""The common part of the understanding tasks: folder, model and datasets.

The tasks read a folder of `prepare text` or `prepare questions` and accept any of our encoders. A
checkpoint stores its training conditions, and another folder must agree with them.
"""

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional

from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import TASK_DATACLASS_REGISTRY
from omegaconf import II, MISSING

from ..architectures import agreement
from ..data import text_folders
from ..data.dictionaries import ClosedDictionary
from ..data.inventories import bound_layers
from ..data.text_inputs import InputOptions, TextInputs
from ..data.text_manifest import TextManifest, load_vocabulary
from ..data.training_datasets import BALANCED, FILE, LENGTH, RANDOM, TrainingTexts
from ..door.model_trial import try_model
from ..errors import InputError
from ..methods.control_options import log_controls, write_seed
from ..methods.plan import Plan
from ..option_flags import check, option
from ..syntax.needs import Needs
from . import (
    _checkpoint_options,
    _checks,
    _patience,
    _run_folder,
    _spawned,
    _start,
    folder_warnings,
)
from ._worker_processes import EpochWorkers

logger = logging.getLogger(__name__)

BFLOAT16 = "bfloat16"


@dataclass
class TextTaskConfig(FairseqDataclass):
    """Options of all understanding tasks."""

    data: str = option("data folder, prepared by `prepare text`", MISSING)
    max_positions: Optional[int] = option(
        "most wordpieces of an input, special tokens included (default: as many as the model "
        "can read)",
        None,
    )
    batch_order: ChoiceEnum([RANDOM, LENGTH, BALANCED]) = option(
        "how training examples are grouped into batches: in random order, as in BERT's own "
        "fine-tuning (random), examples of similar length together (length), or all classes "
        "equally often, with rare examples again and not all frequent ones in an epoch (balanced)",
        RANDOM,
    )
    autocast: ChoiceEnum([_checks.NO_AUTOCAST, BFLOAT16]) = option(
        "data type of matrix products in training: that of the weights (none), or bfloat16, "
        "which is faster where the processor or the GPU has units for it; weights, sums and "
        "predictions keep their type; not with --fp16, --bf16 or --amp",
        _checks.NO_AUTOCAST,
    )
    scores_by_label: bool = option(
        "validations also log precision_X, recall_X, f1_X and support_X of each class, label or "
        "type of entities X, and these may choose the checkpoint",
        False,
    )
    spacy_model: Optional[str] = option(
        "annotator of raw text: an installed spaCy pipeline, the path of one, or udpipe:MODEL "
        "(default: that of the data folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    # fairseq's own options that the task needs
    train_subset: str = II("dataset.train_subset")
    best_checkpoint_metric: str = II("checkpoint.best_checkpoint_metric")
    maximize_best_checkpoint_metric: bool = II("checkpoint.maximize_best_checkpoint_metric")
    fp16: bool = II("common.fp16")
    bf16: bool = II("common.bf16")
    amp: bool = II("common.amp")


class TextTask(EpochWorkers):
    """A task on texts.

    Attributes:
        NAME: name of the task and of its criterion.
        DATASET: class of its splits for fairseq.
        layers: of the folder, with its inventories.
        inputs: the models' input from the folder.
        target: the learnt target.
        positive: the label of F1; empty if there is none.
        of_checkpoint: whether its options come from a checkpoint.
    """

    NAME: str
    DATASET: type = TrainingTexts
    cfg: Any
    of_checkpoint = False

    def __init__(self, cfg: Any, manifest: TextManifest, dictionary: ClosedDictionary) -> None:
        super().__init__(cfg)
        self.folder = Path(cfg.data)
        self.manifest, self.target = manifest, manifest.target_kind
        self.dictionary = dictionary
        self.layers = bound_layers(self.folder, manifest)
        given = getattr(cfg, "positive_label", None)
        self.positive = _checks.positive_label(given, manifest, self.folder)
        where = (self.folder, manifest, dictionary.vocabulary)
        self.inputs = TextInputs(*where, InputOptions.of(cfg))
        self._warnings = folder_warnings.Warnings()
        self._kept: dict[str, str] = {}  # entries for checkpoints about the run's folder

    @classmethod
    def setup_task(cls, cfg: Any, **kwargs: Any) -> "TextTask":
        """Check the folder and load its vocabulary."""
        of_checkpoint = bool(kwargs.get("from_checkpoint"))
        if of_checkpoint:
            cfg = _checkpoint_options.closed_task(cfg, TASK_DATACLASS_REGISTRY[cls.NAME])
        check(cfg, TASK_DATACLASS_REGISTRY[cls.NAME])
        _checks.check_autocast(cfg)
        _checks.check_precision(cfg)
        folder = Path(cfg.data)
        manifest = text_folders.open_folder(folder, cls.NAME)
        task = cls(cfg, manifest, ClosedDictionary(load_vocabulary(folder, manifest)))
        task.of_checkpoint = of_checkpoint
        if str(cfg.batch_order) == BALANCED and (task.target.by_word or not task.target.weighs):
            raise InputError(f"--batch-order balanced is for classes, not for {task.target.said}")
        if cfg.scores_by_label and not task.target.labelled:
            raise InputError(f"--scores-by-label is for labels, not for {task.target.said}")
        return task

    @property
    def scoring(self) -> dict[str, Any]:
        """Options for `Target.tally`."""
        return {"positive": self.positive, "each": self.cfg.scores_by_label}

    @property
    def source_dictionary(self) -> ClosedDictionary:
        return self.dictionary

    @property
    def target_dictionary(self) -> None:
        """None: labels are no text."""

    def max_positions(self) -> Optional[int]:
        """Most tokens of an input: the option, or the model's limit; None before the model."""
        return self.inputs.limit

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model for the folder, with its training conditions in its checkpoint.

        Checkpoint options become a closed record, see `_checkpoint_options`.
        """
        model_class = _checks.model_class_of(cfg, self.NAME, "takes_text")
        if from_checkpoint:
            cfg = _checkpoint_options.closed_model(cfg, model_class)
            plan = model_class.plan(cfg)
            self._check_plan(cfg, plan)
            try_model(partial(model_class.of_plan, plan, self))
        else:
            write_seed(cfg, _checks.seed_of(self.cfg))
            plan = model_class.complete_config(cfg, self.manifest, self.layers)
            digest = agreement.vocabulary_digest(self.dictionary.vocabulary.content)
            settings = agreement.settings_text(self.manifest.tokenizer)
            cutting = self.manifest.cutting
            plan.write(cfg, vocabulary=digest, text_settings=settings, cutting=cutting)
            log_controls(plan.needs.controls)
            self.inputs.check(plan.needs, training=True)
            _spawned.settle(self.cfg)
            _start.check_start(self.cfg, cfg, self._check_vocabulary)
        model = model_class.of_plan(plan, self)
        self.inputs.serve(model.needs, model.max_positions())
        if not from_checkpoint:
            _start.check_parameters(self.cfg, cfg, model)
            _patience.go_on(self.cfg)
            self._kept = _run_folder.keep_folder(self, self.folder, cfg, model)
        else:
            self._warn_of_others(cfg, model.needs)
        return model

    def _warn_of_others(self, cfg: Any, needs: Needs) -> None:
        """Warn of a model that was trained on other words or by another annotator."""
        how = getattr(cfg, "cutting", None), self.manifest, needs, self.folder
        self._warnings.say(agreement.other_words(*how))
        if needs.annotated:
            trained = getattr(cfg, "annotator", None) or ""
            present = self.manifest.annotator_id
            self._warnings.other_annotator([trained], present, str(self.folder))

    def check_fit(self, cfg: Any, model_class: Any) -> None:
        """Refuse a trained model that does not fit the folder, before it is built."""
        self._check_plan(cfg, model_class.plan(cfg))

    def _check_plan(self, cfg: Any, plan: Plan) -> None:
        content = self.dictionary.vocabulary.content
        agreement.check_texts(cfg, self.manifest, content, self.layers, self.folder)
        self.inputs.check(plan.needs, training=False)

    def _check_vocabulary(self, cfg: Any) -> None:
        content = self.dictionary.vocabulary.content
        agreement.check_vocabulary(cfg, self.manifest, content, self.folder)

    def state_dict(self) -> dict[str, Any]:
        """Add the run's entries about the folder to checkpoints."""
        return {**super().state_dict(), **self._kept, **_patience.state(self.cfg)}

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        if self.of_checkpoint:
            cfg = _checkpoint_options.closed_criterion(cfg, (self.NAME,))
        check(cfg, CRITERION_DATACLASS_REGISTRY.get(cfg._name))
        if cfg._name != self.NAME:
            raise InputError(
                f"--task {self.NAME} needs --criterion {self.NAME}, not --criterion {cfg._name}"
            )
        # fairseq 0.12.2 has no second argument, and never passes it
        criterion: Any = super().build_criterion(cfg, *([True] if from_checkpoint else []))
        _checks.check_best_metric(self.cfg, ["loss", *criterion.metrics])
        return criterion

    def load_dataset(
        self,
        split: str,
        epoch: int = 1,
        combine: bool = False,
        task_cfg: Any = None,
        **kwargs: Any,
    ) -> None:
        """Load a split, after checking that its streams fit and its examples are not too long.

        Only validation passes the checkpoint's task options, ``task_cfg``; the rest is ignored.
        """
        training = split == self.cfg.train_subset and task_cfg is None
        order = str(self.cfg.batch_order) if training else FILE
        texts = not training or split in str(getattr(self.cfg, "valid_subset", "")).split(",")
        dataset: Any = self.inputs.read(split, learning=True, make=self.DATASET, texts=texts)
        dataset.order = order
        self.datasets[split] = dataset

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Log losses as fairseq does, and the task's metrics from their counts."""
        super().reduce_metrics(logging_outputs, criterion)
        criterion.log_metrics(logging_outputs)
