"""The nine tasks of GLUE (Wang et al., 2019) and its diagnostic set, as downloaded.

``MNLI/`` may hold the diagnostic set as its split ``ax``; alone it is the dataset ``ax``.
"""

from typing import Any

from ...targets.score import SCORE
from .dataset import Dataset, official
from .tables import Table

BINARY = ("0", "1")
SENTIMENT = {"0": "negative", "1": "positive"}
ENTAILMENT = ("entailment", "not_entailment")
INFERENCE = ("entailment", "neutral", "contradiction")
PAIR = ("sentence1", "sentence2")
DIAGNOSTIC = ("diagnostic.tsv", "AX.tsv", "diagnostic-full.tsv")
AX = (*DIAGNOSTIC, *(f"{folder}/{name}" for folder in ("diagnostic", "AX") for name in DIAGNOSTIC))
AX_FULL = Table(("Premise", "Hypothesis"), label=("Label",))


def _task(
    name: str, folder: str, *tables: Table, served: dict[str, str] | None = None, **more: Any
) -> Dataset:
    """Return a task; ``served``: split -> name of its submission (default: the folder's)."""
    labels = {label: label for label in more.get("labels", ())}
    files = {"test": f"{folder}.tsv"} if served is None else served
    more.setdefault("splits", official("{}.tsv", folder=folder))
    submission = {split: {"file": file, "labels": dict(labels)} for split, file in files.items()}
    return Dataset(name=name, tables=tables, submission=submission, **more)


GLUE = (
    _task(
        "cola",
        "CoLA",
        Table(("sentence",), headerless=("source", "label", "mark", "sentence")),
        labels=BINARY,
        names={"0": "unacceptable", "1": "acceptable"},
        positive="1",
        metric="mcc",
    ),
    _task("sst2", "SST-2", Table(("sentence",)), labels=BINARY, names=SENTIMENT, positive="1"),
    _task(
        "mrpc",
        "MRPC",
        Table(("#1 String", "#2 String"), label=("Quality",)),
        labels=BINARY,
        names={"0": "not_equivalent", "1": "equivalent"},
        positive="1",
        metric="f1",
        splits=official(
            "{}.tsv",
            folder="MRPC",
            train=("msr_paraphrase_train.txt",),
            test=("msr_paraphrase_test.txt",),
        ),
    ),
    _task("sts_b", "STS-B", Table(PAIR, label=("score",)), target=SCORE, metric="pearson"),
    _task(
        "qqp",
        "QQP",
        Table(("question1", "question2"), ("is_duplicate",), ("id",), broken_rows=True),
        labels=BINARY,
        names={"0": "not_duplicate", "1": "duplicate"},
        positive="1",
        metric="f1",
    ),
    _task(
        "mnli",
        "MNLI",
        *(Table(PAIR, label=("gold_label",)), AX_FULL),
        labels=INFERENCE,
        splits=official(
            folder="MNLI",
            train=("train.tsv",),
            valid=("dev_matched.tsv",),
            valid_mismatched=("dev_mismatched.tsv",),
            test=("test_matched.tsv",),
            test_mismatched=("test_mismatched.tsv",),
            ax=(*AX, *(f"../{name}" for name in AX)),
        ),
        served={"test": "MNLI-m.tsv", "test_mismatched": "MNLI-mm.tsv", "ax": "AX.tsv"},
    ),
    _task(
        "qnli", "QNLI", Table(("question", "sentence")), labels=ENTAILMENT, positive="entailment"
    ),
    _task("rte", "RTE", Table(PAIR), labels=ENTAILMENT, positive="entailment"),
    _task(
        "wnli",
        "WNLI",
        Table(PAIR),
        labels=BINARY,
        names={"0": "not_entailment", "1": "entailment"},
        positive="1",
    ),
    _task(
        "ax",
        "",
        *(Table(PAIR), AX_FULL),
        labels=INFERENCE,
        metric="mcc",
        splits=official(test=AX),
        served={"test": "AX.tsv"},
    ),
)
