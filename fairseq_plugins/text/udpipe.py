"""Words and annotations from a UDPipe model; only this file annotates by `ufal.udpipe`.

UDPipe (Straka and Straková 2017) splits raw text into sentences and words, tags and parses them,
for any language with a Universal Dependencies treebank. UDPipe's CoNLL-U output is read like other
CoNLL-U, multiword tokens included; the sentences of a line are joined, their trees form a forest.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..corpora.conllu import parse_block, read_blocks
from ..corpora.conllu_parses import side_by_side
from ..door.kind import refusal
from ..door.udpipe_models import UDPIPE
from ..errors import InputError
from ..files import sha256
from ..syntax.annotation import Annotation
from ..syntax.layers import (
    ENTITIES,
    HEADS,
    RELATIONS,
    STANDARD_TAGS,
    annotated_names,
)
from ..syntax.subwords import locate_words

PROBE = ("a", "1")  # words of no particular language


class UDPipeAnnotator:
    """A loaded UDPipe model.

    Args:
        names: requested layers; a model gives the layers of its treebank.
    """

    def __init__(self, path: str, names: Sequence[str] = STANDARD_TAGS) -> None:
        self.path, self.names = Path(path).resolve(), tuple(annotated_names(names))
        if not self.path.is_file():
            raise FileNotFoundError(f"no UDPipe model {path!r}")
        self._library()
        self._parses = not {HEADS, RELATIONS}.isdisjoint(self.names)
        self._check()

    @staticmethod
    def _library() -> Any:
        try:
            import ufal.udpipe
        except ImportError:
            raise ImportError(
                "UDPipe models need the package ufal.udpipe: pip install 'ufal.udpipe>=1.3'"
            ) from None
        return ufal.udpipe

    @property
    def files(self) -> Path:
        """The file of the model."""
        return self.path

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the loaded model: each process loads its own."""
        return {name: value for name, value in vars(self).items() if name != "model"}

    @cached_property
    def model(self) -> Any:
        """The model, refused if invalid or if a trial fails."""
        UDPIPE.admit(self.path)
        found = self._library().Model.load(str(self.path))
        if found is None:
            raise refusal(self.path, "it is no UDPipe model (version 1)")
        return found

    def _check(self) -> None:
        """Refuse a model that cannot tokenise, or lacks a requested layer."""
        if self.model.newTokenizer(self.model.DEFAULT) is None:
            raise InputError(f"{self.path}: the UDPipe model does not cut text into words")
        if ENTITIES in self.names:
            raise InputError(f"{self.path}: UDPipe models give no named entities (ent)")
        self.annotate_words([PROBE])

    def identity(self) -> dict[str, str]:
        """Name, version and content hash, as the manifest keeps them."""
        name, version = self.path.stem, "1"
        found = {"name": f"udpipe_{name}", "version": version, "hash": sha256(self.path)[:16]}
        return found | {"model": f"udpipe:{self.path}"}

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Annotate sentences with given words."""
        library, found = self._library(), []
        for words in sentences:
            sentence = library.Sentence()
            for word in words:
                sentence.addWord(word)
            parts = [self._annotated(sentence)] if words else []
            found.append(side_by_side(parts, self.names))
        return found

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Find and annotate the words of raw lines; spans refer to each line."""
        found = []
        for line in lines:
            note = side_by_side(list(self._sentences(line)), self.names)
            spans = locate_words(line, note.words)
            if spans is None:
                raise InputError(f"{self.path} changes the characters of {line[:80]!r}")
            found.append(Annotation(note.words, note.layers, spans))
        return found

    def _sentences(self, line: str) -> Iterator[Annotation]:
        library = self._library()
        tokenizer = self.model.newTokenizer(self.model.DEFAULT)
        tokenizer.setText(line)
        sentence = library.Sentence()
        while tokenizer.nextSentence(sentence, library.ProcessingError()):
            yield self._annotated(sentence)
            sentence = library.Sentence()

    def _annotated(self, sentence: Any) -> Annotation:
        """Tag and parse a sentence; read UDPipe's CoNLL-U."""
        library = self._library()
        error, how = library.ProcessingError(), self.model.DEFAULT
        done = self.model.tag(sentence, how, error)
        if done and self._parses:
            done = self.model.parse(sentence, how, error)
        if not done:
            wanted = ", ".join(self.names)
            raise InputError(
                f"{self.path}: the UDPipe model does not give {wanted}: {error.message}"
            )
        written = library.OutputFormat.newOutputFormat("conllu").writeSentence(sentence)
        blocks = read_blocks(enumerate(written.split("\n"), 1))
        return parse_block(next(blocks), self.path, self.names)
