"""Options of a comparison of systems; importing this loads no library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..option_flags import option
from .choices import SENTENCE_METRICS, TOKENIZED
from .contrast import Criteria


@dataclass(frozen=True)
class ContrastOptions(Criteria):
    """What to compare, and how to show it.

    Args:
        systems: their files: two of translations, two or more of anything else.
        names: what to call them (default: what tells their paths apart).
    """

    systems: Sequence[str] = ()
    names: Sequence[str] | None = None
    gold: str | None = option(
        "translation: references (default: T- lines); answers: SQuAD JSON with answers, or "
        "SPLIT.examples.jsonl of a prepared folder",
        None,
    )
    src: str | None = option(
        "translation: source sentences (default: S- lines, if any); predictions: the texts, where "
        "they do not hold them: SPLIT.examples.jsonl of a prepared folder, or one example a line "
        "with a TAB between its sentences",
        None,
    )
    lang: str | None = option("translation: target language (default: de)", None)
    tokenized: str | None = option(
        "translation: systems are Moses tokens (default: auto)", None, choices=TOKENIZED
    )
    metric: str | None = option(
        "translation: sentence score (default: chrf)", None, choices=SENTENCE_METRICS
    )
    positive: str | None = option(
        "classes: whose probability is shown (default: 1 of 0 and 1, else the answer's)", None
    )
    max: int = option("how many to show", 10, least=0)
    markdown: str | None = option("write a Markdown table here", None)
    tsv: str | None = option("write tab-separated values here", None)
    html: str | None = option("write a page here", None)
