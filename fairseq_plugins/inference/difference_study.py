"""Which words of a pair a model holds to be different, beside what it says about the pair.

Wang et al. 2022, "DABERT", section 4.4 (case study). A word's strength is the difference attention
that it receives from the other sentence: with d_ij, row i attends to column j, the mean over heads
(and layers),

    strength(word) = sum_{j in word} mean_{i in the other sentence} d_ij

so that the strengths of a sentence's words sum to 1 at most. A word here is what BERT cuts into
wordpieces, and of other families pieces that follow one another inside letters and digits:
punctuation stands for itself, so that it lends no word its strength.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..architectures import dual_options
from ..architectures.options import NONE
from ..corpora.examples import Example
from ..evaluation.highlights import Case, SentenceStrengths
from ..pretrained.families import WORDPIECE, RowFormat
from .attention import select_tables
from .options import DIFFERENCE, LABELLING
from .prediction import Predictor, mean_answer
from .prediction_inputs import kept_examples
from .text_checkpoints import check_checkpoint, lacking

CONTINUED = "##"  # what a wordpiece begins with that goes on with a word

Span = tuple[int, int]


def check_difference(path: Path) -> None:
    """Refuse a checkpoint without difference attention, before anything of it is built.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a model without; names those that have it. Or one that is none of ours.
    """
    options = check_checkpoint(path, LABELLING).model
    layers = options.get("dual_layers") or NONE
    control = options.get("dual_control") or NONE
    if layers != NONE and options.get("ablate") != dual_options.WITHOUT and control == NONE:
        return
    why = f"--dual-control {control}" if control != NONE else "--ablate difference"
    why = "--dual-layers none" if layers == NONE else why
    what, feature = f"difference attention ({why})", "dual attention"
    raise lacking(path, options["_name"], what, feature, lambda kind: kind["dual_layers"] != NONE)


def study_examples(
    predictor: Predictor, examples: Iterable[Example], layer: int | None = None
) -> Iterator[Case]:
    """Study raw pairs as they come.

    Args:
        predictor: what `prediction.load` returned; of an ensemble the first model's attention is
            shown, and the prediction of all.
        examples: pairs; gold labels are handed on.
        layer: one layer from 0 (default: the mean over those with dual attention).

    Raises:
        ValueError: a pair too long for the model, or a layer without dual attention.
    """
    for part, _, dataset in predictor.encode(examples, 1):
        yield _study(predictor, dataset, 0, part[0], layer)


def study_split(
    predictor: Predictor,
    split: str,
    layer: int | None = None,
    *,
    most: int | None = None,
    wrong_only: bool = False,
) -> Iterator[Case]:
    """Study pairs of a prepared split, in its order.

    Args:
        predictor: see `study_examples`.
        split: of the prepared folder.
        layer: see `study_examples`.
        most: how many pairs at most (default: all).
        wrong_only: only those that the model gets wrong.

    Raises:
        FileNotFoundError: a file of the split is missing.
        ValueError: no such split or layer; no gold classes where wrong predictions are wanted.
    """
    dataset = predictor.load_split(split)
    path = predictor.folder / f"{split}.examples.jsonl"
    kept = [*kept_examples(path, len(dataset), pairs=True)]
    if wrong_only and (predictor.target != "classes" or dataset.gold is None):
        lack = "scores" if predictor.target == "score" else "no gold labels"
        raise ValueError(
            f"only a class with its gold label can be wrong, but split {split!r} of "
            f"{predictor.folder} has {lack}"
        )
    chosen = _wrong(predictor, split) if wrong_only else range(len(dataset))
    for index in islice(chosen, most):
        given = kept[index]
        example = Example(given.id, given.texts, label=predictor.gold_of(dataset, index))
        yield _study(predictor, dataset, index, example, layer)


def _wrong(predictor: Predictor, split: str) -> Iterator[int]:
    """Yield the places of wrong predictions in a split."""
    for index, made in enumerate(predictor.predict_split(split)):
        if made.gold is not None and made.answer != made.gold:
            yield index


def _study(
    predictor: Predictor, dataset: Any, index: int, example: Example, layer: int | None
) -> Case:
    """Read one example of a dataset, and look at the difference attention."""
    sample = predictor.batch(dataset, [index])
    found = predictor.outputs(sample, need_weights=True)
    rows = mean_answer(predictor.target, [logits for logits, _ in found])
    tables = select_tables(found[0][1], DIFFERENCE, layer)
    whole: Any = sum(table.mean(0) for table in tables)
    table = whole.cpu().numpy() / len(tables)  # (S, S)
    segments = dataset.items[index]["segments"]  # (S,)
    family = predictor.manifest.family
    places = sentence_places(segments, family.row)
    symbols = predictor.inputs.vocabulary.pieces
    sentences = []
    for number, (text, columns) in enumerate(zip(example.texts, dataset.items.sentences)):
        pieces = predictor.pieces.encode_text(text)[1]
        if family.scheme == WORDPIECE:
            word_of = bert_words([symbols[token] for token in columns.tokens[index]])
        else:
            word_of = running_words(text, pieces)
        spans = word_spans(text, pieces, word_of)
        strengths = word_strengths(table, places[1 - number], places[number], word_of)
        sentences.append(SentenceStrengths(text, spans, strengths))
    return Case([("", predictor.prediction(example.id, rows, gold=example.label))], sentences)


def sentence_places(segments: np.ndarray, row: RowFormat) -> tuple[np.ndarray, np.ndarray]:
    """Return where the wordpieces of both sentences stand in a row.

    Args:
        segments: of each token, (S,).
        row: where special tokens stand.
    """
    first = int((segments == 0).sum()) - row.border(0)
    return (
        np.arange(row.begin(0), row.begin(0, first)),
        np.arange(row.begin(1, first), len(segments) - 1),
    )


def bert_words(pieces: Sequence[str]) -> np.ndarray:
    """Return the number of the word that each of P wordpieces belongs to, (P,)."""
    return np.cumsum([not piece.startswith(CONTINUED) for piece in pieces]) - 1


def running_words(text: str, spans: Sequence[Span]) -> np.ndarray:
    """Return the number of the word that each of P pieces belongs to, (P,), by their characters.

    A piece goes on with the word before it where it begins inside that word's characters, or right
    behind them, both letters or digits.
    """
    begins, reach = [], 0
    for begin, end in spans:
        inside = begin < reach or (
            0 < begin == reach and text[begin - 1].isalnum() and text[begin].isalnum()
        )
        begins.append(not inside or not begins)
        reach = max(reach, end)
    return np.cumsum(begins, dtype=np.int64) - 1


def word_strengths(
    table: np.ndarray, others: np.ndarray, own: np.ndarray, word_of: Sequence[int] | np.ndarray
) -> np.ndarray:
    """Return how much attention the words of a sentence receive from the other one.

    Args:
        table: difference attention, (S, S), rows attend to columns.
        others: rows of the other sentence's wordpieces.
        own: columns of this sentence's wordpieces, the first P of them where it was shortened.
        word_of: the number of each wordpiece's word, at least P.

    Returns:
        One sum a word, (W,).
    """
    received = table[np.ix_(others, own)].mean(0)  # (P,)
    return np.bincount(word_of[: len(own)], received, minlength=int(word_of[-1]) + 1)


def word_spans(text: str, spans: Sequence[Span], word_of: Sequence[int] | np.ndarray) -> list[Span]:
    """Return where words stand in a text, from their first piece to their last.

    Args:
        text: the sentence.
        spans: begin and end of each wordpiece in it, P.
        word_of: the number of each wordpiece's word, P.

    Raises:
        ValueError: these are not the wordpieces of the text.
    """
    if not spans and len(word_of) == 1:  # nothing in it that BERT can see: one unknown word
        return [(0, len(text))]
    if len(spans) != len(word_of):
        raise ValueError(
            f"{text[:80]!r} has {len(spans)} wordpieces, the prepared folder {len(word_of)}; "
            "prepare it again"
        )
    found: dict[int, Span] = {}
    for word, (begin, end) in zip(map(int, word_of), spans):
        first, last = found.get(word, (begin, end))
        found[word] = (min(first, begin), max(last, end))
    return [found[word] for word in sorted(found)]
