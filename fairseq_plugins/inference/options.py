"""What users choose where a trained model is loaded: options, choices and their defaults.

Importing this loads no model library: a command line is read, and its help shown, at once.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluation.predictions import FORMATS as OUTPUT_FORMATS
from ..option_flags import add_flags, check, option
from .prediction_inputs import FORMATS as INPUT_FORMATS

LOGITS, PAPER = ENSEMBLES = ("logits", "paper")  # see `question_answering`
COUNTED = ("epoch", "update")  # what checkpoints are counted in, see `averaging`
AFFINITY, DIFFERENCE, FUSED = ATTENTIONS = ("affinity", "difference", "fused")
TO_CONTEXT, TO_QUESTION = DIRECTIONS = ("q2c", "c2q")  # of coattention
EXPORTS = ("bundle", "huggingface", "huggingface-encoder", "onnx")  # what `export` writes
BUNDLE, HUGGINGFACE, ENCODER, ONNX = EXPORTS
ANSWERED, UNANSWERED = QUESTIONS = ("answered", "unanswered")  # of a split

ANSWERING = "extractive_qa"  # names of tasks
LABELLING = ("text_classification", "sequence_labeling")
SEEKING = "mrc_ner"
PREDICTED = (*LABELLING, SEEKING)  # by `predict`
TASKS = (*PREDICTED, ANSWERING)
TRANSLATING = "syntax_translation"
DEFAULT = "checkpoint_best.pt"  # of a run
Paths = str | Path | Sequence[str | Path]

STANDARD = "-"  # input or output
FREE = (None, STANDARD)

BATCH_SIZE = 32
PIPELINE = "spacy_model"
EXAMPLES = ("max_positions", "long_examples")  # of classification and labelling
WINDOWS = ("max_positions", "doc_stride", "max_query_length")  # of questions

_CHECKPOINT = "run folder (its checkpoint_best.pt), checkpoint files or bundles joined by ':'"


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Options that replace those of the training where they are given."""

    spacy_model: str | None = option(
        "what annotates raw text: a spaCy pipeline, installed or a path, or udpipe:MODEL (default: "
        "that of the data folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    max_positions: int | None = option(
        "most wordpieces of a row, specials included, as far as the model has positions (default: "
        "as in training)",
        None,
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class ExampleOverrides(Overrides):
    """Those of classification and labelling."""

    long_examples: str | None = option(
        "examples longer than that: truncate is for sentences and pairs, split for labels of words "
        "(default: as in training)",
        None,
        choices=("error", "truncate", "split"),
    )


@dataclass(frozen=True, kw_only=True)
class WindowOverrides(Overrides):
    """Those of questions."""

    doc_stride: int | None = option(
        "wordpieces from the begin of one window of a long context to the next (default: as in "
        "training)",
        None,
        least=1,
    )
    max_query_length: int | None = option(
        "wordpieces of a question that are read (default: as in training)", None, least=1
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How every command computes."""

    data: str | None = option(
        "prepared folder (default: the one it was trained on, or what the run keeps of it)", None
    )
    batch_size: int = option("most examples of a batch; of questions, rows", BATCH_SIZE, least=1)
    cpu: bool = option("use no GPU", False)
    int8: bool = option("compute linear maps in 8 bits, on the CPU", False)


@dataclass(frozen=True, kw_only=True)
class ExampleOptions(ModelOptions, ExampleOverrides):
    """Options of commands that predict examples."""

    max_tokens: int | None = option("most wordpieces of a batch", None, least=1)

    @property
    def limits(self) -> dict[str, int | None]:
        """What a batch may hold, as `Predictor` takes it."""
        return {"batch_size": self.batch_size, "max_tokens": self.max_tokens}


def add_overrides(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add flags of the pipeline and of some overrides: `EXAMPLES`, or `WINDOWS` for questions."""
    add_flags(parser, ExampleOverrides if names == EXAMPLES else WindowOverrides, strict=True)


def given_overrides(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the pipeline and those of the names that were given, as overrides for `load`."""
    values = {name: getattr(options, name) for name in (PIPELINE, *names)}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class PredictionOptions(ExampleOptions):
    """What to predict with what, and where to."""

    checkpoint: str = option(_CHECKPOINT, positional=True)
    split: str | None = option("predict this split of the prepared folder", None)
    input: str | None = option(
        "or predict raw text: a file, or - for standard input", None, metavar="FILE"
    )
    input_format: str = option(
        "of --input (text: one example a line, a TAB between the sentences of a pair; conll: one "
        "word a line, in the first column, of several the last is the gold label, an empty line "
        "between sentences)",
        "text",
        choices=INPUT_FORMATS,
    )
    output: str | None = option(
        "where to write predictions (default: standard output, unless --submission-dir or "
        "--metrics is all that is wanted)",
        None,
        metavar="FILE",
    )
    format: str = option("of --output", "jsonl", choices=OUTPUT_FORMATS)
    submission_dir: str | None = option(
        "write the GLUE server's file of this split there", None, metavar="DIR"
    )
    metrics: str | None = option("write metrics as JSON; needs gold labels", None, metavar="FILE")

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            FileNotFoundError: there is no such input file.
            ValueError: anything else; names the options.
        """
        check(self)
        if (self.split is None) == (self.input is None):
            raise ValueError("give either --split or --input")
        if self.submission_dir and self.split is None:
            raise ValueError(
                "--submission-dir goes with --split: the server wants its own test set"
            )
        if self.input not in FREE and not Path(self.input).is_file():
            raise FileNotFoundError(f"{self.input}: no such file")
        for path in (self.output, self.metrics):
            if path not in FREE and Path(path).is_dir():
                raise ValueError(f"{path} is a folder, not a file to write")
        named = [path for path in (self.input, self.output, self.metrics) if path not in FREE]
        places = [Path(path).resolve() for path in named]
        twice = [path for path, place in zip(named, places) if places.count(place) > 1]
        if twice:
            raise ValueError(f"{twice[0]} is named twice among --input, --output and --metrics")

    @property
    def prints(self) -> bool:
        """Whether predictions themselves are wanted, not a submission or metrics alone."""
        return self.output is not None or not (self.submission_dir or self.metrics)


@dataclass(frozen=True)
class AnswerOptions(ModelOptions, WindowOverrides):
    """What to answer with what, and where to."""

    path: str = option(
        "run folder (its checkpoint_best.pt), checkpoint files or bundles; an ensemble joined by "
        "':'"
    )
    output_dir: str = option("where the files go", metavar="DIR")
    split: str | None = option("answer this split of the prepared folder", None)
    input: str | None = option("or a SQuAD file", None, metavar="FILE")
    ids: str | None = option(
        "only these questions: one id a line, or JSON that has them", None, metavar="FILE"
    )
    null_threshold: float | None = option(
        "no answer where its score exceeds that of the best span by more (default: as in training)",
        None,
        metavar="T",
    )
    n_best: int | None = option("answers listed for a question", None, least=1, metavar="N")
    max_answer_length: int | None = option(
        "most wordpieces of an answer", None, least=1, metavar="N"
    )
    ensemble: str = option(
        "how several are one (logits: the mean of all models' logits; paper: the most probable "
        "answer of one of them, none if any says none)",
        LOGITS,
        choices=ENSEMBLES,
    )

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            FileNotFoundError: there is no such input or file of ids.
            ValueError: anything else; names the option.
        """
        check(self)
        if (self.split is None) == (self.input is None):
            raise ValueError("give either --split or --input")
        for path in (self.input, self.ids):
            if path is not None and not Path(path).is_file():
                raise FileNotFoundError(f"{path}: no such file")
        if self.null_threshold is not None and math.isnan(self.null_threshold):
            raise ValueError("--null-threshold is nan, it must be a number")
        if Path(self.output_dir).exists() and not Path(self.output_dir).is_dir():
            raise ValueError(f"--output-dir {self.output_dir} is a file, not a folder")
