"""The recipe of SQuAD files for question answering: paragraphs become wordpieces, answers spans."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...corpora.own_files import log_unread
from ...corpora.squad import Paragraph, read
from ...data.folder_names import MISALIGNED, WINDOWS
from ...data.manifest import Manifest
from ...data.text_manifest import TextManifest
from ...errors import InputError
from ...files import write_text
from ...messages import quoted
from ...targets.spans import SPANS
from ...text.annotators import load_annotator
from ...text.pieces import PieceTokenizer
from ...text.squad_encoder import check_visible
from ...text.word_similarity import WordSimilarity
from .. import engine
from ..chunks import Chunk, open_chunk
from ..engine import ChunkInput
from .examples import ExampleRecipe
from .question_chunks import encode_chunk, row_of
from .question_options import OFFICIAL, QuestionOptions

logger = logging.getLogger(__name__)

DATASET, METRIC = "squad", "f1"
CHUNK_PARAGRAPHS = 16


def prepare(options: QuestionOptions) -> Manifest:
    """Prepare a folder of questions; see `engine.prepare`."""
    return engine.prepare(QuestionRecipe(options))


class QuestionRecipe(ExampleRecipe):
    """The preparation of questions; see `engine.Recipe`."""

    unit = "questions"

    def describe(self) -> TextManifest:
        options = self.options
        log_unread(options.raw_dir, OFFICIAL, self.files)
        return self.describe_by(
            load_annotator(options.annotation_names, options.spacy_model, options.tokenize),
            dataset=DATASET,
            task=SPANS.task,
            target=SPANS.name,
            labels=[],
            positive="",
            metric=METRIC,
            sentences=2,
            windows={name: getattr(options, name) for name in WINDOWS},
        )

    def load_tools(self, annotator: Any, similarity: WordSimilarity | None = None) -> None:
        """Also check that rows leave a context enough room."""
        super().load_tools(annotator, similarity)
        self.limits = replace(self.options.limits, row=self.vocabulary.family.row)
        self.limits.check()

    def scan(self, manifest: TextManifest) -> TextManifest:
        """Read all paragraphs."""
        self.manifest = manifest
        self.paragraphs = scan(self.options, self.files, self.encoder.pieces)
        return manifest

    def parts(self) -> Iterator[ChunkInput]:
        """Yield paragraphs with their questions."""
        for split, paragraphs in self.paragraphs.items():
            for begin in range(0, len(paragraphs), CHUNK_PARAGRAPHS):
                some = paragraphs[begin : begin + CHUNK_PARAGRAPHS]
                count = sum(len(paragraph.questions) for paragraph in some)
                yield ChunkInput(split, count, [row_of(n, p) for n, p in enumerate(some, begin)])

    def work(self) -> Callable[[Chunk], None]:
        """Annotate, split and place answers."""
        repair = self.options.on_misalignment == "repair"
        return partial(encode_chunk, self.encoder, self.limits, repair)

    def end(self, chunks: list[Chunk], manifest: TextManifest, folder: Path) -> None:
        """Write the list of answers with irregular places; refuse empty splits."""
        remarks = []
        for chunk in chunks:
            with open_chunk(chunk.encoded) as (header, _):
                remarks += [f"{line}\n" for line in header["lines"][MISALIGNED]]
        write_text(folder / MISALIGNED, "".join(remarks))
        for split, counts in manifest.splits.items():
            if not counts["examples"]:
                raise InputError(
                    f"{folder}: no question of split {split!r} is left: none of its answers could "
                    "be placed in its context"
                )

    def warn(self, manifest: TextManifest, folder: Path) -> None:
        """Log the place of remarks on answers."""
        super().warn(manifest, folder)
        if listed := (folder / MISALIGNED).read_bytes().count(b"\n"):
            logger.info("remarks on answers, by id, in %s: %d", folder / MISALIGNED, listed)


def scan(
    options: QuestionOptions, files: dict[str, Path], pieces: PieceTokenizer
) -> dict[str, tuple[Paragraph, ...]]:
    """Read every file; refuse content that the options do not allow."""
    found = {}
    for split, path in tqdm(files.items(), desc="check", unit=" files"):
        found[split] = read(path).paragraphs
        for paragraph in found[split]:
            check_visible(pieces, paragraph)
            if options.on_misalignment == "error":
                check_starts(paragraph)
            if options.long_questions == "error":
                check_lengths(paragraph, pieces, options.max_query_length)
    return found


def check_starts(paragraph: Paragraph) -> None:
    """Refuse answers at wrong places; the error names place, id, and the text there."""
    for place, question in paragraph.named():
        for number, answer in enumerate(question.answers or ()):
            if not answer.stands_in(paragraph.context):
                start = max(answer.start, 0)
                there = paragraph.context[start : start + len(answer.text)]
                raise InputError(
                    f"{place}: answers[{number}] is {quoted(answer.text)}, but at "
                    f"answer_start {answer.start} the context says {quoted(there)}; "
                    "--on-misalignment repair takes the nearest occurrence, skip passes over it"
                )


def check_lengths(paragraph: Paragraph, pieces: PieceTokenizer, longest: int) -> None:
    """Refuse questions of too many wordpieces."""
    for place, question in paragraph.named():
        count = len(pieces.encode_text(question.text)[0])
        if count > longest:
            raise InputError(
                f"{place} has {count} wordpieces, and --max-query-length is {longest}; "
                "--long-questions truncate cuts such questions"
            )
