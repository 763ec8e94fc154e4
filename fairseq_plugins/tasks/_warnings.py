"""Loud remarks that are made once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

logger = logging.getLogger(__name__)


class Warnings:
    """Log each warning once, however many models, batches or buffers give rise to it."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    def say(self, message: str) -> None:
        """Log ``message`` unless it was logged before."""
        if message not in self._made:
            self._made.add(message)
            logger.warning(message)

    def other_annotator(self, trained: Iterable[str], present: str, where: str) -> None:
        """Say that models were trained on other annotation than they now get.

        Args:
            trained: annotators of the models' training data; empty text stands for none.
            present: annotator of what they get.
            where: what that is.
        """
        for annotator in trained:
            if annotator != present:
                self.say(
                    f"ANOTHER ANNOTATOR: the model was trained on text annotated by "
                    f"[{_name(annotator)}], but {where} is annotated by [{_name(present)}]; "
                    "features and trees may mean something else and results may suffer"
                )

    def segmented(self, lines: Iterable[str]) -> None:
        """Say that lines look segmented, where raw text is wanted."""
        if any(word.endswith("@@") for line in lines for word in line.split()):
            self.say(
                "the input has words that end in '@@': it looks segmented already, "
                "but this task wants raw text and segments it itself"
            )

    def idle_ablation(self, ablated: Iterable[str], features: Sequence[str]) -> None:
        """Say that a feature to be ablated is none of the model's."""
        for name in ablated:
            if name not in features:
                self.say(f"--ablate-features {name}: the model does not read that feature")


def _name(annotator: str) -> str:
    return annotator or "no pipeline: given with the data"


def log_ablation(names: Sequence[str], mode: str) -> None:
    """Leave a mark of ``--ablate-features`` in the log of a run."""
    if names:
        logger.info("ablation outside training: %s (%s)", ", ".join(names), mode)
