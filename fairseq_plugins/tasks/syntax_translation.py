"""``syntax_translation``: fairseq's translation task with source features and raw-text inference.

It reads folders written by `prepare translation`: fairseq's own token streams with layers beside
them. All of the folder's layers go into every batch; the model takes those that it was built for.
"""

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional

from fairseq import utils
from fairseq.data import Dictionary
from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import FairseqTask, register_task
from fairseq.tasks.translation import TranslationConfig

from ..architectures import agreement
from ..data import translation_folders
from ..data.dictionaries import load_dictionary
from ..data.factored_dictionary import FactoredDictionary
from ..data.factored_pair_dataset import MODES, Ablation, FactoredPairDataset
from ..data.manifests import read_manifest
from ..data.pair_columns import check_tokens, open_rows, split_parts
from ..data.text_dictionary import TextDictionary
from ..data.translation_manifest import TranslationManifest
from ..door.model_trial import try_model
from ..errors import InputError
from ..methods.control_options import log_controls, write_seed
from ..methods.options import read_features, write
from ..methods.plan import Plan
from ..option_flags import option
from ..syntax.layers import OF_TARGETS, Layer, column_places, columns_of
from ..syntax.needs import Needs
from ..text.beginnings import read_beginnings
from . import (
    _checkpoint_options,
    _checks,
    _generation,
    _patience,
    _run_folder,
    _spawned,
    _start,
    _validation_bleu,
    folder_warnings,
    protected_spans,
)
from ._models_read import ModelsRead
from ._raw_text import RawTextTask

logger = logging.getLogger(__name__)

NAME = "syntax_translation"
PLAIN = (
    ". For a plain transformer use --arch syntax_transformer --features none, or --task "
    "translation on the same folder"
)


@dataclass
class SyntaxTranslationConfig(TranslationConfig):
    """fairseq's translation options and ours."""

    upsample_primary: int = option(
        "how many times the first part of the training data (train, before train1, ...) is used", 1
    )
    eval_bleu_detok: Optional[str] = option(
        "detokenizer for --eval-bleu, e.g. moses or space (default: the data folder's "
        "own, as in generation)",
        None,
    )
    ablate_features: Optional[str] = option(
        "features to take away outside training (in validation and translation), e.g. pos,case",
        None,
    )
    ablation_mode: ChoiceEnum(MODES) = option(
        "how --ablate-features takes features away: no feature vector (drop), or values "
        "permuted within each sentence (shuffle)",
        "drop",
    )
    spacy_model: Optional[str] = option(
        "annotator of raw text: an installed spaCy pipeline, the path of one, or udpipe:MODEL "
        "(default: that of the data folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    prefix: Optional[str] = option(
        "beginning of the translation of raw text: a file with one for each line, or one for all",
        None,
    )
    ablation_seed: int = option("random seed of --ablation-mode shuffle", 1)


