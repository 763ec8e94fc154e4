"""The trees of a split of parallel text, as they stand on disk, checked."""

from __future__ import annotations

import numpy as np

from ..syntax.tree import NO_WORD, first_bad_sentence

ROWS_AT_ONCE = 100_000


def check_trees(what: str, words: np.ndarray, heads: np.ndarray, sizes: np.ndarray) -> None:
    """Refuse columns that are no trees.

    Args:
        what: their place, for the message.
        words: numbers of the words of all tokens, line after line (`syntax.tree`), (N,).
        heads: numbers of their heads, (N,).
        sizes: tokens in each line, ``</s>`` included; they sum to N.

    Raises:
        ValueError: names the first line that is wrong.
    """
    begin = 0
    for first in range(0, len(sizes), ROWS_AT_ONCE):
        part = sizes[first : first + ROWS_AT_ONCE].astype(np.int64)
        end = begin + int(part.sum())
        columns = (np.asarray(column[begin:end], np.int64) for column in (words, heads))
        _check_rows(what, *columns, part, first)
        begin = end


def _check_rows(
    what: str, words: np.ndarray, heads: np.ndarray, sizes: np.ndarray, done: int
) -> None:
    """Check some lines; ``done`` came before them."""
    line_of = np.repeat(np.arange(len(sizes)), sizes)  # (N,)
    last = np.cumsum(sizes) - 1  # places of </s>
    steps = np.diff(words, prepend=0)  # (N,)
    steps[last[:-1] + 1] = words[last[:-1] + 1]
    firsts = (steps == 1) & (words != NO_WORD)
    wrong = (steps < 0) | (steps > 1)  # numbers leave out words, or go back
    wrong[last] = words[last] != NO_WORD
    wrong |= (words == NO_WORD) != (heads == NO_WORD)
    heads_of_words = heads[firsts]  # (words of all lines,)
    within = ~firsts & (words != NO_WORD) & ~wrong
    wrong[within] |= (heads != np.roll(heads, 1))[within]  # one word, two heads
    for place in np.flatnonzero(wrong)[:1]:
        raise ValueError(
            f"{what}, line {done + line_of[place] + 1}: word {words[place]} with head "
            f"{heads[place]} does not fit in with the tokens before it; prepare the folder again"
        )
    roots = heads_of_words == words[firsts]
    numbers = np.where(roots, 0, heads_of_words)
    counts = np.bincount(line_of[firsts], minlength=len(sizes))
    if bad := first_bad_sentence(numbers, counts):
        line, error = bad
        raise ValueError(f"{what}, line {done + line + 1}: {error}; prepare the folder again")
