"""Warnings that are logged once."""

import logging
from collections.abc import Iterable

logger = logging.getLogger(__name__)


class Warnings:
    """Log each warning once, whatever the number of models, batches or buffers."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    def say(self, message: str) -> None:
        """Log ``message`` unless it is empty or was logged before."""
        if message and message not in self._made:
            self._made.add(message)
            logger.warning(message)

    def other_annotator(self, trained: Iterable[str], present: str, where: str) -> None:
        """Warn if models were trained with another annotator than that of their input.

        Args:
            trained: annotators of the models' training data; empty for none.
            present: annotator of the input.
        """
        for annotator in trained:
            if annotator != present:
                self.say(
                    f"ANOTHER ANNOTATOR: the model was trained on text annotated by "
                    f"[{_name(annotator)}], but {where} is annotated by [{_name(present)}]; "
                    "features and trees may mean something else and results may suffer"
                )

    def segmented(self, lines: Iterable[str]) -> None:
        """Warn of lines that look segmented, where raw text is expected."""
        if any(word.endswith("@@") for line in lines for word in line.split()):
            self.say(
                "the input has words that end in '@@': it looks segmented already, "
                "but this task wants raw text and segments it itself"
            )


def _name(annotator: str) -> str:
    return annotator or "no pipeline: given with the data"
