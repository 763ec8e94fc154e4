"""What the understanding tasks share: folder, model and datasets.

They read a folder of `prepare text` or `prepare questions` and take any of our
encoders. A checkpoint knows what it was trained for, and another folder must agree with it.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import TASK_DATACLASS_REGISTRY, FairseqTask
from omegaconf import II, MISSING

from ..data import text_folders
from ..data.dictionaries import ClosedDictionary
from ..data.folder_names import WORD_LABELS
from ..data.inventories import bound_layers
from ..data.manifest import Manifest, load_vocabulary
from ..data.text_dataset import FILE, LENGTH, RANDOM, TextDataset
from ..data.text_items import InputFormat
from ..option_flags import check, option
from ..syntax.needs import Needs
from . import _checkpoint_options, _checks, _warnings

logger = logging.getLogger(__name__)

BFLOAT16 = "bfloat16"


@dataclass
class TextTaskConfig(FairseqDataclass):
    """Options of all of them."""

    data: str = option("folder of `prepare text`", MISSING)
    max_positions: Optional[int] = option(
        "most wordpieces of an input, specials included (default: the model's)", None
    )
    batch_order: ChoiceEnum([RANDOM, LENGTH]) = option(
        "how training examples form batches: in random order, as in BERT's own "
        "fine-tuning, or examples of like length together",
        RANDOM,
    )
    autocast: ChoiceEnum([_checks.NO_AUTOCAST, BFLOAT16]) = option(
        "number type of matrix products in training: that of the weights, or bfloat16, "
        "which is faster where the processor or the GPU has units for it; weights, sums and "
        "predictions stay as they are; not with --fp16, --bf16 or --amp",
        _checks.NO_AUTOCAST,
    )
    spacy_model: Optional[str] = option(
        "what annotates raw text: a spaCy pipeline, installed or a path, or udpipe:MODEL "
        "(default: the data folder's, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    # fairseq's own options, where the task has to know them.
    train_subset: str = II("dataset.train_subset")
    best_checkpoint_metric: str = II("checkpoint.best_checkpoint_metric")
    maximize_best_checkpoint_metric: bool = II("checkpoint.maximize_best_checkpoint_metric")
    fp16: bool = II("common.fp16")
    bf16: bool = II("common.bf16")
    amp: bool = II("common.amp")


class TextTask(FairseqTask):
    """Learn what is to be known of texts.

    Args:
        cfg: options.
        manifest: of the data folder.
        dictionary: the pretrained vocabulary.

    Attributes:
        NAME: name of the task and of its criterion.
        layers: those of the folder, with its inventories.
        needs: what the models read together; nothing before there is one.
        positive: the label that F1 is about; empty if there is none.
        of_checkpoint: whether its options are those of a checkpoint.
    """

    NAME: str
    cfg: Any
    of_checkpoint = False

    def __init__(self, cfg: Any, manifest: Manifest, dictionary: ClosedDictionary) -> None:
        super().__init__(cfg)
        self.folder = Path(cfg.data)
        self.manifest = manifest
        self.dictionary = dictionary
        self.layers = bound_layers(self.folder, manifest)
        given = getattr(cfg, "positive_label", None)
        self.positive = _checks.positive_label(given, manifest, self.folder)
        self.needs, self._served = Needs(), False
        self._limit = cfg.max_positions
        self._positions: Optional[int] = None
        self._warnings = _warnings.Warnings()

    @classmethod
    def setup_task(cls, cfg: Any, **kwargs: Any) -> "TextTask":
        """Check the folder and load its vocabulary.

        Raises:
            FileNotFoundError: a folder that was not prepared, or not to the end.
            ValueError: a folder for the other task, or options that do not fit.
        """
        of_checkpoint = bool(kwargs.get("from_checkpoint"))
        if of_checkpoint:
            cfg = _checkpoint_options.closed_task(cfg, TASK_DATACLASS_REGISTRY[cls.NAME])
        check(cfg, TASK_DATACLASS_REGISTRY[cls.NAME])
        _checks.check_autocast(cfg)
        _checks.check_precision(cfg)
        folder = Path(cfg.data)
        manifest = text_folders.open_folder(folder, cls.NAME)
        least = manifest.family.row.specials(manifest.sentences) + manifest.sentences
        if cfg.max_positions is not None and cfg.max_positions < least:
            raise ValueError(f"--max-positions {cfg.max_positions}: must be at least {least}")
        task = cls(cfg, manifest, ClosedDictionary(load_vocabulary(folder, manifest)))
        task.of_checkpoint = of_checkpoint
        return task

    @property
    def source_dictionary(self) -> ClosedDictionary:
        """The pretrained vocabulary."""
        return self.dictionary

    @property
    def target_dictionary(self) -> None:
        """None: labels are no text."""

    def max_positions(self) -> Optional[int]:
        """Most tokens of an input: the option, or what the model has; None before there is one."""
        return self._limit

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model for the folder, and see to it that its checkpoint can tell what it is for.

        Of a checkpoint's options a closed record is taken, see `_checkpoint_options`.

        Raises:
            ValueError: a model that is none of ours, or one that does not fit the folder: that was
                trained for other labels or for pairs, or reads heads or similarities that the
                folder lacks.
        """
        model_class = _checks.model_class_of(cfg, self.NAME, "takes_text")
        if from_checkpoint:
            cfg = _checkpoint_options.closed_model(cfg, model_class)
            _checks.check_labels(cfg, self.manifest, self.folder)
            _checks.check_inventories(cfg, self.layers, self.folder)
            _checkpoint_options.check_memory(self, cfg)
        else:
            model_class.complete_config(cfg, self.manifest, self.layers)
        self._check(model_class.needs_of(cfg), training=not from_checkpoint)
        model = super().build_model(cfg, from_checkpoint)
        self._serve(model)
        if from_checkpoint and model.needs.annotated:
            trained = getattr(cfg, "annotator", None) or ""
            present = self.manifest.annotator_id
            self._warnings.other_annotator([trained], present, str(self.folder))
        return model

    def _check(self, needs: Needs, *, training: bool) -> None:
        """Refuse a folder that lacks what a model reads, to be trained or to answer."""
        _checks.check_needs(needs, self.manifest, self.folder, training=training)

    def _serve(self, model: Any) -> None:
        """Note what the datasets must give the model; an ensemble gets what any of it reads."""
        self.needs = model.needs.joined(self.needs if self._served else None)
        self._served = True
        positions = model.max_positions()
        if self.cfg.max_positions is not None and self.cfg.max_positions > positions:
            raise ValueError(
                f"--max-positions {self.cfg.max_positions}: the model has only {positions}"
            )
        self._limit = min(positions, self._limit or positions)
        self._positions = min(positions, self._positions or positions)

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build the task's criterion.

        Raises:
            ValueError: another criterion, or a ``--best-checkpoint-metric`` that is not computed.
        """
        if self.of_checkpoint:
            cfg = _checkpoint_options.closed_criterion(cfg, (self.NAME,))
        if cfg._name != self.NAME:
            raise ValueError(
                f"--task {self.NAME} needs --criterion {self.NAME}, not --criterion {cfg._name}"
            )
        criterion = super().build_criterion(cfg, from_checkpoint)
        _checks.check_best_metric(self.cfg, ["loss", *criterion.metrics])
        return criterion

    def load_dataset(
        self,
        split: str,
        epoch: int = 1,
        combine: bool = False,
        task_cfg: Any = None,
        *,
        for_prediction: bool = False,
        **kwargs: Any,
    ) -> None:
        """Load a split, after checking that its streams fit and its examples are not too long.

        Only validation gives the checkpoint's task options, ``task_cfg``; a split
        ``for_prediction`` may be without labels. The rest is ignored.

        Raises:
            FileNotFoundError: no such split, or a missing stream.
            ValueError: streams that disagree, missing labels, or an example that is too long.
        """
        self._check(self.needs, training=not for_prediction)
        training = split == self.cfg.train_subset and task_cfg is None and not for_prediction
        self.datasets[split] = self._read_split(
            split,
            self._input_format(learning=not for_prediction),
            labelled=not for_prediction,
            training=training,
            order=str(self.cfg.batch_order) if training else FILE,
            name_of=partial(text_folders.name_example, self.folder, split),
        )
        self._log_refitted(split, self.datasets[split])

    def _read_split(
        self, split: str, form: InputFormat, *, labelled: bool, training: bool, **how: Any
    ) -> TextDataset:
        """Read a split, which must have all its labels if ``labelled``, to train on it or not."""
        where, pieces = (self.folder, self.manifest, split), len(self.dictionary)
        sentences = text_folders.read_sentences(*where, form.layers, pieces=pieces)
        gold = text_folders.read_gold(*where, required=labelled)
        return TextDataset(sentences, form, gold=gold, **how)

    def _log_refitted(self, split: str, dataset: TextDataset) -> None:
        if dataset.items.refitted:
            counts = (len(dataset.items.refitted), len(dataset), self._limit)
            message = "%s %s: %d of %d examples are longer than %d tokens; --long-examples %s"
            logger.info(message, self.folder, split, *counts, self.cfg.long_examples)

    def _input_format(self, *, learning: bool) -> InputFormat:
        return InputFormat(
            cls=self.dictionary.bos(),
            sep=self.dictionary.eos(),
            pad=self.dictionary.pad(),
            row=self.manifest.family.row,
            layers=self.needs.reads(training=learning),
            by_word=self.manifest.target == WORD_LABELS,
            words=self.needs.words,
            limit=self._limit,
            positions=self._positions,
            **self._long_examples(),
        )

    def _long_examples(self) -> dict[str, Any]:
        """Return what `InputFormat` must know of examples longer than the limit."""
        return {"long_examples": str(self.cfg.long_examples)}

    def build_dataset_for_inference(
        self, sentences: Sequence[Sequence[Any]], ids: Optional[Sequence[str]] = None
    ) -> TextDataset:
        """Make a dataset of raw text, read exactly as prepared splits are.

        Args:
            sentences: for each example its one or two sentences, from `text.text_encoder`.
            ids: the examples' names for messages (default: their numbers).

        Raises:
            ValueError: an example with another number of sentences, one that is too long, or one
                that was not parsed or compared for a model whose answers depend on it.
        """
        names = [f"example {i}" for i in (ids or range(1, len(sentences) + 1))]
        form, count = self._input_format(learning=False), self.manifest.sentences
        columns = text_folders.take_sentences(sentences, count, form.layers, names)
        return TextDataset(columns, form, name_of=names.__getitem__)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Log losses as fairseq does, and the task's metrics from their counts."""
        super().reduce_metrics(logging_outputs, criterion)
        criterion.log_metrics(logging_outputs)
