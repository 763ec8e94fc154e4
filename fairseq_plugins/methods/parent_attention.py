"""LISA: the last head of every layer learns to attend to each word's parent in the tree.

Strubell et al. 2018, "Linguistically-Informed Self-Attention"; see `nn.parent_attention`.
"""

from dataclasses import dataclass
from typing import Optional

from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.parent_attention import ParentSupervision
from ..syntax.controls import FULL, PARSE
from ..syntax.layers import TREES
from ..syntax.needs import Needs
from .method import AttentionParts, Method, around
from .options import preset


@dataclass(frozen=True)
class ParentAttention(Method):
    """Attention heads that are trained on parse trees."""

    switch = "parent_loss_weight"
    off = {"parent_loss_weight": 0.0}
    architectures = {"bert_lisa": {"parent_loss_weight": 1.0}}

    parent_loss_weight: Optional[float] = preset(
        "LISA: weight of the loss that teaches the last attention head of every layer to attend "
        "to each word's parent in the tree; 0 for no such loss",
        least=0,
    )
    tree_source: str = around(PARSE)

    def __post_init__(self) -> None:
        if self.is_there and self.tree_source == FULL:
            raise InputError(
                "--tree-source full: the loss of --parent-loss-weight has no mask; choices: "
                "shuffled, random, chain, or --parent-loss-weight 0"
            )

    @property
    def needs(self) -> Needs:
        """Heads of words, only in training."""
        return Needs(taught=TREES, words=True) if self.is_there else Needs()

    @property
    def reads_trees(self) -> bool:
        return self.is_there

    @property
    def loss_weights(self) -> dict[str, float]:
        return {"parent": self.parent_loss_weight or 0.0}

    def attend(self, parts: AttentionParts, shape: BertShape, layer: int) -> None:
        if self.is_there:
            parts.supervision = ParentSupervision()
