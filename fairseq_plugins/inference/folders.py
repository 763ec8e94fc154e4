"""What all predictions share: what they need of a prepared folder, and answers put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ..messages import named
from ..text.annotators import needs_annotator

Found = TypeVar("Found")


def read_part(manifest: Any, task: Any) -> Any:
    """Return a folder's manifest without annotations that its models' answers do not depend on.

    So nobody waits for a parser, or must have one, where it changes nothing.
    """
    read = task.needs.reads(training=False)
    kept = [name for name in manifest.annotations if name in read]
    changes = {} if needs_annotator(kept, manifest.tokenize) else {"annotator": {}}
    return replace(manifest, annotations=kept, **changes)


def check_split(manifest: Any, split: str, folder: Path) -> None:
    """Refuse a split that the prepared folder lacks.

    Raises:
        ValueError: names the choices.
    """
    if split not in manifest.splits:
        raise ValueError(f"{folder} has no split {split!r}; choices: {named(manifest.splits)}")


def in_order(found: Iterable[tuple[int, Found]], numbers: Iterable[int]) -> Iterator[Found]:
    """Yield what comes in any order by number, each as soon as all before it are there.

    Args:
        found: pairs of a number and what belongs to it.
        numbers: all of them, in the order that is wanted.
    """
    found, waiting = iter(found), {}
    for number in numbers:
        while number not in waiting:
            waiting.update([next(found)])
        yield waiting.pop(number)
