"""The options of pair-matching models for fairseq's registry."""

from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass

from ..architectures.matching_options import MatchingOptions


@dataclass
class MatchingConfig(MatchingOptions, FairseqDataclass):
    """Options of models that match the two sentences of a pair."""
