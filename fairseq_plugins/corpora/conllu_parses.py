"""Parses given as CoNLL-U for a file of examples, in place of a spaCy pipeline.

The CoNLL-U file holds the sentences of the examples in order, without those of skipped rows: of a
pair first the first text, then the second. A text may be several CoNLL-U sentences: as many as its
characters, without white space, need; their trees become one forest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os.path import commonprefix
from pathlib import Path

from ..data.manifest import CONLLU
from ..errors import InputError
from ..files import sha256
from ..syntax.annotation import Annotation
from ..syntax.layers import annotated_names, given_names, layers_of
from ..text_reading import numbered_lines
from .conllu import parse_block, read_blocks
from .examples import Example
from .readers.split_file import UNLABELLED

SNIPPET = 40  # characters of a text in a message

Parses = tuple[Annotation, ...]  # one per text of an example


class GivenParses:
    """Replaces an annotator in a folder whose texts have given parses; ``model`` reads raw text."""

    def __init__(self, files: Iterable[Path], model: str = "") -> None:
        digest = hashlib.sha256("".join(sha256(path) for path in files).encode()).hexdigest()
        self._identity = {"name": CONLLU, "version": "-", "hash": digest[:16]}
        self._identity |= {"model": model} if model else {}

    def identity(self) -> dict[str, str]:
        """Return name, version and content hash, and the pipeline for raw text."""
        return dict(self._identity)


class ParseFile:
    """A CoNLL-U file, read together with the examples of its sentences.

    Args:
        examples: file of the examples, for messages.
        names: of the wanted layers; with heads, every sentence must be one tree.
        passed_over: reason -> number of skipped rows of that file so far.
    """

    def __init__(
        self,
        path: Path,
        examples: Path,
        *,
        names: Iterable[str],
        passed_over: Mapping[str, int] | None = None,
    ) -> None:
        self.path, self.examples, self.names = path, examples, ()
        names = list(names)
        self.names = (*annotated_names(names), *given_names(names))
        self.passed_over = {} if passed_over is None else passed_over
        self._blocks = read_blocks(numbered_lines(path))
        self._last = 0  # line

    def beside(self, examples: Iterable[Example]) -> Iterator[tuple[Example, Parses]]:
        """Yield all examples in the file's order with the parses of their texts."""
        for example in examples:
            yield example, tuple(self._take(text, example) for text in example.texts)
        for block in self._blocks:
            if words := parse_block(block, self.path).words:
                raise InputError(
                    f"{self.path}:{block[0][0]}: too many sentences: {_snippet(''.join(words))!r} "
                    f"comes after those of all examples of {self.examples}{self._hint()}"
                )

    def _take(self, text: str, example: Example) -> Annotation:
        wanted, parts, done = "".join(text.split()), [], 0
        while done < len(wanted):
            block = next(self._blocks, None)
            place = f"{self.examples}:{example.line}"
            if block is None:
                raise InputError(
                    f"{self.path}:{self._last}: too few sentences: the file ends before "
                    f"{_snippet(wanted[done:])!r} of {place}"
                )
            self._last = block[-1][0]
            part = parse_block(block, self.path, self.names)
            spelt = "".join("".join(word.split()) for word in part.words)
            if not wanted.startswith(spelt, done):
                found, due = _apart(spelt, wanted[done:])
                raise InputError(
                    f"{self.path}:{block[0][0]}: the sentence {found!r} is not what "
                    f"{place} has there, {due!r}{self._hint()}"
                )
            parts.append(part)
            done += len(spelt)
        return side_by_side(parts, self.names)

    def _hint(self) -> str:
        """Name the kinds of rows whose sentences must be absent."""
        counts = {kind: n for kind, n in self.passed_over.items() if n and kind != UNLABELLED}
        hint = " (no sentence is due of {} rows before it that were passed over: {})"
        return hint.format(sum(counts.values()), ", ".join(counts)) if counts else ""


def side_by_side(parts: Sequence[Annotation], names: Iterable[str]) -> Annotation:
    """Concatenate sentences; their trees become a forest."""
    layers = {
        layer.name: layer.joined([part.layers[layer.name] for part in parts])
        for layer in layers_of(names)
    }
    return Annotation([word for part in parts for word in part.words], layers)


def _apart(found: str, due: str) -> tuple[str, str]:
    """Return snippets of two texts around their first difference."""
    same = len(commonprefix([found, due]))
    start = same - SNIPPET // 2 if same > SNIPPET // 2 else 0
    lead = "…" if start else ""
    return lead + _snippet(found[start:]), lead + _snippet(due[start:])


def _snippet(text: str) -> str:
    return "".join(islice(text, SNIPPET)) + ("…" if len(text) > SNIPPET else "")
