"""Table 3 of Wang et al. (2022), "DABERT": accuracy on TextFlint's transformations, in %.

MNLI has two figures, of the matched and of the mismatched set. Systems without an architecture here
(ESIM, ALBERT, SemBERT) stand under the paper's name.
"""

from __future__ import annotations

import math

from ...plan.grid import SIZES

# Transformations in the order of the paper's columns, with its short names; the last two stand for
# all that it has no column for.
SHORT = {
    "SwapAnt": "SA",
    "NumWord": "NW",
    "InsertAdv": "IA",
    "AppendIrr": "Al",
    "BackTrans": "BT",
    "AddSent": "AS",
    "TwitterType": "TT",
    "SwapNamedEnt": "SN",
    "SwapSyn": "SW",
    "AddPunc": "AP",
}
_QUORA = "SwapAnt NumWord InsertAdv AppendIrr BackTrans".split()
_SNLI = "AddSent SwapAnt TwitterType SwapNamedEnt SwapSyn".split()
_MNLI = "AddSent SwapAnt AddPunc TwitterType SwapNamedEnt SwapSyn".split()

_ON_QUORA = {
    "bert_plain": (48.58, 56.96, 86.32, 85.48, 83.42),
    "ALBERT": (51.08, 55.24, 81.87, 78.94, 82.37),
    "bert_uer": (48.57, 54.86, 84.72, 80.88, 82.71),
    "SemBERT": (50.92, 53.15, 85.19, 82.04, 82.40),
    "bert_syntax_masks": (49.30, 56.37, 86.43, 84.62, 84.19),
    "dabert": (60.43, 62.76, 87.50, 85.48, 87.49),
}
_ON_SNLI = {
    "ESIM": (64.00, 84.22, 78.32, 53.76, 65.38),
    "bert_plain": (79.66, 94.84, 83.56, 50.45, 76.42),
    "ALBERT": (45.17, 96.37, 81.62, 57.66, 74.93),
    "bert_uer": (73.24, 94.78, 85.36, 57.54, 80.81),
    "SemBERT": (76.81, 95.31, 84.60, 56.28, 77.86),
    "bert_syntax_masks": (78.63, 95.02, 86.91, 58.26, 76.90),
    "dabert": (81.06, 96.85, 85.14, 60.58, 80.92),
}
_ON_MATCHED = {
    "bert_plain": (55.32, 52.76, 82.30, 77.08, 51.97, 76.41),
    "ALBERT": (53.09, 50.25, 83.98, 77.98, 56.43, 76.63),
    "bert_uer": (54.99, 52.29, 79.80, 75.46, 55.21, 82.23),
    "SemBERT": (55.38, 54.07, 78.70, 73.90, 53.43, 78.09),
    "bert_syntax_masks": (54.92, 53.54, 77.01, 70.38, 57.11, 78.57),
    "dabert": (60.14, 60.89, 83.23, 77.94, 60.12, 82.15),
}
_ON_MISMATCHED = {
    "bert_plain": (55.25, 55.69, 82.31, 77.22, 51.84, 77.05),
    "ALBERT": (53.58, 50.20, 83.68, 78.03, 50.03, 77.43),
    "bert_uer": (54.84, 53.80, 79.18, 74.93, 55.96, 82.74),
    "SemBERT": (55.12, 54.62, 78.16, 73.47, 53.76, 78.93),
    "bert_syntax_masks": (54.63, 54.73, 76.71, 70.13, 51.95, 79.31),
    "dabert": (59.25, 61.37, 83.19, 78.10, 59.83, 82.97),
}
# (dataset, whether its split is a mismatched one) -> the columns, and the rows
TABLE = {
    ("qqp", False): (_QUORA, _ON_QUORA),
    ("snli", False): (_SNLI, _ON_SNLI),
    ("mnli", False): (_MNLI, _ON_MATCHED),
    ("mnli", True): (_MNLI, _ON_MISMATCHED),
}


def paper_figure(dataset: str, split: str, arch: str, transformation: str) -> float:
    """Return the paper's figure in %; nan where it has none.

    Args:
        dataset, split: that were transformed.
        arch: a system's architecture, of whatever size; the paper does not tell its own.
        transformation: a key of `SHORT`.
    """
    columns, rows = TABLE.get((dataset, split.endswith("mismatched")), ((), {}))
    kind, _, size = arch.rpartition("_")
    row = rows.get(kind if size in SIZES else arch)
    if row is None or transformation not in columns:
        return math.nan
    return row[columns.index(transformation)]
