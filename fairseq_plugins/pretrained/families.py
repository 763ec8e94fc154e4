"""Families of BERT-like encoders as values: which there are, and how each writes a row of text.

A family is known by ``model_type`` in a directory's ``config.json``, or by fairseq's own files.
What its tensors are called stands in `names`, what its configuration is called in `configuration`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WORDPIECE, BYTE_BPE, SENTENCEPIECE = "wordpiece", "byte_bpe", "sentencepiece"


@dataclass(frozen=True)
class RowFormat:
    """Special tokens around the texts of one row: ``[CLS] a [SEP]``, ``[CLS] a [SEP] b [SEP]``.

    The first side of a pair ends with the first separator; further ones belong to the second side,
    before its text, as the token at the front does to the first.

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

    def begin(self, text: int, before: Any = 0) -> Any:
        """Return where the ``text``-th text begins, from 0, behind so many tokens of others (a
        number, or an array of numbers).
        """
        return self.first + self.separators * text + before

    def border(self, length: int) -> int:
        """Return where the second side begins, behind a first text of ``length`` tokens."""
        return self.first + length + 1

    def frame(self, cls: int, sep: int, texts: int) -> list[list[int]]:
        """Return the special tokens before each text, and behind the last."""
        return [[cls], *([sep] * self.separators for _ in range(texts - 1)), [sep]]


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
        title: what the names of its classes in transformers begin with.
        scheme: how it cuts words: `WORDPIECE`, `BYTE_BPE` or `SENTENCEPIECE`.
        specials: how it spells its special tokens.
        row: where these stand.
        renumbered: whether its ids are fairseq's (special tokens first) and not those of its
            sentencepiece file.
        inputs: what its tokenizer gives, where transformers' own would leave one out.
    """

    name: str
    title: str
    scheme: str
    specials: Specials
    row: RowFormat = RowFormat()
    renumbered: bool = False
    inputs: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """What messages call it."""
        return "BERT" if self.name == "bert" else self.name

    @property
    def vocabulary_file(self) -> str:
        """Where our folders keep the vocabulary: pieces line by line, or a whole tokeniser."""
        return "vocab.txt" if self.scheme == WORDPIECE else "tokenizer.json"


_BERT = Specials("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_ROBERTA = Specials("<s>", "</s>", "<pad>", "<unk>", "<mask>")
_ALBERT = Specials("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]")
_SIDED = ("input_ids", "token_type_ids", "attention_mask")
_TWO = RowFormat(separators=2)  # <s> a </s></s> b </s>

FAMILIES = {
    family.name: family
    for family in (
        Family("bert", "Bert", WORDPIECE, _BERT),
        Family("roberta", "Roberta", BYTE_BPE, _ROBERTA, _TWO),
        Family("xlm-roberta", "XLMRoberta", SENTENCEPIECE, _ROBERTA, _TWO, renumbered=True),
        Family("electra", "Electra", WORDPIECE, _BERT),
        Family("distilbert", "DistilBert", WORDPIECE, _BERT),
        Family("albert", "Albert", SENTENCEPIECE, _ALBERT, inputs=_SIDED),
    )
}


def family_of(settings: Mapping[str, Any]) -> Family:
    """Return the family of a folder's tokeniser settings, which name it unless it is BERT."""
    return FAMILIES[settings.get("family", "bert")]
