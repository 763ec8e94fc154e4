"""Sentence pairs with features: one more tensor per side in each batch, with ablations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from fairseq.data import BaseWrapperDataset, LanguagePairDataset
from torch import Tensor

from ..errors import InputError
from ..syntax.labels import PAD_ID, SPECIAL_ID

MODES = ("drop", "shuffle")  # of an ablation


class FactoredPairDataset(BaseWrapperDataset):
    """Adds ``src_factors`` (B, S, F) to ``src_tokens`` (B, S).

    Features of target words are ``prev_output_factors`` (B, T, K) beside ``prev_output_tokens`` (B,
    T): each place has the features of the word there.

    Features stand at the positions of ``src_tokens`` without padding, for any side and width of
    padding: this rule is right for every option of fairseq's dataset.

    Two habits of fairseq are undone. Its batching drops a last batch that is no multiple of
    ``--required-batch-size-multiple``; here the rest becomes a batch of its own. And an iterator
    that is kept over epochs keeps the first epoch's batches, which a resumed run would not have;
    here every epoch makes its own batches.

    Args:
        pairs: fairseq's dataset.
        factors: one row per pair, each as long as the source; None for data without features.
        observer: called with every new batch.
        targets: rows of features of the targets, each as long as its target; None for none.
        takes_all: whether a sentence of more than ``max_tokens`` becomes a batch of its own,
            instead of fairseq's error.
        ablate: removes features, if given.
        extras: further items of pairs, by name; a batch has a list of each.
    """

    def __init__(
        self,
        pairs: LanguagePairDataset,
        factors: Sequence[Tensor] | None,
        *,
        observer: Callable[[dict[str, Any]], None] | None = None,
        targets: Sequence[Tensor] | None = None,
        takes_all: bool = False,
        ablate: Ablation | None = None,
        extras: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> None:
        super().__init__(pairs)
        for rows in (factors, targets):
            if rows is not None and len(pairs) != len(rows):
                raise InputError(f"{len(pairs)} sentences, but {len(rows)} rows of features")
        self.targets, self.ablate, self.extras = targets, ablate, {**extras}
        self.factors, self.observer, self.takes_all = factors, observer, takes_all

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return fairseq's item with ``factors``, (S, F), and ``target_factors``, (T, K)."""
        item = self.dataset[index]
        for name, rows in (("factors", self.factors), ("target_factors", self.targets)):
            item = item if rows is None else {**item, name: rows[index]}
        if self.ablate is not None and self.factors is not None:
            item["factors"] = self.ablate(item["factors"], int(index))
        return {**item, **{name: rows[index] for name, rows in self.extras.items()}}

    def collater(
        self, samples: list[dict[str, Any]], pad_to_length: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """Make a batch; see `LanguagePairDataset.collater`."""
        batch = self.dataset.collater(samples, pad_to_length=pad_to_length)
        if not batch:
            return batch
        found, ids = {sample["id"]: sample for sample in samples}, batch["id"].tolist()
        net_input, pad = batch["net_input"], self.dataset.src_dict.pad()
        if self.factors is not None:
            rows = [found[i]["factors"] for i in ids]
            net_input["src_factors"] = place_factors(net_input["src_tokens"], rows, pad, ids)
        if self.targets is not None and "prev_output_tokens" in net_input:
            rows = [found[i]["target_factors"].roll(1, 0) for i in ids]  # that of </s> comes first
            tokens = net_input["prev_output_tokens"]
            net_input["prev_output_factors"] = place_factors(tokens, rows, pad, ids)
        batch |= {name: [found[i][name] for i in ids] for name in self.extras}
        if self.observer is not None and (self.factors is not None or self.extras):
            self.observer(batch)
        return batch

    def batch_by_size(self, indices: np.ndarray, **limits: Any) -> Sequence[np.ndarray]:
        """Make batches as fairseq does, and restore the dropped rest."""
        if len(indices) == 0:
            return []
        if self.takes_all and limits.get("max_tokens"):
            wide = np.array([self.num_tokens(i) > limits["max_tokens"] for i in indices])  # (N,)
            if wide.any():
                return [*self.batch_by_size(indices[~wide], **limits), *indices[wide, None]]
        begun = np.array([bool(row) for row in self.extras.get("prefix", ())])
        if len(begun) and 0 < begun[indices].sum() < len(indices):  # fairseq frees their ends
            parts = indices[begun[indices]], indices[~begun[indices]]
            return [batch for part in parts for batch in self.batch_by_size(part, **limits)]
        batches = list(super().batch_by_size(indices, **limits))
        kept = sum(map(len, batches))
        return batches if kept == len(indices) else [*batches, indices[kept:]]

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """False: a resumed epoch must have the batches of an uninterrupted run."""
        return False


def place_factors(
    src_tokens: Tensor, rows: Sequence[Tensor], pad: int, ids: Sequence[int]
) -> Tensor:
    """Lay rows of features over the positions without padding.

    Args:
        src_tokens, pad: word ids, (B, S), and their padding id.
        rows, ids: for each sentence its features, (its length, F); its number, for the message.

    Returns:
        Feature ids, (B, S, F); padding has id 0.
    """
    real = src_tokens.ne(pad)  # (B, S)
    for number, row, length in zip(ids, rows, real.sum(dim=1).tolist()):
        if len(row) != length:
            raise InputError(f"sentence {number} has {length} tokens, but {len(row)} features")
    out = src_tokens.new_zeros(*src_tokens.shape, rows[0].size(-1))  # (B, S, F)
    out[real] = torch.cat(list(rows)).to(out)  # (tokens, F)
    return out


@dataclass(frozen=True)
class Ablation:
    """Blanks or shuffles some columns of a sentence's features.

    ``drop`` gives every position the padding id, whose embedding is zero; ``shuffle`` permutes the
    values among the sentence's own positions, except ``</s>``, with a separate generator for every
    sentence and column (and the ``seed``), independent of batches.
    """

    columns: Sequence[int]
    mode: str = "drop"
    seed: int = 1

    def __call__(self, row: Tensor, sentence: int) -> Tensor:
        """Return an ablated copy of ``row``, (S, F); ``sentence`` is its number in the data."""
        row = row.clone()  # (S, F)
        for column in self.columns:
            if self.mode == "drop":
                row[:, column] = PAD_ID
                continue
            real = (row[:, column] != SPECIAL_ID).nonzero().squeeze(1)  # (n,)
            order = np.random.default_rng([self.seed, sentence, column]).permutation(len(real))
            row[real, column] = row[real[torch.from_numpy(order)], column]
        return row
