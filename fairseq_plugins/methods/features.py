"""Features of words, embedded beside them (Sundararaman et al. 2019, "BERT + POS")."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Optional

from ..nn.infusion import INITS, MERGES, FeatureInfusion
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..syntax.layers import Layer
from ..syntax.needs import Needs
from .method import Method
from .options import NONE, preset, read_features


@dataclass(frozen=True)
class Features(Method):
    """Features whose embeddings join the word embedding; see `nn.infusion`."""

    called = "feature"
    switch = "features"
    parts = {"features": "embeddings.features."}
    off = {"features": NONE}
    architectures = {"bert_pos": {"features": "pos"}}

    features: Optional[str] = preset(
        "features whose embeddings join the word embedding, e.g. pos,case, or none"
    )
    feature_merge: choice(MERGES) = option(
        "how features join the word embedding: added to it (add), or set beside it and mapped "
        "back to its width by a linear map (affine)",
        "add",
    )
    feature_embed_dim: int = option(
        "width of the feature embeddings with --feature-merge affine", 20
    )
    feature_init: choice(INITS) = option(
        "initial values of the features: N(0, 0.02) (normal), or zero (the model then starts as "
        "exactly the one without features)",
        "normal",
    )

    def __post_init__(self) -> None:
        _ = self.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        return read_features(self.features)

    @property
    def needs(self) -> Needs:
        return Needs(self.names)

    def embedding(self, width: int, layers: Sequence[Layer]) -> FeatureInfusion | None:
        if not self.names:
            return None
        held = {layer.name: layer for layer in layers}
        sizes = {name: len(held[name].inventory) for name in self.names}
        how = {"dim": self.feature_embed_dim, "init": self.feature_init}
        with own_start("features"):
            return FeatureInfusion(width, sizes, merge=self.feature_merge, **how)
