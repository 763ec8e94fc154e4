"""Dependency trees as lists of heads: word i's head is a number from 1, and 0 at a root."""

from __future__ import annotations

from collections.abc import Sequence


def project_heads(heads: Sequence[int], token_of: Sequence[int]) -> list[int]:
    """Carry the heads of parsed tokens over to words that are cut otherwise, or are fewer.

    The first word of a token takes the token's place in the tree; further words of the same token
    depend on it. A token without a word is passed over: what depended on it depends on its head,
    and if it was the root, the first such word becomes the root and the others depend on that.

    Args:
        heads: one head a token; they form trees.
        token_of: W token indices from 0, the token that each word belongs to.

    Returns:
        W heads, which form trees again.
    """
    first: dict[int, int] = {}
    for word, token in enumerate(token_of):
        first.setdefault(token, word)
    risen: dict[int, int] = {}  # a root that was passed over -> the word in its place
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
