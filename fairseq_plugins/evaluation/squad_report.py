"""Scores of question answering as a table for a terminal."""

from __future__ import annotations

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
            lines.append(f"best {title} {best:.2f} with null odds up to {threshold:.4f} answered")
    return "\n".join(lines)
