"""Read all files of a dataset once, before any work: what they hold, and which labels there are.

Where a share of training is held out for validation, one file gives both splits: each example's
number and the seed decide, so that neither the labels nor the other examples matter.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from ...corpora.conllu_parses import ParseFile, Parses
from ...corpora.datasets import read_split
from ...corpora.examples import Example
from ...corpora.readers.split_file import Respelled
from ...syntax.layers import OF_PAIRS
from ...text_reading import check_characters
from .text_options import TextOptions


@dataclass
class TextScan:
    """What a split's file holds.

    Args:
        path: the file.
        conllu: the parses of its sentences, if they are given.
        examples: how many.
        labelled: how many of them have a gold label.
        sentences: 1, or 2 for pairs; 0 in an empty file.
        labels: label -> line where it stands first.
        counts: label -> how often it is there.
        dropped: reason -> how many rows were passed over.
        respelled: labels that stand for others, see `readers.split_file`.
    """

    path: Path
    conllu: Path | None = None
    examples: int = 0
    labelled: int = 0
    sentences: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    respelled: Respelled = field(default_factory=Counter)

    def add(self, example: Example) -> None:
        """Count an example.

        Raises:
            ValueError: it has another number of sentences than those before, or text that is no
                Unicode; with file and line.
        """
        for text in (example.id, *example.texts, *labels_of(example)):
            check_characters(text, f"{self.path}:{example.line}")
        if self.sentences not in (0, len(example.texts)):
            raise ValueError(
                f"{self.path}:{example.line}: {len(example.texts)} sentences where the file has "
                f"{self.sentences} before"
            )
        self.sentences = len(example.texts)
        self.examples += 1
        gold = labels_of(example)
        self.labelled += bool(gold)
        self.counts.update(gold)
        for label in gold:
            self.labels.setdefault(label, example.line)


def labels_of(example: Example) -> tuple[str, ...]:
    """Return an example's labels: its words', its own, or none."""
    if example.word_labels is not None:
        return example.word_labels
    return () if example.label is None else (example.label,)


def read_examples(
    options: TextOptions, split: str, scan: TextScan, dropped: Counter[str] | None = None
) -> Iterator[tuple[Example, Parses | None]]:
    """Read the examples of a split, held out ones apart, with their parses if they are given.

    Raises:
        ValueError: see `datasets.read_split` and `conllu_parses.ParseFile`.
    """
    source, read = options.source, options.read
    if not options.valid_fraction or split not in ("train", "valid"):
        examples = read_split(source, split, scan.path, read, dropped, scan.respelled)
        yield from _parsed(options, scan, examples, dropped)
        return
    counts = dropped if split == "train" else None  # rows passed over are counted once
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
    """Put the parses beside the examples of a whole file."""
    if scan.conllu is None:
        yield from ((example, None) for example in examples)
        return
    names = options.annotation_names
    parses = ParseFile(scan.conllu, scan.path, names=names, passed_over=dropped)
    yield from parses.beside(examples)


def is_held_out(number: int, fraction: float, seed: int) -> bool:
    """Whether an example, by its number, is of those that a seed holds out.

    What a smaller fraction holds out, a larger one with the same seed does, too.
    """
    digest = hashlib.sha256(f"{seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < fraction * 2**64


def scan_files(options: TextOptions, files: dict[str, Path]) -> dict[str, TextScan]:
    """Check the content of every file and of its parses; return split -> scan.

    Raises:
        ValueError: bad input, with file and line; files that do not go together.
    """
    scans, conllu = {}, options.conllu_files(files)
    with tqdm(desc="check", unit=" examples", unit_scale=True) as bar:
        for split, path in files.items():
            scan = scans[split] = TextScan(path, conllu.get(split))
            for example, _ in read_examples(options, split, scan, scan.dropped):
                scan.add(example)
                bar.update(1)
            if not scan.examples:
                raise ValueError(
                    f"{path}: --valid-fraction {options.valid_fraction} leaves no example for "
                    f"split {split!r}"
                )
    first = next(iter(scans.values()))
    for scan in scans.values():
        if scan.sentences != first.sentences:
            raise ValueError(
                f"{scan.path} has {scan.sentences} sentences an example, {first.path} "
                f"{first.sentences}"
            )
    if options.compares_words and first.sentences == 1:
        raise ValueError(
            f"{first.path} has single sentences: --annotations {options.annotations} would compare "
            f"the words of pairs; leave {' and '.join(OF_PAIRS)} out"
        )
    return scans
