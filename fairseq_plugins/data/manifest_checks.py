"""What can be wrong in a manifest: nested entries of another form, names that lead elsewhere."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..errors import InputError
from ..messages import named, quoted
from ..pretrained.families import FAMILIES, WORDPIECE
from ..syntax.layers import CHOICES, OF_PAIRS, are_known, parse_features, parse_targets
from ..text_reading import is_cell
from .folder_names import (
    CASED,
    ENTITIES,
    LABELLED,
    PARSE_TEXT,
    SPANS,
    TARGETS,
    TOKENIZE,
    WINDOWS,
    WORD_LABELS,
)

SEGMENTATION = {"tokenizer", "normalizer", "subwords", "model", "vocabulary"}
WORDPIECES = ("lowercase", "strip_accents", "chinese_characters")
COUNTS = ("examples", "labelled")
PARAGRAPH_COUNTS = ("paragraphs", "answerable")
BARE_NAME = re.compile(r"\w[\w.+@\[\]-]*")


def common_problems(manifest: Any) -> Iterator[str]:
    """Yield what is wrong in what all kinds of folders have."""
    for key, value in manifest.annotator.items():
        if not isinstance(value, str):
            yield f"'annotator' says {quoted(value)} for {quoted(key)}"
    if (text := manifest.annotator.get("text", CASED)) not in PARSE_TEXT:
        yield f"'annotator' was shown {quoted(text)}; choices: {named(PARSE_TEXT)}"
    if odd := [name for name, entry in manifest.inputs.items() if not isinstance(entry, dict)]:
        yield f"'inputs' says {quoted(manifest.inputs[odd[0]])} of {quoted(odd[0])}"
    for name, entry in manifest.products.items():
        if type(entry["size"]) is not int or not isinstance(entry["sha256"], str):
            yield f"'products' says {quoted(entry)} of {quoted(name)}"


def translation_problems(manifest: Any) -> Iterator[str]:
    """Yield what is wrong in a manifest of parallel text."""
    for split, counts in manifest.splits.items():
        if not isinstance(counts.get("lines"), int) or "tokens" not in counts:
            yield f"split {split!r} lacks its counts"
    for side in ("source", "target"):
        settings = manifest.segmentation.get(side)
        if not isinstance(settings, dict) or not SEGMENTATION <= settings.keys():
            yield f"segmentation lacks {side!r}, or part of it"
        for name in ("tokenizer", "normalizer", "subwords"):
            if not isinstance(settings[name], str):
                yield f"segmentation of {side!r} says {quoted(settings[name])} for {name!r}"
    names = [manifest.source_lang, manifest.target_lang, *manifest.features, *manifest.splits]
    names += manifest.target_features
    names += [name for counts in manifest.splits.values() for name in counts["tokens"]]
    for side in manifest.segmentation.values():
        names += [side[key] for key in ("model", "vocabulary") if side.get(key)]
    yield from _outside(names)
    try:
        parse_features(",".join(manifest.features))
    except InputError as error:
        yield f"'features': {error}"
    try:
        parse_targets(",".join(manifest.target_features))
    except InputError as error:
        yield f"'target_features': {error}"


def text_problems(manifest: Any) -> Iterator[str]:
    """Yield what is wrong in a manifest of texts or questions."""
    yield from chain(_misshapen(manifest), _unfit(manifest), _unfit_labels(manifest))
    files = [form["file"] for form in manifest.submission.values()]
    yield from _outside([manifest.dataset, *manifest.splits, *files])


def _outside(names: Iterable[Any]) -> Iterator[str]:
    """Yield names that would lead out of the folder."""
    for name in names:
        if not isinstance(name, str) or not BARE_NAME.fullmatch(name):
            yield f"{name!r} is no plain file name"


def _misshapen(manifest: Any) -> Iterator[str]:
    for name in ("labels", "annotations"):
        if not all(isinstance(value, str) for value in getattr(manifest, name)):
            yield f"{name!r} are {getattr(manifest, name)}, expected texts"
    family = manifest.tokenizer.get("family", "bert")
    if not isinstance(family, str) or family not in FAMILIES:
        yield f"'tokenizer' is of the family {quoted(family)}; choices: {named(FAMILIES)}"
        return
    for name in WORDPIECES if FAMILIES[family].scheme == WORDPIECE else ():
        if not isinstance(manifest.tokenizer.get(name), bool):
            yield f"'tokenizer' says {manifest.tokenizer.get(name)!r} for {name!r}"
    wanted = (*COUNTS, *(PARAGRAPH_COUNTS if manifest.task == TARGETS[SPANS] else ()))
    for split, counts in manifest.splits.items():
        numbers = counts if isinstance(counts, dict) else {}
        if not all(type(numbers.get(name)) is int and numbers[name] >= 0 for name in wanted):
            yield f"split {split!r} lacks its counts"
    for split, form in manifest.submission.items():
        parts = (form.get("file"), form.get("labels")) if isinstance(form, dict) else ()
        if [type(part) for part in parts] != [str, dict]:
            yield f"the submission of split {split!r} lacks its file or labels"


def _unfit(manifest: Any) -> Iterator[str]:
    """Yield values that are none of the choices, or do not go together."""
    target, names = manifest.target, manifest.annotations
    if target not in TARGETS or manifest.task != TARGETS[target]:
        yield f"no target {target!r} of task {manifest.task!r}; known are {TARGETS}"
    if manifest.sentences not in (1, 2):
        yield f"'sentences' is {manifest.sentences}, expected 1 or 2"
    if manifest.tokenize not in TOKENIZE:
        yield f"'tokenize' is {manifest.tokenize!r}; choices are {', '.join(TOKENIZE)}"
    if not are_known(names):
        yield f"'annotations' are {names}; choices are {', '.join(CHOICES)}"
        return
    compared = manifest.compares_words
    if compared and manifest.sentences != 2:
        yield f"'annotations' are {names}, but only pairs have a {' or a '.join(OF_PAIRS)}"
    if target == SPANS and (manifest.sentences != 2 or compared):
        yield f"{SPANS!r} are of questions and contexts, whose words are not compared"
    sizes = [manifest.windows.get(name) for name in WINDOWS]
    if target == SPANS and not all(type(size) is int and size > 0 for size in sizes):
        yield f"'windows' are {manifest.windows}, expected a number above 0 for each of {WINDOWS}"


def _unfit_labels(manifest: Any) -> Iterator[str]:
    labels, positive = manifest.labels, manifest.positive
    if (manifest.target in LABELLED) != bool(labels):
        yield f"target {manifest.target!r} does not go with the labels {named(labels)}"
    if manifest.levels and (manifest.levels < 2 or manifest.target not in (WORD_LABELS, ENTITIES)):
        yield f"'levels' is {manifest.levels}, which does not go with target {manifest.target!r}"
    if len(set(labels)) != len(labels):
        yield f"a label is named twice in {named(labels)}"
    if not all(map(is_cell, labels)):
        yield f"a label is empty, or holds a tab or line break, in {named(labels)}"
    if positive and labels and positive not in labels:
        yield f"the positive label {positive!r} is none of {named(labels)}"
