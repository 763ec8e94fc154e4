"""Prepare a dataset for classification or labelling: official files in, a prepared folder out.

Steps: check options, vocabulary and files; read every file once (labels, counts, bad rows); write
the examples in chunks; annotate and cut the chunks (several processes); write binary streams,
texts, labels and vocabulary; write the manifest, last. Finished chunks are kept until the end, so a
preparation that was killed goes on where it was, and the folder's bytes do not depend on the number
of workers.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...corpora.conllu_parses import GivenParses
from ...corpora.datasets import input_files
from ...corpora.own_files import log_unread
from ...data.bert_dictionary import BertDictionary
from ...data.manifest import tool_versions
from ...data.text_manifest import LABELS, VOCABULARY, TextManifest
from ...files import sha256, write_text
from ...pretrained.directory import read_vocabulary, resolve_directory
from ...pretrained.tokenizer import read_tokenizer_settings
from ...text.annotators import load_annotator
from ...text.text_encoder import TextEncoder
from ...text.word_similarity import WordSimilarity
from ...text.wordpiece import WordPieces
from .. import text_chunks, unknown
from ..shards import Layout, carry_out, is_settled
from ..text_binarize import SplitWriter
from ..text_chunks import TextChunk, encode_chunk, start_encoding
from ..text_labels import decide_labels, headline, log_labels, with_labels
from ..text_options import TextOptions
from ..text_scan import TextScan, read_examples, scan_files
from ..workers import run_jobs
from ..workspace import check_destination, finish

logger = logging.getLogger(__name__)

TOOLS = ("tokenizers", "spacy", "numpy")
LONG_WORDS = 8  # wordpieces a word, on average: more is hardly any language's


@dataclass(frozen=True)
class Tools:
    """What the preparation works with.

    Args:
        vocabulary: of the pretrained model.
        encoder: examples to wordpieces with features.
    """

    vocabulary: BertDictionary
    encoder: TextEncoder


def prepare(options: TextOptions) -> TextManifest:
    """Prepare a folder; return its manifest (at once, when it is already finished).

    Raises:
        FileNotFoundError, ValueError: bad input or options; nothing finished-looking is left.
        OSError: the folder cannot be written.
    """
    folder = Path(options.destdir)
    files = options.input_files()
    read = inputs_of(options, files)
    vocabulary = resolve_directory(options.pretrained) / VOCABULARY
    check_destination(folder, [*read.values(), *([vocabulary] if vocabulary.is_file() else [])])
    log_unread(options.raw_dir, options.source.splits, read)
    manifest, tools = describe(options, files)
    if files.keys() == {"train"} and not options.valid_fraction:
        logger.warning(
            "%s: no validation split: give --valid-file, or hold out part of train with "
            "--valid-fraction",
            folder,
        )
    if is_settled(options, manifest):
        return TextManifest.load(folder)
    scans = scan_files(options, files)
    manifest.labels = decide_labels(options, scans)
    log_labels(options, scans, manifest.labels)
    manifest.metric = headline(options, manifest.labels)
    manifest.sentences = next(iter(scans.values())).sentences
    return carry_out(options, manifest, partial(make, options, scans, manifest, tools))


def describe(options: TextOptions, files: dict[str, Path]) -> tuple[TextManifest, Tools]:
    """Load the tools, and write down what decides the folder's content, before the work."""
    names, tokenize = options.annotation_names, options.tokenize
    annotator = choose_annotator(options, files)
    compared = WordSimilarity(options.wordnet) if options.compares_words else None
    tools, settings, vocabulary = load_tools(
        options.pretrained, tokenize, names, annotator, compared
    )
    inputs = {
        name: {"file": str(path), "sha256": sha256(path)}
        for name, path in inputs_of(options, files).items()
    }
    if compared is not None:
        inputs["wordnet"] = compared.identity()
    inputs["vocabulary"] = vocabulary
    source = options.source
    manifest = TextManifest(
        *(source.name, source.task, source.target, [], source.positive, source.metric, 1),
        tokenizer=settings,
        tokenize=tokenize,
        annotations=list(names),
        annotator=annotator.identity() if annotator is not None else {},
        inputs=inputs,
        options=options.recorded(),
        versions=tool_versions((*TOOLS, "nltk") if compared is not None else TOOLS),
        submission={split: dict(form) for split, form in source.submission.items()},
    )
    return manifest, tools


