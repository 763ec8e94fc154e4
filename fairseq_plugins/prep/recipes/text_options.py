"""Options of a preparation for classification or labelling: a record whose fields are flags."""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...corpora.datasets import DATASETS, OWN, Dataset, find_splits
from ...corpora.own_files import OWN_FILES, check_some, listed, own_files
from ...corpora.readers.options import RECORDED, ReadOptions
from ...corpora.readers.tables import read_plain
from ...corpora.readers.tokens import read_tokens
from ...data.folder_names import CASED, PARSE_TEXT, TOKENIZE
from ...errors import InputError
from ...messages import named
from ...option_flags import add_flags, check, flag_of, option
from ...pretrained.directory import DEFAULT
from ...syntax.layers import OF_PAIRS, STANDARD, given_names, in_order
from ...text.annotators import SPACY, needs_annotator
from ...text_reading import numbered_lines
from ..running import Shard, recorded, running
from .layer_options import NOTHING, layer_option, read_layers, unrecorded

ANNOTATIONS = "pos,heads"
NO_CONTENT = ("raw_dir", "wordnet", "many_labels")  # no effect, or recorded elsewhere
PARSES = {"train": "train_conllu", "valid": "valid_conllu", "test": "test_conllu"}
PAIRED = ",".join(OF_PAIRS)
TRAIN, WORDS = "train", ("words_from", "min_count", "lowercase")
NO_ENCODER = "none"  # encoder of a folder of words
PRETRAINED = (
    "encoder whose vocabulary is used: name of an embedded model, or Hugging Face or fairseq "
    "directory"
)


