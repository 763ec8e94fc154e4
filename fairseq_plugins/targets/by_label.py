"""Scores of each label: precision, recall, F1, and support (how often the label is true).

They are those of scikit-learn's classification_report, 0 if undefined.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .counts import ratio
from .labeling import precision_recall_f

TABLE = "bylabel"  # name of the counts of a batch
SCORES = ("precision", "recall", "f1", "support")
Sums = Mapping[str, Sequence[float]]  # label -> how often it is right, predicted and true


def by_label(sums: Sums) -> dict[str, float]:
    """Return the scores of each label, named ``f1_LABEL`` and so on; none for an empty name."""
    return {
        f"{name}_{label}": value
        for label, (right, said, gold) in sums.items()
        for name, value in zip(SCORES, (*precision_recall_f(right, said, gold), gold))
        if label
    }


def weighted_f1(sums: Iterable[Sequence[float]]) -> float:
    """Return the mean F1 of labels, weighted by their support; see `Sums`."""
    found = [(precision_recall_f(right, said, gold)[2], gold) for right, said, gold in sums]
    return ratio(sum(f1 * gold for f1, gold in found), sum(gold for _, gold in found))


def sums_of(pairs: Iterable[tuple[set[Any], ...]], labels: Iterable[str]) -> Sums:
    """Sum up for each label what is true and what is predicted.

    Args:
        pairs: true and predicted members of each example; the first part of a member is its label.
    """
    right, said, gold = Counter[str](), Counter[str](), Counter[str]()
    for true, guessed in pairs:
        for count, members in ((right, true & guessed), (said, guessed), (gold, true)):
            count.update(member[0] for member in members)
    return {label: (right[label], said[label], gold[label]) for label in labels}


def table_of_sums(sums: Sums) -> Any:
    """Return sums as a count of a batch, (labels, 3), which fairseq adds up."""
    import torch  # slow to import, not needed for scores of files

    return torch.tensor([*sums.values()]).reshape(-1, 3)


def scores_of_table(counts: Mapping[str, Any], labels: Iterable[str]) -> dict[str, float]:
    """Return the scores of added counts; none if these lack sums of labels."""
    return by_label(dict(zip(labels, counts[TABLE].tolist()))) if TABLE in counts else {}


def parted(scores: Mapping[str, float]) -> tuple[dict[str, float], list[list[str]]]:
    """Return the scores of no label, and those of labels as rows of cells, with a header if any."""
    support = f"{SCORES[-1]}_"
    labels = [name.removeprefix(support) for name in scores if name.startswith(support)]
    others, rows = dict(scores), [["label", *SCORES]] if labels else []
    for label in labels:
        *shares, count = (others.pop(f"{name}_{label}") for name in SCORES)
        rows.append([label, *(f"{share:.4f}" for share in shares), f"{count:,}"])
    return others, rows
