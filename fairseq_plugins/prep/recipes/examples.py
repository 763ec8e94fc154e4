"""The common part of the recipes of examples and of questions: wordpieces, streams, counts."""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...data.manifest import tool_versions
from ...data.text_folders import count_examples
from ...data.text_manifest import TextManifest
from ...errors import InputError
from ...files import sha256, write_bytes
from ...pretrained.directory import resolve_directory
from ...pretrained.tokenizer import read_tokenizer_settings
from ...pretrained.tokenizer_sources import read_vocabulary, vocabulary_files
from ...syntax.layers import layers_of
from ...syntax.rows import Rows
from ...syntax.sentence import EncodedSentence
from ...text.pieces import PieceTokenizer
from ...text.raw_text import ends_in_punctuation, overlong_words
from ...text.text_encoder import TextEncoder
from ...text.word_similarity import WordSimilarity
from ..chunks import NO_BOUND, Chunk, EncodedChunk, add_layers
from ..engine import ChunkStep, Recipe
from ..inventories import bind_layers, look_up
from ..shards import WorkLayout
from ..split_writer import SplitWriter, unknown_words
from .layer_options import given_inventories, inventory_inputs

logger = logging.getLogger(__name__)

TOOLS = ("tokenizers", "spacy", "numpy")
MOST_WORDS = 65_000  # word numbers are stored in 16 bits
GLUED = "words_with_signs"  # note of a chunk: number of words that end in a punctuation sign
LONG_WORDS = 8  # wordpieces per word, on average: more is rare in any language


class ExampleRecipe(Recipe):
    """The one-step preparation of wordpieces; see `engine.Recipe`. Subclasses add their files.

    Args:
        options: with ``input_files``, ``recorded``, ``pretrained``, ``tokenize``,
            ``annotation_names`` and the options of every preparation.
    """

    unit, encodes_apart = "examples", True
    remedy = "is the text of the language and characters that the pretrained model knows?"
    cure = "give --valid-file"  # if there is no validation file
    manifest: TextManifest

    def __init__(self, options: Any) -> None:
        self.options, self.files = options, options.input_files()
        self.read: dict[str, Path] = self.files  # all files read, by split and kind

    def inputs(self) -> Iterable[Path]:
        """Return all files, including a vocabulary that is not embedded."""
        return [*self.read.values(), *self.vocabulary_files()]

    def vocabulary_files(self) -> Iterable[Path]:
        """Return the files of the vocabulary, beside the input files."""
        return vocabulary_files(resolve_directory(self.options.pretrained))

    def load_vocabulary(self) -> None:
        """Set ``vocabulary``, ``settings`` of its tokeniser, and its source ``directory``."""
        self.directory = resolve_directory(self.options.pretrained)
        self.settings = read_tokenizer_settings(self.directory)
        self.vocabulary = read_vocabulary(self.directory)

    def load_tools(self, annotator: Any, similarity: WordSimilarity | None = None) -> None:
        """Load the vocabulary, and build the encoder around it; see `TextEncoder`."""
        options, trained = self.options, "train" in self.files
        names = options.annotation_names
        self.given = given_inventories(options, names, trained=trained)
        self.load_vocabulary()
        self.unknown = self.vocabulary.family.specials.unk
        pieces = PieceTokenizer(self.vocabulary, self.settings)
        how = (options.tokenize, layers_of(names), annotator, similarity)
        self.encoder = TextEncoder(pieces, *how)

    def describe_by(
        self, annotator: Any, similarity: WordSimilarity | None = None, **known: Any
    ) -> TextManifest:
        """Load the tools (see `TextEncoder`); return the manifest of all that decides the content.

        Further fields come from ``known``.
        """
        options = self.options
        self.load_tools(annotator, similarity)
        inputs: dict[str, Any] = {
            name: {"file": str(path), "sha256": sha256(path)} for name, path in self.read.items()
        }
        inputs |= inventory_inputs(options, self.given)
        inputs |= {"wordnet": similarity.identity()} if similarity is not None else {}
        digest = hashlib.sha256(self.vocabulary.content).hexdigest()
        inputs["vocabulary"] = {"file": str(self.directory), "sha256": digest}
        if self.files.keys() == {"train"}:
            logger.warning("%s: no validation split: %s", options.destdir, self.cure)
        return TextManifest(
            tokenizer=self.settings,
            tokenize=options.tokenize,
            annotations=list(options.annotation_names),
            annotator=annotator.identity() if annotator is not None else {},
            inputs=inputs,
            options=options.recorded(),
            versions=tool_versions((*TOOLS, *(["nltk"] if similarity is not None else []))),
            **known,
        )

    def work(self) -> Callable[[Chunk], None]:
        """Return the function that encodes a chunk."""
        raise NotImplementedError

    def steps(self, chunks: list[Chunk], layout: WorkLayout) -> Iterator[ChunkStep]:
        """Annotate, split and place in one step."""
        yield ChunkStep("encode", self.work(), lambda chunk: chunk.encoded)

    def begin(self, chunks: list[Chunk], manifest: TextManifest, folder: Path) -> TextManifest:
        """Write the vocabulary, and learnt inventories."""
        self.folder = folder
        file = folder / self.vocabulary.family.vocabulary_file
        write_bytes(file, self.vocabulary.content)
        what = (manifest.layers, self.given, chunks)
        layers = bind_layers(*what, self.options, manifest, folder)
        self.layers = {layer.name: layer for layer in layers}
        return manifest

    def sizes(self, split: str) -> dict[str, int]:
        """Return the streams of a split, each with the number of its ids."""
        widths = {"tokens": len(self.vocabulary), "words": MOST_WORDS, "offsets": NO_BOUND}
        widths |= {name: layer.id_count(MOST_WORDS) for name, layer in self.layers.items()}
        own = self.manifest.target_kind.gold.sizes(len(self.manifest.labels))
        own |= {"paragraph": NO_BOUND, "answers": NO_BOUND}
        names = self.manifest.split_streams(split)
        return {name: own[name] if name in own else widths[name[:-1]] for name in names}

    def load(self, chunk: Chunk) -> EncodedChunk:
        """Read a chunk, with ids of learnt inventories."""
        found = EncodedChunk.load(chunk.encoded, self.sizes(chunk.split))
        own = {name: self.layers[name[:-1]] for name in found.symbols}
        return replace(found, streams=look_up(found, own))

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        glued = writer.notes.pop(GLUED, 0)  # for the log only: the folder's content stays as before
        unknown = {n: writer.unknown_of(n, writer.ids(n)) for n in sorted(writer.unknown)}
        counts = count_examples(self.folder, self.manifest, split)
        told = "%s: %d of %d words end in a punctuation sign, as 'ball.' does (%s)"
        logger.info(told, split, glued, counts["words"], self.manifest.cutting)
        return counts | {"unknown": unknown}

    def describe_split(self, counts: Mapping[str, Any]) -> str:
        return (
            "{examples} examples ({labelled} with labels), {words} words, {tokens} wordpieces, "
            "longest {longest}"
        ).format(**counts)

    def warn(self, manifest: TextManifest, folder: Path) -> None:
        """Warn of text without word boundaries."""
        for split, counts in manifest.splits.items():
            if counts["tokens"] > LONG_WORDS * counts["words"]:
                logger.warning(
                    "%s: %.0f wordpieces a word: text without blanks between words, such as "
                    "Chinese, needs --tokenize characters, or words that are given (in the data, "
                    "or by CoNLL-U with --tokenize spacy)",
                    *(split, counts["tokens"] / max(counts["words"], 1)),
                )
        logger.info("prepared %s for %s", folder, manifest.task)


