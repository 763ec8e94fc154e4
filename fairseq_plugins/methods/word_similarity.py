"""UER-BERT: attention scores multiplied by the similarity of the words.

Xia et al. 2021, "Using Prior Knowledge to Guide BERT's Attention in Semantic Textual Matching
Tasks".
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

from ..errors import InputError
from ..nn.bert import BertShape
from ..syntax.layers import OF_PAIRS
from ..syntax.needs import Needs
from .dual_attention import LAYERS, DifferenceAttention
from .method import AttentionParts, Method, around, flag_and_value
from .options import NONE, preset, read_some_layers


@dataclass(frozen=True)
class WordSimilarity(Method):
    """Similarities of words in WordNet on the scores of the layers' attention."""

    switch = "similarity_layers"
    off = {"similarity_layers": NONE}
    architectures = {"bert_uer": {"similarity_layers": "0"}}

    similarity_layers: Optional[str] = preset(
        "UER-BERT: layers whose attention scores are multiplied by the WordNet similarity of "
        f"the words: {LAYERS}"
    )
    num_hidden_layers: int = around(0)

    def __post_init__(self) -> None:
        _ = self.layers

    @cached_property
    def layers(self) -> tuple[int, ...]:
        return read_some_layers(
            self.similarity_layers, self.num_hidden_layers, "--similarity-layers"
        )

    def check_others(self, methods: Any) -> None:
        """Refuse layers without affinity attention, whose scores they would multiply."""
        if self.layers and {*self.layers} <= {*methods[DifferenceAttention].unread_affinity}:
            raise InputError(
                f"{flag_and_value(self, 'similarity_layers')}: --ablate affinity leaves these "
                "layers no scores to multiply"
            )

    @property
    def needs(self) -> Needs:
        """Pairs, their words, and the words' similarities."""
        if not self.layers:
            return Needs()
        return Needs(layers=OF_PAIRS, words=True, pairs=True)

    def attend(self, parts: AttentionParts, shape: BertShape, layer: int) -> None:
        parts.mixer.similar = layer in self.layers
