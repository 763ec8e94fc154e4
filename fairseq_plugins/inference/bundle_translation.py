"""Files translated: raw text by whatever translates lines, a prepared split by a bundle.

Of a split the very ids and features are translated that ``fairseq-generate`` reads, and what comes
out is a log as it prints it, so that both can be compared sentence by sentence.
"""

import sys
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any

from ..augment.translators import Translate
from ..bundles.ctranslate2_model import Row, Search
from ..bundles.translation import Translator
from ..evaluation.score_report import ScoreReport, score_files
from ..evaluation.translation import TextForm
from ..files import write_text

STANDARD = "-"  # standard input


def translate_text(translate: Translate, source: str, output: str) -> None:
    """Translate a file of raw text.

    Args:
        translate: translates lines.
        source: the file, or `STANDARD`.
        output: where the best translations go, one a line; empty for standard output.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: what ``translate`` refuses.
    """
    if source != STANDARD and not Path(source).is_file():
        raise FileNotFoundError(f"{source}: no such file")
    raw = sys.stdin.buffer.read() if source == STANDARD else Path(source).read_bytes()
    lines = raw.removesuffix(b"\n").split(b"\n") if raw else []
    found = translate([line.decode("utf-8", "surrogateescape") for line in lines])
    text = "".join(f"{line}\n" for line in found)
    write_text(output, text) if output else sys.stdout.write(text)


def translate_split(
    translator: Translator, data: str, split: str, output: str, search: Search
) -> None:
    """Translate a split of a prepared folder, as ids.

    Args:
        data: the folder.
        split: of it.
        output: where the log goes.
        search: how.

    Raises:
        FileNotFoundError: no such folder or split.
        ValueError: a folder that does not fit the bundle, or a sentence that is too long.
    """
    from .prepared_splits import read_split

    sentences = read_split(translator, data, split)
    limit = translator.model.layout.source.positions
    for number, (_, (ids, _), _) in enumerate(sentences, 1):
        if len(ids) > limit:
            raise ValueError(f"{data}, {split}, line {number}: longer than {limit} subwords")
    found = translator.of_ids([row for _, row, _ in sentences], search)
    write_text(output, "".join(f"{line}\n" for line in _log(sentences, found)))


def _log(sentences: Sequence[tuple[str, Row, str]], found: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of a log; its scores are logarithms to the base 2, as fairseq prints them."""
    for i, ((source, _, target), nbest) in enumerate(zip(sentences, found, strict=True)):
        yield f"S-{i}\t{source}"
        yield f"T-{i}\t{target}"
        for one in nbest:
            yield f"H-{i}\t{one.score / log(2)}\t{' '.join(one.subwords)}"
            yield f"D-{i}\t{one.score / log(2)}\t{one.text}"


def scored(output: str, reference: str | None, language: str) -> ScoreReport:
    """Score what was written; see `score_files`."""
    return score_files([output], reference, TextForm(language))
