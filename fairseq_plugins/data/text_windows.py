"""Sentences longer than the model: shortened, or split into overlapping windows.

Classification may shorten a pair as BERT does: the longer sentence loses its last wordpiece until
both fit (Devlin et al. 2019, released code). Tagging must not lose words: a long sentence becomes
windows at word boundaries, each about half a window after the previous one, and every word is
labelled once, in the window with most of its surroundings (as in BERT's question answering). For
long passages in question answering, windows begin at a fixed stride (`stride_windows`), and of the
windows that show a wordpiece, the window with most around it counts (`knowing_windows`; both as in
the released code of Devlin et al. 2019).
"""

from collections.abc import Sequence

import numpy as np


def shortened(lengths: Sequence[int], room: int) -> list[int]:
    """Return the kept length of one or two sentences for ``room``; the longer one loses first.

    Of equally long sentences the second loses first.
    """
    if len(lengths) == 1:
        return [min(lengths[0], room)]
    first, second = lengths
    if first + second <= room:
        return [first, second]
    half = room // 2
    second = max(min(second, half), room - first)
    return [room - second, second]


def cut_windows(word_of: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """Split a sentence into windows of whole words; a sentence that fits stays whole.

    The last wordpieces of a word that alone does not fit (a web address) are in no window; its
    label is predicted at the first wordpiece.

    Args:
        word_of: word of each of S wordpieces, 0-based, non-decreasing, without gaps.
        room: wordpieces that fit in a window.

    Returns:
        Spans (K, 2), begin and end of the windows in wordpieces; and for each of the W words the
        window (W,) of its label.
    """
    starts = np.flatnonzero(word_begins(word_of))  # (W,)
    ends = np.minimum(np.append(starts[1:], len(word_of)), starts + room)  # (W,)
    spans, word, size = [], 0, ends[-1]
    while size - starts[word] > room:
        begin = starts[word]
        last = int(np.searchsorted(ends, begin + room, side="right")) - 1
        spans.append((begin, ends[last]))
        word = max(word + 1, min(last + 1, int(np.searchsorted(starts, begin + room // 2))))
    # The last window takes all available room.
    spans.append((starts[np.searchsorted(starts, size - room)], size))
    windows = np.array(spans)  # (K, 2)
    left = starts[None, :] - windows[:, :1]  # (K, W)
    right = windows[:, 1:] - ends[None, :]  # (K, W)
    # each word's window with most context on its poorer side; negative for a word outside
    return windows, np.minimum(left, right).argmax(axis=0)  # (W,)


def stride_windows(length: int, room: int, stride: int) -> np.ndarray:
    """Split a passage into windows, one every ``stride`` wordpieces, unless the passage fits.

    Args:
        length: wordpieces of the passage.
        room: wordpieces that fit in a window.
        stride: wordpieces from one begin to the next; at most ``room`` counts, so that none is left
            out.

    Returns:
        Begin and end of the K windows, (K, 2).
    """
    step = min(stride, room)
    begins = np.arange(0, max(length - room, 0) + step, step)  # (K,)
    return np.stack([begins, np.minimum(begins + room, length)], axis=1)


def knowing_windows(windows: np.ndarray, length: int) -> np.ndarray:
    """Return the wordpieces that each window, among all windows, covers best.

    The cover of a wordpiece is min(wordpieces before, wordpieces behind) + 0.01 x the window's
    size; of equal windows the first counts. Windows (K, 2) are those of `stride_windows`.

    Returns:
        First and last + 1 of these wordpieces, (K, 2), equal if there are none.
    """
    most, owners = np.full(length, -np.inf), np.zeros(length, dtype=np.int64)  # (length,)
    for number, (begin, end) in enumerate(windows.tolist()):  # a table of all would be quadratic
        before = np.arange(end - begin)
        known = np.minimum(before, before[::-1]) + 0.01 * (end - begin)
        better = known > most[begin:end]
        most[begin:end][better] = known[better]
        owners[begin:end][better] = number  # rising: a later window has more context behind
    numbers = np.arange(len(windows))
    sides = [np.searchsorted(owners, numbers, side=side) for side in ("left", "right")]
    return np.stack(sides, axis=1)


def cut_trees(heads: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, int]:
    """Keep the trees that part of a sentence needs, from its first to its last shown word.

    Other words between these become roots. A word's distances, ancestors and spans depend only on
    its own tree, so masks stay unchanged.

    Args:
        heads: index of each word's head, a root's own, (W,).
        words: of the shown wordpieces, (S,).

    Returns:
        Heads of the V kept words, counted from the first of them, and its index.
    """
    if not len(words):
        return heads[:0], 0
    roots = heads
    for _ in range(len(heads).bit_length()):
        roots = roots[roots]  # (W,)
    shown = np.zeros(len(heads), dtype=bool)
    shown[roots[words]] = True
    shown = shown[roots]  # (W,)
    first, last = np.flatnonzero(shown)[[0, -1]].tolist()
    kept = np.where(shown, heads, np.arange(len(heads)))[first : last + 1]  # (V,)
    return kept - first, first


def word_begins(word_of: np.ndarray) -> np.ndarray:
    """Return whether each wordpiece is the first of its word, (S,)."""
    begins = np.ones(len(word_of), dtype=bool)  # (S,)
    np.not_equal(word_of[1:], word_of[:-1], out=begins[1:])
    return begins
