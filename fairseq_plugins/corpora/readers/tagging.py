"""Labels of words: named entities and grammatical errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ..examples import Example
from .cged import read_cged, truth_file
from .dataset import Dataset, below
from .m2 import CORRECT, INCORRECT, read_m2
from .msra import read_msra
from .split_file import Reading
from .tokens import OUTSIDE, TokenLayout, read_tokens

ERRORS = (CORRECT, INCORRECT)
CONLL_LAYOUT = TokenLayout(separator=None, iob1=True, ends=("-DOCSTART-",))


def bio(types: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of entity types in IOB2: O, then B- and I- of each."""
    return (OUTSIDE, *(f"{mark}-{kind}" for kind in types for mark in "BI"))


def read_errors(
    reading: Reading, layout: TokenLayout | None = None, ignored: Sequence[str] = ()
) -> Iterator[Example]:
    """Read right and wrong words from M2, or from a token file of ``c`` and ``i``.

    Args:
        reading: what to read.
        layout: of a token file, or None for that of the options.
        ignored: types of M2 edits that mark no word.
    """
    if reading.path.suffix == ".m2":
        return read_m2(reading, ignored)
    return read_tokens(reading, layout)


def _entities(
    name: str,
    read: Callable[[Reading], Iterator[Example]],
    types: Sequence[str],
    splits: Mapping[str, tuple[str, ...]],
) -> Dataset:
    task = "sequence_labeling"
    return Dataset(name, task, "word_labels", read, splits, bio(types), "", "entity_f1")


def _errors(
    name: str,
    read: Callable[[Reading], Iterator[Example]],
    splits: Mapping[str, tuple[str, ...]],
    *,
    metric: str = "token_f0.5",
    companion: Callable[[Path], Path | None] | None = None,
) -> Dataset:
    task, more = "sequence_labeling", {"companion": companion} if companion else {}
    return Dataset(name, task, "word_labels", read, splits, ERRORS, INCORRECT, metric, **more)


CONLL_FILES = {
    "train": ("eng.train", "train.txt"),
    "valid": ("eng.testa", "valid.txt", "dev.txt"),
    "test": ("eng.testb", "test.txt"),
}
WNUT_FILES = {
    "train": ("wnut17train.conll",),
    "valid": ("emerging.dev.conll",),
    "test": ("emerging.test.annotated", "emerging.test.conll"),
}
WNUT_TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
MSRA_FILES = {
    "train": ("msra_train_bio.txt", "msra_train_bio", "train1.txt"),
    "valid": ("msra_dev_bio.txt", "msra_dev_bio"),
    "test": ("msra_test_bio.txt", "msra_test_bio", "testright1.txt"),
}
FCE_FILES = {
    split: (
        f"fce-public.{name}.original.tsv",
        f"tsv/fce-public.{name}.original.tsv",
        f"en_fce_{name}.tsv",
        f"fce.{name}.gold.bea19.m2",
        f"m2/fce.{name}.gold.bea19.m2",
    )
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test"))
}
FCE_FILES["test"] += ("en_fce_test_unlabelled.tsv",)
FALKO_MERLIN_FILES = {
    "train": ("de_falko-merlin_train.tsv", "fm-train.m2"),
    "valid": ("de_falko-merlin_dev.tsv", "fm-dev.m2"),
    "test": ("fm-test.m2", "de_falko-merlin_test_unlabelled.tsv"),
}
# Several years as one training or test set: their files one after another, as train.xml or
# test_input.txt with test_truth.txt.
CGED_FILES = {
    "train": (
        "train.xml",
        "train_CGED2018.xml",
        *(
            f"CGED{year}_HSK_TrainingSet.{suffix}"
            for year in (18, 17, 16)
            for suffix in ("xml", "txt")
        ),
    ),
    "valid": ("valid.xml", "dev.xml"),
    "test": ("test_input.txt", "test.xml"),
    "test_2016": ("CGED16_HSK_Test_Input.txt", "CGED16_HSK_TEST_Input.txt"),
    "test_2017": ("CGED17_HSK_Test_Input.txt", "test.HSK.Input.txt"),
    "test_2018": ("test_CGED2018.xml",),
    "test_2020": ("test_2020-m.txt",),
    "test_2021": ("test_2021.txt",),
}

TAGGING = (
    _entities(
        "conll2003",
        partial(read_tokens, layout=CONLL_LAYOUT),
        ("LOC", "MISC", "ORG", "PER"),
        CONLL_FILES,
    ),
    _entities("wnut17", partial(read_tokens, layout=TokenLayout()), WNUT_TYPES, WNUT_FILES),
    _entities("msra_ner", read_msra, ("LOC", "ORG", "PER"), below("MSRA", MSRA_FILES)),
    _errors(
        "fce",
        partial(read_errors, layout=TokenLayout()),
        below("fce-error-detection", FCE_FILES),
    ),
    _errors(
        "falko_merlin",  # its token files, made from its M2 files, leave out missing punctuation
        partial(read_errors, layout=TokenLayout(), ignored=("M:PUNCT",)),
        FALKO_MERLIN_FILES,
    ),
    _errors("cged", read_cged, CGED_FILES, metric="detection_f1", companion=truth_file),
)