def check_sizes(name: str, sentences: Iterable[EncodedSentence]) -> None:
    """Refuse more words than can be stored."""
    for sentence in sentences:
        if len(sentence.words) > MOST_WORDS:
            raise InputError(
                f"{name} has a sentence of {len(sentence.words)} words; {MOST_WORDS} can be stored"
            )


def count_misaligned(sentences: Iterable[EncodedSentence], texts: Iterable[str]) -> Counter[str]:
    """Count irregular words and wordpieces, and odd words."""
    found: Counter[str] = Counter(misaligned_wordpieces=0, repaired_words=0, **{GLUED: 0})
    found["overlong_words"] = sum(map(overlong_words, texts))
    for sentence in sentences:
        found["misaligned_wordpieces"] += sentence.misaligned
        found["repaired_words"] += sentence.repaired
        found[GLUED] += sum(map(ends_in_punctuation, sentence.words))
    return found


def encoded_chunk(encoder: TextEncoder, sides: Sequence[Sequence[EncodedSentence]]) -> EncodedChunk:
    """Collect the streams of sentences, and the words without a piece in the vocabulary.

    Args:
        encoder: of the sentences, with the layers to learn.
        sides: the first, and for pairs the second sentences; an empty side has empty streams.
    """
    found = EncodedChunk({})
    for k, side in enumerate(sides):
        found.streams[f"tokens{k}"] = Rows.of(sentence.tokens for sentence in side)
        found.streams[f"words{k}"] = Rows.of(sentence.word_of for sentence in side)
        found.unknown[f"tokens{k}"] = dict(unknown_words(side, encoder.pieces.unknown))
        held = [layer for layer in encoder.layers if k in layer.sides(len(sides))]
        add_layers(found, side, {f"{layer.name}{k}": layer for layer in held})
    return found
