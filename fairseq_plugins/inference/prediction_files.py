"""Predict a prepared split, a file or standard input into files: the work of `predict`.

All checks come before the first prediction. Files appear when complete.
"""

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from tqdm import tqdm

from ..corpora.examples import Example
from ..corpora.readers.options import ReadOptions
from ..errors import InputError
from ..evaluation.predictions import Render, renderer
from ..evaluation.shown_text import align
from ..files import replacing, write_text
from ..messages import named
from ..targets.by_label import parted
from ..targets.calibration import calibration_error, filled_bins
from ..targets.prediction import Prediction, row_of_cells
from ..text_reading import lines_of, numbered_lines
from .options import EXAMPLES, FREE, STANDARD, PredictionOptions, given_overrides
from .prediction import Predictor, load
from .prediction_inputs import read_examples, read_rows
from .thresholds import tune_thresholds

logger = logging.getLogger(__name__)

STDIN = "standard input"
SHOWN = 50  # labels whose scores are logged


class Job(NamedTuple):
    """Predictions to come, their number if known, whether a person waits, and kept columns."""

    predictions: Iterator[Prediction]
    total: int | None
    live: bool = False
    columns: Sequence[str] = ()


def predict_files(options: PredictionOptions) -> None:
    """Load, predict, write."""
    options.check()
    given = given_overrides(options, (*EXAMPLES, "label_thresholds"))
    predictor = load(options.checkpoint, options.data, cpu=options.cpu, int8=options.int8, **given)
    if options.split is not None:
        predictor.check_split(options.split)
    submission = _submission(predictor, options)
    names = submission.get("labels", {}) if submission else None
    form = renderer(options.format, predictor.target, names)
    job = _job(predictor, options)
    if options.tune_thresholds:
        tune_thresholds(predictor, str(options.split), **options.limits)
    kept = _write(job, form, options)
    if submission and options.submission_dir:
        path = Path(options.submission_dir) / submission["file"]
        head, line = renderer("glue", predictor.target, names)
        write_text(path, head + "".join(map(line, kept)))
        logger.info("wrote %s, %d predictions", path, len(kept))
    if options.metrics:
        _write_metrics(predictor, kept, options)


def evaluate(predictor: Predictor, options: PredictionOptions) -> dict[str, float]:
    """Return the metrics of a split or file with gold labels; nothing is written."""
    options.check()
    if options.split is not None:
        predictor.check_split(options.split)
    job = _job(predictor, replace(options, metrics=STANDARD))
    made = tqdm(job.predictions, "evaluate", job.total, unit=" examples", disable=None)
    return _scores(predictor, [one.bare() for one in made])


def _scores(predictor: Predictor, made: Sequence[Prediction]) -> dict[str, float]:
    gold, said = [one.gold for one in made], [one.answer for one in made]
    target, labels = predictor.target, predictor.manifest.labels
    scores = target.score(gold, said, labels, predictor.positive)
    if bins := filled_bins(chain.from_iterable(one.judged for one in made)):
        scores["ece"] = calibration_error(bins)
    return scores | target.by_label(gold, said, labels)


def _submission(predictor: Predictor, options: PredictionOptions) -> dict[str, Any] | None:
    """Return the format of the benchmark's server for this split; None if there is none."""
    found = predictor.manifest.submission.get(str(options.split))
    if options.submission_dir and not found:
        choices = named(predictor.manifest.submission, none="none of this dataset")
        raise InputError(
            f"split {options.split!r} of {predictor.manifest.dataset!r} is no submission; "
            f"choices: {choices}"
        )
    return found


def _job(predictor: Predictor, options: PredictionOptions) -> Job:
    if options.split is not None:
        counts = predictor.manifest.splits[options.split]
        if options.metrics and not counts["labelled"]:
            raise _no_gold(f"split {options.split!r} of {predictor.folder}")
        return Job(predictor.predict_split(options.split, **options.limits), counts["examples"])
    if options.input == STANDARD:
        if options.metrics:
            raise InputError("--metrics needs gold labels: give a file or a split, not '-'")
        lines = lines_of(sys.stdin.buffer, STDIN)
        examples = read_examples(lines, STDIN, options.input_format, predictor.wanted)
        buffer = 1 if sys.stdin.isatty() else options.batch_size
        found = predictor.predict_examples(examples, buffer=buffer, **options.limits)
        return Job(found, None, live=True)
    file = str(options.input)
    total, labelled, columns = 0, False, ()
    for one in _file_examples(Path(file), predictor, options):
        total, columns = total + 1, columns or (*one.cells,)
        labelled = labelled or predictor.target.truth(one) is not None
    if options.metrics and not labelled:
        raise _no_gold(file)
    examples = _file_examples(Path(file), predictor, options)  # checks the whole file
    return Job(predictor.predict_examples(examples, **options.limits), total, columns=columns)


def _file_examples(
    path: Path, predictor: Predictor, options: PredictionOptions
) -> Iterator[Example]:
    if not options.text_column:
        form = options.input_format
        return read_examples(numbered_lines(path), str(path), form, predictor.wanted)
    labels = tuple(predictor.labels) if predictor.target.pools else ()
    how = (ReadOptions(**options.columns, labels=labels), predictor.target, predictor.wanted)
    return read_rows(path, *how, keeps=options.keep_columns)


def _no_gold(what: str) -> InputError:
    hint = "of a table, name their --label-column"
    return InputError(f"{what} has no labels: metrics need gold labels ({hint})")


def _write(job: Job, form: tuple[str, Render], options: PredictionOptions) -> list[Prediction]:
    """Write predictions as they come; return those that are needed later, with gold and answer."""
    (head, line), keep = form, options.metrics or options.submission_dir
    if job.columns and options.format == "tsv":
        head = head[:-1] + row_of_cells("", *(f"table.{name}" for name in job.columns))
    made = tqdm(job.predictions, "predict", job.total, unit=" examples", disable=None)
    if not options.prints:
        return [one.bare() for one in made]
    kept = []
    path = None if options.output in FREE else Path(str(options.output))
    with _opened(path) as stream:
        stream.write(head)
        for prediction in made:
            stream.write(line(prediction))
            if job.live:
                stream.flush()
            if keep:
                kept.append(prediction.bare())
    return kept


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[str]]:
    """Open a file that appears when complete; without a path standard output."""
    if path is not None:
        with replacing(path, "w") as stream:
            yield stream
        return
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # pyrefly: ignore[missing-attribute]
    yield sys.stdout
    sys.stdout.flush()


def _write_metrics(
    predictor: Predictor, made: Sequence[Prediction], options: PredictionOptions
) -> None:
    scores, manifest = _scores(predictor, made), predictor.manifest
    body = {
        "dataset": manifest.dataset,
        "of": options.split or options.input,
        "checkpoints": predictor.checkpoints,
        **predictor.inputs.needs.controls.record,
        "examples": len(made),
        "labelled": sum(one.gold is not None for one in made),
        "metrics": scores,
    }
    write_text(str(options.metrics), json.dumps(body, indent=2, ensure_ascii=False) + "\n")
    others, table = parted(scores)
    shown = ", ".join(f"{name} {value:.4f}" for name, value in others.items())
    logger.info("%s of %d labelled examples", shown, body["labelled"])
    for line in align(table[: SHOWN + 1]):
        logger.info("%s", line)
    if left := table[SHOWN + 1 :]:
        logger.info("scores of %d more labels are in %s", len(left), options.metrics)
