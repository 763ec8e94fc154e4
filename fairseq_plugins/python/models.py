"""Trained models for Python: what each kind answers, how well, and what it attends to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..inference.loading import load as load_any
from ..inference.options import ANSWERING, DEFAULT, TRANSLATING, AnswerOptions, PredictionOptions
from ..messages import named
from ..quiet import undisturbed
from .shown import Attention, Gates

One = str | os.PathLike[str]
COLUMNS = {"text_column": "text", "text2_column": "", "label_column": "label"}  # by default
SEARCH = {"beam": 4, "lenpen": 0.6}


@undisturbed()
def load(
    path: One | Sequence[One],
    *,
    data: One | None = None,
    checkpoint: str = DEFAULT,
    cpu: bool = False,
    int8: bool = False,
    spacy_model: str | None = None,
    **options: Any,
) -> Model:
    """Load a trained model: a bundle, which needs no fairseq, or a run.

    Args:
        path: bundle, run, its folder, or checkpoint file; several (a list, or joined by ``:``) are
            an ensemble, for models of texts and questions.
        data: prepared folder (default: the folder of the training).
        checkpoint: file name in the folder of a run.
        cpu: compute on the CPU even if there is a GPU.
        int8: compute linear maps in 8 bits, on the CPU.
        spacy_model: annotator of raw text: a spaCy pipeline, or ``udpipe:MODEL`` (default: as in
            training).
        options: options that replace those of the training, e.g. ``long_examples="truncate"`` for
            texts, ``null_threshold=-1.5`` for questions, ``threads=2`` for a translation bundle.

    Returns:
        The model; several threads may use one bundle.

    Raises:
        FileNotFoundError: there is no such bundle or run.
        InputError: a damaged or refused bundle or run, or an unknown option.
    """
    paths: list[One] = [path] if isinstance(path, (str, os.PathLike)) else [*path]
    if not paths:
        raise InputError("no model is given: name a bundle, a run or a checkpoint")
    found = os.pathsep.join(os.fspath(one) for one in paths)
    given = {"data": data and os.fspath(data), "spacy_model": spacy_model, "cpu": cpu, "int8": int8}
    given |= {"checkpoint": checkpoint if checkpoint != DEFAULT else None}
    inner = load_any(found, **{k: v for k, v in given.items() if v}, **options)
    for name, kind in (("predict", TextModel), ("answer", QuestionModel)):
        if hasattr(inner, name):
            return kind(inner, found, data)
    return TranslationModel(inner, found, data)


class Model:
    """A trained model; each kind has those of the methods below that fit it."""

    has: tuple[str, ...] = ()
    kind = ""

    def __init__(self, inner: Any, path: str, data: One | None = None) -> None:
        self._inner, self._path = inner, path
        self._data = None if data is None else os.fspath(data)

    def predict(self, texts: Iterable[Any], **limits: Any) -> list[Any]:
        """Predict classes, scores or labels of words; see `Predictor.predict`.

        Args:
            texts: sentences, pairs of sentences or lists of words.
            limits: ``batch_size`` and ``max_tokens``.
        """
        raise self._lacks("predict")

    def answer(self, question: str, context: str) -> Any:
        """Answer a question on a text; the ``text`` of the result is empty for no answer."""
        raise self._lacks("answer")

    def translate(self, texts: Any, **search: Any) -> Any:
        """Translate raw lines, one translation for each.

        Args:
            texts: list of lines.
            search: e.g. ``beam=4``, ``lenpen=0.6``; ``prefix``, the beginning of translations.
        """
        raise self._lacks("translate")

    @undisturbed()
    def evaluate(
        self,
        split: str = "valid",
        *,
        file: One | None = None,
        text: str = "text",
        pair: str = "",
        label: str = "label",
        reference: One | None = None,
    ) -> dict[str, float]:
        """Return the metrics on a prepared split, or on a file with gold labels.

        Args:
            split: of the prepared folder.
            file: in place of a split: a table (for labels of words a token file), questions in the
                format of SQuAD, or lines to translate.
            text, pair, label: columns of a table.
            reference: file with the translations of ``file``.

        Raises:
            FileNotFoundError, InputError: there is no such split or file, or it lacks gold labels.
        """
        columns = {"text_column": text, "text2_column": pair, "label_column": label}
        references = {} if reference is None else {"reference": os.fspath(reference)}
        return self._scores(
            split, None if file is None else os.fspath(file), **columns, **references
        )

    @undisturbed()
    def attention(
        self,
        *texts: str,
        layer: int | None = None,
        head: int | None = None,
        kind: str | None = None,
    ) -> Attention:
        """Return the attention over a text, in words, or of a translation over its source.

        Args:
            texts: a sentence, or two for a model of pairs; question and context.
            layer: from 0 (default: the mean over layers; the last for coattention and translation).
            head: from 0 (default: the mean over heads).
            kind: ``affinity``, ``difference``, ``fused`` (DABERT); ``q2c``, ``c2q`` (questions).
        """
        return self._attention(*texts, layer=layer, head=head, kind=kind)

    def gates(self, *texts: str) -> Gates:
        """Return the mean share of local attention in each layer, over all tokens of texts."""
        raise self._lacks("gates")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)  # what earlier releases returned

    def __dir__(self) -> list[str]:
        return [*self.has]

    def __repr__(self) -> str:
        return f"Model {self._path} for {self.kind}: {', '.join(self.has)}"

    def _scores(self, split: str, file: str | None, **own: str) -> dict[str, float]:
        raise NotImplementedError

    def _attention(self, *texts: str, layer: Any, head: Any, kind: Any) -> Attention:
        raise NotImplementedError

    def _lacks(self, name: str) -> InputError:
        return InputError(
            f"{self._path} is a model for {self.kind} and has no {name}; it has {named(self.has)}"
        )


class TextModel(Model):
    """A model of classes, scores or labels of words; see `Predictor`."""

    has = ("predict", "evaluate", "attention", "gates", "labels")

    @property
    def kind(self) -> str:
        """The task."""
        return self._inner.target.task

    def predict(self, texts: Iterable[Any], **limits: Any) -> list[Any]:
        return self._inner.predict(texts, **limits)

    def _scores(self, split: str, file: str | None, **own: str) -> dict[str, float]:
        from ..inference.prediction_files import evaluate

        how: dict[str, Any] = {"split": split}
        if file is not None:
            conll = {"input_format": "conll"}
            if self._inner.target.by_word and own != COLUMNS:
                raise InputError(
                    "text, pair and label are columns of tables; words and their labels are read "
                    "from a token file, in the columns of the training"
                )
            how = {"input": file, **(conll if self._inner.target.by_word else own)}
        return evaluate(self._inner, PredictionOptions(self._path, **how))

    def _attention(self, *texts: str, layer: Any, head: Any, kind: Any) -> Attention:
        from ..inference.encoder_attention import attend
        from ..lab.figures.matrices import ITSELF, AttentionPanel, plot_attention

        if self._inner.inputs.questions is not None:
            raise self._lacks("attention")
        found = attend(self._inner, texts, layer=layer, head=head, kind=kind).by_word()
        shown = {"arcs": found.arcs(), "relations": found.arc_relations()}
        sides = (found.weights, found.tokens, found.tokens)
        panel = AttentionPanel("", *sides, **shown, border=found.border_token())
        return Attention(*sides, draw=partial(plot_attention, [panel], ITSELF))

    def gates(self, *texts: str) -> Gates:
        from ..inference.gates import mean_gates
        from ..inference.prediction_inputs import examples_of
        from ..lab.figures.curves import plot_gates

        given = [texts] if self._inner.manifest.sentences == 2 else texts
        encoded = self._inner.encode(examples_of(given, self._inner.wanted))
        layers = mean_gates(self._inner, (data for *_, data in encoded)).layers
        curve: dict[float, list[float]] = {layer: [gate] for layer, gate in layers.items()}
        return Gates(layers, partial(plot_gates, {"": {"mean over tokens": curve}}))


class QuestionModel(Model):
    """A model of questions on passages; see `Reader`."""

    has, kind = ("answer", "evaluate", "attention"), ANSWERING

    def answer(self, question: str, context: str) -> Any:
        return self._inner.answer(question, context)

    def _scores(self, split: str, file: str | None, **own: str) -> dict[str, float]:
        from ..inference.answer_files import evaluate

        how: dict[str, Any] = {"split": split} if file is None else {"input": file}
        return evaluate(self._inner, AnswerOptions(self._path, "", **how))

    def _attention(self, *texts: str, layer: Any, head: Any, kind: Any) -> Attention:
        from ..inference.coattention import attend
        from ..inference.options import TO_CONTEXT
        from ..lab.figures.matrices import plot_coattention

        if len(texts) != 2:
            raise InputError(f"attention wants question and context, not {len(texts)} texts")
        how = {"direction": kind or TO_CONTEXT, "block": layer, "head": head}
        found = attend(self._inner, self._inner.ask(*texts), **how)
        sides, text = (found.weights, found.question, found.context), found.reply.text
        shown = {"span": found.span, "chosen": bool(text)}
        draw = partial(plot_coattention, *sides, ("question", "context"), **shown)
        return Attention(*sides, text, draw=draw)


class TranslationModel(Model):
    """A model of translation; see `Translator`."""

    has, kind = ("translate", "evaluate", "attention"), TRANSLATING

    @property
    def _is_bundle(self) -> bool:
        return hasattr(self._inner, "hypotheses")

    def translate(self, texts: Any, **search: Any) -> Any:
        return self._inner.translate(texts, **search)

    def _scores(self, split: str, file: str | None, **own: str) -> dict[str, float]:
        from ..evaluation.score_report import score_files
        from ..evaluation.translation import TextForm
        from ..inference.bundle_translation import translate_text

        language = (self._inner if self._is_bundle else self._inner.task).manifest.target_lang
        reference = own.get("reference")
        if (file is None) != (reference is None) or file is None and self._is_bundle:
            raise InputError("evaluate wants file= and reference=, or a split of a run's folder")
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "translations"
            if file is None:
                self._generate(split, made)
            else:
                translate_text(partial(self._inner.translate, **SEARCH), file, str(made))
            report = score_files([made], [reference] if reference else [], TextForm(language))
        return dict(report.systems[0].figures)

    def _generate(self, split: str, made: Path) -> None:
        """Translate a split as the experiment of the run does."""
        from ..inference.run_translation import folder_of_run, generate
        from ..inference.text_checkpoints import find_checkpoints
        from ..lab.plan.translated import Translated, as_planned

        (checkpoint, *_) = find_checkpoints(self._path)
        given = Translated([], checkpoint.name)
        planned, _ = as_planned(checkpoint.parent, split, given, elsewhere=True)
        data, _ = folder_of_run(checkpoint, split, self._data, elsewhere=True)
        with made.open("wb") as stream:
            generate(checkpoint, data, split, planned.words, stream)

    def _attention(self, *texts: str, layer: Any, head: Any, kind: Any) -> Attention:
        from ..lab.figures.matrices import AttentionPanel, plot_attention

        if len(texts) != 1:
            raise InputError(f"a translation is of one sentence, not of {len(texts)}")
        if self._is_bundle:
            if layer is not None or head is not None:
                raise InputError("a bundle shows the mean over heads of the last layer alone")
            found = self._inner.attend(*texts)
            target, text = found.best.subwords, found.best.text
        else:
            from ..inference.translation_attention import attend

            found = attend(self._inner, *texts, layer=layer, head=head)
            target, text = found.target, found.translation
        sides = (found.weights, target, found.source)
        return Attention(*sides, text, draw=partial(plot_attention, [AttentionPanel("", *sides)]))
