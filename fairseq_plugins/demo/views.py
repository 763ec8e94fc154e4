"""What a model says of a user's texts, and what it looked at: a function for each kind of model.

Each takes a model and texts, and returns what the template of its kind shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bundles.translation import Translator
from ..errors import InputError
from ..evaluation.shown_text import NO_ANSWER
from ..inference.coattention import attend as attend_to_passage
from ..inference.encoder_attention import Look, attention_of, look
from ..inference.options import AFFINITY, DIFFERENCE, DIRECTIONS, FUSED, TO_CONTEXT
from ..inference.prediction import Predictor
from ..inference.question_answering import Reader, Reply
from ..messages import named
from .drawings import Map, arcs, as_map, straight_lines
from .models import Shown

ALL_LAYERS, LAYER = "mean of all layers", "layer "
TO_PASSAGE = "from question to passage"
WAYS = {TO_PASSAGE: TO_CONTEXT, "from passage to question": DIRECTIONS[1]}  # of coattention
RIVALS = 5  # answers that are listed
DUAL_GATES = ("fusion", "filter")  # of Wang et al. 2022, in the order of `nn.fusion`


def sentence(shown: Shown, text: str) -> dict[str, Any]:
    """Tell how a model reads a sentence."""
    reading = shown.sentences.read(text)
    rows = list(zip(reading.cut.subwords, *reading.columns.values()))
    return {"reading": reading, "rows": rows, "arcs": arcs(reading)}


def translation(shown: Shown, text: str) -> dict[str, Any]:
    """Translate a sentence."""
    model: Translator = shown.model
    found = model.attend(text)
    sides = found.best.subwords, found.source
    return {"best": found.best, "map": as_map("attention over the source", found.weights, *sides)}


def label(shown: Shown, text: str, layer: str = ALL_LAYERS) -> dict[str, Any]:
    """Classify a sentence, or its words."""
    return _labelled(shown.model, (text,), layer)


def pair(shown: Shown, first: str, second: str, layer: str = ALL_LAYERS) -> dict[str, Any]:
    """Classify a pair of sentences."""
    return _labelled(shown.model, (first, second), layer)


def _labelled(model: Predictor, texts: tuple[str, ...], layer: str) -> dict[str, Any]:
    (found,) = model.predict([texts if len(texts) > 1 else texts[0]])
    gates, maps, note = [], [], ""
    try:
        seen = look(model, texts)
        gates = gates_of(seen.extra)
        maps = _maps(model, seen, layer)
    except InputError as error:  # the answer is there all the same
        note = f"No picture: {error}"
    return {"found": found, "bars": found.bars, "gates": gates, "maps": maps, "note": note}


def _maps(model: Predictor, seen: Look, layer: str) -> list[Map]:
    """Return the kinds of attention that there are."""
    number = None if layer == ALL_LAYERS else int(layer.removeprefix(LAYER))
    kinds = {AFFINITY: layer}
    if dual := [n for n in sorted(seen.extra.get("difference", ())) if number in (None, n)]:
        kinds |= {DIFFERENCE: layer_name(named(dual)), FUSED: layer}
    maps = []
    for kind, held in kinds.items():
        found = attention_of(model, seen, kind=kind, layer=number, parse=False).by_word()
        border = found.border if len(seen.sentences) > 1 else 0
        words = found.words, found.words
        title = f"{kind} attention, {held}"
        maps.append(as_map(title, found.weights, *words, borders=(border, border)))
    return maps


def layer_name(layer: Any) -> str:
    """Return what a layer is called on the page."""
    return f"{LAYER}{layer}"


def gates_of(extra: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the mean of each layer's gates over all tokens of one example, with their names.

    Args:
        extra: what the model says beside its logits.
    """
    shares = extra.get("gates") or {}  # layer -> (N, C)
    fused = extra.get("fusion") or {}  # layer -> (N, 2)
    found = [(f"layer {n}, local attention", gate.sum(-1)) for n, gate in shares.items()]
    for n, gates in fused.items():
        found += [(f"layer {n}, {name} gate", gates[:, k]) for k, name in enumerate(DUAL_GATES)]
    return [(name, float(gate.double().mean())) for name, gate in found]


def question(shown: Shown, asked: str, passage: str, way: str = TO_PASSAGE) -> dict[str, Any]:
    """Answer a question on a passage."""
    model: Reader = shown.model
    if not coattends(shown):
        return {**_answers(model.answer(asked, passage)), "map": None}
    found = attend_to_passage(model, model.ask(asked, passage), direction=WAYS[way])
    number, count = found.window
    where = f", window {number + 1} of {count}" if count > 1 else ""
    sides = found.question, found.context
    how = {"marked": found.span, "turned": way != TO_PASSAGE}
    drawn = as_map(f"coattention {way}{where}", found.weights, *sides, **how)
    return {**_answers(found.reply), "map": drawn}


def coattends(shown: Shown) -> bool:
    """Whether a model of questions has coattention."""
    blocks = getattr(shown.model.predictor.models[0].head, "coattention", None)
    return hasattr(blocks, "blocks")  # plain layers in their place attend to no side


def _answers(reply: Reply) -> dict[str, Any]:
    """Return the passage in parts, the best span the second, and what stands against it."""
    found, context = reply.found, reply.passage.context
    best = found.candidates[0] if found.candidates else None
    begin, end = (best.begin, best.end) if best else (len(context), len(context))
    chances = [*zip((one.text for one in found.candidates), found.probabilities)][:RIVALS]
    chances = sorted([*chances, (NO_ANSWER, found.probabilities[-1])], key=lambda one: -one[1])
    parts = map(straight_lines, (context[:begin], context[begin:end], context[end:]))
    return {"reply": reply, "parts": [*parts], "chances": chances}
