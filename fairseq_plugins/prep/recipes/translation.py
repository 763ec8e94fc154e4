"""The recipe of parallel text: annotate lines, learn subwords, then split lines into subwords."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ...corpora.parallel_text import CHUNK_LINES, Scan, check_parallel, scan_file
from ...data.manifest import CONLLU as GIVEN_BY
from ...data.manifest import Manifest, tool_versions
from ...data.text_columns import WORDS
from ...data.translation_manifest import CHARACTERS, PROTECTED, TranslationManifest
from ...errors import InputError
from ...files import sha256
from ...syntax.annotation import annotator_line
from ...syntax.layer import SUBWORD, WORD_OF
from ...syntax.layers import columns_of, layers_of
from ...syntax.rows import Rows, stream_layout
from ...text import annotators
from ...text.protected import reader
from ...text_reading import numbered_lines
from .. import engine
from ..chunks import NO_BOUND, Chunk, EncodedChunk
from ..engine import ChunkInput, ChunkStep
from ..inventories import bind_layers
from ..inventories import look_up as look_up_layers
from ..shards import WorkLayout
from ..split_writer import SplitWriter
from .layer_options import given_inventories, inventory_inputs
from .like import check_given_folders, keeps_sequences
from .samples import check_samples, samplers_of, write_sample
from .subword_models import check_given, look_up, obtain_models, write_dictionaries
from .translation_chunks import (
    ANNOTATED,
    SOURCE,
    TARGET,
    Lines,
    annotate_chunk,
    encode_chunk,
    layer_streams,
    value_sides,
)
from .translation_options import TARGET_CONLLU, TranslationOptions

logger = logging.getLogger(__name__)

TOOLS = ("sacremoses", "subword-nmt", "sentencepiece", "spacy", "numpy")
DROPPED = ("overlong", "empty", "too_short", "too_long", "ratio", "skipped_lines")
ESCAPED_SHARE = 0.01
FAILED_SHARE = 0.1  # share of lines with an annotation of other characters: more is no accident
POSITIONS = 1024  # fairseq's default --max-source-positions

CONLLU = ("conllu", TARGET_CONLLU)  # sides that are not lines of text

Scans = dict[str, dict[str, Scan]]  # split -> side -> content of its file


def prepare(options: TranslationOptions) -> Manifest:
    """Prepare a folder of parallel text; see `engine.prepare`."""
    return engine.prepare(TranslationRecipe(options))


class TranslationRecipe(engine.Recipe):
    """The preparation of parallel text; see `engine.Recipe`."""

    unit, unknown = "lines", "<unk>"
    remedy = (
        "is it text of the dictionary's kind, cut into words as that was? --like FOLDER "
        "prepares as FOLDER was; what FOLDER never saw stays unknown"
    )

    def __init__(self, options: TranslationOptions) -> None:
        self.options = options
        self.files, self.given = options.input_files(), options.given_models()
        self.protected = [f"{options.source_lang}.{PROTECTED}"] if options.protection else []
        self.encodes_apart = options.cuts_at_once
        langs = {SOURCE: options.source_lang, TARGET: options.target_lang}
        self.langs = {k: v for k, v in langs.items() if k == SOURCE or not options.only_source}
        self.layers = {
            options.source_lang: layers_of(options.layer_names),
            options.target_lang: layers_of(options.target_names),
        }

    def inputs(self) -> Iterable[Path]:
        """Return the text files and given models."""
        texts = [path for sides in self.files.values() for path in sides.values()]
        return [*texts, *self.given.values()]

    def describe(self) -> TranslationManifest:
        """Check everything before the work; files are read for their hashes."""
        options = self.options
        if options.protection:
            logger.info("protected: %s", options.protection)
        check_given(options)
        check_samples(options)
        trained = bool(options.trainpref)
        self.inventories = given_inventories(options, options.layer_names, trained=trained)
        self.annotators = {SOURCE: load_annotator(options), TARGET: load_target_annotator(options)}
        manifest = TranslationManifest(
            source_lang=options.source_lang,
            target_lang=options.target_lang,
            features=list(options.feature_names),
            segmentation={},
            annotator=identity_of(options, self.annotators),
            options=options.recorded(),
            versions=tool_versions(TOOLS),
            heads=options.parse,
            target_features=list(options.target_names),
            by_word=any(self.layers.values()),
        )
        check_given_folders(options, manifest.annotator_id)
        self.scans = scan_inputs(options, self.files)
        inputs: dict[str, Any] = {
            f"{split}.{side}": {"file": str(scan.path), "sha256": scan.sha256, "lines": scan.lines}
            for split, sides in self.scans.items()
            for side, scan in sides.items()
        }
        for name, path in self.given.items():
            inputs[name] = {"file": str(path), "sha256": sha256(path)}
        inputs |= inventory_inputs(options, self.inventories)
        return replace(manifest, inputs=inputs)

    def parts(self) -> Iterator[ChunkInput]:
        """Yield stretches of lines."""
        for split, sides in self.scans.items():
            for number in range(len(sides[SOURCE].offsets)):
                first = number * CHUNK_LINES
                places = {
                    side: (scan.path, scan.offsets[number], scan.line_numbers[number])
                    for side, scan in sides.items()
                }
                count = min(CHUNK_LINES, sides[SOURCE].lines - first)
                yield ChunkInput(split, count, source=Lines(first, places))

    def steps(self, chunks: list[Chunk], layout: WorkLayout) -> Iterator[ChunkStep]:
        """Annotate; obtain the subword models; split."""
        work = partial(annotate_chunk, self.options, self.annotators)
        yield ChunkStep("annotate", work, lambda chunk: chunk.file(ANNOTATED))
        if layout.is_part and not self.encodes_apart:
            return
        found = obtain_models(self.options, chunks, layout.work, layout.folder)
        self.segmenters, self.segmentation = found
        work = partial(encode_chunk, self.options, self.segmenters)
        yield ChunkStep("subwords", work, lambda chunk: chunk.encoded)

    def begin(self, chunks: list[Chunk], manifest: TranslationManifest, folder: Path) -> Any:
        """Write the dictionaries, and learnt inventories."""
        what = (self.options.layer_names, self.inventories, chunks)
        bound = bind_layers(*what, self.options, manifest, folder)
        self.layers[self.options.source_lang] = bound
        self.dictionaries = write_dictionaries(self.options, chunks, folder, self.segmenters)
        self.folder, self.manifest = folder, replace(manifest, segmentation=self.segmentation)
        return self.manifest

    def sizes(self, split: str) -> Mapping[str, int]:
        """Return the streams of both languages, of words and layers."""
        found = {lang: len(self.dictionaries[side]) for side, lang in self.langs.items()}
        most = self.options.max_characters  # most characters of the words in a line
        for lang, layers in self.layers.items():
            found |= {f"{lang}.{WORDS}": most + 1} if layers else {}
            streams = layer_streams(lang, layers).items()
            found |= {name: layer.id_count(most) for name, layer in streams}
        return found | dict.fromkeys(self.protected, CHARACTERS)

    def load(self, chunk: Chunk) -> EncodedChunk:
        """Look up the subwords of a chunk."""
        bounds, alike, learnt = {SOURCE: 0, TARGET: 0}, [], {}
        bounds |= dict.fromkeys(self.protected, CHARACTERS)
        for side, lang in self.langs.items():
            own = layer_streams(lang, self.layers[lang])
            bounds |= {name: layer.id_count(NO_BOUND - 1) for name, layer in own.items()}
            learnt |= {name: layer for name, layer in own.items() if layer.learnt}
            short = [name for name, layer in own.items() if layer.unit == SUBWORD]
            if self.layers[lang]:
                bounds[f"{lang}.{WORDS}"] = NO_BOUND
                alike += [(side, f"{lang}.{WORDS}", *short), tuple(own.keys() - {*short})]
        found = EncodedChunk.load(chunk.encoded, bounds, *alike)
        streams, unknown = look_up_layers(found, learnt), {}
        for side, lang in self.langs.items():
            how = (self.dictionaries[side], self.options.forms[side])
            streams[lang], unknown[lang] = look_up(found, side, *how)
        return EncodedChunk(streams, found.counts, found.notes, unknown=unknown)

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        """Count lines and tokens; kept and dropped lines must add up."""
        lines, read = writer.counts["lines"], writer.counts["read"]
        forms = self.options.forms
        if missing := read - lines - sum(writer.notes[name] for name in DROPPED):
            raise RuntimeError(f"{split}: {missing} lines are unaccounted for")
        notes = dict(sorted((name, n) for name, n in writer.notes.items() if n))
        if not lines:
            raise InputError(f"{split}: every line was dropped: {notes}")
        self._warn_of_length(split)
        return {
            "lines": lines,
            "read": read,
            "tokens": {name: stream.ids for name, stream in writer.streams.items()},
            "unknown": {  # without the symbols of the form
                lang: writer.unknown_of(lang, writer.ids(lang) - lines * sum(forms[side].sizes))
                for side, lang in self.langs.items()
            },
        }

    def _warn_of_length(self, split: str) -> None:
        prefix = f"{self.manifest.prefix(split)}.{self.options.source_lang}"
        sizes, _ = stream_layout(self.folder / prefix)
        if sizes.max() > POSITIONS and not split.startswith("train"):
            logger.warning(
                "%s: sentence %d has %d source tokens; fairseq's default limit is %d: "
                "give --max-source-positions or --truncate-source",
                *(split, sizes.argmax() + 1, sizes.max(), POSITIONS),
            )

    def end(self, chunks: list[Chunk], manifest: TranslationManifest, folder: Path) -> None:
        """Write the closed inventories of features, with the count of each label."""
        for lang, layers in self.layers.items():
            for layer in columns_of(layers).values():
                if layer.learnt:
                    continue
                counts = np.zeros(len(layer.inventory), np.int64)
                stream = layer.name if layer.sides(1) else WORDS
                for split in manifest.splits:
                    rows = Rows.read(folder / f"{manifest.prefix(split)}.{lang}.{stream}")
                    for _, part in rows.parts():
                        values = layer.in_full({stream: part, WORD_OF: part}).values
                        counts += np.bincount(values, minlength=len(counts))
                found = Counter(dict(zip(layer.inventory.symbols, counts.tolist())))
                layer.inventory.save(folder / layer.file(lang), found)

    def add_folders(
        self, chunks: list[Chunk], manifest: TranslationManifest, layout: WorkLayout
    ) -> None:
        """Write the samples of the training text."""
        for number in range(1, self.options.samples + 1):
            what = (self.options, self.segmenters, self.dictionaries)
            write_sample(self, number, samplers_of(*what, number), chunks, manifest, layout)

    def describe_split(self, counts: Mapping[str, Any]) -> str:
        tokens = ", ".join(f"{n} {stream} tokens" for stream, n in counts["tokens"].items())
        return f"{counts['lines']} of {counts['read']} lines; {tokens}"

    def warn(self, manifest: TranslationManifest, folder: Path) -> None:
        """Warn of annotations of another text, and if nothing is protected."""
        counts = [notes.get("protected", 0) for notes in manifest.alignment.values()]
        if self.protected and not any(counts):
            logger.warning("--protect %s: no line has such text", self.options.protect)
        for split, notes in manifest.alignment.items():
            lines, failed = manifest.splits[split]["lines"], notes.get("failed_lines", 0)
            if failed > FAILED_SHARE * lines:
                logger.warning(
                    "%s: THE ANNOTATION OF %d LINES OUT OF %d IS OF OTHER CHARACTERS: is line i "
                    "that of line i? --on-misalignment error names the first",
                    *(split, failed, lines),
                )
        logger.info("prepared %s", folder)


def load_annotator(options: TranslationOptions) -> Any:
    """Load the annotator of the source, or None.

    A pipeline beside given annotations is for raw text later, but must be present now.
    """
    if not (options.needs_spacy or (options.annotated and options.spacy_model)):
        return None
    found = annotators.load_annotator(options.layer_names, options.spacy_model)
    return found if options.needs_spacy else None


def load_target_annotator(options: TranslationOptions) -> Any:
    """Load the annotator of the target, or None."""
    if not options.target_annotator:
        return None
    return annotators.load_annotator(options.target_names, options.target_annotator)


def identity_of(options: TranslationOptions, loaded: Mapping[str, Any]) -> dict[str, str]:
    """Return the manifest's entries for the annotators of both sides."""
    of_target = annotator_line(loaded[TARGET])
    return _source_identity(options, loaded[SOURCE]) | ({"target": of_target} if of_target else {})


