"""Read all files of a dataset once, before any work, for their sizes and labels.

If a share of training is held out for validation, one file gives both splits: only an example's
number and the seed decide, independent of labels and other examples.
"""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from ...corpora.conllu_parses import ParseFile, Parses
from ...corpora.datasets import in_order_of_ids, read_split
from ...corpora.examples import Example
from ...corpora.readers.split_file import Respelled, known_label, likeness, log_respelled
from ...errors import InputError
from ...messages import named, quoted
from ...syntax.entity_labels import entity_types
from ...syntax.layers import OF_PAIRS
from ...targets.target import Target
from ...text_reading import check_characters
from .text_options import TextOptions

logger = logging.getLogger(__name__)

FEW = 20  # most classes of a set without confirmation


@dataclass
class TextScan:
    """Content of a split's file."""

    path: Path  # the file
    target: Target  # the kind of its gold
    conllu: Path | None = None  # the given parses of its sentences
    examples: int = 0  # number of examples
    labelled: int = 0  # number of examples with a gold label
    sentences: int = 0  # 1, or 2 for pairs; 0 in an empty file
    labels: dict[str, int] = field(default_factory=dict)  # label -> its first line
    counts: Counter[str] = field(default_factory=Counter)  # label -> its count
    # reason -> number of skipped rows
    dropped: Counter[str] = field(default_factory=Counter)
    # labels with other spellings, see `readers.split_file`
    respelled: Respelled = field(default_factory=Counter)

    def add(self, example: Example) -> None:
        """Count an example."""
        gold = self.target.written(example)
        for text in (example.id, *example.texts, *(gold or ())):
            check_characters(text, f"{self.path}:{example.line}")
        if self.sentences not in (0, len(example.texts)):
            raise InputError(
                f"{self.path}:{example.line}: {len(example.texts)} sentences where the file has "
                f"{self.sentences} before"
            )
        self.sentences = len(example.texts)
        self.examples += 1
        self.labelled += gold is not None
        self.counts.update(gold or ())
        for label in gold or ():
            self.labels.setdefault(label, example.line)


def read_examples(
    options: TextOptions, split: str, scan: TextScan, dropped: Counter[str] | None = None
) -> Iterator[tuple[Example, Parses | None]]:
    """Read the examples of a split, after holding out, with their given parses."""
    source, read = options.source, options.read
    if not options.valid_fraction or split not in ("train", "valid"):
        examples = read_split(source, split, scan.path, read, dropped, scan.respelled)
        yield from _parsed(options, scan, examples, dropped)
        return
    counts = dropped if split == "train" else None  # skipped rows are counted once
    respelled = scan.respelled if split == "train" else Counter()  # and so are labels
    examples = read_split(source, "train", scan.path, read, counts, respelled)
    for number, found in enumerate(_parsed(options, scan, examples, counts)):
        if is_held_out(number, options.valid_fraction, options.seed) == (split == "valid"):
            yield found


def _parsed(
    options: TextOptions,
    scan: TextScan,
    examples: Iterator[Example],
    dropped: Counter[str] | None,
) -> Iterator[tuple[Example, Parses | None]]:
    """Add the parses to the examples of a whole file."""
    if scan.conllu is None:
        yield from ((example, None) for example in examples)
        return
    own = {f"given.{name}" for name in options.read.value_columns()}
    names = [name for name in options.annotation_names if name not in own]
    parses = ParseFile(scan.conllu, scan.path, names=names, passed_over=dropped)
    yield from parses.beside(examples)


