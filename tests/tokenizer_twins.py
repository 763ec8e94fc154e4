"""Odd lines, our tokeniser of a directory, and transformers' class of a family."""

from __future__ import annotations

import random

import transformers

from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary
from fairseq_plugins.text.pieces import PieceTokenizer

NASTY = ["The", "cat", "caf\u00e9", "e\u0301", "\u0302x", "\u5317\u4eac\u5927", "didn't", "1984"]
NASTY += ["\u041a\u043e\u0448", "\U0001f600", "\ufb01", "\u200b", "\u00a0", "\u2581", "``", "''"]
NASTY += ["\u0130", "\u3000", "\t", "  ", "\u00ad", "\ufeff", "<S>", "[", "]", "<", "\u1e9e"]
NASTY += ["\u2126", "\u0e01\u0e33", "\ud55c\uae00", "\u0915\u094d\u0937"]


def odd_lines(count: int) -> list[str]:
    """Lines of letters, blanks, signs and characters from all over Unicode."""
    rng = random.Random(5)
    planes = (0x80, 0x800, 0x3000, 0xA000)  # below surrogates

    def part() -> str:
        if rng.random() < 0.6:
            return rng.choice(NASTY) + rng.choice(["", " "])
        return "".join(chr(0x20 + rng.randrange(rng.choice(planes))) for _ in range(3))

    lines = ("".join(part() for _ in range(rng.randrange(1, 9))) for _ in range(count))
    return [line for line in lines if line.isprintable() or line.strip()]


def tokenizer_of(path) -> PieceTokenizer:
    return PieceTokenizer(read_vocabulary(path), read_tokenizer_settings(path))


def theirs(family: str):
    return {
        "bert": transformers.BertTokenizer,
        "electra": transformers.ElectraTokenizer,
        "distilbert": transformers.DistilBertTokenizer,
        "roberta": transformers.RobertaTokenizer,
        "xlm-roberta": transformers.XLMRobertaTokenizer,
        "albert": transformers.AlbertTokenizer,
        "deberta-v2": transformers.DebertaV2Tokenizer,
        "modernbert": transformers.PreTrainedTokenizerFast,
        "mpnet": transformers.MPNetTokenizer,
    }[family]
