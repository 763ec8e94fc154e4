"""YAML of unknown origin: plain keys and values of bounded size.

Refused are anchors, aliases and merges, because a few lines of them stand for billions of values;
tags, because no value needs them; and repeated keys, because the first would be lost.
"""

from typing import Any

import yaml

from ..errors import InputError

LARGEST = 200_000  # bytes of a document
DEEPEST = 12  # levels of nesting
LONGEST = 10_000  # characters of one value
_DIGITS = 1000  # of a whole number; longer numbers cannot be shown


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


def parse_yaml(text: str, place: str) -> Any:
    """Parse a text; ``place`` stands in error messages."""
    if len(text) > LARGEST:
        raise InputError(f"{place}: larger than {LARGEST:,} bytes")
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{place}: not YAML: {' '.join(str(error).split())[:300]}") from None
