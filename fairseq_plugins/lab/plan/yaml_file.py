"""YAML files of experiments: plain keys and values of bounded size, read as a model.

Refused are anchors, aliases and merges, because a few lines of them stand for billions of values;
tags, because no value needs them; and repeated keys, because the first would be lost. pydantic's
errors become one line.
"""

from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import yaml
from pydantic import TypeAdapter, ValidationError

from ...errors import InputError
from ...messages import quoted, shortened
from ...text_reading import decode
from ..safe_files import read_bytes

LARGEST = 200_000  # bytes of a document
DEEPEST = 12  # levels of nesting
LONGEST = 10_000  # characters of one value
_DIGITS = 1000  # of a whole number; longer numbers cannot be shown
_adapter = cache(TypeAdapter)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the refusals above."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        refused = {
            "anchors (&) and aliases (*)": getattr(event, "anchor", None) is not None,
            "tags (!)": getattr(event, "tag", None) is not None,
            "values of this length": len(getattr(event, "value", None) or "") > LONGEST,
            "values this deep": self.depth == DEEPEST,
        }
        for problem in [one for one, is_there in refused.items() if is_there]:
            raise _refusal(event, problem)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise _refusal(key, "merges (<<)")
            name = self.construct_object(key) if isinstance(key, yaml.ScalarNode) else key
            if name in seen:
                raise _refusal(key, f"keys that stand twice ({name!r})")
            seen.add(name)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: Any) -> int:
        if len(node.value) > _DIGITS:
            raise _refusal(node, "numbers of this length")
        return super().construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _refusal(where: Any, problem: str) -> InputError:
    return InputError(f"line {where.start_mark.line + 1}: {problem} are not read here")


def read_yaml(path: str | Path) -> dict[Any, Any]:
    """Read the keys and values of a file."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    content = parse_yaml(decode(read_bytes(path.resolve(), LARGEST), path), str(path))
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected keys and values")
    return content


def parse_yaml(text: str, place: str) -> Any:
    """Parse a text; ``place`` stands in error messages."""
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: not YAML: {' '.join(str(error).split())[:300]}") from None


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
