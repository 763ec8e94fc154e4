"""How a model reads a sentence: its words and subwords, their layers, and the parse.

Words, subwords and layers come from the model's own way to raw text; tags and arcs of the drawing
from the pipeline that annotates for the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from threading import Lock
from typing import Any

from spacy import displacy

from ..bundles.translation import Translator
from ..corpora.examples import Example
from ..errors import InputError
from ..syntax.annotation import annotator_line
from ..syntax.layers import HEADS, PARSE, POS, RELATIONS, columns_of
from ..syntax.sentence import EncodedSentence
from ..text.annotators import reopen_annotator
from ..text.word_layers import known_of
from .maps import short

LETTER, SPACE = 8, 30  # pixels
STYLE = {"color": "currentColor", "bg": "none", "font": "inherit", "offset_x": 40}
STYLE |= {"word_spacing": 30, "arrow_spacing": 10, "arrow_width": 5, "arrow_stroke": 1}
_turn = Lock()  # pipelines serve one thread at a time


def sentence(model: Any, text: str) -> dict[str, Any]:
    """Tell how a `Translator` or `Predictor` reads a sentence."""
    translates = isinstance(model, Translator)
    words, subwords, columns = (_of_translator if translates else _of_predictor)(model, text)
    needs = None if translates else model.inputs.needs
    known: Mapping[str, Any] = {}
    with _turn:
        annotator, lacking = _annotator(model)
        if annotator is not None and (needs is None or needs.annotated):  # as the model was told
            known = known_of(words, *annotator.annotate_words([words]))
        elif annotator is not None:
            known = known_of(words, *annotator.annotate_text([text]))
    return {
        "columns": [*columns],
        "rows": [*zip(subwords, *columns.values())],
        "read": model.features if needs is None else needs.reads(training=False),
        "arcs": arcs(words, known),
        "annotator": " ".join(annotator_line(annotator).split(" ")[:2]),  # without its hash
        "lacking": lacking,
    }


@cache
def _annotator(model: Any) -> tuple[Any, str]:
    """Return the pipeline that annotates for a model, or why there is none."""
    manifest, named = model.manifest, model.spacy_model
    english = getattr(manifest, "source_lang", "") == "en"
    if not (named or english or manifest.annotator.get("model")):
        why = "the model was prepared without a pipeline"
        return None, f"{why}; --spacy-model names one that tags and parses"
    try:
        return reopen_annotator(model.folder, manifest.annotator, PARSE, named), ""
    except (InputError, FileNotFoundError) as error:
        return None, str(error)


Cut = tuple[list[str], list[str], dict[str, list[str]]]  # words, S subwords, layer -> S labels


def _of_translator(model: Translator, text: str) -> Cut:
    (line,) = model.encode([text])
    return line.words, line.tokens, _labels(line, model.layers)


def _of_predictor(model: Any, text: str) -> Cut:
    with model.encoding:
        (found,), *_ = model.encoder.encode([Example("0", (text,))])
    subwords = [model.inputs.vocabulary.pieces[token] for token in found.tokens]
    held = [layer for layer in model.encoder.layers if layer.name in found.layers]
    return found.words, subwords, _labels(found, held)


def _labels(sentence: EncodedSentence, layers: Sequence[Any]) -> dict[str, list[str]]:
    return {
        name: [layer.inventory.symbols[i] for i in sentence.ids(layer)]
        for name, layer in columns_of(layers).items()
    }


def arcs(words: Sequence[str], known: Mapping[str, Any]) -> str:
    """Return the dependency arcs of a sentence as SVG, tags below its words; empty without any."""
    if not (heads := known.get(HEADS)):
        return ""
    blank = [""] * len(words)
    tags, labels = ([*map(escape, known.get(name) or blank)] for name in (POS, RELATIONS))
    drawn = []
    for word, head in enumerate(head - 1 for head in heads):
        start, end = sorted((word, head))
        if head >= 0:
            way = "left" if word < head else "right"
            drawn.append({"start": start, "end": end, "label": labels[word], "dir": way})
    shown = [{"text": short(word), "tag": tag} for word, tag in zip(words, tags)]
    width = SPACE + LETTER * max(len(one[name]) for one in shown for name in one)
    parsed, how = {"words": shown, "arcs": drawn}, STYLE | {"distance": width}
    return displacy.render(parsed, "dep", manual=True, jupyter=False, options=how)
