"""The tables of Wang et al. (2022), *DABERT*, COLING: their layouts, and the figures they print.

Table 1 calls all its figures accuracies. Those of STS-B, which has scores, stand beside Spearman's
correlation here: BERT's 85.8 and 86.5 are what Devlin et al. (2019) print as such. Of Table 5 the
development sets are shown, since the labels of GLUE's test sets are not public. Table 3 is in
`robustness_figures`.
"""

from __future__ import annotations

import math

from ...plan.grid import variant
from .table_layouts import ACCURACY, PLAIN, Column, Layout, spell_rows

_SOURCE = "Wang et al. (2022)"
_OWN = ("bert_uer", "dabert", "dabert_literal")
# kind with what is taken out of it -> its name in Table 5
ABLATIONS = {
    variant("dabert", "ablate", part): f"w/o {name}"
    for part, name in (
        ("affinity", "Affi-attention"),
        ("difference", "Diff-attention"),
        ("guide", "Guide-attention"),
        ("fusion-gate", "Gate fusion"),
        ("filter-gate", "Gate filter"),
        ("regulation", "Regulation"),
    )
}

_MRPC = Column("mrpc", "MRPC", ACCURACY)
_QQP = Column("qqp", "QQP", ACCURACY)
_STS_B = Column("sts_b", "STS-B", (("PCC", "pearson"), ("SCC", "spearman")))
_MNLI = Column("mnli", "MNLI-m", ACCURACY)
_MISMATCHED = Column("mnli", "MNLI-mm", ACCURACY, split="valid_mismatched")
_QNLI = Column("qnli", "QNLI", ACCURACY)
_RTE = Column("rte", "RTE", ACCURACY)
_SNLI = Column("snli", "SNLI", ACCURACY, tested=True)
_SCITAIL = Column("scitail", "SciTail", ACCURACY, tested=True)
_SICK = Column("sick", "SICK", ACCURACY, tested=True)
_TWITTER = Column("twitter_url", "TwitterURL", ACCURACY, tested=True)
PAWS = Column("paws_wiki", "PAWS-Wiki", ACCURACY, tested=True)

_GLUE = (_MRPC, _QQP, _STS_B, _MNLI, _MISMATCHED, _QNLI, _RTE)
_OTHERS = (_SNLI, _SCITAIL, _SICK, _TWITTER)


def _glue(*figures: float) -> tuple:
    """Spell a row of Table 1 out; that of STS-B is Spearman's correlation."""
    return ("", *((math.nan, f) if c is _STS_B else (f,) for c, f in zip(_GLUE, figures)))


def _accuracies(*figures: float) -> tuple:
    return ("", *((figure,) for figure in figures))


_GLUE_BASE = {
    "bert_uer": _glue(88.3, 90.5, 85.1, 84.2, 83.5, 90.6, 67.1),
    PLAIN: _glue(87.2, 89.0, 85.8, 84.3, 83.7, 90.4, 66.4),
    "bert_syntax_masks": _glue(89.2, 89.6, 88.1, 84.9, 84.6, 91.1, 68.9),
    "dabert": _glue(89.1, 91.3, 88.2, 84.9, 84.7, 91.4, 69.5),
}
_GLUE_LARGE = {
    PLAIN: _glue(89.3, 89.3, 86.5, 86.8, 85.9, 92.7, 70.1),
    "bert_syntax_masks": _glue(92.0, 89.5, 88.5, 86.7, 86.6, 92.8, 74.7),
    "dabert": _glue(91.4, 91.9, 89.5, 87.1, 86.9, 94.8, 75.3),
}
_OTHERS_BASE = {
    PLAIN: _accuracies(90.7, 91.8, 87.2, 84.8),
    "bert_uer": _accuracies(90.8, 92.2, 87.8, 86.2),
    "bert_syntax_masks": _accuracies(91.0, 92.7, 88.7, 87.3),
    "dabert": _accuracies(91.3, 93.6, 88.6, 87.5),
}
_OTHERS_LARGE = {
    PLAIN: _accuracies(91.0, 94.4, 91.1, 91.5),
    "bert_syntax_masks": _accuracies(91.3, 94.7, 91.4, 92.1),
    "dabert": _accuracies(91.5, 95.3, 92.5, 92.3),
}
_WITHOUT = ((90.1, 91.8), (90.6, 92.0), (91.3, 92.1), (91.7, 92.5), (91.8, 92.6), (89.9, 91.5))
_ABLATED = {
    kind: _accuracies(*figures)
    for kind, figures in zip(("dabert", *ABLATIONS), ((92.1, 92.9), *_WITHOUT))
}

DABERT = {
    "dabert1": Layout(
        "GLUE's sentence pairs (layout of Wang et al. 2022, Table 1)",
        _GLUE,
        average=True,
        paper={
            "base": spell_rows(_GLUE, _GLUE_BASE),
            "large": spell_rows(_GLUE, _GLUE_LARGE),
        },
        source=_SOURCE,
        own=_OWN,
    ),
    "dabert2": Layout(
        "Other sentence pairs (layout of Wang et al. 2022, Table 2)",
        _OTHERS,
        paper={
            "base": spell_rows(_OTHERS, _OTHERS_BASE),
            "large": spell_rows(_OTHERS, _OTHERS_LARGE),
        },
        source=_SOURCE,
        own=_OWN,
    ),
    "dabert5": Layout(
        "Parts of DABERT taken out (layout of Wang et al. 2022, Table 5)",
        (_QQP, _QNLI, _MRPC, _STS_B, _MNLI, _MISMATCHED, _RTE, *_OTHERS, PAWS),
        paper={"base": spell_rows((_QQP, _QNLI), _ABLATED)},
        source=f"{_SOURCE}, development sets",
        own=tuple(ABLATIONS),
        only=("dabert", *ABLATIONS),
        baseline="dabert",
        marks_worse=True,
    ),
}
