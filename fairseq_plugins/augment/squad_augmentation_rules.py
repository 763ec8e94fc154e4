"""The choice of questions to paraphrase, and of paraphrases to keep.

BERTQA (Chadha 2019, 3.4) paraphrases 35, 50 or 100 % of SQuAD's questions by translating them there
and back. The choice depends on the seed and on a question's id and text, not on its place in the
file; a larger share includes a smaller one.
"""

import unicodedata
from collections.abc import Collection, Iterable

from ..corpora.squad import Question
from .seeded_random import random_for
from .translators import one_line

MARKS = "?\uff1f\u061f\u037e"  # last mark of a question: Latin, Chinese, Arabic, Greek
OTHER_ENDS = ".,;:!\u3002 "
UNKNOWN = ("<unk>", "⁇")  # models' output for unknown subwords

REASONS = {
    "empty": "nothing came back",
    "unchanged": "equal to the question, but for case, spaces and punctuation",
    "duplicate": "equal in that way to another question of its paragraph",
    "length": "too long, or much longer or shorter than the question",
    "unknown_words": "holds words that the model does not know",
}


def choose(questions: Iterable[Question], rate: float, seed: int) -> list[Question]:
    """Return a share of the questions, in the order they were drawn."""
    drawn = {
        (random_for(seed, "paraphrase", question.id, question.text).random(), question.id): question
        for question in questions
    }
    return [drawn[key] for key in sorted(drawn)[: round(rate * len(drawn))]]


def clean(paraphrase: str, question: str) -> str:
    """Return a paraphrase as one line that ends with the question's mark, if any."""
    text, mark = one_line(paraphrase), one_line(question)[-1:]
    if not mark or mark not in MARKS:
        return text
    asks = text[-1:] and text[-1] in MARKS
    text = text.rstrip(f"{MARKS} " if asks else MARKS + OTHER_ENDS)  # "of the U.S.?" keeps its dot
    return f"{text}{mark}" if text else ""


def folded(text: str) -> str:
    """Return a text without case, blanks and punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    # marks (category M) are part of letters in many scripts
    kept = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain)
    return " ".join("".join(kept).split())


def fault(
    paraphrase: str,
    question: str,
    others: Collection[str],
    *,
    max_ratio: float,
    max_characters: int,
) -> str | None:
    """Return the reason against a paraphrase, of `REASONS`, or None.

    Args:
        paraphrase: from `clean`.
        question: the original.
        others: all questions of the paragraph, `folded`.
        max_ratio: largest factor between the numbers of words or characters (0: no limit).
        max_characters: largest length of both.
    """
    new, old = folded(paraphrase), folded(question)
    if not new:
        return "empty"
    if any(sign in paraphrase and sign not in question for sign in UNKNOWN):
        return "unknown_words"
    if new == old:
        return "unchanged"
    if new in others:
        return "duplicate"
    words, characters = (
        sorted((count(paraphrase), count(question)))
        for count in (lambda text: len(text.split()), len)
    )
    odd = max_ratio and any(most > max_ratio * least for least, most in (words, characters))
    return "length" if odd or characters[1] > max_characters else None
