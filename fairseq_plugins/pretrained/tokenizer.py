"""How a pretrained BERT cuts raw text: its vocabulary, and three settings, read and written.

A vocabulary is one wordpiece a line, its id the line's number from 0. It belongs to pretrained
weights, so it is closed: nothing is added, sorted or padded, and its bytes are kept as they were
read. ``[PAD]``, ``[UNK]``, ``[CLS]`` and ``[SEP]`` stand anywhere in it.

``lowercase``: the text is lower-cased first; ``strip_accents``: accents are taken off;
``chinese_characters``: every Chinese character is a word. Each is looked up by itself:

1. ``tokenizer_config.json`` (``do_lower_case``, ``strip_accents``, ``tokenize_chinese_chars``);
2. the normaliser in ``tokenizer.json``;
3. otherwise lowercase unless a wordpiece of the vocabulary holds an upper-case letter (special
   wordpieces such as ``[CLS]`` apart), and Chinese characters one by one.

Accents are stripped exactly if the text is lower-cased, unless a file says otherwise (``null`` says
nothing). So does transformers.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

from ..messages import named
from ..text_reading import decode
from .directory import TOKENIZER, read_json, read_vocabulary

logger = logging.getLogger(__name__)

FILE_NAME = "tokenizer_config.json"
SPECIAL = {  # transformers' name -> wordpiece
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
CONFIG_KEYS = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "chinese_characters": "tokenize_chinese_chars",
}
NORMALIZER_KEYS = {
    "lowercase": "lowercase",
    "strip_accents": "strip_accents",
    "chinese_characters": "handle_chinese_chars",
}
_SPECIAL_PIECE = re.compile(r"\[[^\]]*\]")


def read_tokenizer_settings(directory: str | Path) -> dict[str, bool]:
    """Return ``lowercase``, ``strip_accents`` and ``chinese_characters`` of a directory.

    Raises:
        FileNotFoundError: nothing tells, not even a vocabulary.
        ValueError: a file is unreadable, or holds another value than true, false and null.
    """
    directory = Path(directory)
    found: dict[str, bool] = {}
    path = directory / TOKENIZER
    if path.is_file():
        found |= _named(path, _normalizer(path), NORMALIZER_KEYS)
    path = directory / FILE_NAME
    if path.is_file():
        found |= _named(path, read_json(path), CONFIG_KEYS)
    if "lowercase" not in found:
        pieces = read_vocabulary(directory).decode("utf-8", errors="replace").split("\n")
        plain = [piece for piece in pieces if not _SPECIAL_PIECE.fullmatch(piece.strip())]
        found["lowercase"] = all(piece == piece.lower() for piece in plain)
        logger.warning(
            "%s: no file says whether text is lower-cased; by its vocabulary it is%s",
            directory,
            "" if found["lowercase"] else " not",
        )
    rest = {"strip_accents": found["lowercase"], "chinese_characters": True}
    return {setting: (rest | found)[setting] for setting in CONFIG_KEYS}


def _named(path: Path, body: dict[str, Any], keys: dict[str, str]) -> dict[str, bool]:
    """Take the settings that a file knows out of it, under our names."""
    values = {s: body[key] for s, key in keys.items() if body.get(key) is not None}
    for setting, value in values.items():
        if not isinstance(value, bool):
            raise ValueError(f"{path}: {keys[setting]} is {value!r}, expected true or false")
    return values


def _normalizer(path: Path) -> dict[str, Any]:
    """Return the settings of BERT's normaliser in ``tokenizer.json``, empty without one."""
    outer = read_json(path).get("normalizer")
    if not isinstance(outer, dict):
        return {}
    parts = outer.get("normalizers", []) if outer.get("type") == "Sequence" else [outer]
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict) and part.get("type") == "BertNormalizer":
            return part
    return {}


def tokenizer_files(settings: dict[str, bool], longest: int) -> dict[str, str]:
    """Return the files that describe a tokenizer of inputs up to the ``longest``: name -> content.

    Raises:
        ValueError: a setting is missing.
    """
    missing = [setting for setting in CONFIG_KEYS if setting not in settings]
    if missing:
        raise ValueError(f"tokenizer settings lack {named(missing)}")
    config = {
        "tokenizer_class": "BertTokenizer",
        **{key: settings[setting] for setting, key in CONFIG_KEYS.items()},
        "do_basic_tokenize": True,
        "model_max_length": longest,
        **SPECIAL,
    }
    return {
        FILE_NAME: json.dumps(config, indent=2) + "\n",
        "special_tokens_map.json": json.dumps(SPECIAL, indent=2) + "\n",
    }


CLS, SEP, PAD, UNK, MASK = "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"


class Vocabulary:
    """Wordpieces and their ids, of the bytes of a vocabulary file, which errors call by its name.

    Raises:
        ValueError: it is not UTF-8, or lacks a special wordpiece.
    """

    def __init__(self, content: bytes, name: str = "vocabulary") -> None:
        self.content = content
        # at line feeds only: a wordpiece may be any other separator
        lines = content.removesuffix(b"\n").split(b"\n") if content else []
        self.pieces = [decode(line, name, i).removesuffix("\r") for i, line in enumerate(lines, 1)]
        self.indices = {piece: i for i, piece in enumerate(self.pieces)}
        missing = [piece for piece in (PAD, UNK, CLS, SEP) if piece not in self.indices]
        if missing:
            raise ValueError(f"{name} is no BERT vocabulary: it lacks {', '.join(missing)}")

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def load(cls, file: str | Path) -> Vocabulary:
        """Read a vocabulary file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is no BERT vocabulary.
        """
        path = Path(file)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such vocabulary")
        return cls(path.read_bytes(), str(path))
