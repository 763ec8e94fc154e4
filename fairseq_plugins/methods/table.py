"""The methods of text models, in the order in which they change the parts of attention.

Local attention comes before dual attention, which may remove it, and both before the similarities
that multiply the remaining scores.
"""

from .ancestor_layers import AncestorLayers
from .coattention import Coattention
from .dual_attention import DifferenceAttention
from .entity_head import EntityHead
from .features import Features
from .label_chain import LabelChain
from .local_attention import LocalAttention
from .parent_attention import ParentAttention
from .semantic_layers import LabelLayers
from .span_head import SpanHead
from .word_similarity import WordSimilarity

METHODS = (
    Features,
    LocalAttention,
    ParentAttention,
    AncestorLayers,
    DifferenceAttention,
    WordSimilarity,
    LabelLayers,
    Coattention,
    SpanHead,
    EntityHead,
    LabelChain,
)
