"""The tables of Chadha and Sood (2019), *BERTQA - Attention on Steroids*: layouts and figures.

A row is a system of a grid: its name says what it is, since options tell the systems apart. The
paper's columns in the wiring of its code have plain names, ``query_...`` is the same with
``--coattention query``. Table 1, which tells what the models of Table 3 are, is in
`bertqa_models`.
"""

from __future__ import annotations

from .table_layouts import PLAIN, Column, Layout, spell_rows

SOURCE = "Chadha and Sood (2019), on 6,078 questions (half of SQuAD 2.0's development set)"
ENSEMBLE, QUERY = "ensemble", "query_"
MODELS = {"model1": "Model 1", "model2": "Model 2", "model3": "Model 3"}
_BASE = {
    "c2q_q2c": "C2Q/Q2C",
    "simple_skip": "Simple Skip",
    "transformer_skip": "Transformer Skip",
    "inside_conv": "Inside Conv",
}
_OWN = {
    "bert_plain_q35": "BERT, SQuAD 2.Q (35 %)",
    "bertqa": "BERTQA",
    "bertqa_literal": "BERTQA, as printed",
    "bertqa_no_skip": "BERTQA, no skip",
    "bertqa_simple": "BERTQA, simple skip",
    "bertqa_transformer_skip": "BERTQA, transformer skip",
    "bertqa_inside_conv": "BERTQA, local convolutions",
    "bertqa_separate": "BERTQA, separate heads",
    "bertqa_simple_q35": "BERTQA, simple skip, SQuAD 2.Q (35 %)",
}


def _both(names: dict[str, str]) -> dict[str, str]:
    """Name systems in both wirings."""
    return names | {f"{QUERY}{kind}": f"{label}, query" for kind, label in names.items()}


_TABLE_2, _TABLE_3 = {**_OWN, **_both(_BASE)}, _both({**MODELS, ENSEMBLE: "Ensemble"})
KINDS = {**_TABLE_2, **_TABLE_3}  # kind -> label, in the order of the tables

_SQUAD = Column(
    "squad",
    "SQuAD",
    (
        ("HasAns F1", "has_answer_f1"),
        ("NoAns F1", "no_answer_f1"),
        ("EM", "exact"),
        ("F1", "f1"),
        ("EM tuned", "tuned_exact"),
        ("F1 tuned", "tuned_f1"),
    ),
    optional=("tuned_exact", "tuned_f1"),
)
# as the paper prints them: F1, HasAns F1, NoAns F1, EM
_FIGURES_2 = {
    PLAIN: (74.15, 80.62, 68.21, 71.09),
    "c2q_q2c": (74.34, 76.30, 72.54, 71.56),
    "simple_skip": (74.81, 76.13, 73.01, 72.11),
    "transformer_skip": (74.95, 76.35, 73.66, 72.07),
    "inside_conv": (77.03, 78.47, 73.83, 74.37),
}
_FIGURES_3 = {
    PLAIN: (80.58, 84.39, 77.08, 77.74),
    "model1": (82.08, 84.36, 79.98, 78.81),
    "model2": (81.51, 83.53, 79.68, 78.24),
    "model3": (81.31, 84.38, 78.49, 78.00),
    ENSEMBLE: (83.42, 81.09, 85.56, 80.53),
}
_NOTES = (
    "No answer is given where its score is higher; tuned: at the threshold that is best on these "
    "questions.",
)


def _spelled(figures: dict[str, tuple[float, float, float, float]]) -> dict:
    """Bring figures into the order of the column."""
    rows = {kind: ("", (has, no, em, f1)) for kind, (f1, has, no, em) in figures.items()}
    return spell_rows((_SQUAD,), rows)


BERTQA = {
    "bertqa2": Layout(
        "BERTQA's parts (layout of Chadha and Sood 2019, Table 2)",
        (_SQUAD,),
        paper={"base": _spelled(_FIGURES_2)},
        source=SOURCE,
        own=tuple(_TABLE_2),
        notes=_NOTES,
    ),
    "bertqa3": Layout(
        "BERTQA's models and their ensemble (layout of Chadha and Sood 2019, Table 3)",
        (_SQUAD,),
        paper={"large": _spelled(_FIGURES_3)},
        source=SOURCE,
        own=tuple(_TABLE_3),
        notes=_NOTES,
    ),
}