@dataclass
class TextOptions:
    """All options that decide the content of a prepared folder."""

    dataset: str = option(
        "dataset that the files are of, or format of your own files (in TSV files, quotation marks "
        "are characters like any other)",
        choices=DATASETS,
    )
    destdir: str = option("folder to write the prepared data to, e.g. data-bin/cola")
    raw_dir: str = option(
        "folder with the dataset's official files, or with your own under usual names (train.tsv, "
        "valid.tsv or dev.tsv, test.tsv, …)",
        "",
    )
    train_file: str = option(
        "training file, in place of the one in --raw-dir; with --dataset plain, plain_scores, "
        "tokens or token_errors, only files that you name are then read",
        "",
    )
    valid_file: str = option(
        "validation files, in place of the one in --raw-dir, separated by commas (the first is "
        "split 'valid')",
        "",
    )
    test_file: str = option(
        "test files, in place of the one in --raw-dir, separated by commas; they may lack labels",
        "",
    )
    train_conllu: str = option(
        "CoNLL-U file with parses of the training sentences, in place of a spaCy pipeline", ""
    )
    valid_conllu: str = option(
        "CoNLL-U files with parses of the validation sentences, one for each split, separated by "
        "commas",
        "",
    )
    test_conllu: str = option(
        "CoNLL-U files with parses of the test sentences, one for each split, separated by commas",
        "",
    )
    valid_fraction: float = option(
        "share of the training examples to validate on, where there is no validation file", 0.0
    )
    seed: int = option("random seed of the choice of examples for --valid-fraction", 1)
    pretrained: str = option(PRETRAINED, DEFAULT)
    words_from: str = option(
        "use a vocabulary of words in place of an encoder's, for models trained from scratch: the "
        "words of the training file (train), or those of a folder that was prepared so",
        "",
    )
    min_count: int = option(
        "with --words-from train: leave out words that occur fewer times than this in the training "
        "file",
        1,
        least=1,
    )
    lowercase: bool = option("with --words-from train: lower-case all text", False)
    tokenize: str = option(
        "how raw text is split into words: {choices} (characters: each Chinese character is a "
        "word; spacy: the words of the spaCy pipeline, the UDPipe model or the CoNLL-U files; "
        "default: spacy where one of these annotates the text, else whitespace); given words stay "
        "as they are",
        "",
        choices=("", *TOKENIZE),
    )
    layers: str | None = layer_option("layers")
    annotations: str = option("older spelling of --layers", ANNOTATIONS)
    layer_min_count: int = layer_option("layer_min_count")
    layer_max_size: int = layer_option("layer_max_size")
    layer_dicts: str | None = layer_option("layer_dicts")
    spacy_model: str = option(
        "annotator of the text: an installed spaCy pipeline or its path, or udpipe:MODEL (default: "
        "a bundled English pipeline; with CoNLL-U files none, and the one given here is used only "
        "for raw text in prediction)",
        "",
    )
    parse_text: str = option(
        "text that the annotator gets: as it is written (cased), or lower-cased where the "
        "encoder's tokeniser lower-cases (as-tokenised, as SLA's program does)",
        CASED,
        choices=PARSE_TEXT,
    )
    many_labels: bool = option(
        "own data: accept more than 20 labels as classes (else the label column is taken to be "
        "wrong)",
        False,
    )
    wordnet: str = option(
        "folder of the WordNet database (default: where it is usually installed)", ""
    )
    read: ReadOptions = field(default_factory=ReadOptions)
    workers: int = running("workers")
    overwrite: bool = running("overwrite")
    shard: str = running("shard")
    merge: bool = running("merge")

    def __post_init__(self) -> None:
        """Check everything that can be checked without opening a file."""
        Shard.asked(self)
        check(self)
        self.annotation_names = annotation_names(self)
        self.tokenize = self.tokenize or self._usual_words()
        if not 0 <= self.valid_fraction < 1:
            raise InputError(f"--valid-fraction {self.valid_fraction}: must be from 0 to below 1")
        check_some(self)
        if self.spacy_model and not self.needs_spacy:
            raise InputError(f"--spacy-model has no work to do: {self._asked} splits at blanks")
        if self.has_parses and not (self.needs_spacy or given_names(self.annotation_names)):
            raise InputError(f"CoNLL-U files have no work to do: {self._asked} needs no parses")
        if self.wordnet and not self.compares_words:
            raise InputError(f"--wordnet has no work to do: {self._asked} has no {PAIRED}")
        if self.read.labels and self.source.labels is not None:
            raise InputError(
                f"--labels: {self.dataset} has its own labels, {named(self.source.labels)}"
            )
        self._check_given()
        self._check_parse_text()
        check_words(self)
        if self.read.no_header and self.source.reader is not read_plain:
            raise InputError(f"--no-header is for your own tables, not for {self.dataset}")
        if self.read.labels and not self.source.target.labelled:
            raise InputError(f"--labels: {self.dataset} has scores and no labels")

    def _usual_words(self) -> str:
        """Return the default of ``tokenize``: an annotator of raw text has its own words."""
        about = needs_annotator(self.annotation_names) or given_names(self.annotation_names)
        return SPACY if about and not self.source.target.by_word else TOKENIZE[0]

    @property
    def label_levels(self) -> int:
        """Number of labels of a word."""
        return self.source.levels + len(self.read.inner_columns())

    def _check_given(self) -> None:
        """Refuse given layers without a source, and columns of unrequested layers."""
        if self.read.nested_columns and self.source.reader is not read_tokens:
            raise InputError(f"--nested-columns is for --dataset tokens, not for {self.dataset}")
        columns = {f"given.{name}" for name in self.read.value_columns()}
        wanted = {*given_names(self.annotation_names)}
        if columns and self.source.reader is not read_tokens:
            raise InputError(f"--layer-columns is for --dataset tokens, not for {self.dataset}")
        if unread := sorted(columns - wanted):
            raise InputError(f"--layer-columns: --layers does not name {named(unread)}")
        if not self.has_parses and (lacking := sorted(wanted - columns)):
            raise InputError(
                f"{self._asked}: nothing has the values of {named(lacking)}: give --layer-columns "
                "(--dataset tokens), or CoNLL-U files with such keys in MISC (--train-conllu …)"
            )

    def _check_parse_text(self) -> None:
        """Refuse lower-cased text without a pipeline."""
        if self.parse_text == CASED or (self.needs_spacy and not self.has_parses):
            return
        why = "CoNLL-U files are parsed already" if self.has_parses else f"{self._asked} needs none"
        raise InputError(f"--parse-text {self.parse_text} has no pipeline to show text to: {why}")

    @property
    def _asked(self) -> str:
        return f"--layers {self.annotations}"

    @property
    def source(self) -> Dataset:
        """The dataset in its official form."""
        return DATASETS[self.dataset]

    @property
    def names_all(self) -> bool:
        """Whether the user's own files are named individually, so that no others are searched."""
        return bool(self.train_file) and self.source in OWN

    @property
    def needs_spacy(self) -> bool:
        """Whether a spaCy pipeline, or parses in its place, are needed."""
        return needs_annotator(self.annotation_names, self.tokenize)

    @property
    def compares_words(self) -> bool:
        """Whether WordNet is needed."""
        return not {*OF_PAIRS}.isdisjoint(self.annotation_names)

    @property
    def has_parses(self) -> bool:
        """Whether parses are given as CoNLL-U."""
        return any(getattr(self, name) for name in PARSES.values())

    def conllu_files(self, splits: Iterable[str]) -> dict[str, Path]:
        """Split, in the given order -> its CoNLL-U file; none at all, or one for every split."""
        if not self.has_parses:
            return {}
        splits, found = list(splits), {}
        for kind, name in PARSES.items():
            paths, flag = listed(self, name), flag_of(name)
            mine = [split for split in splits if kind_of(split) == kind]
            if kind == "valid" and self.valid_fraction:
                mine, found["valid"] = [], found["train"]
            if len(paths) != len(mine):
                raise InputError(
                    f"{flag} names {len(paths)} CoNLL-U file(s), but the splits that need one are "
                    f"{named(mine)}"
                )
            for split, path in zip(mine, paths):
                if not path.is_file():
                    raise FileNotFoundError(f"{flag}: no file {str(path)!r} for split {split!r}")
                found[split] = path
        return found

    def input_files(self) -> dict[str, Path]:
        """Split -> file; individually named files replace files of the raw folder."""
        found = own_files(self)
        if self.raw_dir and not self.names_all:
            found = find_splits(self.source, self.raw_dir, found)
        if not self.valid_fraction:
            return found
        if "valid" in found or "train" not in found:
            raise InputError(
                "--valid-fraction takes examples of training for validation, but there is "
                + (f"a validation file, {found['valid']}" if "valid" in found else "no training")
            )
        return {"train": found["train"], "valid": found["train"], **found}

    def recorded(self) -> dict[str, Any]:
        """The options that decide the content; files are inputs in the manifest."""
        body = recorded(self, *NO_CONTENT, *OWN_FILES.values(), *PARSES.values(), *unrecorded(self))
        if not self.valid_fraction:  # folders of earlier releases stay valid
            del body["valid_fraction"], body["seed"]
        if self.parse_text == CASED:  # likewise
            del body["parse_text"]
        body["annotations"] = list(self.annotation_names)
        of_manifest = {name: old for old, name in RECORDED.items()}
        body["read"] = {of_manifest.get(name, name): v for name, v in body["read"].items()}
        body["read"]["labels"] = list(self.read.labels)
        words = {name: body.pop(name) for name in WORDS}
        if self.words_from:
            own = self.words_from == TRAIN
            body |= {"pretrained": NO_ENCODER, **(words if own else {"words_from": "folder"})}
        for name in ("no_header", "layer_columns", "nested_columns"):  # likewise
            if not body["read"][name]:
                del body["read"][name]
        return body


