"""What kind of pairs a dataset has, and which of its labels says that two sentences differ."""

from __future__ import annotations

from dataclasses import dataclass

from ...corpora.datasets import DATASETS
from ...corpora.readers.dataset import Dataset

PARAPHRASE, INFERENCE, SCORE = "paraphrase", "inference", "score"
QUESTION_FIRST = ("question", "sentence")  # columns of which the second is no question


@dataclass(frozen=True)
class PairLabels:
    """What the labels of a dataset of pairs say.

    Args:
        kind: `PARAPHRASE`, `INFERENCE` or `SCORE`.
        same: the label of a paraphrase, or of an entailed sentence; empty for scores.
        different: the label of sentences that cannot both be meant; empty for scores.
        alike: whether one sentence could stand in the place of the other.
    """

    kind: str
    same: str = ""
    different: str = ""
    alike: bool = True


def pair_datasets() -> list[str]:
    """Name the datasets of pairs of sentences in official files."""
    return [name for name, dataset in DATASETS.items() if _has_pairs(dataset)]


def _has_pairs(dataset: Dataset) -> bool:
    return bool(dataset.tables) and all(len(table.texts) == 2 for table in dataset.tables)


def pair_labels(dataset: Dataset) -> PairLabels:
    """Say what a dataset's labels mean; this follows from the labels themselves.

    Raises:
        ValueError: it has single sentences, or no fixed columns; names the choices.
    """
    if not _has_pairs(dataset):
        raise ValueError(
            f"dataset {dataset.name!r} has no pairs of sentences in official columns; choices: "
            f"{', '.join(pair_datasets())}"
        )
    if dataset.target == "score":
        return PairLabels(SCORE)
    labels = dataset.labels or ()
    entailed = [label for label in labels if label.lower().startswith("entail")]
    same = dataset.positive or entailed[0]
    opposed = [label for label in labels if label.lower() == "contradiction"]
    different = opposed[0] if opposed else next(label for label in labels if label != same)
    kind = INFERENCE if entailed else PARAPHRASE
    return PairLabels(kind, same, different, dataset.tables[0].texts != QUESTION_FIRST)
