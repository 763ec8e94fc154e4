"""Protected spans (`text.protected`) inside fairseq: from a batch's source lines to its results."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from ..data.streams import stream_prefix
from ..data.text_dictionary import TextDictionary
from ..data.translation_manifest import CHARACTERS, PROTECTED, TranslationManifest
from ..syntax.rows import Rows, check_count
from ..text.protected import misfits, report, with_spans
from ..text.raw_text import readable

KEY = "protected"  # of a batch: for each source the number of its line, and its spans


def read_spans(folder: Path, manifest: TranslationManifest, split: str) -> list[tuple]:
    """Return the number of each line of a prepared split, and its spans."""
    name = f"{manifest.source_lang}.{PROTECTED}"
    prefix = stream_prefix(folder, split, manifest.pair, name)
    rows = Rows.read(prefix)
    check_count(prefix, rows, manifest.count(split))
    rows.check(prefix, CHARACTERS, "character")
    texts = (readable("".join(map(chr, row.tolist()))) for row in rows)
    return [(i, text.split("\n") if text else ()) for i, text in enumerate(texts, 1)]


def marked(
    ids: Tensor, dictionary: TextDictionary, spans: Sequence[str]
) -> tuple[Tensor, Counter[int]]:
    """Return ids with tokens of spans in the place of their numbers, which are counted."""
    plain = dictionary.plain(ids).tolist()
    symbols = [dictionary.symbols[i] for i in plain]
    tokens, found = with_spans(symbols, spans)
    rows = zip(ids.tolist(), plain, symbols, tokens)
    made = [i if old == new else dictionary.id_of(k, new) for i, k, old, new in rows]
    return ids.new_tensor(made), found


def restore(sample: dict[str, Any], found: Any, dictionary: TextDictionary) -> None:
    """Mark the ids of a batch's translations and references; log spans that do not fit."""
    told, targets = [], sample.get("target")
    for row, (line, spans) in enumerate(sample[KEY]):
        numbers: Counter[int] = Counter()
        for one in reversed(found[row]):  # the best is the last here
            one["tokens"], numbers = marked(one["tokens"], dictionary, spans)
        told += [f"line {line}: {one}" for one in misfits(spans, numbers)]
        if targets is not None:
            targets[row] = marked(targets[row], dictionary, spans)[0]
    report(told)