def check_words(options: TextOptions) -> None:
    """Refuse contradicting options of a vocabulary of words."""
    if options.words_from and options.pretrained != DEFAULT:
        raise InputError(
            f"--words-from {options.words_from} gives the vocabulary, and so does --pretrained "
            f"{options.pretrained}: give one of them"
        )
    if options.words_from == TRAIN:
        return
    if options.min_count != 1 or options.lowercase:
        raise InputError("--min-count and --lowercase are of --words-from train alone")


def kind_of(split: str) -> str:
    """Return ``train``, ``valid`` or ``test`` for a split such as ``valid_mismatched``."""
    return next((kind for kind in PARSES if split.startswith(kind)), "test")


def add_text_flags(parser: argparse.ArgumentParser) -> None:
    """Add all flags: the preparation's and the readers'."""
    add_flags(parser, TextOptions)
    text = "the same as --spacy-model; a number means --m2-annotator"
    parser.add_argument("--annotator", metavar="ANNOTATOR", default=0, help=text)
    reading = parser.add_argument_group("reading")
    add_flags(reading, ReadOptions)
    parser.set_defaults(labels="")  # as typed; see `parse_labels`


def options_from(flags: Mapping[str, Any]) -> TextOptions:
    """Make the record from parsed flags."""
    names, flags = {spec.name for spec in fields(ReadOptions)}, dict(flags)
    named = str(flags.pop("annotator", 0))
    if named.isdecimal() and len(named) < 10:
        flags["m2_annotator"] = flags.get("m2_annotator") or int(named)
    else:
        if flags.get("spacy_model"):
            raise InputError("--annotator says what --spacy-model says: give one of them")
        flags["spacy_model"] = named
    reading = {name: value for name, value in flags.items() if name in names}
    reading["labels"] = parse_labels(reading.get("labels", ""))
    rest = {name: value for name, value in flags.items() if name not in names}
    return TextOptions(**rest, read=ReadOptions(**reading))


def annotation_names(options: Any) -> tuple[str, ...]:
    """Return the requested layers, beyond the layers of every folder; see `read_layers`.

    Afterwards ``annotations`` holds the value of ``--layers``.
    """
    asked, flag = options.annotations, "--annotations"
    if options.layers is not None:
        if options.annotations != ANNOTATIONS:
            raise InputError("--layers says what --annotations says: give --layers alone")
        asked, flag = options.layers, "--layers"
    names = tuple(in_order({*read_layers(asked, flag)} - {*STANDARD}))
    options.layers, options.annotations = None, ",".join(names) or NOTHING
    return names


def parse_labels(text: str) -> tuple[str, ...]:
    """Read ``"yes,no"``, or a file with one label per line (``labels.txt`` of another folder)."""
    if not text:
        return ()
    if Path(text).is_file():
        found = [line for _, line in numbered_lines(text)]
    else:
        found = [label.strip() for label in text.split(",")]
    if not all(found):
        raise InputError(f"--labels {text!r}: label {found.index('') + 1} is empty")
    return tuple(found)
