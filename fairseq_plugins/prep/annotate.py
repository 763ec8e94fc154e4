"""Words, parts of speech and heads from a spaCy pipeline: the one file that knows spaCy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import spacy
from spacy.tokens import Doc

from ..messages import named
from ..resources import english_pipeline_path
from ..syntax.labels import upos_label
from ..syntax.tree import project_heads
from .annotation import Annotation
from .text import parts_of

BUNDLED = "bundled"
PARSER = "parser"
NEVER_NEEDED = ("ner", "entity_linker", "entity_ruler", "lemmatizer", "textcat", "senter")


class Annotator:
    """A loaded spaCy pipeline.

    Args:
        model: ``bundled`` (the project's small English pipeline), the name of an installed
            pipeline, or the path of one.
        parse: whether to find the words' heads as well (slower).

    Raises:
        FileNotFoundError: no such pipeline.
        ValueError: the pipeline does not tag parts of speech, or does not parse.
    """

    def __init__(self, model: str = BUNDLED, *, parse: bool = False) -> None:
        self.model, self.parse = model, parse
        self.nlp = load_pipeline(model, (*NEVER_NEEDED, *(() if parse else (PARSER,))))
        self.nlp.max_length = 10**9
        meta = self.nlp.meta
        self.name = f"{meta['lang']}_{meta['name']}"
        self.version = str(meta["version"])
        if not set(self.nlp.pipe_names) & {"morphologizer", "attribute_ruler"} and not any(
            token.pos_ for token in self.nlp("The cat sat on 2 mats .")
        ):
            raise ValueError(
                f"spaCy pipeline {model!r} gives no parts of speech (components: "
                f"{named(self.nlp.pipe_names)})"
            )
        if parse and not self.nlp("The cat sat on 2 mats .").has_annotation("DEP"):
            raise ValueError(
                f"spaCy pipeline {model!r} does not parse (components: "
                f"{named(self.nlp.pipe_names)}); parts of speech alone need no parser"
            )

    @lru_cache(maxsize=1)  # noqa: B019 (an annotator lives as long as its process)
    def identity(self) -> dict[str, str]:
        """Name, version and content hash, as the manifest keeps them."""
        return {
            "name": self.name,
            "version": self.version,
            "hash": directory_hash(Path(self.nlp.path)),
            "model": str(Path(self.model).resolve()) if Path(self.model).exists() else self.model,
        }

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Annotate sentences whose words are given (a pipeline may still cut them otherwise)."""
        docs = (Doc(self.nlp.vocab, words=list(words)) for words in sentences if words)
        with self.nlp.memory_zone():
            tagged = self._tag(docs)
            return [next(tagged) if words else self._nothing() for words in sentences]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Find and annotate the words of raw lines; spans refer to each line.

        spaCy's tokeniser takes time with the square of a stretch without white space, so that an
        overlong one (`text.LONGEST_WORD`) is handed to it in parts. No character changes.
        """
        with self.nlp.memory_zone():
            return list(self._tag(map(self._tokenized, lines)))

    def _tokenized(self, line: str) -> Doc:
        docs = [self.nlp.make_doc(part) for part in parts_of(line)]
        return docs[0] if len(docs) == 1 else Doc.from_docs(docs, ensure_whitespace=False)

    def _tag(self, docs) -> Iterator[Annotation]:
        for doc in self.nlp.pipe(docs, batch_size=256):
            tokens = [token for token in doc if not token.is_space]
            heads = None
            if self.parse:
                found = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
                heads = project_heads(found, [token.i for token in tokens])
            yield Annotation(
                [token.text for token in tokens],
                [upos_label(token.pos_) for token in tokens],
                [(token.idx, token.idx + len(token.text)) for token in tokens],
                heads,
            )

    def _nothing(self) -> Annotation:
        return Annotation([], [], heads=[] if self.parse else None)


def load_pipeline(model: str, exclude: Sequence[str] = (*NEVER_NEEDED, PARSER)):
    """Load a spaCy pipeline by name or path, without the components named in ``exclude``.

    Raises:
        FileNotFoundError: neither installed nor a path.
    """
    path = english_pipeline_path() if model == BUNDLED else model
    try:
        return spacy.load(path, exclude=list(exclude))
    except OSError:
        installed = named(sorted(spacy.util.get_installed_models()))
        raise FileNotFoundError(
            f"no spaCy pipeline {str(path)!r}: give {BUNDLED!r} (English), an installed pipeline "
            f"(installed here: {installed}) or the path of one; "
            "pip install its wheel to add another"
        ) from None


def directory_hash(folder: Path) -> str:
    """Hash a pipeline's files (names and bytes), first 16 hex digits of SHA-256."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix in (".md", ".pyc") or path.name.startswith("LICEN"):
            continue
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
