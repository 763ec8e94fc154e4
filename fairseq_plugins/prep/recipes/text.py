"""The recipe of datasets for classification and labelling: examples become wordpieces."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from ...corpora.conllu_parses import GivenParses, Parses
from ...corpora.datasets import input_files
from ...corpora.examples import Example
from ...corpora.own_files import log_unread
from ...data.folder_names import EXAMPLES, LABELS, SCORES, VOCABULARY
from ...data.manifest import TEXT, Manifest, tool_versions
from ...data.text_rows import Rows
from ...files import sha256, write_bytes, write_text
from ...syntax.layers import Annotation
from ...text.annotators import load_annotator
from ...text.text_encoder import TextEncoder
from ...text.word_similarity import WordSimilarity
from .. import engine
from ..chunks import Chunk, EncodedChunk, json_line, read_rows
from ..engine import Part, Step
from ..shards import Layout
from ..split_writer import SplitWriter
from ..unknown import unknown_words
from . import examples as shared
from .text_labels import decide_labels, headline, log_labels, with_labels
from .text_options import TextOptions
from .text_scan import labels_of, read_examples, scan_files

logger = logging.getLogger(__name__)

CHUNK_EXAMPLES = 1000


def prepare(options: TextOptions) -> Manifest:
    """Prepare a folder of examples; see `engine.prepare`."""
    return engine.prepare(TextRecipe(options))


class TextRecipe:
    """How examples are prepared; see `engine.Recipe`."""

    unit, unknown, encodes_apart = "examples", "[UNK]", True
    describe_split, warn = staticmethod(shared.describe_split), staticmethod(shared.warn)

    def __init__(self, options: TextOptions) -> None:
        self.options, self.files = options, options.input_files()
        self.read = inputs_of(options, self.files)

    def inputs(self) -> Iterable[Path]:
        """Return splits, what lies beside them, parses, and the vocabulary."""
        return [*self.read.values(), *shared.vocabulary_files(self.options)]

    def describe(self) -> Manifest:
        """Load the tools."""
        options, source = self.options, self.options.source
        log_unread(options.raw_dir, source.splits, self.read)
        annotator = choose_annotator(options, self.files)
        compared = WordSimilarity(options.wordnet) if options.compares_words else None
        self.tools = shared.load_tools(options, annotator, compared)
        inputs: dict[str, Any] = {
            name: {"file": str(path), "sha256": sha256(path)} for name, path in self.read.items()
        }
        inputs |= {"wordnet": compared.identity()} if compared is not None else {}
        if self.files.keys() == {"train"} and not options.valid_fraction:
            logger.warning(
                "%s: no validation split: give --valid-file, or hold out part of train with "
                "--valid-fraction",
                options.destdir,
            )
        return Manifest(
            kind=TEXT,
            dataset=source.name,
            task=source.task,
            target=source.target,
            positive=source.positive,
            metric=source.metric,
            sentences=1,
            tokenizer=self.tools.settings,
            tokenize=options.tokenize,
            annotations=list(options.annotation_names),
            annotator=annotator.identity() if annotator is not None else {},
            inputs=inputs | {"vocabulary": self.tools.entry},
            options=options.recorded(),
            versions=tool_versions((*shared.TOOLS, *(["nltk"] if compared is not None else []))),
            submission={split: dict(form) for split, form in source.submission.items()},
        )

    def scan(self, manifest: Manifest) -> None:
        """Read all examples; decide which labels there are."""
        self.manifest, self.scans = manifest, scan_files(self.options, self.files)
        manifest.labels = decide_labels(self.options, self.scans)
        log_labels(self.options, self.scans, manifest.labels)
        manifest.metric = headline(self.options, manifest.labels)
        manifest.sentences = next(iter(self.scans.values())).sentences

    def parts(self) -> Iterator[Part]:
        """Yield some examples with their labels and parses."""
        options = with_labels(self.options, self.manifest.labels)
        for split, scan in self.scans.items():
            numbered = enumerate(read_examples(options, split, scan))
            for _, some in groupby(numbered, key=lambda pair: pair[0] // CHUNK_EXAMPLES):
                found = [pair for _, pair in some]
                yield Part(split, len(found), (_row_of(*pair) for pair in found))

    def steps(self, chunks: list[Chunk], layout: Layout) -> Iterator[Step]:
        """Annotate and cut in one step."""
        label_ids = {label: i for i, label in enumerate(self.manifest.labels)}
        work = partial(encode_chunk, self.tools.encoder, label_ids)
        yield Step("encode", work, lambda chunk: chunk.encoded)

    def begin(self, chunks: list[Chunk], manifest: Manifest, folder: Path) -> None:
        """Write the vocabulary and the labels."""
        write_bytes(folder / VOCABULARY, self.tools.vocabulary.content)
        if manifest.target != "score":
            write_text(folder / LABELS, "".join(f"{label}\n" for label in manifest.labels))

    def sizes(self, split: str) -> Mapping[str, int]:
        """Return the streams of the sentences, and of labels if there are any."""
        found = shared.stream_sizes(self.manifest, len(self.tools.vocabulary))
        is_labelled = self.scans[split].labelled and self.manifest.labels
        return found | ({"label": len(self.manifest.labels)} if is_labelled else {})

    def texts(self, split: str) -> Iterable[str]:
        """Return the examples, and the scores if there are any."""
        is_scored = self.scans[split].labelled and self.manifest.target == "score"
        return [EXAMPLES, *([SCORES] if is_scored else [])]

    def load(self, chunk: Chunk) -> EncodedChunk:
        """Read a chunk as it is."""
        return EncodedChunk.load(chunk.encoded, self.sizes(chunk.split))

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        """Add what was passed over."""
        writer.notes.update(self.scans[split].dropped)
        return shared.summarize(self.manifest, writer)

    def end(self, chunks: list[Chunk], manifest: Manifest, folder: Path) -> None:
        """Do nothing more."""


def inputs_of(options: TextOptions, files: dict[str, Path]) -> dict[str, Path]:
    """Name all files that are read: splits, what lies beside them, and parses."""
    read = {
        f"{split}.beside" if k else split: path
        for split, first in files.items()
        for k, path in enumerate(input_files(options.source, first))
    }
    return read | {f"{split}.conllu": path for split, path in options.conllu_files(files).items()}


def choose_annotator(options: TextOptions, files: dict[str, Path]) -> Any:
    """Return the spaCy pipeline, given parses in its place, or None where nothing needs either.

    Raises:
        FileNotFoundError, ValueError: see `load_annotator` and `TextOptions.conllu_files`.
    """
    parses, model = options.conllu_files(files), options.spacy_model
    if parses and not model:
        return GivenParses(parses.values())
    annotator = load_annotator(options.annotation_names, model, options.tokenize)
    if parses:
        return GivenParses(parses.values(), annotator.identity()["model"])
    return annotator


def _row_of(example: Example, parses: Parses | None) -> dict[str, Any]:
    """Turn an example into a row for a worker: itself, its labels, its parses if they are given."""
    row: dict[str, Any] = {"example": _described(example), "gold": labels_of(example)}
    if parses is not None:
        row["parses"] = [(note.words, note.layers) for note in parses]
    return row


def _described(example: Example) -> dict[str, Any]:
    row: dict[str, Any] = {"id": example.id, "texts": example.texts}
    return row if example.words is None else row | {"words": example.words}


def encode_chunk(encoder: TextEncoder, label_ids: Mapping[str, int], chunk: Chunk) -> None:
    """Encode the chunk's examples; write them.

    Args:
        encoder: to wordpieces.
        label_ids: ids of the labels; none where examples have scores.
        chunk: with a row an example.
    """
    rows = list(read_rows(chunk.rows))
    examples = [
        Example(row["id"], tuple(row["texts"]), tuple(row["words"]) if "words" in row else None)
        for row in (row["example"] for row in rows)
    ]
    encoded = encoder.encode(examples, _parses_of(rows))
    for example, sentences in zip(examples, encoded):
        shared.check_sizes(f"{chunk.split}: example {example.id}", sentences)
    sides = list(zip(*encoded))
    streams = {
        k: v for n, side in enumerate(sides) for k, v in shared.sentence_streams(n, side).items()
    }
    gold = [row["gold"] for row in rows]
    lines = {EXAMPLES: [json_line(row["example"]) for row in rows]}
    if label_ids:
        streams["label"] = Rows.of([label_ids[label] for label in row] for row in gold)
    else:
        lines[SCORES] = [str(float(row[0])) if row else "" for row in gold]
    texts = (text for example in examples for text in (*example.texts, *(example.words or ())))
    unknown = encoder.wordpieces.unknown
    EncodedChunk(
        streams,
        {"examples": len(rows), "labelled": sum(map(bool, gold))},
        dict(shared.count_misaligned(chain.from_iterable(encoded), texts)),
        max(sum(len(sentence.tokens) for sentence in row) for row in encoded) + 1 + len(sides),
        lines,
        {f"tokens{k}": dict(unknown_words(side, unknown)) for k, side in enumerate(sides)},
    ).save(chunk.encoded)


def _parses_of(rows: Sequence[Mapping[str, Any]]) -> list[Parses] | None:
    """Return the given parses, one annotation a text of each example; None without."""
    if "parses" not in rows[0]:
        return None
    return [tuple(Annotation(*note) for note in row["parses"]) for row in rows]
