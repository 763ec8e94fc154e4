"""Sentence matching and classification outside GLUE: inference, paraphrases, sentiment."""

import re

from ...errors import InputError
from ...messages import quoted
from ...targets.score import SCORE
from .dataset import Dataset, official
from .glue import BINARY, INFERENCE, PAIR, SENTIMENT
from .tables import Table

SICK_FILES = official(
    folder="SICK",
    train=("SICK.txt", "SICK_train.txt"),
    valid=("SICK.txt", "SICK_trial.txt"),
    test=("SICK.txt", "SICK_test_annotated.txt", "SICK_test.txt"),
)
SICK_SETS = {"train": "TRAIN", "valid": "TRIAL", "test": "TEST"}
VOTES = re.compile(r"\(?\s*([0-6])\s*,\s*6\s*\)?")


def majority_of_votes(cell: str) -> str | None:
    """Read ``(n, 6)``, n of six annotators for a paraphrase: from 4 on 1, up to 2 0.

    Source: Lan et al. (2017), who leave out three of six.
    """
    found = VOTES.fullmatch(cell.strip())
    if not found:
        raise InputError(f"expected votes '(n, 6)', found {quoted(cell)}")
    votes = int(found.group(1))
    return None if votes == 3 else "1" if votes > 3 else "0"


def without_majority(cell: str) -> str | None:
    """Read a gold label; ``-`` means disagreement of annotators."""
    return None if cell.strip() == "-" else cell.strip()


def _sick(*label: str) -> tuple[Table]:
    pair = ("sentence_A", "sentence_B")
    return (Table(pair, label, ("pair_ID",), split_column="SemEval_set", split_names=SICK_SETS),)


MATCHING = (
    Dataset(
        "snli",
        official("snli_1.0_{}.jsonl", folder="snli_1.0"),
        (Table(PAIR, label=("gold_label",), id=("pairID",), to_label=without_majority),),
        labels=INFERENCE,
    ),
    Dataset(
        "sick",
        SICK_FILES,
        _sick("entailment_label", "entailment_judgment"),
        labels=("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    ),
    Dataset("sick_r", SICK_FILES, _sick("relatedness_score"), target=SCORE, metric="pearson"),
    Dataset(
        "scitail",
        official(*("scitail_1.0_{}.tsv", "tsv_format/scitail_1.0_{}.tsv"), folder="SciTailV1.1"),
        (Table(("premise", "hypothesis"), headerless=("premise", "hypothesis", "label")),),
        labels=("entails", "neutral"),
        positive="entails",
    ),
    Dataset(
        "twitter_url",
        official("Twitter_URL_Corpus_{}.txt"),
        (
            Table(
                PAIR,
                label=("votes",),
                headerless=(*PAIR, "votes", "url"),
                to_label=majority_of_votes,
                cells={"0": "(0, 6)", "1": "(6, 6)"},
            ),
        ),
        labels=BINARY,
        names={"0": "not_paraphrase", "1": "paraphrase"},
        positive="1",
    ),
    Dataset(
        "paws_wiki",
        official("{}.tsv", folder="final"),
        (Table(PAIR, id=("id",), headerless=("id", *PAIR, "label")),),
        labels=BINARY,
        names={"0": "not_paraphrase", "1": "paraphrase"},
        positive="1",
    ),
    Dataset(
        "chnsenticorp",
        official("{}.tsv", folder="chnsenticorp"),
        (Table(("text_a",), id=("qid",), headerless=("label", "text_a")),),
        labels=BINARY,
        names=SENTIMENT,
        positive="1",
    ),
)
