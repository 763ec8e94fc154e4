"""The input of models that read texts or questions: content and limits of rows, datasets.

Training, checkpoints and bundles share this code, so that equal text is equal input in all.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..option_flags import check, option
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import OF_PAIRS, Layer, asked_with, in_order, layers_of
from ..syntax.needs import Needs
from . import text_folders
from .entity_dataset import EntityDataset
from .label_questions import LabelQuestions
from .passages import Texts
from .qa_columns import QuestionColumns
from .qa_dataset import QuestionDataset
from .text_dataset import TextDataset
from .text_items import ERROR, SPLIT, TRUNCATE, WINDOWS, InputFormat
from .text_manifest import TextManifest

logger = logging.getLogger(__name__)

MOST_ANSWERS = 100_000  # more than the spans of a row, but safe for memory
LONG_EXAMPLES = (ERROR, TRUNCATE, SPLIT)


@dataclass(frozen=True)
class InputOptions:
    """Options of the understanding tasks that decide what models read and how they answer."""

    max_positions: int | None = option("maximum number of wordpieces of an input", None, least=1)
    long_examples: str | None = option(
        "what to do with longer examples", None, choices=LONG_EXAMPLES
    )
    doc_stride: int | None = option(
        "wordpieces from the beginning of one window to that of the next", None, least=1
    )
    max_query_length: int | None = option(
        "maximum number of wordpieces of a question", None, least=1
    )
    max_answer_length: int = option("maximum number of wordpieces of an answer", 30, least=1)
    n_best: int = option("number of answers listed for a question", 20, least=1, most=MOST_ANSWERS)
    null_threshold: float = option("null odds above which there is no answer", 0.0)
    label_thresholds: str | None = option("probabilities from which on labels are predicted", None)
    entities: str | None = option("whether entities may overlap", None, choices=("flat", "nested"))

    def __post_init__(self) -> None:
        check(self)
        if math.isnan(self.null_threshold):
            raise InputError("--null-threshold nan: must be a number")

    @classmethod
    def of(cls, cfg: Any) -> "InputOptions":
        """Read the options from a task's options, which may lack some."""
        found: dict[str, Any] = {
            spec.name: getattr(cfg, spec.name, spec.default) for spec in fields(cls)
        }
        for name in ("long_examples", "label_thresholds", "entities"):
            found[name] = found[name] and str(found[name])
        return cls(**found)


