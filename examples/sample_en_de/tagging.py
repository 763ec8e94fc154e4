"""Tag the sample with the project's annotator and compare with what the grammar intends."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from grammar.ambiguity import Occurrence

PROJECT = Path(__file__).resolve().parents[2]


def tag_at_offsets(lines: Sequence[str], spacy_model: str) -> Iterator[dict[int, str]]:
    """Yield for each line the part of speech of the word that starts at each offset."""
    sys.path.insert(0, str(PROJECT))
    from fairseq_plugins.text.annotate import Annotator

    for annotation in Annotator(spacy_model).annotate_text(lines):
        starts = (start for start, _ in annotation.spans)
        yield dict(zip(starts, annotation.layers["pos"]))


def agreement(
    lines: Sequence[str], words: Sequence[Sequence[Occurrence]], spacy_model: str
) -> tuple[Counter, Counter]:
    """Count the ambiguous words, and those tagged as intended, for each word and reading."""
    seen, hit = Counter(), Counter()
    for found, tags in zip(words, tag_at_offsets(lines, spacy_model)):
        for item in found:
            key = (item.word, item.upos)
            seen[key] += 1
            hit[key] += tags.get(item.start) == item.upos
    return seen, hit


def report(seen: Counter, hit: Counter) -> str:
    """Write the agreement of each word and reading, and of all, as a table."""
    rows = [f"{'word':10} {'UPOS':6} {'count':>6} {'agree':>7}"]
    for key in sorted(seen):
        rows.append(f"{key[0]:10} {key[1]:6} {seen[key]:6} {hit[key] / seen[key]:7.1%}")
    total = seen.total()
    rows.append(f"{'all':10} {'':6} {total:6} {hit.total() / max(total, 1):7.1%}")
    return "\n".join(rows)
