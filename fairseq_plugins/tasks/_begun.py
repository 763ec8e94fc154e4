"""Given beginnings of translations inside fairseq: ids that the search must begin with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch
from fairseq.data import data_utils
from torch import Tensor

from ..data.dictionaries import token_ids
from ..text.beginnings import check_known

LONGEST = 200  # subwords of a translation, by default
KEY = "prefix"  # of a batch: a `Beginning` for each sentence


@dataclass(frozen=True)
class Beginning:
    """The beginning of a translation; empty if free."""

    ids: Sequence[int] = ()
    values: Sequence[Sequence[int]] = ()  # of its subwords, in the layers of their spelling

    def __len__(self) -> int:
        return len(self.ids)


def encoded(task: Any, number: int, text: str, spans: Sequence[str]) -> Beginning:
    """Cut a beginning as the target was cut; ``number`` is that of its line."""
    if not text.strip():
        return Beginning()
    subwords, spelt = task.target_decoder.begin(text, spans)
    ids = token_ids(task.tgt_dict, subwords)[:-1]
    lacking = [one for one, i in zip(subwords, ids) if i == task.tgt_dict.unk()]
    check_known(number, subwords, lacking, min(LONGEST, task.cfg.max_target_positions))
    values = [layer.of_spelling(spelt) for layer in task.target_layers]
    layers = zip(task.target_layers, values)
    return Beginning(ids, [[] if row is None else layer.ids(row) for layer, row in layers])


def rows_of(beginnings: Sequence[Beginning], like: Tensor, pad: int) -> Optional[Tensor]:
    """Return the ids of beginnings (B, P); None if all are free."""
    if not any(beginnings):
        return None
    rows = [torch.tensor(one.ids, dtype=torch.long) for one in beginnings]
    return data_utils.collate_tokens(rows, pad).to(like.device)


def respell(found: Any, beginnings: Sequence[Beginning], columns: Sequence[int], skip: int) -> None:
    """Give the subwords of beginnings their own spelling, in place of a predicted one.

    Args:
        found: translations, with ``factors`` (T, K).
        beginnings: of the sentences.
        columns: of the layers of a beginning, the column of each predicted layer.
        skip: number of symbols before a translation's subwords.
    """
    for nbest, given in zip(found, beginnings):
        for one in nbest:
            for place, column in enumerate(columns):
                if given and (own := given.values[column]):
                    end = min(skip + len(own), len(one["factors"]))
                    one["factors"][skip:end, place] = torch.tensor(own[: end - skip])
