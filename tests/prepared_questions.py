"""Builds tiny prepared folders of questions, in the vocabulary of `prepared_text`.

What is to be learnt: the answer is "new paris" where the passage has it, otherwise there is none.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import prepared_text
from prepared_text import ANNOTATOR, IDS, VOCABULARY, encode, pieces_of, sentence

from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.data.text_manifest import TextManifest

WINDOWS = {"max_positions": 40, "doc_stride": 10, "max_query_length": 12}


@dataclass(frozen=True)
class Asked:
    """A question; its answers are texts with their first character, None if nothing is known."""

    id: str
    text: str
    answers: tuple[tuple[str, int], ...] | None


@dataclass(frozen=True)
class Told:
    """A passage with its questions."""

    context: str
    questions: tuple[Asked, ...]


def told(rng: random.Random, name: str, *, longest: int = 20, gold: bool = True) -> Told:
    """Make a passage with one to three questions."""
    words = [w for w in sentence(rng, longest) if w not in ("new", "paris")] or ["by"]
    if rng.random() < 0.6:
        place = rng.randint(0, len(words))
        words[place:place] = ["new", "paris"]
    context, found = " ".join(words), ()
    if "new paris" in context:
        found = (("new paris", context.index("new paris")), ("paris", context.index("paris")))
    asked = [
        Asked(f"{name}-{k}", " ".join(sentence(rng, 5)), found if gold else None)
        for k in range(rng.randint(1, 3))
    ]
    return Told(context, tuple(asked))


def passages(count: int, seed: int = 0, **how: Any) -> list[Told]:
    rng = random.Random(seed)
    return [told(rng, f"q{seed}-{number}", **how) for number in range(count)]


def offsets_of(context: str) -> list[tuple[int, int]]:
    """Return begin and end of each wordpiece of a passage, words being apart by one blank."""
    spans, at = [], 0
    for word in context.split(" "):
        for piece in pieces_of(word):
            length = len(piece.removeprefix("##"))
            spans.append((at, at + length))
            at += length
        at += 1
    return spans


def place_of(context: str, text: str, start: int) -> tuple[int, int]:
    """Return first and last wordpiece of an answer."""
    touched = [
        i for i, (b, e) in enumerate(offsets_of(context)) if b < start + len(text) and start < e
    ]
    return touched[0], touched[-1]


def answers_row(context: str, asked: Asked) -> list[int]:
    """Return state and places of the answers of a question."""
    if not asked.answers:
        return [0 if asked.answers is None else 1]
    return [2, *(n for text, start in asked.answers for n in place_of(context, text, start))]


def prepare(
    folder: Path,
    splits: Mapping[str, Sequence[Told]],
    *,
    annotations: Sequence[str] = ("pos",),
    **manifest: Any,
) -> Path:
    """Write a prepared folder.

    Args:
        folder: where to.
        splits: split -> passages.
        annotations: what the words carry.
        manifest: fields of the manifest other than those here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY))
    (folder / "misaligned.jsonl").write_text("")
    counts = {name: _write(folder / name, part, annotations) for name, part in splits.items()}
    TextManifest(
        **{
            "dataset": "toy",
            "task": "extractive_qa",
            "target": "spans",
            "labels": [],
            "positive": "",
            "metric": "f1",
            "sentences": 2,
            "tokenizer": {"lowercase": True, "strip_accents": True, "chinese_characters": True},
            "tokenize": "whitespace",
            "annotations": list(annotations),
            "annotator": ANNOTATOR,
            "splits": counts,
            "options": {"pretrained": "none"},
            "windows": WINDOWS,
            **manifest,
        },
    ).save(folder)
    return folder


def make_task(folder: Path, **given: Any) -> Any:
    return prepared_text.make_task(folder, **{"valid_subset": "valid", **given})


def _write(prefix: Path, part: Sequence[Told], annotations: Sequence[str]) -> dict[str, int]:
    asked = [(number, q) for number, passage in enumerate(part) for q in passage.questions]
    sides = [encode(q.text.split()) for _, q in asked], [encode(p.context.split()) for p in part]
    for k, side in enumerate(sides):
        stream(prefix, f"tokens{k}", [s.tokens for s in side], len(IDS))
        stream(prefix, f"words{k}", [s.word_of for s in side])
        for name in ("case", *annotations):
            stream(prefix, f"{name}{k}", [s.layers[name] for s in side])
    stream(prefix, "paragraph", [[number] for number, _ in asked])
    offsets = [[n for span in offsets_of(p.context) for n in span] for p in part]
    stream(prefix, "offsets1", offsets)
    stream(prefix, "answers", [answers_row(part[number].context, q) for number, q in asked])
    _lines(prefix, "examples", [_record(q) for _, q in asked])
    _lines(prefix, "contexts", [{"title": "t", "context": p.context} for p in part])
    return {
        "examples": len(asked),
        "labelled": sum(q.answers is not None for _, q in asked),
        "tokens": 0,
        "longest": 0,
        "paragraphs": len(part),
        "answerable": sum(bool(q.answers) for _, q in asked),
    }


def _record(asked: Asked) -> dict[str, Any]:
    record: dict[str, Any] = {"id": asked.id, "texts": [asked.text]}
    if asked.answers is not None:
        record["answers"] = [{"text": text, "answer_start": at} for text, at in asked.answers]
    return record


def _lines(prefix: Path, name: str, records: Sequence[Any]) -> None:
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    Path(f"{prefix}.{name}.jsonl").write_text(text)


def stream(prefix: Path, name: str, rows: Sequence[Sequence[int]], ids: int = 600) -> None:
    write_stream(Path(f"{prefix}.{name}"), rows, ids)