@register_task(NAME, dataclass=SyntaxTranslationConfig)
class SyntaxTranslationTask(RawTextTask):
    """Translate text whose source words carry syntactic features.

    Attributes:
        manifest: of the (first) data folder.
        target_layers: of its target subwords, in the column order of ``prev_output_factors``.
        source_layers: of the folder, in the column order of ``src_factors``.
        of_checkpoint: whether its options come from a checkpoint.
    """

    cfg: SyntaxTranslationConfig
    of_checkpoint = False

    def __init__(
        self, cfg: SyntaxTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self.folders = utils.split_paths(str(cfg.data))
        self.manifest = translation_folders.shared_manifest(self.folders)
        self.source_layers = translation_folders.load_layers(self.folders, self.manifest)
        layers = translation_folders.load_layers(self.folders, self.manifest, of_target=True)
        self.target_layers = layers
        self.forms = {side: self.manifest.form(side) for side in ("source", "target")}
        self.src_dict = TextDictionary(src_dict, self._joined, self.forms["source"])
        self.tgt_dict = TextDictionary(tgt_dict, self._joined, self.forms["target"])
        restored = [k for k, layer in enumerate(self.target_layers) if layer.name in OF_TARGETS]
        if restored:
            self.tgt_dict = FactoredDictionary(self.tgt_dict, self.target_layers[restored[0]])
        self.ablation = self._ablation()
        self.own_beginnings = read_beginnings(cfg.prefix)
        self.models = ModelsRead(cfg.max_source_positions)
        self._queue = _generation.FactorQueue()
        self._sentences = 0
        self._warnings = folder_warnings.Warnings()
        self._kept: dict[str, str] = {}  # entries for checkpoints about the run's folder
        self._progress: Optional[_validation_bleu.Progress] = None  # of validation by BLEU

    @classmethod
    def setup_task(cls, cfg: SyntaxTranslationConfig, **kwargs: Any) -> "SyntaxTranslationTask":
        """Check folders and options, then load the dictionaries."""
        of_checkpoint = bool(kwargs.get("from_checkpoint"))
        if of_checkpoint:
            cfg = _checkpoint_options.closed_task(cfg, SyntaxTranslationConfig)
            _checkpoint_options.check_bleu(cfg)
        _checks.check_precision(cfg)
        if cfg.num_batch_buckets > 0:
            raise InputError(
                "--num-batch-buckets does not work: fairseq's bucketing needs an older NumPy; "
                "leave it out"
            )
        if cfg.dataset_impl not in (None, "mmap"):
            raise InputError(f"--dataset-impl is {cfg.dataset_impl}; prepared folders are mmap")
        folders = utils.split_paths(cfg.data) if cfg.data else []
        manifest = translation_folders.shared_manifest(folders)
        translation_folders.check_languages(manifest, cfg.source_lang, cfg.target_lang)
        cfg.source_lang, cfg.target_lang = manifest.source_lang, manifest.target_lang
        task = super().setup_task(cfg, **kwargs)
        task.of_checkpoint = of_checkpoint
        _generation.score_plain_text(cfg, manifest.target_lang)
        return task

    @classmethod
    def load_dictionary(cls, filename: str) -> Dictionary:
        return load_dictionary(Path(filename))

    @property
    def words(self) -> str:
        """Hashes of both languages and their dictionaries."""
        sides = (self.src_dict.symbols, self.tgt_dict.symbols)
        return translation_folders.word_digests(self.manifest, *sides)

    @property
    def _available(self) -> list[str]:
        return [*columns_of(self.source_layers)]

    def _ablation(self) -> Optional[Ablation]:
        available = self._available
        names = read_features(self.cfg.ablate_features)
        for name in names:
            if name not in available:
                raise InputError(
                    f"--ablate-features names {name!r}, which the data folder lacks; "
                    f"choices: {', '.join(available) or 'none'}"
                )
        places = column_places(self.source_layers)
        columns = [column for name in names for column in places[name]]
        mode = str(self.cfg.ablation_mode)
        if not names:
            return None
        logger.info("ablation outside training: %s (%s)", ", ".join(names), mode)
        return Ablation(columns, mode, self.cfg.ablation_seed)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, task_cfg: Any = None, **kwargs: Any
    ) -> None:
        """Load a split of tokens and features after checking that they fit.

        Training folders take turns, one per ``epoch``; ``combine`` joins ``train``, ``train1`` and
        so on. Only generation and validation pass the checkpoint's task options, ``task_cfg``;
        ``kwargs`` are ignored.
        """
        training = split == self.cfg.train_subset
        folder = Path(self.folders[(epoch - 1) % len(self.folders) if training else 0])
        manifest = read_manifest(folder, TranslationManifest)
        parts = split_parts(folder, manifest, split, combine=combine)
        dictionaries = {manifest.source_lang: self.src_dict, manifest.target_lang: self.tgt_dict}
        for part in parts:
            check_tokens(folder, manifest, part, dictionaries)
        how: dict[str, Any] = {"upsample_primary": self.cfg.upsample_primary}
        opened = (folder, manifest, parts)
        targets = open_rows(*opened, self.target_layers, of_target=True, **how)
        if self.cfg.truncate_source and len(self.forms["source"].after) > 1:
            raise InputError("--truncate-source would cut the language token behind the source")
        how["limit"] = self.cfg.max_source_positions if self.cfg.truncate_source else None
        factors = open_rows(*opened, self.source_layers, controls=self.models.in_force, **how)
        ablate = None if training and task_cfg is None else self.ablation
        super().load_dataset(split, epoch=epoch, combine=combine)
        pairs, extras = self.datasets[split], {}
        pairs.eos = self.tgt_dict.index(self.forms["target"].after[-1])
        if task_cfg is not None and manifest.protect and not combine:
            extras[protected_spans.KEY] = protected_spans.read_spans(folder, manifest, split)
        how = {"targets": targets, "ablate": ablate, "extras": extras}
        self.datasets[split] = FactoredPairDataset(pairs, factors, **how)

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model, with its training conditions in its checkpoint.

        Checkpoint options become a closed record, see `_checkpoint_options`.
        """
        model_class = _checks.model_class_of(cfg, NAME, "takes_source_factors", PLAIN)
        start = None if from_checkpoint else _start.trained_start(self, cfg, model_class)
        if from_checkpoint:
            cfg = _checkpoint_options.closed_model(cfg, model_class)
            plan = model_class.plan(cfg)
            self._check_plan(cfg, plan)
        else:
            write_seed(cfg, _checks.seed_of(self.cfg))
            held = (self.source_layers, self.manifest.annotator_id, self.target_layers)
            plan = model_class.complete_config(cfg, *held)
            write(cfg, words=self.words)
        needs = plan.needs
        if not from_checkpoint:
            self._check_needs(needs)
            log_controls(needs.controls)
            self.manifest.check_trees(needs.controls, self.folders[0])
        self.models = self.models.with_model(needs)
        if from_checkpoint:
            try_model(partial(FairseqTask.build_model, self, cfg.copy(), True))
        else:
            _spawned.settle(self.cfg)
            _start.check_start(self.cfg, cfg, partial(self._check_words, start=True))
        if self.cfg.eval_bleu:
            self.cfg.eval_bleu_args = _validation_bleu.limited(self.cfg.eval_bleu_args)
            self._progress = _validation_bleu.Progress(self.cfg.eval_bleu_args)
            how = {"tokenized": self.cfg.eval_tokenized_bleu}
            self._bleu = _validation_bleu.metric_for(self.manifest.target_lang, **how)
        weights = None if start is None else _start.weights_of(start, self, cfg)
        model = super().build_model(cfg, from_checkpoint)
        if weights is not None:
            model.load_state_dict({**model.state_dict(), **weights}, strict=True)
        if not from_checkpoint:
            _start.check_parameters(self.cfg, cfg, model)
            _patience.go_on(self.cfg)
            self._kept = _run_folder.keep_folder(self, self.folders[0], cfg, model)
        trained_with = (getattr(cfg, "annotator", None) or "") if from_checkpoint else None
        self.models = self.models.answering(model, trained_with)
        if from_checkpoint and model.needs.reads(training=False):
            told = (self.models.trained_with, self.manifest.annotator_id, self.folders[0])
            self._warnings.other_annotator(*told)
        for name in read_features(self.cfg.ablate_features):
            if name not in model.needs.features:
                self._warnings.say(
                    f"--ablate-features {name}: the model does not read that feature"
                )
        if self.cfg.eval_bleu and self.cfg.eval_bleu_detok is None:
            self.tokenizer = _generation.TargetText(str, self._plain_output)  # encodes nothing
        return model

    def check_fit(self, cfg: Any, model_class: Any) -> None:
        """Refuse a trained model that does not fit the folder, before it is built."""
        self._check_plan(cfg, model_class.plan(cfg))

    def _check_plan(self, cfg: Any, plan: Plan) -> None:
        self._check_words(cfg)
        agreement.check_inventories(cfg, self.source_layers, self.folders[0])
        self._check_needs(plan.needs)

    def _check_words(self, cfg: Any, **how: bool) -> None:
        agreement.check_words(cfg, self.words, self.folders[0], **how)

    def _check_needs(self, needs: Needs) -> None:
        needs.check(self.manifest.layers, self.folders[0], self._cure, training=True)

    def state_dict(self) -> dict[str, Any]:
        """Add the run's entries about the folder to checkpoints."""
        return {**super().state_dict(), **self._kept, **_patience.state(self.cfg)}

    def _cure(self, layer: Layer) -> str:
        names = ",".join(dict.fromkeys([*self.manifest.layers, layer.name]))
        return f"--layers {names} (`prepare translation`){layer.cure}"

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a criterion; for a checkpoint (``fairseq-validate``) only cross entropy."""
        if self.of_checkpoint:
            cfg = _checkpoint_options.closed_criterion(cfg, _checkpoint_options.CRITERIONS)
        # fairseq 0.12.2 has no second argument, and never passes it
        criterion = super().build_criterion(cfg, *([True] if from_checkpoint else []))
        predicted = self.models.predicted
        if predicted and not getattr(criterion, "takes_target_factors", False):
            raise InputError(
                f"--target-features {','.join(predicted)} is trained with --criterion "
                f"{_checkpoint_options.FACTORED}, not {_checkpoint_options.architecture_of(cfg)}"
            )
        return criterion

    def valid_step(self, sample: Any, model: Any, criterion: Any) -> Any:
        """Validate on a copy, since fairseq may use the batch again: its references stay plain."""
        found = super().valid_step({**sample}, model, criterion)
        if self._progress:
            self._progress.step(sample["nsentences"])
        return found

    def _inference_with_bleu(self, generator: Any, sample: Any, model: Any) -> Any:
        found = self.inference_step(generator, [model], sample)
        return _validation_bleu.bleu_of(self, self._bleu, sample, found)

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Log the settings of validation by BLEU before it begins."""
        if self._progress:
            splits = [
                split for name, split in self.datasets.items() if name != self.cfg.train_subset
            ]
            self._progress.begin(sum(map(len, splits)))

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Log as fairseq's task does, with BLEU from plain counts."""
        FairseqTask.reduce_metrics(self, logging_outputs, criterion)
        if self.cfg.eval_bleu:
            _generation.log_bleu(logging_outputs)
