"""``extractive_qa``: the span of a passage that answers a question, or that there is none.

A passage longer than the model is read in windows that begin at every ``--doc-stride`` wordpieces;
position 0 of a row, [CLS] or <s>, stands for no answer.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from fairseq.tasks import register_task
from omegaconf import II, MISSING

from ..corpora.squad import Paragraph
from ..data import text_folders
from ..data.passages import Texts
from ..data.qa_columns import QuestionColumns
from ..data.qa_dataset import QuestionDataset
from ..data.text_items import WINDOWS, InputFormat
from ..option_flags import option
from ..syntax.layers import WORD_PAIR, layers_of
from ..syntax.needs import Needs
from ..text.squad_encoder import EncodedParagraph
from ._text_task import TextTask, TextTaskConfig

logger = logging.getLogger(__name__)


@dataclass
class ExtractiveQAConfig(TextTaskConfig):
    """Options of ``extractive_qa``."""

    data: str = option("folder of fairseq-plugins prepare questions", MISSING)
    max_positions: Optional[int] = option(
        "most wordpieces of a row, special tokens included (default: the data "
        "folder's, as far as the model has positions)",
        None,
    )
    doc_stride: Optional[int] = option(
        "wordpieces from the begin of one window of a long passage to the next, at "
        "most what a window holds of it (default: the data folder's)",
        None,
        least=1,
    )
    max_query_length: Optional[int] = option(
        "wordpieces of a question that are read (default: the data folder's)", None, least=1
    )
    max_answer_length: int = option("most wordpieces of a predicted answer", 30, least=1)
    n_best: int = option("how many answers a prediction lists, best first", 20, least=1)
    null_threshold: float = option(
        "no answer is given where its score exceeds that of the best span by more", 0.0
    )
    valid_subset: str = II("dataset.valid_subset")  # fairseq's own


@register_task("extractive_qa", dataclass=ExtractiveQAConfig)
class ExtractiveQATask(TextTask):
    """Learn to find answers in passages.

    Args:
        cfg: options.
        manifest: of the data folder.
        dictionary: BERT's vocabulary.
    """

    NAME = "extractive_qa"
    cfg: ExtractiveQAConfig

    def __init__(self, cfg: Any, manifest: Any, dictionary: Any) -> None:
        super().__init__(cfg, manifest, dictionary)
        if math.isnan(cfg.null_threshold):
            raise ValueError("--null-threshold nan: must be a number")
        self._limit = self._size("max_positions")

    def _size(self, name: str) -> int:
        """Return one of the sizes of windows: the option, or what the folder says."""
        given = getattr(self.cfg, name)
        return self.manifest.windows[name] if given is None else given

    def _check(self, needs: Needs, *, training: bool) -> None:
        for layer in layers_of(needs.layers):
            if layer.unit == WORD_PAIR:
                raise ValueError(
                    f"--task {self.NAME} does not take models that read {layer.about}, which "
                    "questions and their passages have none of; choices: --similarity-layers none, "
                    "or another architecture"
                )
        super()._check(needs, training=training)

    def _long_examples(self) -> dict[str, Any]:
        return {
            "long_examples": WINDOWS,
            "stride": self._size("doc_stride"),
            "longest_question": self._size("max_query_length"),
        }

    def _read_split(
        self, split: str, form: InputFormat, *, labelled: bool, training: bool, **how: Any
    ) -> QuestionDataset:
        columns = text_folders.read_questions(
            self.folder,
            self.manifest,
            split,
            form.layers,
            pieces=len(self.dictionary),
            required=labelled,
        )
        texts = None
        if not training or split in str(self.cfg.valid_subset).split(","):
            texts = Texts.read(self.folder, split, columns.paragraph, columns.offsets)
        return QuestionDataset(columns, form, texts=texts, **how)

    def _log_refitted(self, split: str, dataset: QuestionDataset) -> None:
        counts = (len(dataset.items.refitted), len(dataset), self._limit)
        if dataset.items.refitted:
            message = "%s %s: %d of %d questions are cut, or read in windows of at most %d tokens"
            logger.info(message, self.folder, split, *counts)
        if unreachable := dataset.unreachable:
            message = "%s %s: %d of %d questions have an answer that no window shows whole"
            logger.info(message, self.folder, split, unreachable, len(dataset))

    def build_dataset_for_inference(
        self, encoded: Sequence[EncodedParagraph], paragraphs: Sequence[Paragraph]
    ) -> QuestionDataset:
        """Make a dataset of raw paragraphs, read exactly as prepared splits are.

        Args:
            encoded: from `text.squad_encoder.encode_paragraphs`.
            paragraphs: what it encoded.

        Returns:
            Of all their questions, one after another.

        Raises:
            ValueError: a question that leaves its context no room, or texts that were not parsed
                for a model whose answers depend on it.
        """
        asked = [question for paragraph in paragraphs for question in paragraph.questions]
        names = [f"question {question.id!r}" for question in asked]
        form = self._input_format(learning=False)
        columns = QuestionColumns.of(
            [question for paragraph in encoded for question in paragraph.questions],
            [paragraph.context for paragraph in encoded],
            [number for number, paragraph in enumerate(encoded) for _ in paragraph.questions],
            [paragraph.offsets for paragraph in encoded],
            names=form.layers,
            name_of=names.__getitem__,
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
