"""Dependency trees: checks, and their transfer to other words.

A tree is a list of heads: word i's head is a number from 1, and 0 at a root. A sentence may be a
forest. `nn.tree_masks` defines the attention that trees allow.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import count
from operator import eq
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..messages import named, quoted

Arc = tuple[float, float]  # places of a dependent and of its head; 1.5 is between 1 and 2
NUMBER = re.compile(r"\d{1,9}")  # of a word; numbers of more digits are refused


def check_heads(
    heads: Sequence[int], words: Sequence[str] | None = None, *, one_root: bool = False
) -> None:
    """Refuse heads that form no trees.

    Args:
        heads: one number per word.
        words: the words, to compare their number and for messages.
        one_root: whether the sentence must be one tree.
    """
    count = len(heads)
    if words is not None and len(words) != count:
        raise InputError(f"{count} heads are given for a sentence of {len(words)} words")
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= count:
            raise InputError(
                f"{_name(word, words)} has head {head}, but the sentence has {count} words"
            )
        if head == word:
            raise InputError(f"{_name(word, words)} of {count} is its own head")
    if cycle := _cycle(heads):
        chain = named(
            (_name(word, words) for word in [*cycle, cycle[0]]), between=", whose head is "
        )
        raise InputError(f"the heads of the sentence of {count} words form a cycle: {chain}")
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if one_root and len(roots) != 1:
        found = named(_name(word, words) for word in roots)
        raise InputError(
            f"the sentence of {count} words has {len(roots)} roots (head 0) instead of one: {found}"
        )


def _name(word: int, words: Sequence[str] | None) -> str:
    return f"word {word}" if words is None else f"word {word} {quoted(words[word - 1])}"


def _cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, each before its head; none without a cycle."""
    walk_of = [0] * (len(heads) + 1)  # the walk that reached the word, named after its first word
    walk_of[0] = -1  # above the roots
    for start in range(1, len(heads) + 1):
        word = start
        while not walk_of[word]:
            walk_of[word] = start
            word = heads[word - 1]
        if walk_of[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            return cycle
    return []


def first_bad_sentence(heads: np.ndarray, lengths: np.ndarray) -> tuple[int, str] | None:
    """Return the index of the first of many sentences that `check_heads` refuses, and the reason.

    All sentences are checked together: every word points to its head, then to the head of its head
    and so on, each time twice as far; in trees, all words finally point to roots.

    Args:
        heads: of all sentences, one after another, (N,).
        lengths: words of each sentence, (n,).
    """
    ends = np.cumsum(lengths)
    begins = np.repeat(ends - lengths, lengths)  # (N,) beginning of the word's sentence
    places = np.arange(len(heads))  # (N,)
    above = begins + heads - 1  # (N,)
    above = np.where(heads == 0, places, above)
    outside = (heads < 0) | (heads > np.repeat(lengths, lengths))
    bad = outside | ((above == places) & (heads != 0))
    above = np.where(bad, places, above)
    for _ in range(int(lengths.max(initial=0)).bit_length()):
        above = above[above]
    bad |= heads[above] != 0  # (N,) in a cycle, below one, or below a bad word
    for wrong in np.flatnonzero(bad)[:1]:
        at = int(np.searchsorted(ends, wrong, side="right"))
        try:
            check_heads(heads[ends[at] - lengths[at] : ends[at]].tolist())
        except InputError as error:
            return at, str(error)
    return None


def project_heads(heads: Sequence[int], token_of: Sequence[int]) -> list[int]:
    """Transfer the heads of parsed tokens to words of another tokenisation, or to fewer words.

    The first word of a token takes the token's place in the tree; further words of the token depend
    on the first word. A token without a word is skipped: its dependents take its head; if the token
    is the root, its first dependent word becomes the root and the others depend on that word.

    Args:
        heads: one head per token, forming trees.
        token_of: W token indices from 0, the token of each word.

    Returns:
        W heads, forming trees.
    """
    if len(token_of) == len(heads) and all(map(eq, token_of, count())):
        return [*heads]
    first: dict[int, int] = {}
    for word, token in enumerate(token_of):
        first.setdefault(token, word)
    risen: dict[int, int] = {}  # a skipped root -> the word in its place
    found = []
    for word, token in enumerate(token_of):
        if first[token] != word:
            found.append(first[token] + 1)
            continue
        while heads[token] and heads[token] - 1 not in first:
            token = heads[token] - 1
        if heads[token]:
            found.append(first[heads[token] - 1] + 1)
        elif token in first:
            found.append(0)
        else:
            leader = risen.setdefault(token, word)
            found.append(0 if leader == word else leader + 1)
    return found


def token_arcs(word_of: Sequence[int], heads: Sequence[int]) -> list[Arc]:
    """Return for each word with a head the middle of its tokens, and of its head's tokens.

    Args:
        word_of: numbers of the tokens' words, from 0.
        heads: number of each word's head, from 0; a root's own number.
    """
    tokens = (np.flatnonzero(np.equal(word_of, word)) for word in range(len(heads)))
    middle = [float(np.mean(own)) for own in tokens]
    return [(middle[word], middle[head]) for word, head in enumerate(heads) if head != word]


def arc_levels(arcs: Sequence[Arc], widths: Sequence[float] = ()) -> list[int]:
    """Return the height of each arc: at least 1, and above all arcs inside.

    Arcs that only cross are independent.

    Args:
        arcs: each from a dependent to its head.
        widths: of labels in the middle of each arc, in the same unit, if any: an arc rises until
            its label stands beside all others.
    """
    spans = [(min(arc), max(arc)) for arc in arcs]
    levels = [0] * len(arcs)
    for i in sorted(range(len(arcs)), key=lambda i: spans[i][1] - spans[i][0]):
        left, right = spans[i]
        inner = (levels[j] for j, (a, b) in enumerate(spans) if left <= a and b <= right)
        level = 1 + max(inner)
        near = {
            levels[j]
            for j, (a, b) in enumerate(spans)
            if widths and abs(a + b - left - right) < widths[i] + widths[j]
        }
        while level in near:
            level += 1
        levels[i] = level
    return levels


def conllu_heads(words: Sequence[tuple[int, list[str]]], path: Path) -> list[int]:
    """Return the heads of a sentence in CoNLL-U, from 1, 0 at the root; ``words`` are its rows."""
    for number, fields in words:
        if not NUMBER.fullmatch(fields[6]):
            raise InputError(
                f"{path}:{number}: head {quoted(fields[6])} is no number, but the words' heads "
                "are wanted (of the layers only heads, arc and dep need them)"
            )
    heads = [int(fields[6]) for _, fields in words]
    try:
        check_heads(heads, [fields[1] for _, fields in words], one_root=bool(words))
    except InputError as error:
        raise InputError(f"{path}:{words[0][0]}: {error}") from None
    return heads


def tops(runs: Iterable[range], heads: Sequence[int]) -> list[int]:
    """Return the tops of runs of words in a tree: the first word of each with its head outside."""
    return [next(k for k in run if not run.start < heads[k] <= run.stop) for run in runs]
