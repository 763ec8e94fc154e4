"""Checks the files of a spaCy pipeline for time and memory before spaCy reads them.

spaCy's native code follows edit trees without checks, and a regular expression can be slow.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from srsly import msgpack

from ..messages import quoted
from ..text_reading import read_text

# a size in configurations and models -> its largest accepted value
SIZES = {"depth": 64, "window_size": 16, "maxout_pieces": 16, "nC": 64, "nM": 1024}
SIZES |= {"width": 4096, "hidden_width": 512}
PATTERNS = ("prefix_search", "suffix_search", "infix_finditer", "token_match", "url_match")
NO_CHILD = 2**32 - 1
MOST_NODES = 10_000  # of an edit tree; repeated nodes count repeatedly
MOST_RULES = 20_000  # exceptions of a tokeniser, or patterns of a ruler
MOST_MOVES = 1 << 18  # bytes of a parser's table of moves
CODE = (".py", ".pyc", ".so", ".pkl", ".pickle", ".pt")
_FAST = re.compile(r"[^*+?{|]{0,500}[*+?]?[^*+?{|]{0,500}")  # at most one sign of repetition


def values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a name and its value, then all inside; list members have the list's name."""
    yield name, value
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from values(str(key), part)
    for part in value if isinstance(value, list) else ():
        yield from values(name, part)


def _unpacked(path: Path) -> Any:
    return msgpack.loads(path.read_bytes(), raw=False)  # srsly's own readers leave `gc` off


def _json(path: Path) -> Any:
    return json.loads(read_text(path))


def _array(path: Path) -> Any:
    return np.load(path, mmap_mode="r")


def _trees(path: Path, _: str) -> Iterator[str]:
    sizes: list[int] = []
    for number, node in enumerate(_unpacked(path)["trees"]):
        children = [node.get(name, NO_CHILD) for name in ("prefix_tree", "suffix_tree")]
        children = [child for child in children if child != NO_CHILD]
        for child in children:
            if type(child) is not int or not 0 <= child < number:
                yield f"node {number} has the child {quoted(child)}, which is not before it"
                return
        sizes.append(1 + sum(sizes[child] for child in children))
        if sizes[-1] > MOST_NODES:
            yield f"node {number} stands above more than {MOST_NODES:,} nodes"
            return
    for label in _json(path.with_name("cfg"))["labels"]:
        if type(label) is not int or not 0 <= label < len(sizes):
            yield f"a label is {quoted(label)} and there are {len(sizes)} trees"


@lru_cache(8)
def own_tables(language: str) -> dict[str, Any]:
    """Return the settings of a language's own tokeniser."""
    import spacy

    how = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}
    tokenizer: Any = spacy.blank(language, config=how).tokenizer
    return msgpack.loads(tokenizer.to_bytes(exclude=["vocab"]), raw=False)


def _tokenizer(path: Path, language: str) -> Iterator[str]:
    found, own = _unpacked(path), own_tables(language)
    if strange := found.keys() - own.keys():
        yield f"{quoted(min(strange))} is no part of a tokeniser"
    for name in PATTERNS:
        if (pattern := found.get(name)) not in (None, own[name]):
            yield f"its {name} is {quoted(pattern)}, not the pattern of the language"
    rules = {
        word: parts
        for word, parts in (found.get("exceptions") or {}).items()
        if own["exceptions"].get(word) != parts
    }
    if len(rules) > MOST_RULES or len(str(rules)) > 100 * MOST_RULES:
        yield f"{len(rules):,} exceptions are not the language's own: too many, or too long"


def _settings(path: Path, _: str) -> Iterator[str]:
    """Yield the problems of a tokeniser's settings, which precede the configuration."""
    if path.parent.name == "tokenizer" and _json(path).get("segmenter", "char") != "char":
        yield f"it says {quoted(_json(path))}"


def _ruler(path: Path, _: str) -> Iterator[str]:
    patterns = [pattern for row in _unpacked(path) for pattern in row["patterns"]]
    if len(patterns) > MOST_RULES:
        yield f"there are {len(patterns):,} patterns, more than {MOST_RULES:,}"
    for pattern in patterns:
        signs = [token["OP"] for token in pattern if "OP" in token]
        if len(signs) > 1 or not {*signs} <= {*"!?*+"}:
            yield f"a pattern repeats words by {quoted(signs)}, not once by one of ! ? * +"
        for _, found in (row for row in values("", pattern) if row[0] == "REGEX"):
            for _, expression in values("", found):
                if isinstance(expression, str) and not _FAST.fullmatch(expression):
                    yield f"the expression {quoted(expression)} may be slow"


def _model(path: Path, _: str) -> Iterator[str]:
    for attributes in _unpacked(path)["attrs"]:
        for name in SIZES.keys() & attributes.keys():
            value = msgpack.loads(attributes[name], raw=False)
            if type(value) is not int or not 0 <= value <= SIZES[name]:
                yield f"{name} is {quoted(value)}, more than {SIZES[name]:,} or no number"


def _moves(path: Path, _: str) -> Iterator[str]:
    if path.stat().st_size > MOST_MOVES:
        yield f"it is longer than {MOST_MOVES:,} bytes"


Check = Callable[[Path, str], Iterator[str]]
# name of a file -> its reader, and its check if anything can be wrong
READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys(("cfg", "meta.json", "strings.json", "vectors.cfg"), _json),
    **dict.fromkeys(("vectors", "keys"), _array),
    **dict.fromkeys(("model", "trees", "patterns", "moves", "key2row"), _unpacked),
    **dict.fromkeys(("lookups.bin", "tokenizer"), _unpacked),
}
TREES: dict[str, Check] = {"trees": _trees}
CHECKS = TREES | {"patterns": _ruler, "model": _model, "moves": _moves, "cfg": _settings}
CHECKS |= {"tokenizer": _tokenizer}


def tree_problems(folder: Path) -> Iterator[str]:
    """Yield the problems of a pipeline's edit trees."""
    return _found(folder, TREES, "")


def file_problems(folder: Path, language: str) -> Iterator[str]:
    """Yield the problems of a pipeline's files."""
    for path in sorted(folder.rglob("*")):
        if (path.is_file() and path.name.endswith(CODE)) or path.name.startswith("pkuseg"):
            yield f"{path.relative_to(folder)} lies in it"
    yield from _found(folder, CHECKS, language)


def damaged(folder: Path) -> Path | None:
    """Return the first file of a pipeline with a wrong format."""
    for path in _files(folder, READERS):
        try:
            READERS[path.name](path)
        except Exception:  # any error of the libraries
            return path
    return None


def _files(folder: Path, names: Mapping[str, Any]) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name in names and path.is_file())


def _found(folder: Path, checks: Mapping[str, Check], language: str) -> Iterator[str]:
    for path in _files(folder, checks):
        name = path.relative_to(folder)
        try:
            for problem in checks[path.name](path, language):
                yield f"{name}: {problem}"
        except Exception as error:  # any error of wrong content
            yield f"{name} is damaged: {quoted(error)}"