def _source_identity(options: TranslationOptions, annotator: Any) -> dict[str, str]:
    if annotator is not None:
        return annotator.identity()
    if not options.annotated:
        return {}
    identity = {"name": GIVEN_BY, "version": "-"}
    if model := options.spacy_model:  # for raw text
        from ...text.annotate import recorded_name

        identity["model"] = recorded_name(model)
    return identity


def scan_inputs(options: TranslationOptions, files: dict[str, dict[str, Path]]) -> Scans:
    """Check the content of every input file."""
    total = sum(path.stat().st_size for sides in files.values() for path in sides.values())
    with tqdm(total=total, desc="check", unit=" bytes", unit_scale=True) as bar:
        scans = {
            split: {
                side: scan_file(
                    path, None if side in CONLLU else options.max_characters, bar.update
                )
                for side, path in sides.items()
            }
            for split, sides in files.items()
        }
    training = (sides for split, sides in scans.items() if split.startswith("train"))
    texts = [sides[name] for sides in training for name in (SOURCE, TARGET) if name in sides]
    options.sequences = keeps_sequences(options, learnt=any(text.sequences for text in texts))
    for split, sides in scans.items():
        _check_split(split, sides, options)
        check_values(sides, options)
    return scans


def check_values(sides: Mapping[str, Scan], options: TranslationOptions) -> None:
    """Refuse files with more or fewer values than words in a line."""
    read = reader(vars(options), options.source_lang, options.protection)
    for name in value_sides(sides):
        source, other = sides[SOURCE].path, sides[name].path
        lines = zip(numbered_lines(source), numbered_lines(other))
        for (number, words), (_, values) in lines:
            if len(words) > options.max_characters:  # such lines are dropped, or refused
                continue
            counts = [len(text.split()) for text in (values, read(words).text)]
            if counts[0] != counts[1]:
                raise InputError(
                    f"{other}:{number}: {counts[0]} values for the {counts[1]} words of "
                    f"{source}:{number}"
                )


def _check_split(split: str, sides: dict[str, Scan], options: TranslationOptions) -> None:
    """Refuse unequal or empty files, and valid or test lines that are too long."""
    for side, scan in sides.items():
        if options.tokenizer == "moses" and scan.escaped > ESCAPED_SHARE * scan.lines:
            logger.warning(
                "%s: %d of %d lines hold Moses entities (&apos; …): was it tokenised before? Then "
                "give --tokenizer pretokenized",
                *(scan.path, scan.escaped, scan.lines),
            )
        check_parallel(sides[SOURCE], scan, "sentences" if side in CONLLU else "lines")
        if scan.overlong and not split.startswith("train"):
            number, length = scan.overlong
            raise InputError(
                f"{scan.path}:{number}: {length} characters, more than --max-characters "
                f"{options.max_characters}; {split} lines are never dropped: split the line"
            )
