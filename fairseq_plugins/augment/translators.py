"""Translators of lines: a shell command, a loaded model, or a chain.

A translator is a function that returns as many sentences as it gets, in the same order. A command
reads one sentence per line on its standard input and writes as many lines.
"""

import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence

from tqdm import tqdm

from ..errors import InputError

Translate = Callable[[Sequence[str]], Sequence[str]]
CHUNK = 256  # sentences at a time


def one_line(text: str) -> str:
    """Return a text that fits a line and a column."""
    return " ".join(text.split())


def chunks(texts: Sequence[str], size: int = CHUNK) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


def translate_chunk(texts: Sequence[str], translate: Translate) -> dict[str, str]:
    """Translate some distinct texts, one line each.

    Returns:
        Each text with its translation, which may be empty.
    """
    back = translate([one_line(text) for text in texts])
    if len(back) != len(texts):
        raise InputError(
            f"{len(texts)} sentences went in, {len(back)} came back; there must be one a line, in "
            "the same order"
        )
    return {text: one_line(new) for text, new in zip(texts, back)}


def translate_all(
    texts: Iterable[str],
    translate: Translate,
    *,
    title: str,
    unit: str,
    size: int = CHUNK,
    found: dict[str, str] | None = None,
    keep: Callable[[dict[str, str]], None] = lambda chunk: None,
) -> dict[str, str]:
    """Translate distinct texts, chunk by chunk, with a progress bar.

    Args:
        texts: any, in any order.
        translate: the translator.
        title, unit: of the bar.
        size: texts at a time.
        found: earlier translations; grows. Complete chunks are skipped.
        keep: called with every new chunk.

    Returns:
        Each text with its translation, which may be empty.
    """
    found, distinct = {} if found is None else found, list(dict.fromkeys(texts))
    with tqdm(total=len(distinct), desc=title, unit=unit) as bar:
        for chunk in chunks(distinct, size):
            if any(text not in found for text in chunk):
                became = translate_chunk(chunk, translate)
                keep(became)
                found |= became
            bar.update(len(chunk))
    return found


def chain(*steps: Translate) -> Translate:
    """Return a translator that applies several in order; empty results go no further."""

    def translate(texts: Sequence[str]) -> list[str]:
        found = [one_line(text) for text in texts]
        for step in steps:
            distinct = list(dict.fromkeys(text for text in found if text))
            became = translate_chunk(distinct, step) if distinct else {}
            found = [became.get(text, "") for text in found]
        return found

    return translate


def run_command(command: str, flag: str) -> Translate:
    """Return a translator that starts the shell command of option ``flag`` for every chunk."""

    def translate(texts: Sequence[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in texts).encode()
        done = subprocess.run(command, shell=True, input=text, capture_output=True, check=False)
        said = done.stderr.decode(errors="replace").strip().splitlines()
        last = f": {said[-1]}" if said else ""
        if done.returncode:
            raise InputError(f"{flag} {command!r} ended with status {done.returncode}{last}")
        try:
            out = done.stdout.decode()
        except UnicodeDecodeError:
            raise InputError(f"{flag} {command!r} wrote no UTF-8") from None
        lines = out.removesuffix("\n").split("\n") if out else []
        if len(lines) != len(texts):
            raise InputError(
                f"{flag} {command!r}: {len(texts)} sentences went in, {len(lines)} came back; "
                f"there must be one a line, in the same order{last}"
            )
        return lines

    return translate
