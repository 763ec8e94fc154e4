"""The vocabulary of a pretrained directory, from any of its files, as one `Vocabulary`.

WordPiece: ``vocab.txt``, or ``tokenizer.json``. Byte-level byte-pair encoding: ``tokenizer.json``,
or ``vocab.json`` with ``merges.txt`` (GPT-2's own names: ``encoder.json`` with ``vocab.bpe``).
Sentencepiece: ``tokenizer.json``, or ``sentencepiece.bpe.model`` (XLM-R), ``spiece.model``
(ALBERT), or ``spm.model`` (DeBERTa). A folder of fairseq's also has ``dict.txt``, which decides the
ids: fairseq's four special tokens, its lines, and ``<mask>``, as in `fairseq.tasks`.
"""

import re
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named, quoted
from ..text_reading import read_lines
from . import tokenizer_claims, tokenizer_models
from .directory import CONFIG as ENCODER
from .directory import DICTIONARY, TOKENIZER, VOCABULARY, find_family, is_fairseq, read_json
from .families import BYTE_BPE, WORDPIECE, Family
from .sentencepiece_model import SentencePieces, read_sentencepieces
from .tokenizer_checks import ordered_pieces
from .tokenizer_claims import CONFIG
from .tokenizer_json import Parts
from .tokenizer_models import Body
from .vocabulary import Vocabulary

PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # subwords, merges
MODELS = ("sentencepiece.bpe.model", "spiece.model", "spm.model")
UNFIT = "does not fit the tokeniser beside it"
FILLER = re.compile(r"madeupword\d+")  # lines with which fairseq rounds a dictionary's size


def read_vocabulary(directory: str | Path) -> Vocabulary:
    vocabulary = _read(Path(directory))
    tokenizer_claims.tell(Path(directory), vocabulary)
    _check_embedded(Path(directory), vocabulary)
    return vocabulary


def _read(directory: Path) -> Vocabulary:
    family = find_family(directory)
    if family.scheme == WORDPIECE:
        content, name = _wordpieces(directory), str(directory / VOCABULARY)
        vocabulary = Vocabulary(content, name, family)
        tokenizer_claims.check_wordpiece(directory, vocabulary)
        return vocabulary
    path = directory / TOKENIZER
    if path.is_file() and not is_fairseq(directory):
        parts = Parts.read(read_json(path), family, str(path))
        if family.scheme == BYTE_BPE and not family.reader:
            prefix = _flag(directory, "add_prefix_space", parts.pre_tokenizer["add_prefix_space"])
            cut = tokenizer_models.byte_level(prefix=prefix)
            parts = Parts.of(parts.model, parts.normalizer, cut, family, runs=parts.runs)
    elif family.scheme == BYTE_BPE:
        parts = _from_merges(directory, family)
    else:
        parts = _from_sentencepieces(directory, family)
    return Vocabulary(parts.content(family), str(directory), family)


def _check_embedded(directory: Path, vocabulary: Vocabulary) -> None:
    """Refuse more subwords than an encoder has embeddings."""
    path = directory / ENCODER
    size = read_json(path).get("vocab_size") if path.is_file() else None
    if type(size) is int and len(vocabulary) > size:
        raise InputError(
            f"{path}: vocab_size is {size}, but the vocabulary beside it has {len(vocabulary)} "
            "subwords: some would have no embedding"
        )


def vocabulary_files(directory: str | Path) -> list[Path]:
    """Return the existing files of a directory's vocabulary."""
    names = (VOCABULARY, TOKENIZER, DICTIONARY, *(name for pair in PAIRS for name in pair), *MODELS)
    return [path for name in names if (path := Path(directory) / name).is_file()]


def _wordpieces(directory: Path) -> bytes:
    """Return the vocabulary, one wordpiece per line.

    Recent versions of transformers save only a ``tokenizer.json``.
    """
    if (directory / VOCABULARY).is_file():
        return (directory / VOCABULARY).read_bytes()
    path = directory / TOKENIZER
    if not path.is_file():
        raise FileNotFoundError(f"{directory}: no vocabulary, neither {VOCABULARY} nor {TOKENIZER}")
    model: Any = read_json(path).get("model")
    pieces = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(pieces, dict) or model.get("type", "WordPiece") != "WordPiece":
        raise InputError(f"{path} holds no WordPiece vocabulary")
    ordered = ordered_pieces(pieces, str(path))
    broken = [piece for piece in ordered if "\n" in piece]
    if broken:
        raise InputError(f"{path}: the wordpiece {broken[0]!r} holds a line break")
    return "".join(f"{piece}\n" for piece in ordered).encode("utf-8")


def _flag(directory: Path, key: str, default: bool) -> bool:
    """Return a truth value of the tokeniser's configuration."""
    path = directory / CONFIG
    value = read_json(path).get(key) if path.is_file() else None
    if value not in (True, False, None):
        raise InputError(f"{path}: {key} is {quoted(value)}, expected true or false")
    return default if value is None else bool(value)


