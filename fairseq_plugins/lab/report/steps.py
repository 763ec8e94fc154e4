"""The files of the steps after an experiment: figures for the page, and other files.

Of a figure in several formats the sharpest is shown; a CSV table is skipped if a Markdown file or a
figure with the same name exists.
"""

import os
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from ..results.frame import tried
from ..run_files import AFTER, DONE
from ..safe_files import files_below, inner_folders, is_file, read_bytes, read_json, read_text
from .page import IMAGES, Figure, File

LARGEST = 8_000_000  # bytes of a file that a page includes
_READ = (".md", ".txt")
_SHARPER = {".png": (".svg",), ".csv": (*IMAGES, ".md")}


def left_by_steps(experiment: Path, page: Path, remarks: list[str]) -> Iterator[Figure | File]:
    """Yield the files of an experiment's steps, step by step; unreadable ones become remarks."""
    if (experiment / AFTER).is_symlink():
        remarks.append(f"{experiment / AFTER}: passed over, a symbolic link")
        return
    steps = inner_folders(experiment / AFTER, remarks)
    for step in (step for step in steps if not step.name.startswith(".")):  # with a dot: unfinished
        for path in files_below(step, remarks):
            others = (path.with_suffix(other) for other in _SHARPER.get(path.suffix, ()))
            shown = path.suffix in (*IMAGES, *_READ, ".html", ".csv")
            if shown and not path.name.startswith(".") and not any(map(is_file, others)):
                make = partial(_shown, step, path, page)
                yield from tried(make, remarks, [])


def _shown(step: Path, path: Path, page: Path) -> list[Figure | File]:
    name = path.relative_to(step).with_suffix("").as_posix()
    title = step.name if name == step.name else f"{step.name}: {name}"
    if path.suffix in IMAGES:
        data = read_bytes(path, LARGEST)
        return [Figure(title, _made_by(step), data, path.suffix, is_own=False)]
    link = quote(os.fsencode(os.path.relpath(path, page)))
    text = read_text(path, LARGEST, "replace") if path.suffix in _READ else ""
    return [File(title + path.suffix, link, text)]


def _made_by(step: Path) -> str:
    """Return the command of a step; empty if unknown."""
    words = tried(partial(read_json, step / DONE), [], {}).get("command")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return ""
    return f"Made by: {shlex.join(['fairseq-plugins', *words[3:]])}"
