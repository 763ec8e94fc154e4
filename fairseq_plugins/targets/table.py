"""All kinds of targets by name."""

from typing import Any

from ..errors import InputError
from ..messages import quoted
from .classes import CLASSES
from .entities import ENTITIES
from .multi_label import MULTI_LABEL
from .score import SCORE
from .spans import SPANS
from .target import Target
from .word_labels import WORD_LABELS

TARGETS = {one.name: one for one in (CLASSES, SCORE, WORD_LABELS, SPANS, ENTITIES, MULTI_LABEL)}


def target_of(name: Any) -> Target:
    if not isinstance(name, str) or name not in TARGETS:
        raise InputError(f"target {quoted(name)} is not one of {', '.join(TARGETS)}")
    return TARGETS[name]
