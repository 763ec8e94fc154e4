"""Options for loading trained models, with choices and defaults.

This file imports no model library, so that command lines and help are fast.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..corpora.readers.options import COLUMNS, JSON_SUFFIXES, TABLES, ReadOptions
from ..errors import InputError
from ..evaluation.predictions import FORMATS as OUTPUT_FORMATS
from ..option_flags import add_flags, check, flag_of, option
from .prediction_inputs import FORMATS as INPUT_FORMATS

LOGITS, PAPER = ENSEMBLES = ("logits", "paper")  # see `question_answering`
COUNTED = ("epoch", "update")  # units of checkpoints, see `averaging`
AFFINITY, DIFFERENCE, FUSED = ATTENTIONS = ("affinity", "difference", "fused")
TO_CONTEXT, TO_QUESTION = DIRECTIONS = ("q2c", "c2q")  # of coattention
EXPORTS = ("bundle", "huggingface", "huggingface-encoder", "onnx")  # formats of `export`
BUNDLE, HUGGINGFACE, ENCODER, ONNX = EXPORTS
ANSWERED, UNANSWERED = QUESTIONS = ("answered", "unanswered")  # of a split

ANSWERING = "extractive_qa"  # task names
LABELLING = ("text_classification", "sequence_labeling")
SEEKING = "mrc_ner"
PREDICTED = (*LABELLING, SEEKING)  # by `predict`
TASKS = (*PREDICTED, ANSWERING)
TRANSLATING = "syntax_translation"
READ_BY = {  # task -> commands
    **dict.fromkeys(PREDICTED, "fairseq-plugins predict"),
    ANSWERING: "fairseq-plugins answer, ask and plot coattention",
    TRANSLATING: "fairseq-plugins translate",
}
DEFAULT = "checkpoint_best.pt"  # of a run
Paths = str | Path | Sequence[str | Path]

STANDARD = "-"  # standard input or output
FREE = (None, STANDARD)

BATCH_SIZE = 32
PIPELINE = "spacy_model"
EXAMPLES = ("max_positions", "long_examples")  # of classification and labelling
WINDOWS = ("max_positions", "doc_stride", "max_query_length")  # of questions

_CHECKPOINT = (
    "run folder (its checkpoint_best.pt is used), or checkpoint files or bundles, joined by ':'"
)


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Options that override the training's."""

    spacy_model: str | None = option(
        "annotator of raw text: an installed spaCy pipeline or its path, or udpipe:MODEL (default: "
        "that of the prepared folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    max_positions: int | None = option(
        "maximum number of wordpieces of an input, special tokens included, at most as many as the "
        "model has positions (default: as in training)",
        None,
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class ExampleOverrides(Overrides):
    """Overrides for classification and labelling."""

    long_examples: str | None = option(
        "what to do with examples longer than --max-positions: {choices} (truncate is for "
        "sentences and pairs, split for labels of words; default: as in training)",
        None,
        choices=("error", "truncate", "split"),
    )


@dataclass(frozen=True, kw_only=True)
class WindowOverrides(Overrides):
    """Overrides for questions."""

    doc_stride: int | None = option(
        "wordpieces from the beginning of one window of a long context to that of the next "
        "(default: as in training)",
        None,
        least=1,
    )
    max_query_length: int | None = option(
        "maximum number of wordpieces that are read of a question (default: as in training)",
        None,
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Options of every command that computes."""

    data: str | None = option(
        "prepared folder (default: the one the model was trained on, or what the run keeps of it)",
        None,
    )
    batch_size: int = option(
        "maximum number of examples in a batch; for questions, of windows of their contexts",
        BATCH_SIZE,
        least=1,
    )
    cpu: bool = option("use no GPU", False)
    int8: bool = option("compute linear layers in 8 bits, on the CPU", False)


@dataclass(frozen=True, kw_only=True)
class ExampleOptions(ModelOptions, ExampleOverrides):
    """Options of commands that predict examples."""

    max_tokens: int | None = option("maximum number of wordpieces in a batch", None, least=1)

    @property
    def limits(self) -> dict[str, int | None]:
        """Limits of a batch, for `Predictor`."""
        return {"batch_size": self.batch_size, "max_tokens": self.max_tokens}


def add_overrides(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add the flags of overrides: `EXAMPLES`, or `WINDOWS` for questions."""
    add_flags(parser, ExampleOverrides if names == EXAMPLES else WindowOverrides, strict=True)


def given_overrides(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the given overrides with these names, and the pipeline, for `load`."""
    values = {name: getattr(options, name) for name in (PIPELINE, *names)}
    return {name: value for name, value in values.items() if value is not None}


def _of_table(name: str) -> Any:
    """Return a field with the help of a `ReadOptions` option, by default not given."""
    spec = ReadOptions.__dataclass_fields__[name]
    return option(
        f"--input is a table: {spec.metadata['help']}", False if spec.type is bool else ""
    )


@dataclass(frozen=True)
class PredictionOptions(ExampleOptions):
    """Options of `predict`."""

    checkpoint: str = option(_CHECKPOINT, positional=True, metavar="MODEL")
    split: str | None = option("predict this split of the prepared folder", None)
    input: str | None = option(
        "predict raw text, in place of --split: a file, or - for standard input",
        None,
        metavar="FILE",
    )
    input_format: str = option(
        "format of --input: {choices} (text: one example per line, a TAB between the sentences of "
        "a pair; conll: one word per line, alone or, with its gold label, in the columns that "
        "the folder was prepared with, and an empty line between sentences)",
        "text",
        choices=INPUT_FORMATS,
    )
    text_column: str = _of_table("text_column")
    text2_column: str = _of_table("text2_column")
    label_column: str = _of_table("label_column")
    id_column: str = _of_table("id_column")
    no_header: bool = _of_table("no_header")
    keep_columns: bool = option(
        "--input is a table: write all its columns as well (--format jsonl or tsv)", False
    )
    output: str | None = option(
        "file to write predictions to (default: standard output, or none if --submission-dir or "
        "--metrics is given)",
        None,
        metavar="FILE",
    )
    format: str = option("format of --output", "jsonl", choices=OUTPUT_FORMATS)
    submission_dir: str | None = option(
        "folder to write the split's submission file for the GLUE server to", None, metavar="DIR"
    )
    metrics: str | None = option(
        "JSON file to write metrics to; needs gold labels", None, metavar="FILE"
    )
    label_thresholds: str | None = option(
        "sets of labels: probability from which on a label is predicted; one number, or one for "
        "each label in the order of labels.txt, with commas between (default: as in training)",
        None,
        metavar="T",
    )
    tune_thresholds: bool = option(
        "sets of labels: find the threshold of each label with its highest F1 on --split, and keep "
        "them in the checkpoint, whose exports have them from then on",
        False,
    )

    def check(self) -> None:
        """Refuse options that exclude each other."""
        check(self)
        if (self.split is None) == (self.input is None):
            raise InputError("give either --split or --input")
        if self.submission_dir and self.split is None:
            raise InputError(
                "--submission-dir goes with --split: the server wants its own test set"
            )
        if self.input not in FREE and not Path(str(self.input)).is_file():
            raise FileNotFoundError(f"{self.input}: no such file")
        if self.tune_thresholds and (self.split is None or self.label_thresholds is not None):
            raise InputError("--tune-thresholds goes with --split, without --label-thresholds")
        self._check_table(Path(str(self.input)).suffix.lower())
        for path in (self.output, self.metrics):
            if path not in FREE and Path(str(path)).is_dir():
                raise InputError(f"{path} is a folder, not a file to write")
        named = [str(path) for path in (self.input, self.output, self.metrics) if path not in FREE]
        places = [Path(path).resolve() for path in named]
        twice = [path for path, place in zip(named, places) if places.count(place) > 1]
        if twice:
            raise InputError(f"{twice[0]} is named twice among --input, --output and --metrics")

    def _check_table(self, suffix: str) -> None:
        given = [name for name in (*COLUMNS, "no_header", "keep_columns") if getattr(self, name)]
        if given and not self.text_column:
            raise InputError(f"{flag_of(given[0])} is for a table: give --text-column, too")
        if given and (self.input in FREE or self.input_format != "text"):
            raise InputError("--text-column goes with --input FILE, and not with --input-format")
        if suffix in TABLES and not given and self.input_format == "text":
            raise InputError(f"{self.input} is a table: name its column of texts by --text-column")
        forms = ("jsonl",) if suffix in JSON_SUFFIXES else ("jsonl", "tsv")
        if self.keep_columns and self.format not in forms:
            raise InputError(f"--keep-columns of {self.input}: --format is {' or '.join(forms)}")

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a table, named as in `ReadOptions`."""
        return {name: getattr(self, name) for name in (*COLUMNS, "no_header")}

    @property
    def prints(self) -> bool:
        """Whether to write the predictions, not only a submission or metrics."""
        return self.output is not None or not (self.submission_dir or self.metrics)


@dataclass(frozen=True, kw_only=True)
class PairOptions(ExampleOverrides):
    """Pairs for `compare` with models in place of files."""

    data: str | None = option("models: prepared folder (default: the one of each training)", None)
    split: str | None = option("models: pairs of this split of the prepared folder", None)
    input: str | None = option(
        "models: raw pairs, one a line with a TAB between the sentences; - for standard input",
        None,
        metavar="FILE",
    )
    pair: Sequence[Sequence[str]] | None = None
    layer: int | None = option(
        "models: layer to look at, from 0 (default: the mean of the layers with dual attention)",
        None,
    )
    highlight: int = option("models: number of words to mark in each sentence", 3, least=0)
    cpu: bool = option("models: use no GPU", False)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class AnswerOptions(ModelOptions, WindowOverrides):
    """Options of `answer`."""

    checkpoint: str = option(_CHECKPOINT, positional=True, metavar="MODEL")
    output: str = option("folder to write the answers to", metavar="DIR")
    split: str | None = option("answer this split of the prepared folder", None)
    input: str | None = option(
        "answer the questions of this SQuAD file, in place of --split", None, metavar="FILE"
    )
    ids: str | None = option(
        "answer only the questions with these ids: one id per line, or JSON that has them",
        None,
        metavar="FILE",
    )
    null_threshold: float | None = option(
        "give no answer where the score for 'no answer' exceeds that of the best span by more than "
        "this (default: as in training)",
        None,
        metavar="T",
    )
    n_best: int | None = option(
        "number of answers listed for a question (default: as in training)",
        None,
        least=1,
        metavar="N",
    )
    max_answer_length: int | None = option(
        "maximum number of wordpieces of an answer (default: as in training)",
        None,
        least=1,
        metavar="N",
    )
    ensemble: str = option(
        "how several models are combined: {choices} (logits: the mean of all models' logits; "
        "paper: of the models' answers the most probable, or no answer if any model gives none)",
        LOGITS,
        choices=ENSEMBLES,
    )

    def check(self) -> None:
        """Refuse options that exclude each other."""
        check(self)
        if (self.split is None) == (self.input is None):
            raise InputError("give either --split or --input")
        for path in (self.input, self.ids):
            if path is not None and not Path(path).is_file():
                raise FileNotFoundError(f"{path}: no such file")
        if self.null_threshold is not None and math.isnan(self.null_threshold):
            raise InputError("--null-threshold is nan, it must be a number")
        if Path(self.output).exists() and not Path(self.output).is_dir():
            raise InputError(f"--output {self.output} is a file, not a folder")
