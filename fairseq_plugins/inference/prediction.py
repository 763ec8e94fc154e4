"""Predict classes, scores and word labels with a trained checkpoint.

    from fairseq_plugins.inference.prediction import load
    load("runs/cola").predict(["The cat sat on the mat.", "Mat the on cat."])

Raw text passes through the encoder that prepared the training data, and then through the same
dataset and collater as a prepared split, so a sentence has the same answer either way. Answers come
in the order of the input and do not depend on the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ..corpora.datasets import token_layout
from ..corpora.examples import Example
from ..corpora.readers.options import ReadOptions
from ..data.folder_names import NO_SPLITS
from ..data.text_dataset import TextDataset
from ..data.text_inputs import TextInputs
from ..errors import InputError
from ..messages import named
from ..nn.prepacked import prepack_
from ..nn.quantized import quantize_
from ..syntax.sentence import EncodedSentence
from ..targets.prediction import Prediction
from ..targets.target import About
from ..text.annotators import SPACY
from ..text.pieces import PieceTokenizer
from ..text.text_encoder import TextEncoder, check_raw
from .model_sources import device_of, find_models
from .needed_annotations import read_part, reads_subwords_alone, without_words
from .options import BATCH_SIZE, DEFAULT, PREDICTED, Paths
from .prediction_inputs import Wanted, examples_of, kept_examples

Found = TypeVar("Found")

BATCHES_AHEAD = 32  # sorted by length together, so that a batch holds examples of similar length


def load(
    path: Paths,
    data: str | Path | None = None,
    checkpoint: str = DEFAULT,
    *,
    wanted: Sequence[str] = PREDICTED,
    cpu: bool = False,
    int8: bool = False,
    **overrides: Any,
) -> Predictor:
    """Load a model, or an ensemble of several (the mean of their probabilities or scores).

    Args:
        path: run folder, checkpoint file or bundle; several as a list, or joined by ``:``.
        data: the prepared folder (default: the first checkpoint's training folder).
        checkpoint: file name in a run folder.
        wanted: names of accepted tasks.
        cpu: compute on the CPU even if there is a GPU.
        int8: compute linear maps in 8 bits, on the CPU; see `nn.quantized`. On the CPU, the maps
            of loaded models cannot be trained (`nn.prepacked`).
        overrides: task options that replace those of the checkpoint, e.g.
            ``long_examples="truncate"``, or ``spacy_model=...``, the pipeline for raw text.

    Raises:
        FileNotFoundError: a checkpoint or the prepared folder is missing.
        InputError: a checkpoint that is not one of ours, damaged, or would run code; checkpoints
            that do not fit each other or the folder.
    """
    how = {"wanted": wanted, "overrides": overrides}
    paths, inputs, models, more = find_models(path, data, checkpoint, **how)
    device = device_of(models, cpu or int8)
    if device.type == "cpu":
        models = [quantize_(model) if int8 else prepack_(model) for model in models]
    target = inputs.target
    if len(models) > 1 and not target.joins:
        raise InputError(
            f"{len(models)} models of task {target.task} make no ensemble: each finds its own "
            "candidates; give one of them"
        )
    return Predictor(inputs, models, device, [*map(str, paths)], **more)


class Predictor:
    """Models of one task with the encoder of their input.

    Args:
        inputs: the encoder of their input.
        models: one, or an ensemble.
        device: to compute on.
        checkpoints: paths of the models.
        positive: the label of F1; empty if there is none.
        names: label -> description, for labels that need one.
        spacy_model: the pipeline for raw text, if named at loading.

    Attributes:
        manifest: of the prepared folder: dataset, target, labels.
        encoding: lock of the thread that encodes text; everything else may run in several threads.
    """

    def __init__(
        self,
        inputs: TextInputs,
        models: Sequence[Any],
        device: torch.device | str = "cpu",
        checkpoints: Sequence[str] = (),
        *,
        positive: str = "",
        names: Mapping[str, str] = {},
        spacy_model: str | None = None,
    ) -> None:
        self.inputs = inputs
        self.models = [model.to(device).eval() for model in models]
        self.device = torch.device(device)
        self.checkpoints = list(checkpoints)
        self.positive, self.names, self.spacy_model = positive, dict(names), spacy_model
        self.encoding = Lock()  # spaCy annotates for one thread at a time
        self.manifest = inputs.manifest
        self.folder: Path = inputs.folder
        self.target = inputs.target
        self.labels: list[str] = self.manifest.labels

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder of raw text, made at first use.

        Raises:
            InputError: models with a control that samples from a whole split.
        """
        self.inputs.needs.controls.check_raw()
        part = read_part(self.manifest, self.inputs.needs)
        return TextEncoder.from_folder(self.folder, part, self.spacy_model)

    @cached_property
    def subword_encoder(self) -> TextEncoder | None:
        """An encoder without a pipeline, if answers depend on subwords alone; made at first use."""
        alone = reads_subwords_alone(self.manifest, self.inputs.needs)
        if self.spacy_model or not alone or self.manifest.tokenize != SPACY:
            return None
        self.inputs.needs.controls.check_raw()
        return TextEncoder.from_folder(self.folder, without_words(self.manifest))

    @cached_property
    def pieces(self) -> PieceTokenizer:
        """The subword tokenizer, without features."""
        return PieceTokenizer(self.inputs.vocabulary, self.manifest.tokenizer)

    @property
    def wanted(self) -> Wanted:
        """The form of texts to predict."""
        if not self.target.by_word:
            return Wanted(self.manifest.sentences)
        read = ReadOptions.of(self.manifest.options)
        layout = token_layout(self.manifest.dataset, read)
        return Wanted(self.manifest.sentences, tuple(self.labels), layout)

    def check_raw(self) -> None:
        """Refuse raw text if the models need layers that raw text lacks; nothing is loaded."""
        self.inputs.needs.controls.check_raw()
        check_raw(self.folder, read_part(self.manifest, self.inputs.needs).annotations)

    def predict(self, texts: Iterable[Any], **limits: Any) -> list[Prediction]:
        """Predict raw texts.

        Args:
            texts: sentences; pairs of sentences for a model of pairs; for labels of words,
                sentences (tokenised as the training data were) or lists of words.
            limits: ``batch_size`` and ``max_tokens``; see `batches`.

        Returns:
            One prediction per text, in order.

        Raises:
            InputError: an empty text, a text of another kind, or one too long for the model (see
                the task's option ``long_examples``); names its number, from 0.
        """
        examples = examples_of(texts, self.wanted)
        return list(self.predict_examples(examples, **limits))

    def predict_examples(
        self, examples: Iterable[Example], *, buffer: int | None = None, **limits: Any
    ) -> Iterator[Prediction]:
        """Predict a stream of examples.

        Args:
            examples: raw examples; gold labels are kept.
            buffer: number of examples to wait for (default: `BATCHES_AHEAD` batches).
            limits: ``batch_size`` and ``max_tokens``; see `batches`.
        """
        buffer = buffer or BATCHES_AHEAD * limits.get("batch_size", BATCH_SIZE)
        for part, encoded, dataset in self.encode(examples, buffer, words=False):
            answers = self.each(self._rows, dataset, **limits)
            for example, sentences, rows in zip(part, encoded, answers):
                gold = self.target.truth(example)
                made = self.prediction(example.id, rows, sentences[0].words, gold)
                yield replace(made, columns=example.cells) if example.cells else made

    def encode(
        self,
        examples: Iterable[Example],
        count: int = BATCHES_AHEAD * BATCH_SIZE,
        *,
        words: bool = True,
    ) -> Iterator[tuple[list[Example], list[tuple[EncodedSentence, ...]], Any]]:
        """Yield raw examples, ``count`` at a time, with their encoding and their dataset.

        Without ``words`` (and annotations), a model that reads subwords alone loads no pipeline.

        Raises:
            InputError: an example that is too long for the model.
        """
        examples = iter(examples)
        while part := list(islice(examples, count)):
            names = [f"{e.id} (line {e.line})" if e.line else e.id for e in part]
            with self.encoding:
                encoded = None if words else self._subwords(part)
                encoded = self._encoded(part, names) if encoded is None else encoded
            yield part, encoded, self.inputs.take(encoded, names)

    def _encoded(
        self, part: Sequence[Example], names: Sequence[str]
    ) -> list[tuple[EncodedSentence, ...]]:
        for example, name in zip(part, names):
            least = self.encoder.least(example, self.inputs.limit)
            self.inputs.check_length(len(example.texts), least, f"example {name}")
        return self.encoder.encode(part)

    def _subwords(self, part: Sequence[Example]) -> list[tuple[EncodedSentence, ...]] | None:
        """Encode without a pipeline; None if one is needed, or if a text may have no subword."""
        if self.subword_encoder is None:
            return None
        encoded = self.subword_encoder.encode(part)
        seen = ({*one.tokens} - {self.pieces.unknown} for texts in encoded for one in texts)
        return encoded if all(seen) else None

    def predict_split(self, split: str, **limits: Any) -> Iterator[Prediction]:
        """Predict a split of the prepared folder, with gold labels if known.

        Raises:
            FileNotFoundError: a file of the split is missing.
            InputError: the folder has no such split, its files disagree, or an example is too long
                for the model.
        """
        dataset = self.load_split(split)
        counts = dataset.word_counts if self.target.by_word else None
        about = (self.folder / f"{split}.examples.jsonl", len(dataset), counts)
        for _ in kept_examples(*about):  # check all before the first prediction
            pass
        answers = self.each(self._rows, dataset, **limits)
        for index, (one, rows) in enumerate(zip(kept_examples(*about), answers)):
            yield self.prediction(one.id, rows, one.words, self.gold_of(dataset, index))

    def gold_of(self, dataset: Any, index: int) -> Any:
        """Return the gold value of an example; None if unknown."""
        known = dataset.known(index)
        return None if known is None else self.target.named(known, self.labels)

    def check_split(self, split: str) -> None:
        """Refuse a split that the prepared folder lacks."""
        choices = self.manifest.splits
        if split not in choices:
            choices = named(choices, none=NO_SPLITS)
            raise InputError(f"{self.folder} has no split {split!r}; choices: {choices}")

    def load_split(self, split: str) -> Any:
        """Load a split of the prepared folder as a dataset; for errors see `predict_split`."""
        self.check_split(split)
        return self.inputs.read(split, learning=False)

    def batches(
        self,
        dataset: Any,
        batch_size: int = BATCH_SIZE,
        max_tokens: int | None = None,
        chosen: ArrayLike | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield a dataset's batches on the device; examples of similar length share a batch.

        Args:
            dataset: of the task.
            batch_size: most examples of a batch.
            max_tokens: most wordpieces of a batch.
            chosen: numbers of the examples (default: all).
        """
        ahead = BATCHES_AHEAD * batch_size
        wanted = np.arange(len(dataset)) if chosen is None else np.asarray(chosen, dtype=np.int64)
        for begin in range(0, len(wanted), ahead):
            indices = wanted[begin : begin + ahead]
            indices = indices[np.argsort(-dataset.sizes[indices], kind="stable")]
            for batch in cut_batches(dataset, indices.tolist(), batch_size, max_tokens):
                yield self.batch(dataset, batch)

    def batch(self, dataset: Any, indices: Iterable[int]) -> dict[str, Any]:
        """Return some examples of a dataset as a batch on the device."""
        sample = dataset.collater([dataset[int(i)] for i in indices])
        return moved(sample, self.device)

    @torch.no_grad()
    def outputs(self, sample: dict[str, Any], **wanted: Any) -> list[tuple[Tensor, dict[str, Any]]]:
        """Return every model's outputs for a batch; ``wanted`` is e.g. ``need_weights=True``."""
        return [model(**sample["net_input"], **wanted) for model in self.models]

    def each(
        self,
        answers: Callable[[dict[str, Any]], Iterable[Found]],
        dataset: Any,
        chosen: Sequence[int] | None = None,
        **limits: Any,
    ) -> Iterator[Found]:
        """Yield a result per example, in order, as soon as all earlier ones exist.

        Args:
            answers: computes the results of a batch.
            dataset, chosen, limits: see `batches`.
        """
        batches = self.batches(dataset, chosen=chosen, **limits)
        found = (pair for one in batches for pair in zip(one["id"].tolist(), answers(one)))
        waiting: dict[int, Found] = {}
        for number in range(len(dataset)) if chosen is None else chosen:
            while number not in waiting:
                waiting.update([next(found)])
            yield waiting.pop(number)

    def _rows(self, sample: dict[str, Any]) -> Sequence[Any]:
        """Return the models' outputs for each example of a batch; see `Target.answers`."""
        how, questions = {}, self.inputs.questions
        if questions is not None:
            how = {"types": questions.labels, "overlap": self.inputs.overlap}
        return self.target.answers(self.outputs(sample), sample, **how)

    def prediction(
        self, name: str, rows: Any, words: Sequence[str] = (), gold: Any = None
    ) -> Prediction:
        """Convert the models' outputs for an example into a prediction.

        Args:
            name: of the example.
            rows: see `Target.answers`.
            words: of the example, if words have answers.
            gold: see `gold_of`.
        """
        about = About(name, self.labels, words, gold, self.names, self.inputs.thresholds)
        return self.target.predict(rows, about)


def cut_batches(
    dataset: TextDataset, indices: Sequence[int], most: int, max_tokens: int | None
) -> Iterator[list[int]]:
    """Cut examples, longest first, into batches.

    Args:
        dataset, indices: of the examples.
        most: examples of a batch.
        max_tokens: wordpieces of a batch with padding; None for no limit.
    """
    begin = 0
    while begin < len(indices):
        longest = int(dataset.sizes[indices[begin]])
        if max_tokens is not None and longest > max_tokens:
            name = dataset.name_of(indices[begin])
            raise InputError(f"{name} has {longest} tokens, more than --max-tokens {max_tokens}")
        end = begin + (most if max_tokens is None else min(most, max_tokens // longest))
        yield list(indices[begin:end])
        begin = end


def moved(value: Any, device: torch.device) -> Any:
    """Return a batch with all its tensors on a device."""
    if torch.is_tensor(value):
        return value.to(device)
    if isinstance(value, Mapping):
        return {name: moved(part, device) for name, part in value.items()}
    return value
