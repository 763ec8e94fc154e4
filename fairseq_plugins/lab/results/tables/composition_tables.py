"""What parts of the four papers are worth together, in every combination.

The parts: part-of-speech features (POS), syntax-aware local attention (SLA), dual attention and, of
question answering, coattention. No paper has such a table. A row is a system called after its
parts, such as ``pos_sla_minilm``, of the architecture ``bert_plain``, which takes all as options.
"""

from __future__ import annotations

from itertools import combinations

from .table_layouts import ACCURACY, Column, Layout

PARTS = {"pos": "POS", "sla": "SLA", "dual": "dual attention", "coattention": "coattention"}
BARE = "plain"  # the system without any of them


def _kinds() -> dict[str, str]:
    """Return kind -> label of every combination, small ones first."""
    found = {BARE: "BERT"}
    for size in range(1, len(PARTS) + 1):
        for names in combinations(PARTS, size):
            found["_".join(names)] = "+ " + ", ".join(PARTS[name] for name in names)
    return found


KINDS = _kinds()
_ANSWERS = (
    ("HasAns F1", "has_answer_f1"),
    ("NoAns F1", "no_answer_f1"),
    ("EM", "exact"),
    ("F1", "f1"),
)
COMPOSITION = {
    "composition": Layout(
        "Parts of the four papers together",
        (
            Column("cola", "CoLA", (("MCC", "mcc"),)),
            Column("rte", "RTE", ACCURACY),
            Column("qqp", "QQP", ACCURACY),
            Column("squad", "SQuAD", _ANSWERS),
        ),
        own=tuple(KINDS),
        only=tuple(KINDS),
        baseline=BARE,
    ),
}
