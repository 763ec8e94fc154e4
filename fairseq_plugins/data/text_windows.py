"""Sentences longer than the model: shorten them, or cut them into overlapping windows.

Classification may shorten a pair as BERT does: the longer sentence loses its last wordpiece until
both fit (Devlin et al. 2019, released code). Tagging must not lose words: a long sentence becomes
windows at word boundaries, each about half a window after the one before, and every word is
labelled once, in the window that shows most of its surroundings (as BERT does for long passages in
question answering). For such passages windows begin at every so many wordpieces (`stride_windows`),
and of the windows that show a wordpiece that one counts that shows most around it
(`knowing_windows`; both as in the released code of Devlin et al. 2019).
"""

from collections.abc import Sequence

import numpy as np


def shortened(lengths: Sequence[int], room: int) -> list[int]:
    """Return how much of one or two sentences fits in ``room``; the longer one loses first.

    Of equal ones the second does.
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
    """Cut a sentence into windows of whole words; one that fits stays whole.

    Of a word that alone does not fit (a web address) the last wordpieces are in no window; its
    label hangs on the first one.

    Args:
        word_of: word of each of S wordpieces, 0-based, non-decreasing, none left out.
        room: wordpieces that fit in a window.

    Returns:
        Spans (K, 2), begin and end of the windows in wordpieces; and for each of the W words the
        window (W,) it is labelled in.
    """
    starts = np.flatnonzero(word_begins(word_of))  # (W,)
    ends = np.minimum(np.append(starts[1:], len(word_of)), starts + room)  # (W,)
    spans, word, size = [], 0, ends[-1]
    while size - starts[word] > room:
        begin = starts[word]
        last = int(np.searchsorted(ends, begin + room, side="right")) - 1
        spans.append((begin, ends[last]))
        word = max(word + 1, min(last + 1, int(np.searchsorted(starts, begin + room // 2))))
    # The last window takes all the room there is.
    spans.append((starts[np.searchsorted(starts, size - room)], size))
    windows = np.array(spans)  # (K, 2)
    left = starts[None, :] - windows[:, :1]  # (K, W)
    right = windows[:, 1:] - ends[None, :]  # (K, W)
    # of each word the window with most context on its poorer side; negative where it is outside
    return windows, np.minimum(left, right).argmax(axis=0)  # (W,)


def stride_windows(length: int, room: int, stride: int) -> np.ndarray:
    """Cut a passage into windows that begin at every ``stride`` wordpieces, until one reaches its
    end; a passage that fits stays whole.

    Args:
        length, room: wordpieces of the passage, and that fit in a window.
        stride: wordpieces from one begin to the next; more than ``room`` would leave some out, and
            so count as ``room``.

    Returns:
        Begin and end of the K windows, (K, 2).
    """
    step = min(stride, room)
    begins = np.arange(0, max(length - room, 0) + step, step)  # (K,)
    return np.stack([begins, np.minimum(begins + room, length)], axis=1)


def knowing_windows(windows: np.ndarray, length: int) -> np.ndarray:
    """Return for each window which wordpieces it is that knows most around them.

    A window knows min(wordpieces before, wordpieces behind) + 0.01 x its size of a wordpiece that
    it shows; of equal ones the first counts. Windows (K, 2) are those of `stride_windows`.

    Returns:
        First and last + 1 of these wordpieces, (K, 2); they are the same where there are none.
    """
    most, owners = np.full(length, -np.inf), np.zeros(length, dtype=np.int64)  # (length,)
    for number, (begin, end) in enumerate(windows.tolist()):  # a table of all would be quadratic
        before = np.arange(end - begin)
        known = np.minimum(before, before[::-1]) + 0.01 * (end - begin)
        better = known > most[begin:end]
        most[begin:end][better] = known[better]
        owners[begin:end][better] = number  # rising: a later window knows more of what is behind
    numbers = np.arange(len(windows))
    sides = [np.searchsorted(owners, numbers, side=side) for side in ("left", "right")]
    return np.stack(sides, axis=1)


def cut_trees(heads: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, int]:
    """Keep of a sentence's trees what a part of it needs: from the first to the last word of those
    that it shows. What else stands between them becomes roots.

    A word's distances, ancestors and spans are those of its own tree, so masks stay as they were.

    Args:
        heads: index of each word's head, a root's own, (W,).
        words: of the wordpieces that are shown, (S,).

    Returns:
        Heads of the V words that are kept, counted from the first of them, and its index.
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
    """Tell of each wordpiece whether it is the first of its word, (S,)."""
    begins = np.ones(len(word_of), dtype=bool)  # (S,)
    np.not_equal(word_of[1:], word_of[:-1], out=begins[1:])
    return begins
