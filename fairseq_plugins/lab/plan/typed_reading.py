"""Typed values out of what YAML holds: pydantic's checks, each refusal in one sentence."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ...messages import quoted

CLOSED = ConfigDict(extra="forbid", frozen=True, strict=True)


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def read_as(kind: Any, content: Any, place: str) -> Any:
    """Return content as a value of a type.

    Args:
        kind: model of pydantic, whose keys are closed, or another type that it knows.
        content: as YAML has it.
        place: where it stands, for messages.

    Raises:
        ValueError: a key that is unknown or missing, or a value of another kind; names place, key,
            value and what would fit.
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        refuse_others(content, kind.model_fields, place)
    try:
        return _adapter(kind).validate_python(content)
    except ValidationError as error:
        found = error.errors()[0]
    *places, last = found["loc"] or [None]
    if found["type"] == "missing":
        reason = f"key {quoted(last)} is missing"
    else:
        places += [] if last is None else [last]
        own = found["type"] == "value_error"
        reason = str(found["ctx"]["error"]) if own else f"{quoted(found['input'])}: {found['msg']}"
    places = [f"value {one + 1}" if isinstance(one, int) else one for one in places]
    raise ValueError(": ".join([place, *places, reason]))


def refuse_others(content: Any, known: Collection[str], place: str) -> None:
    """Refuse what is no mapping, or has other keys than those known.

    Raises:
        ValueError: names the key and the choices.
    """
    if not isinstance(content, dict):
        raise ValueError(f"{place}: {quoted(content)} is no mapping of {', '.join(known)}")
    for key in content:
        if key not in known:
            raise ValueError(f"{place}: unknown key {quoted(key)}; choices: {', '.join(known)}")