def _from_merges(directory: Path, family: Family) -> Parts:
    """Read subwords and merges of byte-pair encoding."""
    read = () if family.reader else PAIRS  # merges alone say nothing of normalisation or blanks
    files = [[directory / name for name in pair] for pair in read]
    found = next((pair for pair in files if pair[0].is_file()), None)
    if found is None:
        names = [TOKENIZER, *(f"{first} with {second}" for first, second in read)]
        raise FileNotFoundError(
            f"{directory}: no vocabulary, expected {named(names, between=' or ')}"
        )
    subwords, merges = found
    if not merges.is_file():
        raise FileNotFoundError(
            f"{directory}: {subwords.name} is there, but no {merges.name}: without merges nothing "
            "can be joined to subwords"
        )
    pieces = ordered_pieces(read_json(subwords), str(subwords))
    pairs = _merges(merges)
    if is_fairseq(directory):
        spelled = {str(number): piece for number, piece in enumerate(pieces)}
        pieces = _by_dictionary(directory / DICTIONARY, spelled, family)
    prefix = _flag(directory, "add_prefix_space", default=False)
    cut = tokenizer_models.byte_level(prefix=prefix)
    parts = Parts.of(tokenizer_models.byte_bpe(pieces, pairs), None, cut, family)
    return parts.checked(str(merges))


def _merges(path: Path) -> list[list[str]]:
    """Read merges, one pair per line; the first line may be a version."""
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or not all(pair):
            raise InputError(f"{path}:{number}: {quoted(line)} is no pair of subwords")
        pairs.append(pair)
    if not pairs:
        raise InputError(f"{path} has no merges, so nothing can be joined")
    return pairs


def _by_dictionary(path: Path, spelled: dict[str, str], family: Family) -> list[str]:
    """Return the subwords in the order of a fairseq dictionary, between special tokens."""
    own = family.specials
    found = {piece: 0 for piece in (own.cls, own.pad, own.sep, own.unk)}
    for number, line in enumerate(read_lines(path), 1):
        symbol, _, count = line.rpartition(" ")
        if count == "#fairseq:overwrite":
            symbol, _, count = symbol.rpartition(" ")
        if not symbol or not count.isdecimal():
            raise InputError(f"{path}:{number}: {quoted(line)} is no symbol with its count")
        piece = spelled.get(symbol, symbol if FILLER.fullmatch(symbol) else None)
        if piece is None or piece in found:
            what = "stands for no subword of the tokeniser" if piece is None else "is there twice"
            raise InputError(f"{path}:{number} {UNFIT}: {quoted(symbol)} {what}")
        found[piece] = number
    lacking = [symbol for symbol, piece in spelled.items() if piece not in found]
    if lacking:
        raise InputError(f"{path} {UNFIT}: it lacks {named(lacking, 6)}")
    return [*found, own.mask]


def _from_sentencepieces(directory: Path, family: Family) -> Parts:
    """Read a sentencepiece model, with XLM-R's ids or its own (ALBERT, DeBERTa)."""
    path = next((path for name in MODELS if (path := directory / name).is_file()), None)
    if path is None:
        names = named((TOKENIZER, *MODELS), between=" or ")
        raise FileNotFoundError(f"{directory}: no vocabulary, expected {names}")
    found = read_sentencepieces(path)
    if family.renumbered:
        model = _renumbered(found, path, directory, family)
        steps = found.normalizer
    else:
        mask = family.specials.mask
        behind = not family.cleaned and all(piece != mask for piece, _ in found.scores)
        model = tokenizer_models.unigram(found.scores + [(mask, 0.0)] * behind, found.unknown)
        steps = tokenizer_models.normalizers(*_cleaning(directory, family), found.normalizer)
    cut = tokenizer_models.marked_words(
        prefix=_flag(directory, "add_prefix_space", default=True),
        signs=_flag(directory, "split_by_punct", default=False),
    )
    return Parts.of(model, steps, cut, family, [*found.controls]).checked(str(path))


def _renumbered(found: SentencePieces, path: Path, directory: Path, family: Family) -> Body:
    """Return the model with fairseq's special tokens in place of its own three."""
    own = family.specials
    plain = [pair for pair in found.scores if pair[0] not in found.controls]
    if [piece for piece, _ in found.scores[:3]] != [own.unk, own.cls, own.sep] or (
        len(plain) != len(found.scores) - 3
    ):
        first = named([piece for piece, _ in found.scores[:3]])
        raise InputError(
            f"{path}: its first subwords are {first}, expected {own.unk}, {own.cls} and {own.sep} "
            "and no other special ones"
        )
    scores = dict(plain)
    pieces = [own.cls, own.pad, own.sep, own.unk, *scores, own.mask]
    if is_fairseq(directory):
        spelled = {piece: piece for piece in scores}
        pieces = _by_dictionary(directory / DICTIONARY, spelled, family)
    pairs = [(piece, scores.get(piece, 0.0)) for piece in pieces]
    return tokenizer_models.unigram(pairs, pieces.index(own.unk))


def _cleaning(directory: Path, family: Family) -> list[Body]:
    quotes = ("``", "''") if family.cleaned else ()
    steps: list[Body] = [
        {"type": "Replace", "pattern": {"String": quote}, "content": '"'} for quote in quotes
    ]
    if not _flag(directory, "keep_accents", default=not family.cleaned):
        steps += [{"type": "NFKD"}, {"type": "StripAccents"}]
    if _flag(directory, "do_lower_case", default=family.cleaned):
        steps.append({"type": "Lowercase"})
    return steps
