"""The nine tasks of GLUE (Wang et al., 2019) and its diagnostic set, as downloaded.

``MNLI/`` may hold the diagnostic set as its split ``ax``; alone it is the dataset ``ax``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from .dataset import Dataset, below
from .tables import Table, read_table

BINARY = ("0", "1")
ENTAILMENT = ("entailment", "not_entailment")
INFERENCE = ("entailment", "neutral", "contradiction")
PAIR = ("sentence1", "sentence2")

USUAL = {"train": ("train.tsv",), "valid": ("dev.tsv",), "test": ("test.tsv",)}
PARAPHRASES = {
    "train": ("train.tsv", "msr_paraphrase_train.txt"),
    "valid": ("dev.tsv",),
    "test": ("test.tsv", "msr_paraphrase_test.txt"),
}
DIAGNOSTIC = ("diagnostic.tsv", "AX.tsv", "diagnostic-full.tsv")
AX = (*DIAGNOSTIC, *(f"{folder}/{name}" for folder in ("diagnostic", "AX") for name in DIAGNOSTIC))
MULTI = {
    "train": ("train.tsv",),
    "valid": ("dev_matched.tsv",),
    "valid_mismatched": ("dev_mismatched.tsv",),
    "test": ("test_matched.tsv",),
    "test_mismatched": ("test_mismatched.tsv",),
    "ax": (*AX, *(f"../{name}" for name in AX)),
}

COLA = Table(("sentence",), headerless=("source", "label", "mark", "sentence"))
DIAGNOSTIC_TABLES = (Table(PAIR), Table(("Premise", "Hypothesis"), label=("Label",)))


def _task(
    name: str,
    folder: str,
    tables: Table | tuple[Table, ...],
    *,
    labels: tuple[str, ...] | None,
    positive: str = "",
    metric: str = "accuracy",
    splits: Mapping[str, tuple[str, ...]] = USUAL,
    files: Mapping[str, str] | None = None,
) -> Dataset:
    """Make a task; ``files`` names the submissions by split (default: the folder's name)."""
    served = {"test": f"{folder}.tsv"} if files is None else files
    names = {label: label for label in labels or ()}
    return Dataset(
        name=name,
        task="text_classification",
        target="score" if labels is None else "classes",
        read=partial(read_table, tables=tables if isinstance(tables, tuple) else (tables,)),
        splits=below(folder, splits) if folder else splits,
        labels=labels,
        positive=positive,
        metric=metric,
        submission={split: {"file": file, "labels": dict(names)} for split, file in served.items()},
    )


GLUE = (
    _task("cola", "CoLA", COLA, labels=BINARY, positive="1", metric="mcc"),
    _task("sst2", "SST-2", Table(("sentence",)), labels=BINARY, positive="1"),
    _task(
        "mrpc",
        "MRPC",
        Table(("#1 String", "#2 String"), label=("Quality",)),
        labels=BINARY,
        positive="1",
        metric="f1",
        splits=PARAPHRASES,
    ),
    _task("sts_b", "STS-B", Table(PAIR, label=("score",)), labels=None, metric="pearson"),
    _task(
        "qqp",
        "QQP",
        Table(("question1", "question2"), ("is_duplicate",), ("id",), broken_rows=True),
        labels=BINARY,
        positive="1",
        metric="f1",
    ),
    _task(
        "mnli",
        "MNLI",
        (Table(PAIR, label=("gold_label",)), DIAGNOSTIC_TABLES[1]),
        labels=INFERENCE,
        splits=MULTI,
        files={"test": "MNLI-m.tsv", "test_mismatched": "MNLI-mm.tsv", "ax": "AX.tsv"},
    ),
    _task(
        "qnli", "QNLI", Table(("question", "sentence")), labels=ENTAILMENT, positive="entailment"
    ),
    _task("rte", "RTE", Table(PAIR), labels=ENTAILMENT, positive="entailment"),
    _task("wnli", "WNLI", Table(PAIR), labels=BINARY, positive="1"),
    _task(
        "ax",
        "",
        DIAGNOSTIC_TABLES,
        labels=INFERENCE,
        metric="mcc",
        splits={"test": AX},
        files={"test": "AX.tsv"},
    ),
)
