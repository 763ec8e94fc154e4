"""The recipe of datasets for classification and labelling: examples become wordpieces."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from ...corpora.conllu_parses import GivenParses, Parses
from ...corpora.datasets import input_files
from ...corpora.examples import Example
from ...corpora.own_files import log_unread
from ...data.folder_names import AS_TOKENISED, EXAMPLES, LABELS
from ...data.manifest import Manifest
from ...data.text_manifest import TextManifest
from ...files import write_text
from ...pretrained.directory import VOCABULARY, resolve_directory
from ...pretrained.tokenizer import read_tokenizer_settings
from ...pretrained.tokenizer_sources import read_vocabulary
from ...syntax.annotation import Annotation
from ...targets.target import Target
from ...text.annotators import load_annotator
from ...text.lowered import LoweredAnnotator
from ...text.pieces import PieceTokenizer
from ...text.text_encoder import TextEncoder
from ...text.word_similarity import WordSimilarity
from .. import engine
from ..chunks import Chunk, json_line, read_rows
from ..engine import ChunkInput
from ..split_writer import SplitWriter
from .examples import ExampleRecipe, check_sizes, count_misaligned, encoded_chunk
from .text_options import TRAIN, TextOptions
from .text_scan import (
    decide_labels,
    headline,
    log_labels,
    read_examples,
    scan_files,
    with_labels,
)
from .word_vocabularies import own_words, words_of

CHUNK_EXAMPLES = 1000


def prepare(options: TextOptions) -> Manifest:
    """Prepare a folder of examples; see `engine.prepare`."""
    return engine.prepare(TextRecipe(options))


class TextRecipe(ExampleRecipe):
    """The preparation of examples; see `engine.Recipe`."""

    cure = "give --valid-file, or hold out part of train with --valid-fraction"

    def __init__(self, options: TextOptions) -> None:
        super().__init__(options)
        beside = {
            f"{split}.beside" if k else split: path
            for split, first in self.files.items()
            for k, path in enumerate(input_files(options.source, first))
        }
        parses = options.conllu_files(self.files)
        self.read = beside | {f"{split}.conllu": path for split, path in parses.items()}

    def describe(self) -> TextManifest:
        options, source = self.options, self.options.source
        log_unread(options.raw_dir, {} if options.names_all else source.splits, self.read)
        return self.describe_by(
            choose_annotator(options, self.files),
            WordSimilarity(options.wordnet) if options.compares_words else None,
            dataset=source.name,
            task=source.task,
            target=source.target.name,
            labels=[],
            positive=source.positive,
            metric=source.metric,
            sentences=1,
            levels=levels if (levels := options.label_levels) > 1 else 0,
            submission={split: dict(form) for split, form in source.submission.items()},
        )

    def vocabulary_files(self) -> Iterable[Path]:
        """Return no files if words come from the training file."""
        source = self.options.words_from
        if not source:
            return super().vocabulary_files()
        return [] if source == TRAIN else [Path(source) / VOCABULARY]

    def load_vocabulary(self) -> None:
        """Use the vocabulary of an encoder, or make one of words."""
        source = self.options.words_from
        if not source:
            super().load_vocabulary()
        elif source == TRAIN:
            self.remedy = (
                "words that are rarer than --min-count in the training examples, or not there, "
                "have no id of their own"
            )
            self.directory = self.files.get(TRAIN)
            self.settings, self.vocabulary = own_words(self.options, self.directory)
        else:
            self.directory = Path(source)
            self.settings, self.vocabulary = words_of(self.directory)

    def scan(self, manifest: TextManifest) -> TextManifest:
        """Read all examples; decide the labels."""
        self.scans = scan_files(self.options, self.files)
        labels = decide_labels(self.options, self.scans)
        log_labels(self.options, self.scans, labels)
        metric = headline(self.options, labels)
        sentences = next(iter(self.scans.values())).sentences
        found = {split: {"labelled": scan.labelled} for split, scan in self.scans.items()}
        known = {"labels": labels, "metric": metric, "sentences": sentences, "splits": found}
        self.manifest = replace(manifest, **known)
        return self.manifest

    def parts(self) -> Iterator[ChunkInput]:
        """Yield examples with their labels and parses."""
        options = with_labels(self.options, self.manifest.labels)
        for split, scan in self.scans.items():
            numbered = enumerate(read_examples(options, split, scan))
            target = options.source.target
            for _, some in groupby(numbered, key=lambda pair: pair[0] // CHUNK_EXAMPLES):
                found = [pair for _, pair in some]
                yield ChunkInput(split, len(found), (_row_of(target, *pair) for pair in found))

    def work(self) -> Callable[[Chunk], None]:
        """Annotate and split."""
        label_ids = {label: i for i, label in enumerate(self.manifest.labels)}
        return partial(encode_chunk, self.encoder, self.options.source.target, label_ids)

    def begin(self, chunks: list[Chunk], manifest: TextManifest, folder: Path) -> TextManifest:
        """Write the vocabulary and the labels."""
        if manifest.target_kind.labelled:
            write_text(folder / LABELS, "".join(f"{label}\n" for label in manifest.labels))
        return super().begin(chunks, manifest, folder)

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        """Add the counts of skipped rows."""
        writer.notes.update(self.scans[split].dropped)
        return super().summarize(split, writer)


def choose_annotator(options: TextOptions, files: dict[str, Path]) -> Any:
    """Return the spaCy pipeline, given parses in its place, or None if neither is needed."""
    parses, model = options.conllu_files(files), options.spacy_model
    if parses and not model:
        return GivenParses(parses.values())
    annotator = load_annotator(options.annotation_names, model, options.tokenize)
    if parses:
        return GivenParses(parses.values(), annotator.identity()["model"])
    if options.parse_text == AS_TOKENISED and _lowers(options):
        return LoweredAnnotator(annotator)
    return annotator


def _lowers(options: TextOptions) -> bool:
    """Whether the tokeniser lower-cases text."""
    if options.words_from:
        own = options.words_from == TRAIN
        return options.lowercase if own else words_of(Path(options.words_from))[0]["lowercase"]
    directory = resolve_directory(options.pretrained)
    settings = read_tokenizer_settings(directory)
    return PieceTokenizer(read_vocabulary(directory), settings).lowers


def _row_of(target: Target, example: Example, parses: Parses | None) -> dict[str, Any]:
    """Turn an example into a row for a worker: the example, its labels, its given parses."""
    told: dict[str, Any] = {"id": example.id, "texts": example.texts}
    told |= {} if example.words is None else {"words": example.words}
    row: dict[str, Any] = {"example": told, "gold": target.written(example)}
    if example.values:
        row["values"] = example.values
    if parses is not None:
        row["parses"] = [(note.words, note.layers) for note in parses]
    return row


def encode_chunk(
    encoder: TextEncoder, target: Target, label_ids: Mapping[str, int], chunk: Chunk
) -> None:
    """Encode the chunk's examples, one per row."""
    rows = list(read_rows(chunk.file()))
    examples = [
        Example(
            row["example"]["id"],
            tuple(row["example"]["texts"]),
            tuple(row["example"]["words"]) if "words" in row["example"] else None,
            values=row.get("values", {}),
        )
        for row in rows
    ]
    parses = [tuple(Annotation(*note) for note in row["parses"]) for row in rows if "parses" in row]
    encoded = encoder.encode(examples, parses or None)
    for example, sentences in zip(examples, encoded):
        check_sizes(f"{chunk.split}: example {example.id}", sentences)
    found = encoded_chunk(encoder, list(zip(*encoded)))
    streams, lines = target.gold.written([row["gold"] for row in rows], label_ids)
    found.streams.update(streams)
    lines[EXAMPLES] = [json_line(row["example"]) for row in rows]
    texts = (text for example in examples for text in (*example.texts, *(example.words or ())))
    notes = dict(count_misaligned(chain.from_iterable(encoded), texts))
    replace(found, notes=notes, lines=lines).save(chunk.encoded)
