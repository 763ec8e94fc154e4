"""Sentence matching and classification outside GLUE: inference, paraphrases, sentiment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from ...messages import quoted
from .dataset import Dataset, below
from .glue import BINARY, INFERENCE, PAIR
from .tables import Table, read_table, without_majority

SNLI_FILES = {
    "train": ("snli_1.0_train.jsonl",),
    "valid": ("snli_1.0_dev.jsonl",),
    "test": ("snli_1.0_test.jsonl",),
}
SICK_FILES = {
    "train": ("SICK.txt", "SICK_train.txt"),
    "valid": ("SICK.txt", "SICK_trial.txt"),
    "test": ("SICK.txt", "SICK_test_annotated.txt", "SICK_test.txt"),
}
SCITAIL_FILES = {
    split: (f"scitail_1.0_{name}.tsv", f"tsv_format/scitail_1.0_{name}.tsv")
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test"))
}
TWITTER_FILES = {
    "train": ("Twitter_URL_Corpus_train.txt",),
    "valid": ("Twitter_URL_Corpus_dev.txt",),
    "test": ("Twitter_URL_Corpus_test.txt",),
}
USUAL = {"train": ("train.tsv",), "valid": ("dev.tsv",), "test": ("test.tsv",)}
SICK_SETS = {"train": "TRAIN", "valid": "TRIAL", "test": "TEST"}
VOTES = re.compile(r"\(?\s*([0-6])\s*,\s*6\s*\)?")


def majority_of_votes(cell: str) -> str | None:
    """Read ``(n, 6)``, n of six annotators for a paraphrase: 4 and more 1, 2 and fewer 0.

    Source: Lan et al. (2017), who leave out three of six.

    Raises:
        ValueError: another form.
    """
    found = VOTES.fullmatch(cell.strip())
    if not found:
        raise ValueError(f"expected votes '(n, 6)', found {quoted(cell)}")
    votes = int(found.group(1))
    return None if votes == 3 else "1" if votes > 3 else "0"


def _sick(*label: str) -> Table:
    return Table(
        ("sentence_A", "sentence_B"),
        label=label,
        id=("pair_ID",),
        split_column="SemEval_set",
        split_names=SICK_SETS,
    )


def _set(
    name: str,
    table: Table,
    splits: Mapping[str, tuple[str, ...]],
    *,
    labels: tuple[str, ...] | None,
    positive: str = "",
    metric: str = "accuracy",
) -> Dataset:
    return Dataset(
        name=name,
        task="text_classification",
        target="score" if labels is None else "classes",
        read=partial(read_table, tables=(table,)),
        splits=splits,
        labels=labels,
        positive=positive,
        metric=metric,
    )


MATCHING = (
    _set(
        "snli",
        Table(PAIR, label=("gold_label",), id=("pairID",), to_label=without_majority),
        below("snli_1.0", SNLI_FILES),
        labels=INFERENCE,
    ),
    _set(
        "sick",
        _sick("entailment_label", "entailment_judgment"),
        below("SICK", SICK_FILES),
        labels=("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    ),
    _set(
        "sick_r",
        _sick("relatedness_score"),
        below("SICK", SICK_FILES),
        labels=None,
        metric="pearson",
    ),
    _set(
        "scitail",
        Table(("premise", "hypothesis"), headerless=("premise", "hypothesis", "label")),
        below("SciTailV1.1", SCITAIL_FILES),
        labels=("entails", "neutral"),
        positive="entails",
    ),
    _set(
        "twitter_url",
        Table(
            PAIR, label=("votes",), headerless=(*PAIR, "votes", "url"), to_label=majority_of_votes
        ),
        TWITTER_FILES,
        labels=BINARY,
        positive="1",
    ),
    _set(
        "paws_wiki",
        Table(PAIR, id=("id",), headerless=("id", *PAIR, "label")),
        below("final", USUAL),
        labels=BINARY,
        positive="1",
    ),
    _set(
        "chnsenticorp",
        Table(("text_a",), id=("qid",), headerless=("label", "text_a")),
        below("chnsenticorp", USUAL),
        labels=BINARY,
        positive="1",
    ),
)
