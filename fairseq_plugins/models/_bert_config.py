"""The options of the BERT models for fairseq's registry."""

from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass

from ..architectures.bert_options import BertOptions


@dataclass
class BertConfig(BertOptions, FairseqDataclass):
    """Options of BERT with a task on top."""
