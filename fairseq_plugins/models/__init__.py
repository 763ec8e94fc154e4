"""Registered models: read options, build parts of `nn`, adapt names and axis order."""

from .bert import BertModel
from .syntax_transformer import SyntaxTransformerModel

__all__ = ["BertModel", "SyntaxTransformerModel"]
