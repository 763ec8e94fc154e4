"""A dependency tree as two numbers a subword: its word's, and that of the head of its word.

Words are counted from 1, and only those that have a subword; 0 stands where there is no word. A
root is its own head. So the tree of a sentence travels beside its subwords as two columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from .tree import project_heads

NO_WORD = 0
COLUMNS = ("words", "heads")


def tree_columns(heads: Sequence[int], word_of: Sequence[int]) -> tuple[list[int], list[int]]:
    """Number the words of subwords, and their heads.

    A word without a subword (a piece can cover two words) is passed over, as `project_heads` does.

    Args:
        heads: W heads, from 1; 0 at roots.
        word_of: S word indices from 0, -1 where a subword has no word.

    Returns:
        S numbers of words, and S numbers of their heads.
    """
    held = sorted({word for word in word_of if word >= 0})
    numbers = {word: number for number, word in enumerate(held, 1)}
    kept = project_heads(heads, held)
    words = [numbers.get(word, NO_WORD) for word in word_of]
    return words, [kept[word - 1] or word if word else NO_WORD for word in words]


def heads_of(words: Sequence[int], heads: Sequence[int]) -> list[int]:
    """Return the W heads, 0 at roots, that the two columns of a sentence tell of."""
    found = dict(zip(words, heads))
    return [0 if found[word] == word else found[word] for word in sorted(found) if word != NO_WORD]


def shortened_columns(
    words: Sequence[int], heads: Sequence[int], length: int
) -> tuple[list[int], list[int]]:
    """Return the two columns of a sentence of which only the first ``length`` subwords are left.

    What depended on a word that is gone depends on that word's head; see `project_heads`.
    """
    return tree_columns(heads_of(words, heads), [word - 1 for word in words[:length]])
