"""The options of the models that match pairs as fairseq registers them."""

from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass

from ..architectures.matching_options import MatchingOptions


@dataclass
class MatchingConfig(MatchingOptions, FairseqDataclass):
    """Options of models that match the two sentences of a pair."""
