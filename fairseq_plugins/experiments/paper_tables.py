"""The tables of Li et al. (2020), arXiv:2012.15150: their layouts, and the figures they print.

Figures stand under their dataset, in the order of the layout's metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

PLAIN = "bert_plain"
# kind of architecture -> its name in the tables, in their order; of those with a plus the
# parameters beyond BERT's are told
LABELS = {
    "bert_lisa": "LISA",
    "bert_sgnet": "SGNet",
    PLAIN: "BERT",
    "bert_wla": "+ WLA",
    "bert_sla": "+ SLA",
    "bert_syntax_masks": "+ syntax masks",
    "bert_pos": "+ POS",
}

_ENTITIES = (("P", "entity_precision"), ("R", "entity_recall"), ("F1", "entity_f1"))
_ERRORS = (("P", "token_precision"), ("R", "token_recall"), ("F0.5", "token_f0.5"))
_DETECTION = (("P", "detection_precision"), ("R", "detection_recall"), ("F1", "detection_f1"))
_ACCURACY = (("Acc", "accuracy"),)


@dataclass(frozen=True)
class Column:
    """A dataset in a table.

    Args:
        dataset: its name in ``scripts/prepare_text.py``.
        title: its name in the table.
        metrics: title and name of each; the last is the one that averages take.
        tested: whether the test set is shown where all runs were tried on it; else validation.
    """

    dataset: str
    title: str
    metrics: tuple[tuple[str, str], ...]
    tested: bool = False


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper.

    Args:
        parameters: as printed.
        figures: dataset -> figures.
    """

    parameters: str
    figures: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Layout:
    """A table of the paper, or one made like it.

    Args:
        title: what it is.
        columns: all of them.
        average: whether there is a column of averages (when all columns are there).
        paper: size -> kind of architecture -> what the paper found.
    """

    title: str
    columns: tuple[Column, ...]
    average: bool = False
    paper: Mapping[str, Mapping[str, PaperRow]] = field(default_factory=dict)

    def figures(self, size: str, kind: str, dataset: str) -> tuple[float, ...]:
        """Return what the paper found with models of this size, or else of base size."""
        row = self._row(size, kind)
        return row.figures.get(dataset, ()) if row else ()

    def paper_average(self, size: str, kind: str) -> float:
        """Return the paper's mean over all datasets; nan where it has none."""
        row = self._row(size, kind)
        return fmean(f[-1] for f in row.figures.values()) if row else math.nan

    def _row(self, size: str, kind: str) -> PaperRow | None:
        return self.paper.get(size, self.paper.get("base", {})).get(kind)


def _rows(datasets: tuple[str, ...], rows: dict[str, tuple]) -> dict[str, PaperRow]:
    """Spell rows out: kind -> parameters, then the figures of each dataset."""
    return {
        kind: PaperRow(first, dict(zip(datasets, figures)))
        for kind, (first, *figures) in rows.items()
    }


_SINGLE = ("cola", "sst2", "conll2003", "fce")
_BASE = {
    "bert_lisa": ("110M", (59.8,), (92.0,), (90.7, 92.2, 91.4), (63.4, 38.6, 56.1)),
    "bert_sgnet": ("133M", (59.2,), (93.1,), (90.9, 92.6, 91.7), (60.9, 40.7, 55.4)),
    "bert_plain": ("110M", (58.7,), (93.1,), (91.0, 92.3, 91.6), (60.5, 40.0, 54.9)),
    "bert_wla": ("+0.01M", (59.6,), (92.8,), (91.3, 92.9, 92.1), (60.4, 41.3, 55.3)),
    "bert_sla": ("+0.01M", (60.0,), (93.3,), (91.5, 92.9, 92.2), (61.0, 41.3, 55.7)),
}
_LARGE = {
    "bert_lisa": ("340M", (62.2,), (92.7,), (91.3, 92.6, 92.0), (63.4, 43.2, 57.9)),
    "bert_sgnet": ("381M", (63.3,), (93.6,), (91.5, 92.8, 92.1), (63.1, 42.5, 57.5)),
    "bert_plain": ("340M", (63.9,), (94.0,), (91.7, 93.1, 92.4), (62.7, 42.6, 57.3)),
    "bert_wla": ("+0.02M", (62.7,), (93.9,), (91.5, 93.1, 92.3), (61.9, 44.5, 57.4)),
    "bert_sla": ("+0.02M", (64.5,), (94.3,), (92.3, 93.4, 92.9), (63.9, 42.3, 58.0)),
}
_PAIRS = ("qnli", "rte", "mrpc", "sts_b")
_PAIRS_BASE = {
    "bert_plain": ("", (91.7,), (68.6,), (87.3,), (89.5,)),
    "bert_sla": ("", (91.4,), (67.8,), (88.5,), (89.9,)),
}
_CHINESE = ("chnsenticorp", "msra_ner", "cged")
_CHINESE_BASE = {
    "bert_plain": ("", (94.7,), (95.0, 94.6, 94.8), (79.9, 75.2, 77.5)),
    "bert_wla": ("", (95.1,), (95.1, 94.2, 94.6), (79.9, 73.5, 76.6)),
    "bert_sla": ("", (95.7,), (94.9, 95.0, 94.9), (81.0, 76.6, 78.7)),
}

LAYOUTS = {
    "sla1": Layout(
        "Single sentences (layout of Li et al. 2020, Table 1)",
        (
            Column("cola", "CoLA", (("MCC", "mcc"),)),
            Column("sst2", "SST-2", _ACCURACY),
            Column("conll2003", "CoNLL-2003", _ENTITIES, tested=True),
            Column("fce", "FCE", _ERRORS, tested=True),
        ),
        average=True,
        paper={"base": _rows(_SINGLE, _BASE), "large": _rows(_SINGLE, _LARGE)},
    ),
    "sla2": Layout(
        "Sentence pairs (layout of Li et al. 2020, Table 2)",
        (
            Column("qnli", "QNLI", _ACCURACY),
            Column("rte", "RTE", _ACCURACY),
            Column("mrpc", "MRPC", _ACCURACY),
            Column("sts_b", "STS-B", (("PCC", "pearson"),)),
        ),
        paper={"base": _rows(_PAIRS, _PAIRS_BASE)},
    ),
    "sla3": Layout(
        "Chinese (layout of Li et al. 2020, Table 3)",
        (
            Column("chnsenticorp", "ChnSentiCorp", _ACCURACY, tested=True),
            Column("msra_ner", "MSRA NER", _ENTITIES, tested=True),
            Column("cged", "CGED", _DETECTION, tested=True),
        ),
        paper={"base": _rows(_CHINESE, _CHINESE_BASE)},
    ),
    "others": Layout(
        "Datasets that are not in the paper",
        (
            Column("wnut17", "WNUT-17", _ENTITIES, tested=True),
            Column("falko_merlin", "Falko-MERLIN", _ERRORS, tested=True),
            Column("token_errors", "Errors in words", _ERRORS, tested=True),
        ),
    ),
}
