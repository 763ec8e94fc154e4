"""Sentence pairs with the words that a model treats as different.

Wang et al. 2022, "DABERT", section 4.4 (case study). A word's strength is the difference attention
that it receives from the other sentence: with d_ij, row i attends to column j, the mean over heads
(and layers),

    strength(word) = sum_{j in word} mean_{i in the other sentence} d_ij

so that the strengths of a sentence's words sum to at most 1.
"""

import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..evaluation.contrast import HIT, SAME, ContrastOptions, Item, Runs, View, plain, show
from ..evaluation.contrast_kinds import MODELS, check_options, predicted
from ..evaluation.predictions import check_same
from ..methods import dual_attention
from ..methods.options import NONE
from ..targets.prediction import Prediction
from ..text_reading import lines_of, numbered_lines
from .encoder_attention import EncoderAttention, attend
from .options import DIFFERENCE, EXAMPLES, LABELLING, STANDARD, PairOptions, given_overrides
from .prediction import Predictor, load
from .prediction_inputs import examples_of, kept_examples, read_examples
from .text_checkpoints import check_checkpoint, find_checkpoints, lacking


def compare_models(options: ContrastOptions, pairs: PairOptions) -> str:
    """Compare the answers of models on pairs, write the page, and return the text to print.

    Only pairs with different answers are shown; for one model, or without gold labels, all pairs.
    """
    names, paths = options.named
    check_options(MODELS, options, paths[0])
    place = with_difference(paths)
    models = opened(paths, pairs)
    lines = raw_lines(pairs.input) if pairs.input else ()
    systems = [(path, judged(model, pairs, lines)) for path, model in zip(paths, models)]
    is_known = all(one.gold is not None for one in systems[0][1])
    if is_known:
        check_same(systems)
    found = predicted(models[0].target, systems, positive=options.positive or "")
    study = partial(studied, model=models[place], pairs=pairs)
    items: list[Item] = [
        replace(item, view=partial(study, item, one.texts))
        for item, one in zip(found.items, systems[0][1])
    ]
    is_judged, is_whole = found.is_judged and is_known, len(models) == 1 or not is_known
    whole = replace(found, noun="pair", items=items, is_judged=is_judged, is_whole=is_whole)
    return show(whole, names, options)


def opened(paths: Sequence[str], pairs: PairOptions) -> list[Predictor]:
    """Load models of sentence pairs with the same target; refuse others."""
    given = given_overrides(pairs, EXAMPLES)
    models = [load(path, pairs.data, cpu=pairs.cpu, **given) for path in paths]
    for path, model in zip(paths, models):
        if model.wanted.sentences != 2 or model.target != models[0].target:
            raise InputError(
                f"{path} reads {model.wanted}: models of pairs are compared, all of a kind"
            )
    return models


def with_difference(paths: Sequence[str]) -> int:
    """Return the number of the first model with difference attention; no model is built."""
    why: list[InputError] = []
    for place, path in enumerate(paths):
        checkpoint = find_checkpoints(path)[0]
        options = check_checkpoint(checkpoint, LABELLING).model
        layers, control = (options.get(f"dual_{name}") or NONE for name in ("layers", "control"))
        if layers == NONE:
            lacks = "--dual-layers none"
        elif control != NONE:
            lacks = f"--dual-control {control}"
        elif options.get("ablate") == dual_attention.WITHOUT:
            lacks = "--ablate difference"
        else:
            return place
        what = options["_name"], f"difference attention ({lacks})", "dual attention"
        why.append(lacking(checkpoint, *what, lambda kind: kind["dual_layers"] != NONE))
    raise why[0]


def raw_lines(path: str) -> list[tuple[int, str]]:
    if path == STANDARD:
        return [*lines_of(sys.stdin.buffer, "standard input")]
    return [*numbered_lines(Path(path))]


def judged(
    model: Predictor, pairs: PairOptions, lines: Sequence[tuple[int, str]]
) -> list[Prediction]:
    """Return a model's predictions for the pairs, with their texts."""
    if pairs.split is not None:
        made = [*model.predict_split(pairs.split)]
        kept = kept_examples(model.folder / f"{pairs.split}.examples.jsonl", len(made))
        return [replace(one, texts=example.texts) for one, example in zip(made, kept)]
    name = "standard input" if pairs.input == STANDARD else str(pairs.input)
    given = read_examples(lines, name, "text", model.wanted)
    raw = map(tuple, pairs.pair or ())
    examples = [*given] if pairs.input else examples_of(raw, model.wanted)
    made = model.predict_examples(examples)
    return [replace(one, texts=example.texts) for one, example in zip(made, examples)]


def studied(item: Item, texts: Sequence[str], *, model: Predictor, pairs: PairOptions) -> View:
    """Return the view of a pair with its words and their strengths."""
    found = attend(model, texts, kind=DIFFERENCE, layer=pairs.layer, parse=False)
    lines: dict[str, Runs] = {}
    for number, (words, strengths) in enumerate(word_strengths(found), start=1):
        lines[f"S{number}"] = marked(words, strengths, pairs.highlight)
        told = (f"{word} {100 * value:.2f}" for word, value in zip(words, strengths))
        lines[f"S{number} %"] = plain("  ".join(told))
    return replace(item.view(), lines=lines)


def word_strengths(found: EncoderAttention) -> list[tuple[list[str], np.ndarray]]:
    """Return the words of both sentences, each with the strengths of its words."""
    word_of = np.array(found.word_of)  # (P,)
    first, border = word_of < found.border, found.border
    both = []
    for own, start, end in ((first, 0, border), (~first, border, len(found.words))):
        received = found.weights[np.ix_(~own, own)].mean(0)  # (P of this sentence,)
        strengths = np.bincount(word_of[own] - start, received, minlength=end - start)
        both.append((found.words[start:end], strengths))
    return both


def marked(words: Sequence[str], strengths: Sequence[float] | np.ndarray, count: int) -> Runs:
    """Return a sentence with its strongest words marked, no punctuation; of equals the first."""
    order = sorted(range(len(words)), key=lambda place: -strengths[place])
    order = [place for place in order if strengths[place] > 0 and not _punctuation(words[place])]
    runs = [(word, HIT if n in order[:count] else SAME) for n, word in enumerate(words)]
    return [part for run in runs for part in (run, (" ", SAME))][:-1]


def _punctuation(text: str) -> bool:
    return all(unicodedata.category(char).startswith("P") for char in text)
