"""Weights of labels in the loss of classes and of labels of words.

The loss of n targets y_i with C labels, weights w and smoothing e is

    1/n sum_i ((1 - e) w_{y_i} l_i(y_i) + e/C sum_c w_c l_i(c)),  l_i(c) = -log p_i(c)

n is the number of targets, not the sum of their weights (the divisor of torch's own mean). So the
loss of an update does not depend on how the update is cut into batches, and the weights do not
cancel out in a batch that holds one class alone.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..messages import named, quoted
from ..text_reading import read_lines

FLAG, BALANCED = "--class-weights", "balanced"


def label_weights(
    text: str, labels: Sequence[str], gold: Callable[[], np.ndarray]
) -> tuple[float, ...]:
    """Return the weight of each label from an option.

    Args:
        text: `BALANCED`; numbers, see `given_weights`; or a file with a label and a number a line.
        gold: returns the ids of all targets of training.
    """
    if text == BALANCED:
        return balanced_weights(gold(), len(labels))
    return given_weights(text, labels) if _numbers(text) else _read(Path(text), labels)


def balanced_weights(gold: np.ndarray, labels: int) -> tuple[float, ...]:
    """Return n / (C n_c) for each label c of C, which n_c of n targets have (at least 1)."""
    counts = np.bincount(gold, minlength=labels).clip(min=1)
    return tuple((len(gold) / (labels * counts)).tolist())


def given_weights(text: str, labels: Sequence[str]) -> tuple[float, ...]:
    """Return the weights of a text: a number for each label, in their order, with commas."""
    found = _numbers(text)
    if len(found) != len(labels):
        raise InputError(
            f"{FLAG} {quoted(text)}: expected a number from 0 on for each of {named(labels)}, with "
            f"commas between, {BALANCED}, or a file with a label and a number a line"
        )
    return _checked(found, f"{FLAG} {quoted(text)}")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()


def _read(path: Path, labels: Sequence[str]) -> tuple[float, ...]:
    if not path.is_file():
        raise FileNotFoundError(
            f"{FLAG} {path}: no such file; choices: {BALANCED}, or a file with a label and a "
            "number a line"
        )
    found: dict[str, float] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        label, *value = line.rsplit(None, 1)
        where, weight = f"{path}:{number}", _numbers(*value) if value else ()
        if label not in labels or label in found:
            known = "is there twice" if label in found else f"is not one of {named(labels)}"
            raise InputError(f"{where}: label {quoted(label)} {known}")
        if len(weight) != 1:
            raise InputError(f"{where}: {quoted(line)}: expected a label and a number")
        found[label] = _checked(weight, where)[0]
    if missing := [label for label in labels if label not in found]:
        raise InputError(f"{path}: no weight of label {named(map(quoted, missing))}")
    return _checked([found[label] for label in labels], str(path))


def _checked(found: Sequence[float], where: str) -> tuple[float, ...]:
    if wrong := [one for one in found if not 0 <= one < math.inf]:
        raise InputError(f"{where}: weight {wrong[0]:g} is not a number from 0 on")
    if len(found) > 1 and not any(found):
        raise InputError(f"{where}: all weights are 0")
    return tuple(found)