def inputs_of(options: TextOptions, files: dict[str, Path]) -> dict[str, Path]:
    """Name all files that are read: splits, what lies beside them, and parses."""
    read = {
        f"{split}.beside" if k else split: path
        for split, first in files.items()
        for k, path in enumerate(input_files(options.source, first))
    }
    return read | {f"{split}.conllu": path for split, path in options.conllu_files(files).items()}


def load_tools(
    pretrained: str,
    tokenize: str,
    annotations: Sequence[str],
    annotator: Any,
    similarity: WordSimilarity | None = None,
) -> tuple[Tools, dict[str, Any], dict[str, str]]:
    """Load the vocabulary, and build the encoder around it; see `TextEncoder`.

    Returns:
        The tools, the wordpieces' settings, and the manifest's entry of the vocabulary.

    Raises:
        FileNotFoundError, ValueError: there is no such vocabulary, or it is damaged.
    """
    directory = resolve_directory(pretrained)
    content, settings = read_vocabulary(directory), read_tokenizer_settings(directory)
    vocabulary = BertDictionary(content, str(directory / VOCABULARY))
    pieces = WordPieces(vocabulary, settings)
    encoder = TextEncoder(pieces, tokenize, annotations, annotator, similarity)
    entry = {"file": str(directory), "sha256": hashlib.sha256(content).hexdigest()}
    return Tools(vocabulary, encoder), settings, entry


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


def make(
    options: TextOptions,
    scans: dict[str, TextScan],
    manifest: TextManifest,
    tools: Tools,
    layout: Layout,
) -> None:
    """Do the work in a folder that is ours, and complete and save the manifest; see `carry_out`."""
    folder = layout.folder
    jobs = list(write_chunks(with_labels(options, manifest.labels), scans, layout))
    encode(options, jobs, manifest, tools)
    if layout.is_part:
        return
    tools.vocabulary.save(folder / VOCABULARY)
    if manifest.target != "score":
        write_text(folder / LABELS, "".join(f"{label}\n" for label in manifest.labels))
    pieces = len(tools.vocabulary)
    with tqdm(total=len(jobs), desc="binarise", unit=" chunks") as bar:
        for split, chunks in groupby(jobs, key=lambda job: job.split):
            writer = SplitWriter(folder, split, manifest, scan=scans[split], pieces=pieces)
            for chunk in chunks:
                writer.add(chunk)
                bar.update(1)
            writer.close()
    finish(folder, manifest)
    report(manifest, folder)


def write_chunks(
    options: TextOptions, scans: dict[str, TextScan], layout: Layout
) -> Iterator[TextChunk]:
    """Write every split's examples in chunks, as far as they are of this part."""
    overall = count()
    for split, scan in scans.items():
        examples = read_examples(options, split, scan)
        for number in count():
            if not (some := list(islice(examples, text_chunks.CHUNK_EXAMPLES))):
                break
            if layout.owns(place := next(overall)):
                chunk = TextChunk.at(layout.place(place), split, number, len(some))
                chunk.write(some)
                yield chunk


def encode(
    options: TextOptions, jobs: list[TextChunk], manifest: TextManifest, tools: Tools
) -> None:
    """Annotate and cut all chunks that are not there yet."""
    todo = [job for job in jobs if not job.encoded.is_file()]
    start = partial(start_encoding, tools.encoder, manifest.labels)
    sizes = [job.count for job in todo]
    for _ in run_jobs(
        encode_chunk, todo, options.workers, start, title="encode", sizes=sizes, unit="examples"
    ):
        pass


def report(manifest: TextManifest, folder: Path) -> None:
    """Log what the folder holds, and what was dropped or repaired."""
    for split, counts in manifest.splits.items():
        notes = {k: v for k, v in manifest.alignment[split].items() if v}
        logger.info(
            "%s: %d examples (%d with labels), %d words, %d wordpieces, longest %d%s",
            split,
            *(counts[name] for name in ("examples", "labelled", "words", "tokens", "longest")),
            f"; {notes}" if notes else "",
        )
        unknown.report(split, counts["unknown"], "[UNK]")
        if counts["tokens"] > LONG_WORDS * counts["words"]:
            logger.warning(
                "%s: %.0f wordpieces a word: text without blanks between words, such as Chinese, "
                "needs --tokenize characters, or words that are given (in the data, or by CoNLL-U "
                "with --tokenize spacy)",
                split,
                counts["tokens"] / max(counts["words"], 1),
            )
    logger.info("prepared %s for %s", folder, manifest.task)
