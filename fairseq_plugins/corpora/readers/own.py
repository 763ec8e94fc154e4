"""The user's own data: tables, token files and corrected sentences, laid out by options."""

from __future__ import annotations

from collections.abc import Iterator

from ..examples import Example
from .dataset import Dataset
from .m2 import INCORRECT
from .split_file import Reading
from .tables import Table, read_table
from .tagging import ERRORS, read_errors
from .tokens import read_tokens


def read_plain(reading: Reading) -> Iterator[Example]:
    """Read a TSV or JSON lines, with the columns that the options name.

    Raises:
        ValueError: a column that is not there, or a row that is no example, with file and line.
    """
    options = reading.options
    texts = tuple(name for name in (options.text_column, options.text2_column) if name)
    label = (options.label_column,) if options.label_column else ()
    identifier = (options.id_column,) if options.id_column else ()
    how = {"strict_id": bool(identifier), "numbered": options.no_header}
    return read_table(reading, (Table(texts, label, identifier, **how),))


def _files(*suffixes: str) -> dict[str, tuple[str, ...]]:
    names = {"train": ("train",), "valid": ("valid", "dev"), "test": ("test",)}
    return {
        split: tuple(f"{stem}.{suffix}" for stem in stems for suffix in suffixes)
        for split, stems in names.items()
    }


TABLES = _files("tsv", "jsonl")
TOKENS = _files("conll", "tsv", "txt")
CORRECTIONS = _files("m2", "tsv", "txt")
CLASSIFICATION, LABELING = "text_classification", "sequence_labeling"

OWN = (
    Dataset("plain", CLASSIFICATION, "classes", read_plain, TABLES, None, "", "accuracy"),
    Dataset("plain_scores", CLASSIFICATION, "score", read_plain, TABLES, None, "", "pearson"),
    Dataset("tokens", LABELING, "word_labels", read_tokens, TOKENS, None, "", "entity_f1"),
    Dataset(
        "token_errors",
        LABELING,
        "word_labels",
        read_errors,
        CORRECTIONS,
        ERRORS,
        INCORRECT,
        "token_f0.5",
    ),
)
