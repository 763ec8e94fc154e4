"""Comparisons of files: translations, predicted classes, scores, labels of words, or answers.

The first file decides the kind: translations (generation logs, plain files), JSON lines of
predictions, or answers (one JSON object). Marks show words that only one translation has right (the
syntax-infused paper's Table 3), and words in which the two sentences of a pair differ (Wang et al.
2022, Table 4).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named
from ..option_flags import flag_of
from ..targets.prediction import Prediction
from ..targets.target import Target
from ..text_reading import read_lines
from .contrast import (
    FIRST,
    MISS,
    SAME,
    SECOND,
    WRONG,
    Contrast,
    ContrastOptions,
    Item,
    Runs,
    View,
    best,
    mark_words,
    plain,
    show,
)
from .contrast_answers import answered
from .generate_log import load
from .predictions import (
    COMPARED,
    Systems,
    check_same,
    read_predictions,
    target_of_lines,
    with_texts,
)
from .sentence_counts import metric_of
from .translation import TextForm, check_equal_counts, remove_subwords

Metric = Callable[[str, str], float]
ReadQuestions = Callable[[str], Mapping[str, Any]]  # id -> `prep.qa_examples.Asked`, with contexts
Kind = str | Target  # of a system
TRANSLATIONS, ANSWERS, MODELS = "translations", "answers", "a model"
OPTIONS: dict[Kind, AbstractSet[str]] = {  # options for some kinds only
    MODELS: {"positive"},
    TRANSLATIONS: {"gold", "src", "lang", "tokenized", "metric"},
    ANSWERS: {"gold"},
    **{one: one.compared or frozenset() for one in COMPARED},
}


def compare_files(options: ContrastOptions, read_questions: ReadQuestions) -> str:
    """Compare files, write the page, and return the text to print."""
    names, paths = options.named
    kind = kind_of_all(paths)
    check_options(kind, options, paths[0])
    if isinstance(kind, Target):
        systems: Systems = [(path, read_predictions(path, kind)) for path in paths]
        systems = with_texts(systems, options.src) if options.src else systems
        check_same(systems)
        found = predicted(kind, systems, positive=options.positive or "")
    elif kind == TRANSLATIONS:
        found = _translations(options, names, paths)
    else:
        if not options.gold:
            raise InputError(f"{paths[0]} holds answers: --gold names the questions")
        found = answered(read_questions(options.gold), paths, names)
    return show(found, names, options)


def kind_of_all(paths: Sequence[str]) -> Kind:
    """Return the kind of the first file; the other files are checked when they are read."""
    kinds = [kind_of(path) for path in paths]
    if len(paths) < 2:
        raise InputError("a comparison needs the predictions of two systems at least")
    if ANSWERS in kinds and kinds[0] != ANSWERS:
        other = paths[kinds.index(ANSWERS)]
        raise InputError(f"{paths[0]} holds {_shown(kinds[0])}, {other} answers")
    return kinds[0]


def check_options(kind: Kind, options: ContrastOptions, first: str) -> None:
    """Refuse options that do not apply to a kind (`OPTIONS`)."""
    for name in sorted({name for own in OPTIONS.values() for name in own} - OPTIONS[kind]):
        if getattr(options, name) is not None:
            raise InputError(f"{flag_of(name)} is not for {_shown(kind)}, which {first} holds")


def _shown(kind: Kind) -> str:
    return kind.said if isinstance(kind, Target) else kind


def kind_of(path: str | Path) -> Kind:
    """Return the kind of a file; one JSON object of ids with texts holds answers to questions."""
    text, target = "\n".join(read_lines(path)).strip(), target_of_lines(path)
    if target or not (text.startswith("{") and text.endswith("}")):
        return target or TRANSLATIONS
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return TRANSLATIONS
    if not all(isinstance(answer, str) for answer in found.values()):
        raise InputError(f"{path} is one JSON object, but not of ids with answers")
    return ANSWERS


def _translations(options: ContrastOptions, names: Sequence[str], paths: Sequence[str]) -> Contrast:
    if len(paths) != 2:
        raise InputError(f"{len(paths)} systems: translations are compared two by two")
    form = TextForm(options.lang or "de", options.tokenized or "auto")
    inputs = load(paths, [options.gold] if options.gold else [], form)
    sources = next((o.sources for o in inputs.outputs if o.sources is not None), None)
    if options.src:
        sources = read_lines(options.src)
    metric = options.metric or "chrf"
    return Contrast(
        "sentence",
        sentence_items(
            [system.text for system in inputs.systems],
            inputs.reference.text,
            None if sources is None else remove_subwords(sources, form.subwords),
            names=names,
            metric=(metric, scorer(metric, form.lang)),
        ),
    )


def scorer(name: str, lang: str = "") -> Metric:
    """Return a score of (prediction, gold) for one sentence, 0 to 100; see `metric_of`."""
    metric = metric_of(name, lang, effective_order=True)
    return cache(lambda prediction, gold: metric.sentence_score(prediction, [gold]).score)


def sentence_items(
    systems: Sequence[Sequence[str]],
    gold: Sequence[str],
    sources: Sequence[str] | None = None,
    *,
    names: Sequence[str] = ("first", "second"),
    metric: tuple[str, Metric],
) -> list[Item]:
    """Return the sentences that two systems translate; refuse unequal counts.

    Args:
        systems: the predictions of both.
        names: of the systems.
        metric: name and score of (prediction, gold), higher is better.
    """
    known = [*zip(names, systems), *([] if sources is None else [("sources", sources)])]
    for name, lines in known:
        check_equal_counts((name, lines), ("gold", gold))
    items = []
    for number, (truth, *said) in enumerate(zip(gold, *systems)):
        scores = [metric[1](one, truth) for one in said]
        lines = {} if sources is None else {"source": plain(sources[number])}
        lines["reference"] = plain(truth)
        title = f"{metric[0]} {scores[1] - scores[0]:+.1f} for {names[1]}"
        view = partial(_sentence, title, lines, said, truth, scores)
        items.append(Item(str(number), scores, best(scores), view))
    return items


def _sentence(
    title: str, lines: dict[str, Runs], said: Sequence[str], gold: str, scores: Sequence[float]
) -> View:
    marked = [mark_words(*pair, gold=gold) for pair in (said, said[::-1])]
    return View(title, lines, [(runs, f"{score:.1f}") for runs, score in zip(marked, scores)])


def predicted(target: Target, systems: Systems, *, positive: str = "") -> Contrast:
    """Return the predicted examples; those without gold are neither right nor wrong.

    Args:
        target: of the predictions; rates them (`Target.rate`).
        systems: files, each with its predictions.
        positive: class whose probability is shown (default: ``1`` for classes 0 and 1, else the
            class of each answer).
    """
    told = _shown_class(systems, positive) if "positive" in OPTIONS[target] else ""
    items = []
    for said in zip(*(made for _, made in systems)):
        known = said[0].gold is not None
        scores = [target.rate(one) if known else 0.0 for one in said]
        right = [known and one.answer == one.gold for one in said]
        right = right if target.judged else best(scores)
        items.append(Item(said[0].id, scores, right, partial(_view, target, said, told)))
    noun = "sentence" if target.by_word else "example"
    return Contrast(noun, items, is_judged=target.judged)


def _shown_class(systems: Systems, positive: str) -> str:
    """Return the class whose probability is shown; empty for the class of each answer."""
    classes = {label for _, made in systems for one in made for label in one.probabilities}
    if positive and positive not in classes:
        raise InputError(f"class {positive!r} is not one of {named(sorted(classes))}")
    return positive or ("1" if classes == {"0", "1"} else "")


def _view(target: Target, said: Sequence[Prediction], positive: str) -> View:
    gold, shown = said[0].gold, []
    for one in said:
        pieces, note = target.shown(one, positive)
        wrong = MISS if target.by_word else WRONG
        runs = [(text, SAME if right else wrong) for text, right in pieces]
        apart = [part for run in runs for part in (run, (" ", SAME))][:-1]
        shown.append((apart, note))
    if target.by_word:
        words = said[0].texts
        lines = {"words": plain(" ".join(words)), "gold": plain(" ".join(gold))}
        return View(f"{len(words)} words", lines, shown)
    told = f"{gold:g}" if isinstance(gold, float | int) else gold
    texts = _texts(said, differing=target.judged)
    return View("no gold" if gold is None else f"gold {told}", texts, shown)


def _texts(said: Sequence[Prediction], *, differing: bool = False) -> dict[str, Runs]:
    """Return the labelled texts of an example, with the differing words of a pair."""
    texts = next((one.texts for one in said if one.texts), ())
    if len(texts) == 2 and differing:
        return {"S1": _alone(*texts, FIRST), "S2": _alone(*texts[::-1], SECOND)}
    labels = ["text"] if len(texts) == 1 else [f"S{n}" for n in range(1, len(texts) + 1)]
    return dict(zip(labels, map(plain, texts)))


def _alone(text: str, other: str, mark: str) -> Runs:
    """Mark the words that only one sentence has."""
    return [(part, mark if own == MISS else SAME) for part, own in mark_words(text, other, "")]
