"""The datasets of understanding tasks, also the user's own: files and content."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from ..errors import InputError
from ..messages import named
from ..targets.multi_label import MULTI_LABEL
from ..targets.score import SCORE
from ..targets.word_labels import WORD_LABELS
from .examples import Example
from .readers.dataset import Dataset, Files
from .readers.glue import GLUE
from .readers.matching import MATCHING
from .readers.options import ReadOptions
from .readers.split_file import Respelled, SplitFile, log_respelled
from .readers.tables import read_plain, read_table
from .readers.tagging import TAGGING, error_dataset, read_errors
from .readers.tokens import OUTSIDE, TokenLayout, read_tokens


def _files(*suffixes: str) -> Files:
    names = {"train": ("train",), "valid": ("valid", "dev"), "test": ("test",)}
    return {
        split: tuple(f"{stem}.{suffix}" for stem in stems for suffix in suffixes)
        for split, stems in names.items()
    }


TABLES = _files("tsv", "jsonl", "csv")

OWN = (
    Dataset("plain", TABLES, reader=read_plain),
    Dataset("plain_scores", TABLES, reader=read_plain, target=SCORE, metric="pearson"),
    Dataset("plain_labels", TABLES, reader=read_plain, target=MULTI_LABEL, metric="micro_f1"),
    Dataset(
        "tokens",
        _files("conll", "tsv", "txt", "conllu"),
        reader=read_tokens,
        target=WORD_LABELS,
        metric="entity_f1",
    ),
    error_dataset("token_errors", _files("m2", "tsv", "txt"), read_errors),
)

DATASETS = {dataset.name: dataset for dataset in (*GLUE, *MATCHING, *TAGGING, *OWN)}


def get_dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise InputError(f"unknown dataset {name!r}; choices: {', '.join(DATASETS)}")
    return DATASETS[name]


def label_names(name: str, labels: Iterable[str]) -> dict[str, str]:
    """Return descriptions of a dataset's labels, if they need one; empty for unknown datasets."""
    known = DATASETS[name].names if name in DATASETS else {}
    return {label: known[label] for label in labels if label in known}


def find_splits(
    dataset: Dataset, raw_dir: str | Path, own: Mapping[str, Path] = {}
) -> dict[str, Path]:
    """Find a dataset's official files.

    Args:
        own: split -> file in place of the official one, or in addition.

    Returns:
        Split -> file, in the dataset's order; splits without a file are left out.
    """
    folder = Path(raw_dir)
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {str(raw_dir)!r}")
    found = {}
    for split, names in dataset.splits.items():
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path:
            found[split] = path
    if not found and "train" not in own:
        expected = "; ".join(
            f"{split}: {' or '.join(names)}" for split, names in dataset.splits.items()
        )
        raise FileNotFoundError(f"{folder} holds no file of {dataset.name!r} ({expected})")
    return {**found, **own}


def find_split(dataset: Dataset, split: str, raw_dir: str | Path) -> Path:
    """Find the official file of one split."""
    found = find_splits(dataset, raw_dir)
    if split not in found:
        raise FileNotFoundError(
            f"{raw_dir} holds no file of split {split!r} ({' or '.join(dataset.splits[split])}); "
            f"it has {named(found)}"
        )
    return found[split]


def token_layout(name: str, options: ReadOptions) -> TokenLayout:
    """Return the columns of words and labels in a dataset's files: its own, or those of options."""
    reader = DATASETS[name].reader if name in DATASETS else None
    official = reader.keywords.get("layout") if isinstance(reader, partial) else None
    return official or TokenLayout.of(options)


def input_files(dataset: Dataset, path: Path) -> list[Path]:
    """Return all files of a split: its file, and the truth file of CGED."""
    companion = dataset.companion(path)
    return [path] if companion is None else [path, companion]


def read_split(
    dataset: Dataset,
    split: str,
    path: str | Path,
    options: ReadOptions | None = None,
    dropped: Counter[str] | None = None,
    respelled: Respelled | None = None,
) -> Iterator[Example]:
    """Read one file as one split; only the current row and own ids are in memory.

    Args:
        split: its name; all but ``test…`` and ``ax…`` must have labels.
        options: for the user's own files, and for unusable rows.
        dropped: counts of skipped rows, by reason; grows while reading.
        respelled: counts of labels that mean others; grows while reading (default: logged at the
            end).
    """
    path, options = Path(path), ReadOptions() if options is None else options
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    labels = tuple(dataset.labels or options.labels)
    counts = Counter() if dropped is None else dropped
    others = Counter() if respelled is None else respelled
    file = SplitFile(path, split, options, dataset.target, labels, counts, others)
    examples = dataset.reader(file) if dataset.reader else read_table(file, dataset.tables)
    return _not_none(examples, file, log=respelled is None)


def in_order_of_ids(labels: Iterable[str]) -> tuple[str, ...]:
    """Return occurring labels, each once, in the order of their ids: sorted, ``O`` first."""
    return tuple(sorted(set(labels), key=lambda label: (label != OUTSIDE, label)))


def _not_none(examples: Iterator[Example], file: SplitFile, *, log: bool) -> Iterator[Example]:
    """Refuse a file without examples after reading it; log labels that mean others."""
    some = False
    for example in examples:
        some = True
        yield example
    if not some:
        passed = "".join(f"; {count} {kind}" for kind, count in sorted(file.dropped.items()))
        raise InputError(f"{file.path}: no examples of split {file.split!r}{passed}")
    if log:
        log_respelled(file.path, file.respelled)