class TextInputs:
    """The input of models from a prepared folder or raw text.

    Args:
        folder, manifest, vocabulary: of the prepared folder, or of a bundle.
        options: decide how long examples are read.

    Attributes:
        needs: inputs of all models together; empty before the first model.
        questions: of the labels of entities, if any; see `ask`.
        thresholds: least probability of each predicted label, see `Target.thresholds`.
        limit: most tokens of a row: the option, or the models' limit; None before the first model.
    """

    def __init__(
        self, folder: Path, manifest: TextManifest, vocabulary: Vocabulary, options: InputOptions
    ) -> None:
        self.folder, self.manifest, self.vocabulary = Path(folder), manifest, vocabulary
        self.options = options
        self.target = manifest.target_kind
        self.thresholds = self.target.thresholds(options.label_thresholds, manifest.labels)
        self.asks = self.target.passages
        self.seeks = self.target.asks and not self.asks
        self.questions: LabelQuestions | None = None
        self.needs = Needs()
        self.limit = self._size("max_positions") if self.asks else options.max_positions
        self._served = False
        self._positions: int | None = None
        if options.long_examples == (TRUNCATE if self.target.by_word else SPLIT):
            choices = ", ".join(one for one in LONG_EXAMPLES if one != options.long_examples)
            raise InputError(f"--long-examples {options.long_examples}: choices are {choices}")
        texts = 2 if self.seeks else manifest.sentences
        least = manifest.family.row.specials(texts) + texts
        if options.max_positions is not None and options.max_positions < least:
            raise InputError(f"--max-positions {options.max_positions}: must be at least {least}")

    def _size(self, name: str) -> int:
        """Return a size of windows: the option, or the folder's."""
        given = getattr(self.options, name)
        return self.manifest.windows[name] if given is None else given

    def check(self, needs: Needs, *, training: bool) -> None:
        """Refuse a folder that lacks a model's inputs, for training or answering."""
        for layer in layers_of(needs.layers) if self.asks or self.seeks else ():
            if layer.name in OF_PAIRS:
                raise InputError(
                    f"--task {self.manifest.task} does not take models that read {layer.about}, "
                    "which questions and what they are put to have none of; choices: "
                    "--similarity-layers none, or another architecture"
                )
        texts = 2 if self.seeks else self.manifest.sentences
        check_needs(needs, self.manifest, self.folder, texts, training=training)
        if training:
            self.manifest.check_trees(needs.controls, self.folder)

    def ask(self, questions: LabelQuestions) -> None:
        """Set the questions of labels, for every sentence."""
        self.questions = questions

    @property
    def overlap(self) -> str:
        """Whether entities may overlap: the option, or else the folder's levels."""
        nested = self.manifest.label_levels > 1
        return self.options.entities or ("nested" if nested else "flat")

    def serve(self, needs: Needs, positions: int) -> None:
        """Add a model's inputs; an ensemble gets the inputs of all its models.

        Args:
            positions: the model's longest row.
        """
        self.needs = needs.joined(self.needs if self._served else None)
        self._served = True
        asked = self.options.max_positions
        if asked is not None and asked > positions:
            raise InputError(f"--max-positions {asked}: the model has only {positions}")
        self.limit = min(positions, self.limit or positions)
        self._positions = min(positions, self._positions or positions)

    def form(self, *, learning: bool) -> InputFormat:
        """Return the input format for learning or answering."""
        how: dict[str, Any] = {"long_examples": self.options.long_examples or ERROR}
        if self.asks:
            how = {
                "long_examples": WINDOWS,
                "stride": self._size("doc_stride"),
                "longest_question": self._size("max_query_length"),
            }
        return InputFormat(
            cls=self.vocabulary.cls,
            sep=self.vocabulary.sep,
            pad=self.vocabulary.pad,
            row=self.manifest.family.row,
            layers=self.needs.reads(training=learning),
            by_word=self.target.by_word,
            words=self.needs.words,
            limit=self.limit,
            positions=self._positions,
            controls=self.needs.controls,
            **how,
        )

    def read(
        self,
        split: str,
        *,
        learning: bool,
        make: Callable[..., TextDataset] | None = None,
        texts: bool = True,
    ) -> TextDataset:
        """Read a split of the prepared folder.

        Args:
            learning: whether to learn from the split, which must then be completely labelled.
            make: makes the dataset (default: `TextDataset`, or `QuestionDataset`).
            texts: whether questions come with their texts.
        """
        self.check(self.needs, training=learning)
        dataset = self._read(split, learning, make, texts)
        self._log_refitted(split, dataset)
        return dataset

    def _read(
        self, split: str, learning: bool, make: Callable[..., TextDataset] | None, texts: bool
    ) -> TextDataset:
        form, where = self.form(learning=learning), (self.folder, self.manifest, split)
        how: dict[str, Any] = {"name_of": partial(text_folders.name_example, self.folder, split)}
        known: dict[str, Any] = {"pieces": len(self.vocabulary), "controls": form.controls}
        if not self.asks:
            sentences = text_folders.read_sentences(*where, form.layers, **known)
            gold = text_folders.read_gold(*where, required=learning)
            if learning and self.needs.scheme:
                text_folders.check_scheme(*where, gold)
            how |= self._asked()
            return (make or self._dataset)(sentences, form, gold=gold, **how)
        columns = text_folders.read_questions(*where, form.layers, required=learning, **known)
        if texts:
            read = Texts.read(self.folder, split, columns.paragraph, columns.offsets)
            how["texts"] = read.asking(columns.asked)
        return (make or QuestionDataset)(columns, form, **how)

    @property
    def _dataset(self) -> type[TextDataset]:
        return EntityDataset if self.seeks else TextDataset

    def _asked(self) -> dict[str, Any]:
        """Return the arguments of a dataset of entities; empty for others."""
        if not self.seeks:
            return {}
        known = {"word_labels": self.manifest.labels, "levels": self.manifest.label_levels}
        return {"questions": self.questions, **known}

    def _log_refitted(self, split: str, dataset: TextDataset) -> None:
        """Log the number of examples that are cut or split."""
        counts = (dataset.refitted, len(dataset))
        if counts[0] and self.asks:
            message = "%s %s: %d of %d questions are cut, or read in windows of at most %d tokens"
            logger.info(message, self.folder, split, *counts, self.limit)
        elif counts[0]:
            message = "%s %s: %d of %d examples are longer than %d tokens; --long-examples %s"
            how = self.options.long_examples
            logger.info(message, self.folder, split, *counts, self.limit, how)
        if unreachable := dataset.unreachable:
            message = "%s %s: %d of %d questions have an answer that no window shows whole"
            logger.info(message, self.folder, split, unreachable, len(dataset))

    def check_length(self, texts: int, subwords: int, name: str) -> None:
        """Refuse an example with too many subwords, before annotation.

        ``subwords`` may leave out some of its ``texts`` texts.
        """
        form = self.form(learning=False)
        least = subwords + form.row.specials(texts)
        if form.long_examples == ERROR and form.limit is not None and least > form.limit:
            raise InputError(form.too_long(name, f"at least {least}"))

    def take(
        self, sentences: Sequence[Sequence[Any]], ids: Sequence[str] | None = None
    ) -> TextDataset:
        """Make a dataset of raw text, read exactly like prepared splits.

        Args:
            sentences: for each example its one or two sentences, from `text.text_encoder`.
            ids: the examples' names for messages (default: their numbers).
        """
        self.needs.controls.check_raw()
        names = [f"example {i}" for i in (ids or range(1, len(sentences) + 1))]
        form, count = self.form(learning=False), self.manifest.sentences
        columns = text_folders.take_sentences(sentences, count, form.layers, names, form.controls)
        return self._dataset(columns, form, name_of=names.__getitem__, **self._asked())

    def take_questions(self, encoded: Sequence[Any], paragraphs: Sequence[Any]) -> QuestionDataset:
        """Make a dataset of all questions of raw paragraphs, read exactly like prepared splits.

        Args:
            encoded: from `text.squad_encoder.encode_paragraphs`.
            paragraphs: the encoded `corpora.squad.Paragraph` records.
        """
        self.needs.controls.check_raw()
        asked = [question for paragraph in paragraphs for question in paragraph.questions]
        names = [f"question {question.id!r}" for question in asked]
        form = self.form(learning=False)
        columns = QuestionColumns.of(
            [question for paragraph in encoded for question in paragraph.questions],
            [paragraph.context for paragraph in encoded],
            [number for number, paragraph in enumerate(encoded) for _ in paragraph.questions],
            [paragraph.offsets for paragraph in encoded],
            names=form.layers,
            name_of=names.__getitem__,
            controls=form.controls,
        )
        texts = Texts(
            [question.id for question in asked],
            [question.text for question in asked],
            [None if q.answers is None else tuple(a.text for a in q.answers) for q in asked],
            [paragraph.context for paragraph in paragraphs],
            columns.paragraph,
            columns.offsets,
        )
        return QuestionDataset(columns, form, texts=texts, name_of=names.__getitem__)


def check_needs(
    needs: Needs,
    manifest: TextManifest,
    folder: object,
    sentences: int | None = None,
    *,
    training: bool,
) -> None:
    """Refuse a folder that lacks a model's inputs.

    Args:
        sentences: number of texts in a row (default: the folder's).
        training: whether for training.
    """

    read = layers_of(needs.reads(training=training))
    asked = {name for one in read if one.name not in manifest.layers for name in asked_with(one)}

    def cure(layer: Layer) -> str:
        names = ",".join(in_order({*manifest.annotations, *asked}))
        return f"--layers {names}{layer.cure}"

    where = (manifest.layers, folder, cure)
    needs.check(*where, sentences=sentences or manifest.sentences, training=training)
