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

    problem_mark: yaml.Mark


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, which makes plain values only, with the refusals above."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a value, unless it is an alias, has an anchor or a tag, or is too big."""
        event = self.peek_event()
        if getattr(event, "anchor", None) is not None:  # aliases have one as well
            raise _Refused(problem="anchors (&) and aliases (*)", problem_mark=event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise _Refused(problem="tags (!)", problem_mark=event.start_mark)
        if len(getattr(event, "value", None) or "") > LONGEST:
            raise _Refused(problem="values of this length", problem_mark=event.start_mark)
        if self.depth == DEEPEST:
            raise _Refused(problem="values this deep", problem_mark=event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        """Make a mapping of keys that are all different, and merge none."""
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.tag == "tag:yaml.org,2002:merge":
                raise _Refused(problem="merges (<<)", problem_mark=key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                name = self.construct_object(key)
                if name in seen:
                    where = f"keys that stand twice ({name!r})"
                    raise _Refused(problem=where, problem_mark=key.start_mark)
                seen.add(name)
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path) -> Any:
    """Read a file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is no YAML, or more than is read here; names the line.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return parse_yaml(decode(read_bytes(path.resolve(), LARGEST), path), str(path))


def parse_yaml(text: str, place: str) -> Any:
    """Read a text of at most one document, which stands at ``place``.

    Raises:
        ValueError: see `read_yaml`.
    """
    try:
        return yaml.load(text, _Loader)
    except _Refused as error:
        line = error.problem_mark.line + 1
        raise ValueError(f"{place}, line {line}: {error.problem} are not read here") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not YAML: {' '.join(str(error).split())[:300]}") from None
