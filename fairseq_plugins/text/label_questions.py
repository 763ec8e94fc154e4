"""The question of every label of entities: read from a file, and split into subwords.

A line of the file is ``label<TAB>question``; empty lines and lines that begin with ``#`` are
skipped. Every type of entities in the labels of words has one question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ..corpora.examples import Example
from ..data.label_questions import LabelQuestions, Span
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..messages import named, quoted
from ..syntax.sentence import EncodedSentence
from ..text_reading import check_characters, numbered_lines
from .annotators import SPACY, needs_annotator
from .text_encoder import TextEncoder

FLAG = "--label-questions"
COMMENT = "#"
LONGEST = 2_000  # characters of a question
REFERENCE = "${"  # a checkpoint's questions contain no references


def read_questions(path: str | Path | None, types: Sequence[str]) -> dict[str, str]:
    """Read the question of each type of entities.

    Args:
        path: the file; None if none was named.
        types: all types that need a question, in order.

    Returns:
        Type -> question, in the order of ``types``.
    """
    if not path:
        form = f"lines of label, TAB, question:\n{_template(types)}"
        raise InputError(f"{FLAG} FILE is missing: it has a question for each label, {form}")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{FLAG} {path}: no such file")
    found = _read(path, types)
    if lacking := [label for label in types if label not in found]:
        raise InputError(
            f"{path}: no question for {named(lacking)}; add lines such as\n{_template(lacking)}"
        )
    return {label: found[label] for label in types}


def _read(path: str | Path, types: Sequence[str]) -> dict[str, str]:
    """Read the questions of a file."""
    found: dict[str, str] = {}
    for number, line in numbered_lines(path):
        if line.strip() and not line.startswith(COMMENT):
            where = f"{path}:{number}"
            label, question = _pair(line, where)
            if label in found:
                raise InputError(f"{where}: {quoted(label)} stands there twice")
            if label not in types:
                choices = named(types)
                raise InputError(f"{where}: {quoted(label)} is no label of the data: {choices}")
            found[label] = question
    return found


def _pair(line: str, where: str) -> tuple[str, str]:
    """Return label and question of a line."""
    label, tab, question = (part.strip() for part in line.partition("\t"))
    if "\t" not in line or not label or not question or "\t" in question:
        raise InputError(f"{where}: expected label, TAB, question; found {quoted(line)}")
    if len(question) > LONGEST:
        raise InputError(f"{where}: the question is longer than {LONGEST:,} characters")
    if REFERENCE in line:
        raise InputError(f"{where}: a question cannot hold {REFERENCE}")
    check_characters(line, where)
    return label, question


def _template(types: Iterable[str]) -> str:
    return "\n".join(f"{label}\tfind {label.lower()} entities in the text" for label in types)


def label_questions(
    folder: Path,
    manifest: TextManifest,
    questions: dict[str, str],
    read: Callable[[Sequence[str], int], Iterable[Span]],
    spacy_model: str | None = None,
) -> LabelQuestions:
    """Return questions for datasets.

    Args:
        folder, manifest: of the prepared folder or bundle with the encoder of questions.
        questions, read: see `LabelQuestions`.
        spacy_model: the user's pipeline (default: the folder's).

    Returns:
        Questions whose ``encode`` refuses empty and equal questions.
    """

    @cache
    def encode(names: tuple[str, ...]) -> Sequence[EncodedSentence]:
        kept = [name for name in manifest.annotations if name in names]
        tokenize = "whitespace" if manifest.tokenize == SPACY else manifest.tokenize
        changes: dict[str, Any] = {} if needs_annotator(kept, tokenize) else {"annotator": {}}
        part = replace(manifest, annotations=kept, tokenize=tokenize, **changes)
        encoder = TextEncoder.from_folder(folder, part, spacy_model)
        examples = [Example(label, (text,)) for label, text in questions.items()]
        found = [sentence for (sentence,) in encoder.encode(examples)]
        _check_read(dict(zip(questions, found)), encoder.pieces.unknown)
        return found

    return LabelQuestions(questions, encode, read)


def _check_read(found: dict[str, EncodedSentence], unknown: int) -> None:
    """Refuse questions that an encoder reads as empty, or as equal."""
    seen: dict[tuple[int, ...], str] = {}
    for label, sentence in found.items():
        tokens = tuple(sentence.tokens)
        if {*tokens} <= {unknown}:
            raise InputError(
                f"{FLAG}: the encoder knows no subword of the question of {quoted(label)}; ask in "
                "the language of the encoder"
            )
        if (other := seen.setdefault(tokens, label)) != label:
            raise InputError(
                f"{FLAG}: {quoted(other)} and {quoted(label)} have the same question to this "
                "encoder, so that nothing tells them apart; give each its own"
            )
