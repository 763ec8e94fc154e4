"""YAML as experiments read it: plain mappings, lists and values, written out and of a bounded size.

Anchors, aliases and merges are refused, since a few lines of them stand for billions of values; so
are tags, which no value here needs, and keys that stand twice, of which the first would be lost.
"""

from pathlib import Path
from typing import Any

import yaml

from ...text_reading import decode
from ..safe_files import read_bytes

LARGEST = 200_000  # bytes of a document
DEEPEST = 12  # mappings and lists within each other
LONGEST = 10_000  # characters of one value; numbers of more take long to read


class _Refused(yaml.MarkedYAMLError):
    """What is YAML, but is not read here."""


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, which makes plain values only, with the refusals above."""

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
            raise _Refused(problem=problem, problem_mark=event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise _Refused(problem="merges (<<)", problem_mark=key.start_mark)
            name = self.construct_object(key) if isinstance(key, yaml.ScalarNode) else key
            if name in seen:
                problem = f"keys that stand twice ({name!r})"
                raise _Refused(problem=problem, problem_mark=key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path) -> Any:
    """Read a file of at most one document.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is no YAML, or more than is read here; names the line.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return parse_yaml(decode(read_bytes(path.resolve(), LARGEST), path), str(path))


def read_mapping(path: str | Path) -> dict[Any, Any]:
    """Read keys and values of a file; see `read_yaml`."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected keys and values")
    return content


def parse_yaml(text: str, place: str) -> Any:
    """Read a text, which stands at ``place``; ValueError: see `read_yaml`."""
    try:
        return yaml.load(text, _Loader)
    except _Refused as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"{place}, line {line}: {error.problem} are not read here") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not YAML: {' '.join(str(error).split())[:300]}") from None
