"""Gold labels as files write them, and as a dataset or a model calls them.

The same class is ``ENTAILMENT`` in SICK and ``entailment`` in SNLI: a label that is none of the
known ones is that one of them from which it differs by case alone. Known labels that differ from
each other by case alone (``US``, ``us``) stay two.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from ...messages import named, quoted

logger = logging.getLogger(__name__)

Respelled = Counter[tuple[str, str]]  # (as written, as it is called) -> how often


def known_label(written: str, labels: Collection[str]) -> str | None:
    """Return the label that a text stands for; None if it is none of them, or could be several."""
    if written in labels:
        return written
    alike = [label for label in labels if label.casefold() == written.casefold()]
    return alike[0] if len(alike) == 1 else None


def checked_score(text: str) -> str:
    """Return a score as it is written.

    Raises:
        ValueError: no finite number.
    """
    try:
        finite = math.isfinite(float(text)) and "_" not in text
    except ValueError:
        finite = False
    if not finite:
        raise ValueError(f"score {quoted(text)} is no finite number")
    return text


def log_respelled(path: Path, respelled: Respelled) -> None:
    """Log which labels of a file were taken for others, and how often."""
    if respelled:
        taken = (
            f"{quoted(written)} as {quoted(label)} ({count:,})"
            for (written, label), count in sorted(respelled.items())
        )
        logger.info("%s: labels are taken for known ones: %s", path, named(taken))
