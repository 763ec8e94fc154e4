"""Tiny tokenisers of every family, trained here on invented text, in every form of directory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from fairseq_plugins.pretrained.families import FAMILIES

LINES = [
    "The cat sat on the mat, and the dog didn't.",
    "Dogs and cats: 12 of them in caf\u00e9s, na\u00efve r\u00e9sum\u00e9s!",
    "\u5317\u4eac\u5927\u5b66\u7684\u5b66\u751f \u6771\u4eac\u306e\u5b66\u751f",
    "\u041a\u043e\u0448\u043a\u0430 \u0438 \u0441\u043e\u0431\u0430\u043a\u0430 \U0001f600 1984",
    "Was the first answer better than the second one?",
]
TEXT = [f"{line} {number}" for number in range(40) for line in LINES]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>"]


def configure(path: Path, family: str, **settings: object) -> Path:
    """Write ``config.json`` with a family's name, and what the tokeniser is told."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps({"model_type": family}))
    if settings:
        (path / "tokenizer_config.json").write_text(json.dumps(settings))
    return path


@cache
def byte_pairs() -> tuple[dict[str, int], list[str]]:
    """Return subwords and merges of GPT-2's kind, without special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    return model["vocab"], merges


def write_merges(path: Path, merges: list[str]) -> None:
    path.write_text("#version: 0.2\n" + "".join(f"{pair}\n" for pair in merges), encoding="utf-8")


def write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")


def roberta(path: Path, **settings: object) -> Path:
    """Write ``vocab.json`` and ``merges.txt``, the subwords in an order of their own."""
    configure(path, "roberta", **settings)
    subwords, merges = byte_pairs()
    pieces = [*ROBERTA, *sorted(subwords, reverse=True), "<mask>"]
    write_json(path / "vocab.json", {piece: i for i, piece in enumerate(pieces)})
    write_merges(path / "merges.txt", merges)
    return path


def fairseq_roberta(path: Path) -> Path:
    """Write fairseq's own folder: ``dict.txt`` of GPT-2's numbers, rarest last, with a filler."""
    path.mkdir(parents=True, exist_ok=True)
    subwords, merges = byte_pairs()
    write_json(path / "encoder.json", subwords)
    write_merges(path / "vocab.bpe", merges)
    numbers = sorted(subwords.values(), key=lambda number: (number * 7919) % 1009)
    lines = [*(f"{number} {1000 - i}" for i, number in enumerate(numbers)), "madeupword0000 0"]
    (path / "dict.txt").write_text("".join(f"{line}\n" for line in lines))
    return path


@cache
def sentencepieces(family: str, folder: Path) -> bytes:
    """Train a sentencepiece model whose special subwords are those of a family."""
    from sentencepiece import SentencePieceTrainer

    (folder / "text").write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    special = {"pad_id": -1, "unk_id": 0, "bos_id": 1, "eos_id": 2}
    if family == "albert":
        special = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1}
        special |= {"control_symbols": "[CLS],[SEP],[MASK]"}
    if family == "deberta-v2":  # whose [MASK] stands behind the model's subwords
        special = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]"}
        special |= {"bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}
    SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / family),
        vocab_size=180,
        model_type="unigram",
        character_coverage=1.0,
        hard_vocab_limit=False,
        minloglevel=2,
        **special,
    )
    return (folder / f"{family}.model").read_bytes()


def xlm_roberta(path: Path) -> Path:
    configure(path, "xlm-roberta")
    content = sentencepieces("xlm-roberta", _scratch(path))
    (path / "sentencepiece.bpe.model").write_bytes(content)
    return path


def fairseq_xlm_roberta(path: Path) -> Path:
    """Write fairseq's own folder: its dictionary has the subwords in an order of its own."""
    xlm_roberta(path)
    (path / "config.json").unlink()
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=str(path / "sentencepiece.bpe.model"))
    pieces = [model.id_to_piece(i) for i in range(3, model.get_piece_size())]
    (path / "dict.txt").write_text("".join(f"{piece} 1\n" for piece in reversed(pieces)))
    return path


def albert(path: Path, **settings: object) -> Path:
    configure(path, "albert", **settings)
    (path / "spiece.model").write_bytes(sentencepieces("albert", _scratch(path)))
    return path


def deberta(path: Path, **settings: object) -> Path:
    configure(path, "deberta-v2", **{"do_lower_case": False, "vocab_type": "spm"} | settings)
    (path / "spm.model").write_bytes(sentencepieces("deberta-v2", _scratch(path)))
    return path


def modernbert(path: Path, words: Sequence[str] = (), **settings: object) -> Path:
    """Write a ``tokenizer.json`` of GPT-NeoX's kind: runs of blanks, then words and special tokens.

    Args:
        path: the directory.
        words: further added tokens, special if they begin with ``<``.
        settings: of ``tokenizer_config.json``.
    """
    configure(path, "modernbert", tokenizer_class="PreTrainedTokenizerFast", **settings)
    subwords, merges = byte_pairs()
    own, pieces = vars(FAMILIES["modernbert"].specials).values(), sorted(subwords, reverse=True)
    later = [*(" " * size for size in range(24, 1, -1)), *words, *sorted(own)]
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized", "special"], False)
    tokens = [{"id": i, "content": name, **flags} for i, name in enumerate(later, len(pieces))]
    for token in tokens:
        token["special"] = token["content"] in own or token["content"].startswith("<")
        token |= {"normalized": not token["special"], "lstrip": token["content"] == "[MASK]"}
    vocabulary = {name: i for i, name in enumerate([*pieces, *later[:10]])}
    model = {"type": "BPE", "unk_token": None, "vocab": vocabulary, "merges": merges}
    cut = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    body = {"version": "1.0", "added_tokens": tokens, "normalizer": {"type": "NFC"}}
    write_json(path / "tokenizer.json", body | {"pre_tokenizer": cut, "model": model})
    return path


def mpnet(path: Path) -> Path:
    """Write ``vocab.txt`` with the special tokens of MPNet, padding at 1."""
    wordpiece(path, "mpnet")
    text, own = (path / "vocab.txt").read_text(encoding="utf-8"), FAMILIES["mpnet"].specials
    for old, new in zip(vars(FAMILIES["bert"].specials).values(), vars(own).values()):
        text = text.replace(f"{old}\n", f"{new}\n")
    padding, first, rest = text.split("\n", 2)
    (path / "vocab.txt").write_text(f"{first}\n{padding}\n{rest}", encoding="utf-8")
    return path


def wordpiece(path: Path, family: str = "bert") -> Path:
    """Write ``vocab.txt`` of any family that has one."""
    from raw_text import write_pretrained

    return configure(write_pretrained(path), family)


def _scratch(path: Path) -> Path:
    folder = path.parent / "sentencepiece"
    folder.mkdir(exist_ok=True)
    return folder


FORMS = {
    "bert": wordpiece,
    "electra": lambda path: wordpiece(path, "electra"),
    "distilbert": lambda path: wordpiece(path, "distilbert"),
    "roberta": roberta,
    "roberta of fairseq": fairseq_roberta,
    "xlm-roberta": xlm_roberta,
    "xlm-roberta of fairseq": fairseq_xlm_roberta,
    "albert": albert,
    "deberta-v2": deberta,
    "modernbert": modernbert,
    "mpnet": mpnet,
}


def family_of(form: str) -> str:
    """Return the family of a form of directory."""
    return form.partition(" of ")[0]


assert {family_of(form) for form in FORMS} == {*FAMILIES}
