"""The labels of a preparation: whose they are, how many there may be, and what the files hold."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...corpora.datasets import in_order_of_ids
from ...corpora.readers.split_file import known_label, log_respelled
from ...messages import named, quoted
from .text_options import TextOptions
from .text_scan import TextScan

logger = logging.getLogger(__name__)

FEW = 20  # classes that a set may have without a question


def decide_labels(options: TextOptions, scans: dict[str, TextScan]) -> list[str]:
    """Return the labels in id order: the dataset's, the user's, or those found in training.

    Raises:
        ValueError: more labels than a set of classes usually has; a label that training does not
            have, with file and line; no label at all.
    """
    if options.source.target == "score":
        return []
    labels = options.source.labels or options.read.labels or _found(options, scans)
    if not labels:
        raise ValueError(
            f"no split has labels ({named(scans)}): give --labels, e.g. the labels.txt of the "
            "folder that the model was trained on"
        )
    for scan in scans.values():
        for label, line in scan.labels.items():
            known = known_label(label, labels)
            if known is None:
                raise ValueError(
                    f"{scan.path}:{line}: label {quoted(label)} is none of the training set's "
                    f"{named(labels)}; give all of them by --labels"
                )
            if known != label:
                scan.respelled[label, known] += scan.counts[label]
    return list(labels)


def _found(options: TextOptions, scans: dict[str, TextScan]) -> tuple[str, ...]:
    """Return the labels that training has; without a training file, those of all files.

    Raises:
        ValueError: too many for classes, unless the user says that they are.
    """
    train = {split: scan for split, scan in scans.items() if split == "train"} or scans
    labels = in_order_of_ids(label for scan in train.values() for label in scan.labels)
    if options.source.target == "classes" and len(labels) > FEW and not options.many_labels:
        paths = " and ".join(str(scan.path) for scan in train.values())
        raise ValueError(
            f"{paths}: {len(labels):,} different labels in column {options.read.label_column!r}, "
            f"such as {named(map(quoted, labels), 3)}; if they are classes, give --many-labels, "
            "otherwise the right --label-column"
        )
    return labels


def with_labels(options: TextOptions, labels: Iterable[str]) -> TextOptions:
    """Return options under which files are read with these labels, the dataset's own apart."""
    if options.source.labels is not None or options.source.target == "score":
        return options
    return replace(options, read=replace(options.read, labels=tuple(labels)))


def log_labels(options: TextOptions, scans: Mapping[str, TextScan], labels: list[str]) -> None:
    """Log how often each label stands in training, and in splits that have not all of those."""
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
    folded = Counter(label.casefold() for label in labels)
    if same := [label for label in labels if folded[label.casefold()] > 1]:
        logger.warning("labels that differ by case alone are different ones: %s", named(same))
    if first is not None and options.read.no_header:
        _warn_of_header(first, labels)


def _counts(scan: TextScan, labels: list[str]) -> Counter[str]:
    """Count a split's labels as they are called."""
    counts: Counter[str] = Counter()
    for label, count in scan.counts.items():
        counts[known_label(label, labels) or label] += count
    return counts


def _warn_of_header(scan: TextScan, labels: list[str]) -> None:
    """Warn of a single label that stands once, in line 1: the name of a column, if a header."""
    alone = [label for label in labels if scan.counts[label] == 1]
    if len(labels) > 1 and len(alone) == 1 and scan.labels[alone[0]] == 1:
        logger.warning(
            "%s:1: no other line has its label %s: if line 1 names the columns, leave out "
            "--no-header",
            scan.path,
            quoted(alone[0]),
        )


def headline(options: TextOptions, labels: list[str]) -> str:
    """Return the dataset's metric, or for words whose labels name no entities their accuracy."""
    entities = any(label[:2] in ("B-", "I-") for label in labels)
    if options.source.metric.startswith("entity") and not entities:
        return "accuracy"
    return options.source.metric
