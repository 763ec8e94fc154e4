"""Families of BERT-like encoders as values, with their format of a row of text.

``model_type`` in a directory's ``config.json``, or fairseq's own files, identify a family. `names`
holds the names of its tensors, `configuration` the keys of its configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WORDPIECE, BYTE_BPE, SENTENCEPIECE = "wordpiece", "byte_bpe", "sentencepiece"


@dataclass(frozen=True)
class RowFormat:
    """Special tokens around the texts of one row: ``[CLS] a [SEP]``, ``[CLS] a [SEP] b [SEP]``.

    The first side of a pair ends with the first separator; further separators belong to the second
    side, before its text, as the first token belongs to the first side.
    """

    separators: int = 1  # number between the two texts of a pair; one follows the last text

    @property
    def first(self) -> int:
        """Number of special tokens before the first text."""
        return 1

    def specials(self, texts: int) -> int:
        """Return the number of special tokens in a row of texts."""
        return self.first + self.separators * (texts - 1) + 1

    def begin(self, text: int, before: Any = 0) -> Any:
        """Return the begin of text number ``text`` after ``before`` tokens of other texts."""
        return self.first + self.separators * text + before

    def border(self, length: int) -> int:
        """Return the begin of the second side after a first text of ``length`` tokens."""
        return self.first + length + 1

    def frame(self, cls: int, sep: int, texts: int) -> list[list[int]]:
        """Return the special tokens before each text, and after the last."""
        return [[cls], *([sep] * self.separators for _ in range(texts - 1)), [sep]]


@dataclass(frozen=True)
class Specials:
    """A family's special tokens."""

    # cls, sep, pad, unk, mask: before the first text; after each; padding; unknown; masked
    cls: str
    sep: str
    pad: str
    unk: str
    mask: str


@dataclass(frozen=True)
class Family:
    """A kind of encoder."""

    name: str  # its ``model_type`` in ``config.json``
    title: str  # prefix of its classes in transformers
    scheme: str  # of its subwords: `WORDPIECE`, `BYTE_BPE` or `SENTENCEPIECE`
    specials: Specials  # its special tokens
    row: RowFormat = RowFormat()  # their places
    # whether its ids are fairseq's (special tokens first), not those of its sentencepiece file
    renumbered: bool = False
    # whether quotes and accents are changed before its sentencepiece file sees a text
    cleaned: bool = False
    # outputs of its tokenizer, if transformers' own has others
    inputs: tuple[str, ...] = ()
    # class of its tokenizer in transformers, if its own does not read the whole file, or is none
    reader: str | None = None

    @property
    def short(self) -> str:
        """Name in messages."""
        return "BERT" if self.name == "bert" else self.name

    @property
    def tokenizer(self) -> str:
        """Class of its tokenizer in transformers."""
        return self.reader or f"{self.title}Tokenizer"

    @property
    def vocabulary_file(self) -> str:
        """File of the vocabulary in our folders: pieces line by line, or a whole tokeniser."""
        return "vocab.txt" if self.scheme == WORDPIECE else "tokenizer.json"


_BERT = Specials("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_ROBERTA = Specials("<s>", "</s>", "<pad>", "<unk>", "<mask>")
_MPNET = Specials("<s>", "</s>", "<pad>", "[UNK]", "<mask>")
_ALBERT = Specials("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]")
_SIDED = ("input_ids", "token_type_ids", "attention_mask")
UNSIDED = ("input_ids", "attention_mask")
_FILE = "PreTrainedTokenizerFast"
_TWO = RowFormat(separators=2)  # <s> a </s></s> b </s>

FAMILIES = {
    family.name: family
    for family in (
        Family("bert", "Bert", WORDPIECE, _BERT),
        Family("roberta", "Roberta", BYTE_BPE, _ROBERTA, _TWO),
        Family("xlm-roberta", "XLMRoberta", SENTENCEPIECE, _ROBERTA, _TWO, renumbered=True),
        Family("electra", "Electra", WORDPIECE, _BERT),
        Family("distilbert", "DistilBert", WORDPIECE, _BERT),
        Family("albert", "Albert", SENTENCEPIECE, _ALBERT, cleaned=True, inputs=_SIDED),
        Family("deberta-v2", "DebertaV2", SENTENCEPIECE, _BERT, reader=_FILE),
        Family("modernbert", "ModernBert", BYTE_BPE, _BERT, inputs=UNSIDED, reader=_FILE),
        Family("mpnet", "MPNet", WORDPIECE, _MPNET, _TWO, inputs=UNSIDED),
    )
}


def family_of(settings: Mapping[str, Any]) -> Family:
    """Return the family of a folder's tokeniser settings; BERT by default."""
    return FAMILIES[settings.get("family", "bert")]
