"""The user's own data: tables, token files and corrected sentences, laid out by options."""

from __future__ import annotations

from collections.abc import Iterator

from ..examples import Example
from .dataset import Dataset, Files
from .split_file import SplitFile
from .tables import Table, read_table
from .tagging import error_dataset, read_errors
from .tokens import read_tokens


def read_plain(file: SplitFile) -> Iterator[Example]:
    """Read a TSV or JSON lines, with the columns that the options name.

    Raises:
        ValueError: a column that is not there, or a row that is no example, with file and line.
    """
    options = file.options
    names = ((options.text_column, options.text2_column), (options.label_column,))
    texts, label, identifier = (tuple(filter(None, n)) for n in (*names, (options.id_column,)))
    how = {"strict_id": bool(identifier), "numbered": options.no_header}
    return read_table(file, (Table(texts, label, identifier, **how),))


def _files(*suffixes: str) -> Files:
    names = {"train": ("train",), "valid": ("valid", "dev"), "test": ("test",)}
    return {
        split: tuple(f"{stem}.{suffix}" for stem in stems for suffix in suffixes)
        for split, stems in names.items()
    }


TABLES = _files("tsv", "jsonl")

OWN = (
    Dataset("plain", TABLES, reader=read_plain),
    Dataset("plain_scores", TABLES, reader=read_plain, target="score", metric="pearson"),
    Dataset(
        "tokens",
        _files("conll", "tsv", "txt"),
        reader=read_tokens,
        target="word_labels",
        metric="entity_f1",
    ),
    error_dataset("token_errors", _files("m2", "tsv", "txt"), read_errors),
)
