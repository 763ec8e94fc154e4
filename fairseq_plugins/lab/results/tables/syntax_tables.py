"""The tables of Sundararaman et al. (2019), arXiv:1911.06156: layouts, and the figures they print.

Table 2's figures are of GLUE's test server. That of STS-B stands beside Spearman's correlation
here: BERT's 85.8 is what Devlin et al. (2019) print as such. Table 1 is laid out by `fractions`; of
combinations of features and of their widths the paper says what came out, without figures.
"""

from __future__ import annotations

import math

from .table_layouts import ACCURACY, PLAIN, Column, Layout, spell_rows

SOURCE = "Sundararaman et al. (2019)"
SHARES: dict[float, tuple[float, float]] = {
    # share of WMT14's training pairs -> BLEU of the baseline and of the syntax-infused Transformer
    0.01: (1.10, 1.67),
    0.05: (8.51, 10.50),
    0.1: (16.28, 17.28),
    0.25: (22.72, 23.24),
    0.5: (25.41, 25.74),
    1.0: (28.94, 29.64),
}

_F1 = (("F1", "f1"),)
_STS_B = Column("sts_b", "STS-B", (("PCC", "pearson"), ("SCC", "spearman")))
_GLUE = (
    Column("mnli", "MNLI-m", ACCURACY),
    Column("mnli", "MNLI-mm", ACCURACY, split="valid_mismatched"),
    Column("qqp", "QQP", _F1),
    Column("qnli", "QNLI", ACCURACY),
    Column("sst2", "SST-2", ACCURACY),
    Column("cola", "CoLA", (("MCC", "mcc"),)),
    _STS_B,
    Column("mrpc", "MRPC", _F1),
    Column("rte", "RTE", ACCURACY),
)


def _row(*figures: float) -> tuple:
    """Spell a row of Table 2 out; the figure of STS-B is Spearman's correlation."""
    return ("", *((math.nan, f) if c is _STS_B else (f,) for c, f in zip(_GLUE, figures)))


_TEST_SERVER = {
    PLAIN: _row(84.6, 83.4, 71.2, 90.5, 93.5, 52.1, 85.8, 88.9, 66.4),
    "bert_pos": _row(84.4, 83.3, 71.4, 90.4, 93.9, 52.9, 85.5, 88.8, 66.9),
}

SYNTAX = {
    "syntax2": Layout(
        "BERT and BERT + POS on GLUE (layout of Sundararaman et al. 2019, Table 2)",
        _GLUE,
        average=True,
        paper={"base": spell_rows(_GLUE, _TEST_SERVER)},
        source=f"{SOURCE}, GLUE's test server",
        asked_by=("bert_pos",),
        only=(PLAIN, "bert_pos"),
    ),
}
