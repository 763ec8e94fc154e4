"""Labels of words: named entities and grammatical errors."""

import string
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from ...targets.word_labels import WORD_LABELS
from ..examples import Example
from .cged import read_cged, truth_file
from .dataset import Dataset, Files, Reader, official
from .split_file import SplitFile
from .tokens import (
    CORRECT,
    INCORRECT,
    OUTSIDE,
    TYPED,
    TokenLayout,
    read_m2,
    read_msra,
    read_tokens,
)

PARTS = ("", "deriv", "part")  # of GermEval: names, derived words, parts of words
CONLL_LAYOUT = TokenLayout(separator=None, iob1=True)


def read_errors(
    file: SplitFile,
    layout: TokenLayout | None = None,
    right: Collection[str] = (),
    *,
    typed: bool = False,
) -> Iterator[Example]:
    """Read right and wrong words from M2, or from a token file of their labels.

    Args:
        layout: of a token file, or None for that of the options.
        right: corrections of M2 after which a word is right, see `read_m2`.
        typed: whether labels are `TYPED`, not ``c`` and ``i``.
    """
    if file.path.suffix.lower() == ".m2":
        return read_m2(file, right, typed=typed)
    return read_tokens(file, layout)


def _entities(
    name: str, types: Sequence[str], splits: Files, reader: Reader, levels: int = 1
) -> Dataset:
    """Return a dataset of entities; labels are those of IOB2: O, then B- and I- of each type."""
    labels = (OUTSIDE, *(f"{mark}-{kind}" for kind in types for mark in "BI"))
    how = {"target": WORD_LABELS, "metric": "entity_f1", "levels": levels}
    return Dataset(name, splits, reader=reader, labels=labels, **how)


def error_dataset(name: str, splits: Files, reader: Reader, **more: Any) -> Dataset:
    """Return a dataset of right and wrong words."""
    how: dict[str, Any] = {"target": WORD_LABELS, "metric": "token_f0.5", **more}
    return Dataset(
        name, splits, reader=reader, labels=(CORRECT, INCORRECT), positive=INCORRECT, **how
    )


TAGGING = (
    _entities(
        "conll2003",
        ("LOC", "MISC", "ORG", "PER"),
        official(
            train=("eng.train", "train.txt"),
            valid=("eng.testa", "valid.txt", "dev.txt"),
            test=("eng.testb", "test.txt"),
        ),
        partial(read_tokens, layout=CONLL_LAYOUT),
    ),
    _entities(
        "wnut17",
        ("corporation", "creative-work", "group", "location", "person", "product"),
        official(
            train=("wnut17train.conll",),
            valid=("emerging.dev.conll",),
            test=("emerging.test.annotated", "emerging.test.conll"),
        ),
        partial(read_tokens, layout=TokenLayout()),
    ),
    _entities(
        "msra_ner",
        ("LOC", "ORG", "PER"),
        official(
            *("msra_{}_bio.txt", "msra_{}_bio"),
            folder="MSRA",
            train=("train1.txt",),
            test=("testright1.txt",),
        ),
        read_msra,
    ),
    _entities(  # nested entities
        "germeval14",
        tuple(f"{kind}{part}" for kind in ("LOC", "ORG", "OTH", "PER") for part in PARTS),
        official(train=("NER-de-train.tsv",), valid=("NER-de-dev.tsv",), test=("NER-de-test.tsv",)),
        partial(read_tokens, layout=TokenLayout(token=1, tag=2, inner=(3,), ends=("#",))),
        levels=2,
    ),
    error_dataset(
        "fce",
        official(
            "fce-public.{}.original.tsv",
            "tsv/fce-public.{}.original.tsv",
            "en_fce_{}.tsv",
            "fce.{}.gold.bea19.m2",
            "m2/fce.{}.gold.bea19.m2",
            folder="fce-error-detection",
            test=("en_fce_test_unlabelled.tsv",),
        ),
        partial(read_errors, layout=TokenLayout()),
    ),
    Dataset(  # the labels and the metric of SLA's program
        "fce_typed",
        official(
            "fce.{}.gold.bea19.m2",
            "m2/fce.{}.gold.bea19.m2",
        ),
        reader=partial(read_errors, layout=TokenLayout(), typed=True),
        target=WORD_LABELS,
        labels=TYPED,
        metric="entity_f0.5",
    ),
    error_dataset(
        "falko_merlin",  # labels of M2 files as in the published token files made from them
        official(
            train=("de_falko-merlin_train.tsv", "fm-train.m2"),
            valid=("de_falko-merlin_dev.tsv", "fm-dev.m2"),
            test=("fm-test.m2", "de_falko-merlin_test_unlabelled.tsv"),
        ),
        partial(read_errors, layout=TokenLayout(quoted='\\"'), right=frozenset(string.punctuation)),
    ),
    error_dataset(
        "cged",
        # Several years as one training or test set: their files concatenated, as train.xml or
        # test_input.txt with test_truth.txt.
        official(
            train=(
                *("train.xml", "train_CGED2018.xml"),
                *("CGED18_HSK_TrainingSet.xml", "CGED18_HSK_TrainingSet.txt"),
                *("CGED17_HSK_TrainingSet.xml", "CGED17_HSK_TrainingSet.txt"),
                *("CGED16_HSK_TrainingSet.xml", "CGED16_HSK_TrainingSet.txt"),
            ),
            valid=("valid.xml", "dev.xml"),
            test=("test_input.txt", "test.xml"),
            test_2016=("CGED16_HSK_Test_Input.txt", "CGED16_HSK_TEST_Input.txt"),
            test_2017=("CGED17_HSK_Test_Input.txt", "test.HSK.Input.txt"),
            test_2018=("test_CGED2018.xml",),
            test_2020=("test_2020-m.txt",),
            test_2021=("test_2021.txt",),
        ),
        read_cged,
        metric="detection_f1",
        companion=truth_file,
    ),
)
