"""Sentences translated there and back by two of this project's translation models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .attention import load

BEAM = 4


def there_and_back(forward: str, backward: str) -> Callable[[Sequence[str]], list[str]]:
    """Load two checkpoints for translation.

    Args:
        forward: checkpoint of the model that translates first.
        backward: checkpoint of the model that translates back.

    Returns:
        A function of sentences, which gives as many back.

    Raises:
        FileNotFoundError, ValueError: no such checkpoint, or one of another task; see
            `models._hub.from_pretrained`.
    """
    models = [load(Path(checkpoint)) for checkpoint in (forward, backward)]

    def translate(sentences: Sequence[str]) -> list[str]:
        """Translate into the other language, and that back."""
        for model in models:
            sentences = model.translate(list(sentences), beam=BEAM)
        return list(sentences)

    return translate
