"""What the steps after an experiment left: figures, tables, pages, texts.

Of a figure that is there in several formats one is shown, the one that stays sharp; a table in CSV
is passed over where the same stands beside it as Markdown or as a figure.
"""

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from ..results.frame import read_object, tried
from ..run_files import AFTER, DONE
from ..safe_files import files_below, inner_folders, is_file, read_bytes, read_text
from .model import MARKDOWN, PAGE, PLAIN, Figure, Text

LARGEST = 8_000_000  # bytes of a file that a page takes in
_IMAGES = (".svg", ".png")
_TEXTS = {".md": MARKDOWN, ".html": PAGE, ".txt": PLAIN, ".csv": PLAIN}


def leftovers(experiment: Path, remarks: list[str]) -> list[Figure | Text]:
    """Return what lies in the folders of an experiment's steps, step by step.

    Args:
        experiment: its folder.
        remarks: what could not be read is added, a line each.
    """
    found: list[Figure | Text] = []
    if (experiment / AFTER).is_symlink():
        remarks.append(f"{experiment / AFTER}: passed over, a symbolic link")
        return []
    steps = inner_folders(experiment / AFTER, remarks)
    for step in (step for step in steps if not step.name.startswith(".")):  # with a dot: under way
        for path in files_below(step, remarks):
            if not path.name.startswith(".") and _is_shown(path):
                found += _leftover(step, path, remarks)
    return found


def _is_shown(path: Path) -> bool:
    """Tell whether a file is shown, and not another format of it."""
    if path.suffix == ".png":
        return not is_file(path.with_suffix(".svg"))
    if path.suffix == ".csv":
        return not any(is_file(path.with_suffix(other)) for other in (*_IMAGES, ".md"))
    return path.suffix in (*_IMAGES, *_TEXTS)


def _is_image(path: Path) -> bool:
    """Tell whether a file is a whole image of the kind that its name says."""
    data = read_bytes(path, LARGEST)
    if path.suffix == ".png":
        return data.startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in data[-12:]
    try:
        return ElementTree.fromstring(data).tag == "{http://www.w3.org/2000/svg}svg"
    except (ElementTree.ParseError, ValueError, LookupError):
        return False


def _made_by(step: Path) -> str:
    """Say which command left a step's files; empty where nothing tells."""
    words = tried(partial(read_object, step / DONE), [], {}).get("command")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return ""
    return f"Made by: {shlex.join(['fairseq-plugins', *words[3:]])}"


def _leftover(step: Path, path: Path, remarks: list[str]) -> Iterator[Figure | Text]:
    name = path.relative_to(step).with_suffix("").as_posix()
    title = step.name if name == step.name else f"{step.name}: {name}"
    try:
        if path.suffix in _IMAGES:
            if _is_image(path):
                yield Figure(title, _made_by(step), path)
            else:
                remarks.append(f"{path}: passed over, empty or no whole {path.suffix[1:].upper()}")
        else:
            yield Text(title, _TEXTS[path.suffix], read_text(path, LARGEST, "replace"))
    except (OSError, ValueError) as error:
        remarks.append(f"passed over {error}")
