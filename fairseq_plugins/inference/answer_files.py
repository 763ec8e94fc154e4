"""Answer a prepared split or a SQuAD file into files: the work of `answer`.

``predictions.json``        id -> answer, empty for none
``null_odds.json``          id -> score of no answer minus score of the best span
``nbest_predictions.json``  id -> answers with probability and logits, best first, with no answer
``metrics.json``            with gold answers: the official metrics at the threshold, and the best
                            metrics over all thresholds (``best_...``)

Options, files and texts are checked before the first answer. All files appear together when
complete; only the best span of an answered question stays in memory.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..corpora import squad as squad_files
from ..corpora.squad import Paragraph
from ..errors import InputError
from ..evaluation.squad_files import check_known, read_ids
from ..files import replacing
from ..targets import squad
from ..targets.answers import n_best_entries
from ..text.squad_encoder import check_visible
from .options import WINDOWS, AnswerOptions, given_overrides
from .question_answering import Reader, Reply, load

logger = logging.getLogger(__name__)

PREDICTIONS, ODDS, N_BEST = "predictions.json", "null_odds.json", "nbest_predictions.json"
METRICS = "metrics.json"


def answer_files(options: AnswerOptions) -> None:
    """Load, answer, write."""
    options.check()
    paragraphs = None if options.input is None else squad_files.read(options.input).paragraphs
    ids = None if options.ids is None else read_ids(options.ids)
    if ids is not None and paragraphs is not None:
        known = {one.id for paragraph in paragraphs for one in paragraph.questions}
        check_known(ids, known, str(options.ids), str(options.input))
        paragraphs = _chosen(paragraphs, ids)
    given = given_overrides(options, ("null_threshold", "n_best", "max_answer_length", *WINDOWS))
    given |= {"cpu": options.cpu, "int8": options.int8}
    reader = load(options.checkpoint, options.data, ensemble=options.ensemble, **given)
    for paragraph in paragraphs or ():  # check all before the first answer
        check_visible(reader.predictor.pieces, paragraph)
    replies, total = _replies(reader, options, paragraphs, ids)
    _write(tqdm(replies, "answer", total, unit=" questions", disable=None), reader, options)


def evaluate(reader: Reader, options: AnswerOptions) -> dict[str, float]:
    """Return the metrics of a split or file with gold answers; nothing is written."""
    options.check()
    paragraphs = None if options.input is None else squad_files.read(options.input).paragraphs
    replies, total = _replies(reader, options, paragraphs, None)
    made = tqdm(replies, "evaluate", total, unit=" questions", disable=None)
    if not (judged := [_judged(reply) for reply in made if reply.passage.answers is not None]):
        raise InputError(
            f"{options.input or options.split} has no gold answers: nothing to evaluate"
        )
    return _metrics(judged, reader.threshold)


def _judged(reply: Reply) -> tuple[Any, ...]:
    """Return what the metrics of a question need."""
    passage, found = reply.passage, reply.found
    return passage.id, passage.answers, found.best_text, found.null_odds


def _chosen(paragraphs: Iterable[Paragraph], ids: Mapping[str, Any]) -> list[Paragraph]:
    kept = []
    for paragraph in paragraphs:
        questions = tuple(one for one in paragraph.questions if one.id in ids)
        kept += [replace(paragraph, questions=questions)] if questions else []
    return kept


def _replies(
    reader: Reader,
    options: AnswerOptions,
    paragraphs: Sequence[Paragraph] | None,
    ids: Mapping[str, Any] | None,
) -> tuple[Iterator[Reply], int]:
    size = {"batch_size": options.batch_size}
    if paragraphs is not None:
        total = sum(len(paragraph.questions) for paragraph in paragraphs)
        return reader.answer_paragraphs(paragraphs, **size), total
    split = str(options.split)  # always given without an input
    replies = reader.answer_split(split, ids=ids, **size)
    counts = reader.predictor.manifest.splits[split]
    return replies, counts["examples"] if ids is None else len(ids)


def _write(replies: Iterable[Reply], reader: Reader, options: AnswerOptions) -> None:
    """Write three files as replies arrive, then the metrics; all appear together."""
    folder, judged, metrics = Path(options.output), [], {}
    with ExitStack() as stack:
        add_text, add_odds, add_best = (
            stack.enter_context(_json_object(folder / name)) for name in (PREDICTIONS, ODDS, N_BEST)
        )
        for reply in replies:
            passage, found = reply.passage, reply.found
            add_text(passage.id, reply.text)
            add_odds(passage.id, found.null_odds)
            add_best(passage.id, n_best_entries(found))
            if passage.answers is not None:
                judged.append(_judged(reply))
        if judged:
            metrics = _metrics(judged, reader.threshold)
            text = json.dumps(metrics | _about(reader, options), indent=2, ensure_ascii=False)
            stack.enter_context(replacing(folder / METRICS, "w")).write(f"{text}\n")
    if not judged:
        (folder / METRICS).unlink(missing_ok=True)  # of other answers
    for name in (PREDICTIONS, ODDS, N_BEST, *([METRICS] if judged else [])):
        logger.info("wrote %s", folder / name)
    if judged:
        logger.info("%s", squad.as_text(metrics))


def _metrics(judged: Iterable[tuple[Any, ...]], threshold: float) -> dict[str, float]:
    """Return the official metrics at a threshold, and the best metrics over all thresholds."""
    names, *columns = zip(*judged)
    gold, texts, odds = (dict(zip(names, column)) for column in columns)
    given = {name: "" if odds[name] > threshold else text for name, text in texts.items()}
    best = squad.evaluate(gold, texts, odds)
    best = {name: value for name, value in best.items() if name.startswith("best_")}
    return squad.evaluate(gold, given) | best


@contextmanager
def _json_object(path: Path) -> Iterator[Any]:
    """Open a JSON object as a file; yield a function that adds a name and value as a line."""
    with replacing(path, "w") as stream:
        before = "{\n"

        def add(name: str, value: Any) -> None:
            nonlocal before
            line = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            stream.write(before + line)
            before = ",\n"

        yield add
        stream.write("{}\n" if before == "{\n" else "\n}\n")


def _about(reader: Reader, options: AnswerOptions) -> dict[str, Any]:
    return {
        "null_threshold": reader.threshold,
        "max_answer_length": reader.options.max_answer_length,
        **reader.windows,
        "of": options.input or f"{options.split} of {reader.predictor.folder}",
        "ids": options.ids,
        "checkpoints": reader.predictor.checkpoints,
        **reader.predictor.inputs.needs.controls.record,
        "ensemble": reader.ensemble if len(reader.predictor.checkpoints) > 1 else None,
    }
