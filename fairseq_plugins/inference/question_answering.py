"""Answer questions on passages with trained checkpoints.

    from fairseq_plugins.inference.question_answering import load
    load("runs/squad").answer("Who built the mill?", "Mara built the mill in Lund.").text

Raw text passes through the encoder that prepared the training data, and then through the same
dataset and collater as a prepared split, so a question has the same answer either way, whatever the
batches. Several checkpoints are an ensemble: of ``logits``, their mean for each window; or of the
``paper`` (BERTQA, section 3.6): the most probable answer of any model, and none if any model gives
none (`targets.answers.most_probable`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..corpora.squad import Paragraph, Question
from ..data.passages import AskedPassage
from ..errors import InputError
from ..evaluation.squad_files import check_known
from ..nn.span_search import best_spans
from ..targets.answers import (
    Answered,
    decode,
    limits_of,
    most_probable,
    n_best_entries,
    windows_of,
)
from ..text.squad_encoder import encode_paragraphs
from ..text_reading import check_characters
from .options import ANSWERING, BATCH_SIZE, DEFAULT, ENSEMBLES, LOGITS, Paths
from .prediction import BATCHES_AHEAD, Predictor
from .prediction import load as load_predictor


def load(
    path: Paths,
    data: str | Path | None = None,
    checkpoint: str = DEFAULT,
    *,
    ensemble: str = LOGITS,
    cpu: bool = False,
    int8: bool = False,
    **overrides: Any,
) -> Reader:
    """Load a model, or an ensemble of several.

    Args:
        path, data, checkpoint, cpu, int8: see `prediction.load`.
        ensemble: of `ENSEMBLES`.
        overrides: task options that replace those of the first checkpoint, e.g. ``n_best=5``,
            ``max_answer_length=10``, ``null_threshold=-1.5``, ``doc_stride=64``.

    Raises:
        FileNotFoundError, InputError: see `prediction.load`; a checkpoint that is not for
            questions, or an unknown ensemble.
    """
    if ensemble not in ENSEMBLES:
        raise InputError(f"ensemble {ensemble!r} is unknown; choices: {', '.join(ENSEMBLES)}")
    how: dict[str, Any] = {"wanted": (ANSWERING,), "cpu": cpu, "int8": int8, **overrides}
    return Reader(load_predictor(path, data, checkpoint, **how), ensemble)


class BrokenModel(InputError):
    """A model outputs NaN or infinity."""


@dataclass(frozen=True)
class Reply:
    """The answer of models to a question.

    Args:
        passage: the question with its context, and gold answers if known.
        found: candidates and the score of no answer.
        threshold: null odds above it mean no answer.
    """

    passage: AskedPassage
    found: Answered
    threshold: float = 0.0

    @property
    def text(self) -> str:
        """The answer; empty for none."""
        return self.found.answer(self.threshold)

    def record(self) -> dict[str, Any]:
        """Return the record of a question for `answer`, with the answer's place in the context.

        Places are code points, None without an answer; the odds are None without a span.
        """
        best = self.found.candidates[0] if self.text else None
        return {
            "id": self.passage.id,
            "answer": self.text,
            "begin": best and best.begin,
            "end": best and best.end,
            "null_odds": self.found.null_odds if self.found.candidates else None,
            "n_best": n_best_entries(self.found),
        }


class Reader:
    """Models that answer questions.

    Args:
        predictor: the models with their task and folder.
        ensemble: of `ENSEMBLES`.
    """

    def __init__(self, predictor: Predictor, ensemble: str = LOGITS) -> None:
        self.predictor = predictor
        self.ensemble = ensemble
        self.options = predictor.inputs.options

    @property
    def threshold(self) -> float:
        """Null odds above it mean no answer."""
        return float(self.options.null_threshold)

    @property
    def windows(self) -> dict[str, Any]:
        """The sizes that cut questions and contexts into rows, by option name."""
        sizes = {name: getattr(self.options, name) for name in self.predictor.manifest.windows}
        given = {name: size for name, size in sizes.items() if size is not None}
        most = {"max_positions": self.predictor.inputs.limit}  # the models' limit
        return {**self.predictor.manifest.windows, **given, **most}

    def ask(self, question: str, context: str) -> Any:
        """Return a dataset of one raw question.

        Raises:
            InputError: a text is empty, holds half a character, or has nothing that BERT reads.
        """
        for name, text in (("question", question), ("context", context)):
            if not text.strip():
                raise InputError(f"the {name} is empty")
            check_characters(text, f"the {name}")
        paragraph = Paragraph("", context, (Question("0", question),), "the given text")
        return self._encoded([paragraph])

    def answer(self, question: str, context: str) -> Reply:
        """Answer a question on a context.

        Raises:
            InputError: see `ask`.
        """
        return next(self.answer_dataset(self.ask(question, context)))

    def _encoded(self, paragraphs: Sequence[Paragraph]) -> Any:
        with self.predictor.encoding:
            encoded = encode_paragraphs(self.predictor.encoder, paragraphs)
        return self.predictor.inputs.take_questions(encoded, paragraphs)

    def answer_paragraphs(
        self,
        paragraphs: Iterable[Paragraph],
        *,
        batch_size: int = BATCH_SIZE,
        buffer: int | None = None,
    ) -> Iterator[Reply]:
        """Answer the questions of raw paragraphs, in order, as they come.

        Args:
            paragraphs: from `corpora.squad.read`, or made; gold answers are kept.
            batch_size: most rows (windows of questions) of a batch.
            buffer: number of paragraphs to wait for (default: `BATCHES_AHEAD` batches).

        Raises:
            InputError: a text with nothing that BERT reads, or a question that leaves no room for
                its context.
        """
        paragraphs = iter(paragraphs)
        while part := list(islice(paragraphs, buffer or BATCHES_AHEAD * batch_size)):
            yield from self.answer_dataset(self._encoded(part), batch_size=batch_size)

    def answer_split(
        self, split: str, *, ids: Collection[str] | None = None, batch_size: int = BATCH_SIZE
    ) -> Iterator[Reply]:
        """Answer a split of the prepared folder, in order.

        Args:
            split: its name.
            ids: of the questions (default: all).
            batch_size: most rows of a batch.

        Raises:
            FileNotFoundError: a file of the split is missing.
            InputError: the folder has no such split, its files disagree, or it lacks some ids.
        """
        dataset = self.predictor.load_split(split)
        numbers = range(len(dataset))
        if ids is not None:
            places = {name: number for number, name in enumerate(dataset.texts.ids)}
            check_known(ids, places, "ids", f"split {split!r} of {self.predictor.folder}")
            numbers = sorted(places[name] for name in set(ids))
        return self.answer_dataset(dataset, numbers, batch_size=batch_size)

    def answer_dataset(
        self, dataset: Any, numbers: Sequence[int] | None = None, *, batch_size: int = BATCH_SIZE
    ) -> Iterator[Reply]:
        """Answer questions of a dataset with texts, in the order of ``numbers`` (default: all)."""
        answers = partial(self._replies, most=batch_size)
        return self.predictor.each(answers, dataset, numbers, batch_size=batch_size)

    def _replies(self, sample: dict[str, Any], most: int) -> Iterator[Reply]:
        logits = self._logits(sample, most)
        if self.ensemble == LOGITS:
            logits = [torch.stack(logits).mean(0)]
        said = zip(*(self._answered(sample["passages"], rows, most) for rows in logits))
        for passage, found in zip(sample["passages"], said):
            answered = found[0] if len(found) == 1 else most_probable(found)
            yield Reply(passage, answered, self.threshold)

    @torch.no_grad()
    def _logits(self, sample: dict[str, Any], most: int) -> list[Tensor]:
        """Return every model's logits (B, S, 2), computed ``most`` rows at a time."""
        parts = [
            [logits.double() for logits, _ in self.predictor.outputs({"net_input": part})]
            for part in row_parts(sample["net_input"], most)
        ]
        found = [torch.cat(rows) for rows in zip(*parts)]
        lengths = sample["net_input"]["src_lengths"]  # (B,)
        for path, logits in zip(self.predictor.checkpoints, found):
            real = torch.arange(logits.shape[1], device=logits.device) < lengths[:, None]  # (B, S)
            if not logits[real].isfinite().all():
                raise BrokenModel(f"{path} gives scores that are no numbers; its training failed")
        return found

    def _answered(
        self, passages: Sequence[AskedPassage], logits: Tensor, most: int = BATCH_SIZE
    ) -> list[Answered]:
        """Return one model's answers to the questions of a batch, from its logits (B, S, 2).

        Spans are searched ``most`` rows at a time, because a long context has hundreds of rows,
        each with all its spans in memory.
        """
        limits = (torch.from_numpy(rows) for rows in limits_of(passages))
        sizes = {"n_best": self.options.n_best, "longest": self.options.max_answer_length}
        parts = zip(*(rows.split(most) for rows in (logits, *limits)))
        found = [best_spans(*part, **sizes) for part in parts]
        spans = [torch.cat(columns) for columns in zip(*found)]  # (B, n) each
        columns = [column.cpu().numpy() for column in (*spans, logits[:, 0].sum(-1), logits)]
        counts = [len(passage.windows) for passage in passages]
        cut = zip(*(windows_of(column, counts) for column in columns))
        return [
            decode(passage, *found, logits=own) for passage, (*found, own) in zip(passages, cut)
        ]


WHOLE = {"token_positions", "known"}  # inputs without rows


def row_parts(net_input: dict[str, Tensor], most: int) -> Iterator[dict[str, Tensor]]:
    """Cut a batch into parts of at most ``most`` rows, of the same width."""
    rows, width = net_input["src_tokens"].shape
    places = net_input["token_positions"]  # (N,) b S + s, rising
    for begin in range(0, rows, most):
        end = min(begin + most, rows)
        part = {name: net_input[name][begin:end] for name in net_input.keys() - WHOLE}
        sides = torch.tensor([begin * width, end * width], device=places.device)
        first, last = torch.searchsorted(places, sides).tolist()
        yield part | {"token_positions": places[first:last] - begin * width}
