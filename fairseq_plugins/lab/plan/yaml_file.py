"""YAML files of experiments: plain keys and values of bounded size, read as a model.

pydantic's errors become one line.
"""

from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ...door.yaml_text import LARGEST, parse_yaml
from ...errors import InputError
from ...messages import quoted, shortened
from ...text_reading import decode
from ..safe_files import read_bytes

_adapter = cache(TypeAdapter)


def read_yaml(path: str | Path) -> dict[Any, Any]:
    """Read the keys and values of a file."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    content = parse_yaml(decode(read_bytes(path.resolve(), LARGEST), path), str(path))
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected keys and values")
    return content


def filled(content: Any) -> Any:
    """Return keys and values without empty values; anything but a mapping is returned unchanged."""
    is_mapping = isinstance(content, dict)
    return {k: v for k, v in content.items() if v not in (None, "")} if is_mapping else content


def read_as(kind: Any, content: Any, place: str) -> Any:
    """Return content, as parsed from YAML, as a value of a type; records have closed keys."""
    try:
        return _adapter(kind).validate_python(content)
    except ValidationError as error:
        found = error.errors()[0]
    places = [f"value {one + 1}" if isinstance(one, int) else str(one) for one in found["loc"]]
    key = quoted(places[-1]) if places else ""
    if found["type"] == "missing":
        places[-1:], reason = [], f"key {key} is missing"
    elif found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        known = get_type_hints(kind) if len(places) == 1 else ()
        choices = f"; choices: {', '.join(known)}" if known else ""
        places[-1:], reason = [], f"unknown key {key}{choices}"
    elif found["type"] == "value_error":
        reason = str(found["ctx"]["error"])
    else:
        reason = f"{quoted(found['input'])}: {found['msg']}"
    raise InputError(": ".join([place, *(shortened(one) for one in places), reason]))
