"""What a dictionary lacks: how much of a stream becomes ``<unk>`` or ``[UNK]``, and what mostly."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..text.text_encoder import EncodedSentence

logger = logging.getLogger(__name__)

NAMED = 10  # of the commonest
LONGEST = 40  # characters of one that are shown
MUCH = 0.001  # of a stream: more is no accident
REMEDIES = {
    "<unk>": "is it text of the dictionary's kind, cut into words as that was? (--like FOLDER "
    "prepares as FOLDER was)",
    "[UNK]": "is the text of the language and characters that the pretrained model knows?",
}


def unknown_words(sentences: Iterable[EncodedSentence], unknown: int) -> Counter[str]:
    """Count the words of the wordpieces that have the id ``unknown``."""
    return Counter(
        sentence.words[word]
        for sentence in sentences
        for token, word in zip(sentence.tokens, sentence.word_of)
        if token == unknown
    )


def summary(unknown: Mapping[str, int], total: int) -> dict[str, Any]:
    """Describe the unknown part of a stream, as manifests keep it.

    Args:
        unknown: occurrences of what the dictionary lacks.
        total: occurrences of everything.
    """
    commonest: Counter[str] = Counter()
    for text, number in sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:NAMED]:
        commonest[text if len(text) <= LONGEST else f"{text[:LONGEST]}…"] += number
    return {"count": sum(unknown.values()), "of": total, "commonest": dict(commonest)}


def report(split: str, streams: Mapping[str, Mapping[str, Any]], symbol: str) -> None:
    """Log what was replaced, as fairseq-preprocess does; warn where it is much.

    Args:
        split: name of the split.
        streams: stream -> its `summary`.
        symbol: what stands for the unknown.
    """
    for stream, found in streams.items():
        share = found["count"] / max(found["of"], 1)
        named = ", ".join(f"{text!r} {number}" for text, number in found["commonest"].items())
        logger.log(
            logging.WARNING if share > MUCH else logging.INFO,
            "%s: %d of %d tokens of %s (%.2f %%) replaced by %s%s%s",
            *(split, found["count"], found["of"], stream, 100 * share, symbol),
            f"; most often {named}" if named else "",
            f": {REMEDIES[symbol]}" if share > MUCH else "",
        )