def is_held_out(number: int, fraction: float, seed: int) -> bool:
    """Whether a seed holds out an example, by its number.

    A larger fraction with the same seed holds out all examples of a smaller one.
    """
    digest = hashlib.sha256(f"{seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < fraction * 2**64


def scan_files(options: TextOptions, files: dict[str, Path]) -> dict[str, TextScan]:
    """Check the content of every file and of its parses; return split -> scan."""
    scans, conllu = {}, options.conllu_files(files)
    with tqdm(desc="check", unit=" examples", unit_scale=True) as bar:
        for split, path in files.items():
            scan = scans[split] = TextScan(path, options.source.target, conllu.get(split))
            for example, _ in read_examples(options, split, scan, scan.dropped):
                scan.add(example)
                bar.update(1)
            if not scan.examples:
                raise InputError(
                    f"{path}: --valid-fraction {options.valid_fraction} leaves no example for "
                    f"split {split!r}"
                )
    first = next(iter(scans.values()))
    for scan in scans.values():
        if scan.sentences != first.sentences:
            raise InputError(
                f"{scan.path} has {scan.sentences} sentences an example, {first.path} "
                f"{first.sentences}"
            )
    if options.compares_words and first.sentences == 1:
        raise InputError(
            f"{first.path} has single sentences: --layers {options.annotations} would compare "
            f"the words of pairs; leave {' and '.join(OF_PAIRS)} out"
        )
    return scans


def decide_labels(options: TextOptions, scans: dict[str, TextScan]) -> list[str]:
    """Return the labels in id order: the dataset's, the user's, or the training set's."""
    if not options.source.target.labelled:
        return []
    labels = options.source.labels or options.read.labels or _found(options, scans)
    if not labels:
        raise InputError(
            f"no split has labels ({named(scans)}): give --labels, e.g. the labels.txt of the "
            "folder that the model was trained on"
        )
    for scan in scans.values():
        for label, line in scan.labels.items():
            known = known_label(label, labels)
            if known is None:
                raise InputError(
                    f"{scan.path}:{line}: label {quoted(label)} is none of the training set's "
                    f"{named(labels)}; give all of them by --labels"
                )
            if known != label:
                scan.respelled[label, known] += scan.counts[label]
    return list(labels)


def _found(options: TextOptions, scans: dict[str, TextScan]) -> tuple[str, ...]:
    """Return the labels in training; without a training file, in all files."""
    train = {split: scan for split, scan in scans.items() if split == "train"} or scans
    labels = in_order_of_ids(label for scan in train.values() for label in scan.labels)
    if options.source.target.few and len(labels) > FEW and not options.many_labels:
        paths = " and ".join(str(scan.path) for scan in train.values())
        raise InputError(
            f"{paths}: {len(labels):,} different labels in column {options.read.label_column!r}, "
            f"such as {named(map(quoted, labels), 3)}; if they are classes, give --many-labels, "
            "otherwise the right --label-column"
        )
    return labels


def with_labels(options: TextOptions, labels: Iterable[str]) -> TextOptions:
    """Return options that read files with these labels, unless the dataset has fixed labels."""
    if options.source.labels is not None or not options.source.target.labelled:
        return options
    return replace(options, read=replace(options.read, labels=tuple(labels)))


def log_labels(options: TextOptions, scans: Mapping[str, TextScan], labels: list[str]) -> None:
    """Log the counts of labels in training, and in splits without all of these labels."""
    if not labels:
        return
    first = next((scan for split, scan in scans.items() if split == "train"), None)
    known = None if first is None else _counts(first, labels)
    for split, scan in scans.items():
        counts = _counts(scan, labels)
        if scan.labelled and (scan is first or known is None or counts.keys() != known.keys()):
            told = (f"{label} {counts[label]:,}" for label in labels)
            logger.info("%s: %d labels: %s", split, len(counts), named(told, FEW))
        log_respelled(scan.path, scan.respelled)
    folded = Counter(map(likeness, labels))
    if same := [label for label in labels if folded[likeness(label)] > 1]:
        what = "labels that differ by case alone, or are the same number, are different ones: %s"
        logger.warning(what, named(same))
    if first is not None and options.read.no_header:
        _warn_of_header(first, labels)


def _counts(scan: TextScan, labels: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for label, count in scan.counts.items():
        counts[known_label(label, labels) or label] += count
    return counts


def _warn_of_header(scan: TextScan, labels: list[str]) -> None:
    """Warn of a single label that occurs once, in line 1: perhaps the header of a column."""
    alone = [label for label in labels if scan.counts[label] == 1]
    if len(labels) > 1 and len(alone) == 1 and scan.labels[alone[0]] == 1:
        logger.warning(
            "%s:1: no other line has its label %s: if line 1 names the columns, leave out "
            "--no-header",
            scan.path,
            quoted(alone[0]),
        )


def headline(options: TextOptions, labels: list[str]) -> str:
    """Return the dataset's metric, or accuracy for word labels without entities."""
    if options.source.metric.startswith("entity") and not entity_types(labels):
        return "accuracy"
    return options.source.metric
