"""What a panel says of a model's answer, and the pictures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..evaluation.shown_text import NO_ANSWER, straight
from ..inference.coattention import attend as attend_to_passage
from ..inference.encoder_attention import attention_of, look
from ..inference.options import AFFINITY, DIFFERENCE, FUSED, TO_CONTEXT, TO_QUESTION
from ..messages import named
from ..service.kinds import Record
from ..service.models import Served
from .maps import as_map

Panel = dict[str, Any]
WAYS = {TO_CONTEXT: "from question to passage", TO_QUESTION: "from passage to question"}
RIVALS = 5  # answers that are listed
DUAL_GATES = ("fusion", "filter")  # of Wang et al. 2022, in the order of `nn.fusion`


def label(served: Served, items: Sequence[Any], _: Any) -> Panel:
    """Show what a model predicts of a text or of its words."""
    (found,) = served.model.predict_examples(items)
    return {"text": found.text, "words": found.marked, "bars": found.bars}


def record_of(served: Served, items: Sequence[Any]) -> Record:
    """Return the record of the service."""
    (found,) = served.answer(items)
    if isinstance(found, Exception):
        raise found
    return found


def answer(served: Served, items: Sequence[Any], texts: Sequence[str]) -> Panel:
    """Show an answer in its passage, and what stands against it."""
    record, context = record_of(served, items), texts[1]
    begin, end = record["begin"] or 0, record["end"] or 0
    rows = [(one["text"] or NO_ANSWER, one["probability"]) for one in record["n_best"]]
    rivals = [row for row in rows if row[0] != NO_ANSWER][:RIVALS]
    parts = context[:begin], context[begin:end], context[end:]
    return {
        "text": record["answer"] or NO_ANSWER,
        "passage": ["\n".join(map(straight, part.split("\n"))) for part in parts],
        "bars": [row for row in rows if row[0] == NO_ANSWER or row in rivals],
    }


def translation(served: Served, items: Sequence[Any], _: Any) -> Panel:
    """Show a translation with its score."""
    record = record_of(served, items)
    what = "logarithm of the probability, divided by a power of the length"
    return {"text": record["translation"], "note": f"score {record['score']:.3f} ({what})"}


def looks(model: Any, texts: Sequence[str]) -> Panel:
    """Draw the gates of each layer, and each kind of attention as the mean of its layers."""
    seen = look(model, texts)
    kinds = {AFFINITY: "all layers"}
    if dual := sorted(seen.extra.get("difference", ())):
        kinds |= {DIFFERENCE: f"layers {named(dual)}", FUSED: "all layers"}
    maps = []
    for kind, held in kinds.items():
        found = attention_of(model, seen, kind=kind, parse=False).by_word()
        border = found.border if len(seen.sentences) > 1 else 0
        title = f"{kind} attention, mean of {held}"
        maps.append(as_map(title, found.weights, found.words, found.words, border=border))
    return {"maps": maps, "gates": gates_of(seen.extra)}


def gates_of(extra: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the mean of each layer's gates over all tokens of one example, with their names."""
    shares = extra.get("gates") or {}  # layer -> (N, C)
    fused = extra.get("fusion") or {}  # layer -> (N, 2)
    found = [(f"layer {n}, local attention", gate.sum(-1)) for n, gate in shares.items()]
    for n, gates in fused.items():
        found += [(f"layer {n}, {name} gate", gates[:, k]) for k, name in enumerate(DUAL_GATES)]
    return [(name, float(gate.double().mean())) for name, gate in found]


def coattention(model: Any, texts: Sequence[str]) -> Panel:
    """Draw what a question and its passage attend to in each other."""
    asked, maps = model.ask(*texts), []
    for direction, way in WAYS.items():
        found = attend_to_passage(model, asked, direction=direction)
        number, count = found.window
        where = f", window {number + 1} of {count}" if count > 1 else ""
        title = f"coattention {way}{where}"
        how = {"marked": found.span, "turned": direction != TO_CONTEXT}
        maps.append(as_map(title, found.weights, found.question, found.context, **how))
    return {"maps": maps}


def source_attention(model: Any, texts: Sequence[str]) -> Panel:
    """Draw what the subwords of a translation attend to."""
    found = model.attend(*texts)
    sides = found.best.subwords, found.source
    drawn = as_map("attention over the source", found.weights, *sides)
    return {"maps": [drawn] if found.best.subwords else []}
