"""Registered models: read options, build parts of `nn`, adapt names and axis order."""

from ..registration import register

register()  # first: logging stays as it is while fairseq loads

from .bert import BertModel  # noqa: E402
from .matching import MatchingModel  # noqa: E402
from .syntax_transformer import SyntaxTransformerModel  # noqa: E402

__all__ = ["BertModel", "MatchingModel", "SyntaxTransformerModel"]
