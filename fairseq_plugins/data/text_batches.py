"""Examples laid out as a batch: padded arrays (B, S), and the places of the N real tokens.

A batch of n examples has B >= n rows, more if a long sentence takes several; words, labels and
logits are independent of rows. Examples of equal length stand together, for the encoder's sake;
``id`` names the example at each place.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import InputError
from ..syntax.labels import PAD_ID
from ..syntax.layers import LAYERS
from .text_items import joined

FILLINGS = {"segments": 0, "factors": PAD_ID, "word_of": -1}
FLAT = ("tokens", "segments", "factors", "word_of")
NAMES = {"tokens": "src_tokens", "factors": "src_factors"}


def lay_out(items: Sequence[dict[str, Any]], pad: int) -> dict[str, Any]:
    """Make a batch of `text_items` items, at least one; ``pad`` is the id of the padding token.

    Returns:
        ``id`` (n,), ``nsentences`` n, ``ntokens`` N, and in ``net_input`` ``src_tokens`` and
        ``segments`` (B, S), ``src_lengths`` (B,), ``token_positions`` (N,); ``src_factors`` (B, S,
        F) with features; if known, ``word_of`` (B, S), the number of each token's word in its row,
        -1 at special tokens and padding, ``heads`` (B, M), the number of the head of each of at
        most M words, its own at a root, a gap between sentences and padding, and ``similarity`` (B,
        M, M) of words, from 0 to 1 (`syntax.tables`); ``word_rows`` (W,), and beside ``net_input``
        ``words_per_example`` (n,), for labelled words; and ``known``, see `_known`.
    """
    lengths = np.concatenate([item["lengths"] for item in items])  # (B,)
    if not lengths.all():
        empty = next(item["id"] for item in items if 0 in item["lengths"])
        raise InputError(f"example {empty} of the split, from 0, has a row without a token")
    token_positions, width = real_positions(lengths)
    net_input: dict[str, Any] = {
        "src_lengths": torch.from_numpy(lengths),
        "token_positions": torch.from_numpy(token_positions),
    }
    packed = {name: joined([item[name] for item in items]) for name in FLAT if name in items[0]}
    net_input["known"] = _known(packed, lengths)
    for name, flat in packed.items():  # (N, ...)
        out = np.full((len(lengths) * width, *flat.shape[1:]), FILLINGS.get(name, pad))
        out[token_positions] = flat
        net_input[NAMES.get(name, name)] = torch.from_numpy(
            out.reshape(len(lengths), width, *flat.shape[1:])
        )
    for name, layer in LAYERS.items():
        if name in items[0]:
            net_input[name] = torch.from_numpy(layer.collated([item[name] for item in items]))
    batch = {
        "id": torch.tensor([item["id"] for item in items]),
        "nsentences": len(items),
        "ntokens": len(token_positions),
        "net_input": net_input,
    }
    if "words" in items[0]:
        net_input["word_rows"], batch["words_per_example"] = _word_rows(items)
    return batch


def _known(packed: dict[str, np.ndarray], lengths: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sizes that models need, to avoid waiting for a GPU; all are arrays.

    Returns:
        ``lengths`` of the rows, (B,); ``firsts``, the number of tokens in each row's first segment,
        (B,); ``distinct``, the tokens except the rows' first ones, each once, in rising order; and
        with words ``runs`` (B,), the words of each row, with the special tokens, and ``run_sizes``,
        the tokens of each, one row after the other.
    """
    begins = np.cumsum(lengths) - lengths  # (B,)
    found = {"lengths": lengths, "distinct": np.unique(np.delete(packed["tokens"], begins))}
    if "segments" in packed:
        found["firsts"] = lengths - np.add.reduceat(packed["segments"], begins)
    if "word_of" in packed:
        word = packed["word_of"]  # (N,)
        is_first = (word < 0) | (word != np.roll(word, 1))
        is_first[begins] = True
        places = np.flatnonzero(is_first)
        found["run_sizes"] = np.diff(places, append=len(word))
        found["runs"] = np.add.reduceat(is_first.astype(np.int64), begins)
    return found


def real_positions(lengths: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the flat positions b S + s of the real tokens, (N,) in rising order, and S.

    Rows have ``lengths`` (B,).
    """
    width = int(lengths.max())
    padded = np.arange(len(lengths)) * width  # (B,) begin of each row in the padded batch
    packed = np.cumsum(lengths) - lengths  # (B,) begin of each row among the real tokens
    return np.arange(lengths.sum()) + np.repeat(padded - packed, lengths), width


def _word_rows(items: Sequence[dict[str, Any]]) -> tuple[Tensor, Tensor]:
    """Return the packed row of each word's first token (W,), and words per example (n,)."""
    counts = np.array([len(item["words"]) for item in items])  # (n,)
    tokens = np.array([len(item["tokens"]) for item in items])  # (n,)
    before = np.cumsum(tokens) - tokens  # (n,)
    rows = joined([item["words"] for item in items]) + np.repeat(before, counts)  # (W,)
    return torch.from_numpy(rows), torch.from_numpy(counts)
