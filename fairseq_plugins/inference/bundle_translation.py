"""File translation: raw text by any translator of lines, a prepared split by a bundle.

A split is translated from the same ids and features that ``fairseq-generate`` reads, and the output
is a log in the same format, so that both can be compared sentence by sentence.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from math import log
from pathlib import Path
from typing import Any

from ..bundles.ctranslate2_model import Row, Search
from ..bundles.translation import Translator
from ..files import replacing
from ..text.beginnings import Beginnings, beginnings_of

STANDARD = "-"  # standard input
WINDOW = 4000  # sentences per window; batches hold sentences of similar length


def translate_text(
    translate: Callable[..., Sequence[str]], source: str, output: str, prefix: Beginnings = ""
) -> None:
    """Translate a file of raw text, `WINDOW` lines at a time.

    Args:
        translate: translates lines; ``first`` is the number of the first line for messages.
        source: the file, or `STANDARD`.
        output: file for the best translations, one per line; empty for standard output.
        prefix: beginning of all translations, or that of each line.
    """
    if source != STANDARD and not Path(source).is_file():
        raise FileNotFoundError(f"{source}: no such file")
    given = nullcontext(sys.stdin.buffer) if source == STANDARD else open(source, "rb")
    made = replacing(output, "w") if output else nullcontext(sys.stdout)
    with given as raw, made as out:
        lines = (line.removesuffix(b"\n").decode("utf-8", "surrogateescape") for line in raw)
        first = 1
        while part := [*islice(lines, WINDOW)]:
            how = {"prefix": beginnings_of(prefix, first, len(part))} if prefix else {}
            out.writelines(f"{line}\n" for line in translate(part, first=first, **how))
            first += len(part)


def translate_split(
    translator: Translator, data: str, split: str, output: str, search: Search
) -> None:
    """Translate a split of a prepared folder into a log."""
    from .prepared_splits import read_split

    numbered = enumerate(read_split(translator, data, split))
    with replacing(output, "w") as out:
        while part := [*islice(numbered, WINDOW)]:
            held = [spans for _, (_, _, _, spans) in part]
            found = translator.of_ids([row for _, (_, row, _, _) in part], search, held)
            out.writelines(f"{line}\n" for line in _log(part, found))


def _log(
    sentences: Sequence[tuple[int, tuple[str, Row, str, Any]]], found: Sequence[Any]
) -> Iterator[str]:
    """Yield the lines of a log; scores are logarithms to base 2, as in fairseq."""
    for (i, (source, _, target, _)), nbest in zip(sentences, found, strict=True):
        yield f"S-{i}\t{source}"
        yield f"T-{i}\t{target}"
        for one in nbest:
            yield f"H-{i}\t{one.score / log(2)}\t{' '.join(one.subwords)}"
            yield f"D-{i}\t{one.score / log(2)}\t{one.text}"
