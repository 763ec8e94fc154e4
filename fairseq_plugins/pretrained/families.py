"""Families of BERT-like encoders as values: which there are, and how each writes a row of text.

A family is known by ``model_type`` in a directory's ``config.json``, or by fairseq's own files.
What its tensors are called stands in `names`, what its configuration is called in `configuration`.
"""

from dataclasses import dataclass

WORDPIECE, BYTE_BPE, SENTENCEPIECE = "wordpiece", "byte_bpe", "sentencepiece"


@dataclass(frozen=True)
class RowFormat:
    """Special tokens around the texts of one row.

    Args:
        separators: how many stand between the two texts of a pair; one stands behind the last.
    """

    separators: int = 1

    @property
    def first(self) -> int:
        """How many stand before the first text."""
        return 1

    def specials(self, texts: int) -> int:
        """Return how many special tokens a row of so many texts has."""
        return self.first + self.separators * (texts - 1) + 1


@dataclass(frozen=True)
class Specials:
    """How a family spells its special tokens.

    Args:
        cls, sep, pad, unk, mask: before the first text; behind each; padding; unknown; masked.
    """

    cls: str
    sep: str
    pad: str
    unk: str
    mask: str


@dataclass(frozen=True)
class Family:
    """A kind of encoder.

    Args:
        name: its ``model_type`` in ``config.json``.
        scheme: how it cuts words: `WORDPIECE`, `BYTE_BPE` or `SENTENCEPIECE`.
        specials: how it spells its special tokens.
        row: where these stand.
    """

    name: str
    scheme: str
    specials: Specials
    row: RowFormat = RowFormat()


_BERT = Specials("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_ROBERTA = Specials("<s>", "</s>", "<pad>", "<unk>", "<mask>")
_ALBERT = Specials("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]")

FAMILIES = {
    family.name: family
    for family in (
        Family("bert", WORDPIECE, _BERT),
        Family("roberta", BYTE_BPE, _ROBERTA, RowFormat(separators=2)),
        Family("xlm-roberta", SENTENCEPIECE, _ROBERTA, RowFormat(separators=2)),
        Family("electra", WORDPIECE, _BERT),
        Family("distilbert", WORDPIECE, _BERT),
        Family("albert", SENTENCEPIECE, _ALBERT),
    )
}
