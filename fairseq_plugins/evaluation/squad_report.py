"""Scores of question answering as a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping

_ROWS = (("all", ""), ("answerable", "HasAns_"), ("unanswerable", "NoAns_"))


def as_text(scores: Mapping[str, float]) -> str:
    """Lay out what `squad.evaluate` found; percentages."""
    lines = [f"{'':14}{'exact':>8}{'F1':>8}{'questions':>11}"]
    for title, prefix in _ROWS:
        if f"{prefix}total" in scores:
            exact, f1, total = (scores[prefix + name] for name in ("exact", "f1", "total"))
            lines.append(f"{title:14}{exact:8.2f}{f1:8.2f}{total:11,}")
    for metric, title in (("exact", "exact"), ("f1", "F1")):
        if f"best_{metric}" in scores:
            best, threshold = scores[f"best_{metric}"], scores[f"best_{metric}_thresh"]
            how = f"with null odds up to {threshold:.4f} answered"
            if threshold == 0 and math.isclose(best, _silent(scores)):  # the official 0 of silence
                how = "with no question answered"
            lines.append(f"best {title} {best:.2f} {how}")
    return "\n".join(lines)


def _silent(scores: Mapping[str, float]) -> float:
    """Return what never to answer scores, in percent."""
    return 100.0 * scores.get("NoAns_total", 0) / scores["total"]
