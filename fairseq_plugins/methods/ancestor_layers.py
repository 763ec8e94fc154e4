"""SGNet: layers on top of the encoder in which a word sees only itself and its ancestors.

Zhang et al. 2020, "SG-Net: Syntax-Guided Machine Reading Comprehension"; see
`nn.ancestor_attention`.
"""

from dataclasses import dataclass
from typing import Optional

from ..nn.ancestor_attention import MIXES, SyntaxLayers
from ..nn.bert import BertShape
from ..nn.starts import own_start
from ..nn.tree_masks import ANCESTOR_MASKS, ANCESTOR_PAIRS, EXACT, OpenRule
from ..option_flags import choice, option
from ..syntax.controls import FULL, PARSE
from ..syntax.layers import TREES
from ..syntax.needs import Needs
from .method import Method, around
from .options import preset


@dataclass(frozen=True)
class AncestorLayers(Method):
    """Syntax-guided layers on top of the encoder."""

    called = "SGNet layer"
    switch = "ancestor_layers"
    parts = {"syntax-guided layers": "encoder.top."}
    off = {"ancestor_layers": 0}
    architectures = {"bert_sgnet": {"ancestor_layers": 1}}
    before = {"ancestor_pairs": "open"}

    ancestor_layers: Optional[int] = preset(
        "SGNet: number of further layers on top of BERT, in which a word sees only itself and "
        "its ancestors in the tree",
        least=0,
    )
    ancestor_mask: choice(list(ANCESTOR_MASKS)) = option(
        "SGNet: how ancestors are found: by the tree (exact); by spans: a word is an ancestor "
        "of all words between the first and last word of its subtree (span; the same unless "
        "branches cross); or, as in the authors' program, by spans and only the first subword "
        "of each word (released)",
        EXACT,
    )
    ancestor_pairs: choice(list(ANCESTOR_PAIRS)) = option(
        "SGNet: whether words of a sentence pair see the words of the other sentence (open), "
        "or, as in the authors' program, do not (closed)",
        "closed",
    )
    ancestor_mix: choice(list(MIXES)) = option(
        "SGNet: how the outputs of BERT and of the layers on top are mixed: by learnt weights "
        "(scalar), or half each (fixed)",
        "scalar",
    )
    tree_source: str = around(PARSE)

    @property
    def needs(self) -> Needs:
        """Heads of words, unless the masks are open."""
        if not self.is_there:
            return Needs()
        return Needs(layers=() if self.tree_source == FULL else TREES, words=True)

    @property
    def reads_trees(self) -> bool:
        return self.is_there

    def top(self, shape: BertShape) -> SyntaxLayers | None:
        if not self.ancestor_layers:
            return None
        how = {"mask": self.ancestor_mask, "pairs": self.ancestor_pairs}
        how |= {"rule": OpenRule()} if self.tree_source == FULL else {}
        with own_start("top"):
            return SyntaxLayers(shape, self.ancestor_layers, **how, mix=self.ancestor_mix)
