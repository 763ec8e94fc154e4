"""Tokeniser settings of a pretrained encoder, beside its vocabulary, read and written.

``family`` names the family, unless it is BERT. The other settings are WordPiece's; other schemes
have all settings in their vocabulary's file.

``lowercase``: the text is lower-cased first; ``strip_accents``: accents are removed;
``chinese_characters``: every Chinese character is a word. The source of each is the first of:

1. ``tokenizer_config.json`` (``do_lower_case``, ``strip_accents``, ``tokenize_chinese_chars``);
2. the normaliser in ``tokenizer.json``;
3. a default: lowercase unless a wordpiece of the vocabulary has an upper-case letter (except
special
   wordpieces such as ``[CLS]``), and Chinese characters one by one.

Accents are stripped exactly if the text is lower-cased, unless a file has another value (``null``
is none). transformers does the same.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named
from .directory import TOKENIZER, find_family, read_json
from .families import UNSIDED, WORDPIECE, Family, family_of
from .tokenizer_claims import CONFIG as FILE_NAME
from .tokenizer_claims import only_step
from .tokenizer_sources import read_vocabulary
from .vocabulary import Vocabulary

logger = logging.getLogger(__name__)

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


def read_tokenizer_settings(directory: str | Path) -> dict[str, Any]:
    directory = Path(directory)
    family = find_family(directory)
    told: dict[str, Any] = {} if family.name == "bert" else {"family": family.name}
    if family.scheme != WORDPIECE:
        return told
    found: dict[str, bool] = {}
    path = directory / TOKENIZER
    if path.is_file():
        found |= _named(path, only_step(read_json(path).get("normalizer")), NORMALIZER_KEYS)
    path = directory / FILE_NAME
    if path.is_file():
        found |= _named(path, read_json(path), CONFIG_KEYS)
    if "lowercase" not in found:
        pieces = read_vocabulary(directory).pieces
        plain = [piece for piece in pieces if not _SPECIAL_PIECE.fullmatch(piece.strip())]
        found["lowercase"] = all(piece == piece.lower() for piece in plain)
        logger.warning(
            "%s: no file says whether text is lower-cased; by its vocabulary it is%s",
            directory,
            "" if found["lowercase"] else " not",
        )
    rest = {"strip_accents": found["lowercase"], "chinese_characters": True}
    return told | {setting: (rest | found)[setting] for setting in CONFIG_KEYS}


def _named(path: Path, body: dict[str, Any], keys: dict[str, str]) -> dict[str, bool]:
    """Return the settings in a file's content, under our names."""
    values = {s: body[key] for s, key in keys.items() if body.get(key) is not None}
    for setting, value in values.items():
        if not isinstance(value, bool):
            raise InputError(f"{path}: {keys[setting]} is {value!r}, expected true or false")
    return values


def tokenizer_files(
    vocabulary: Vocabulary, settings: dict[str, Any], longest: int, *, sides: bool = True
) -> dict[str, bytes]:
    """Return the files of a tokeniser for inputs up to ``longest``: name -> content.

    Without ``sides`` the encoder has one segment embedding, and the tokeniser returns no segments.
    """
    family = family_of(settings)
    if family != vocabulary.family:
        raise InputError(f"a vocabulary of {vocabulary.family.name} is not one of {family.name}")
    special, inputs = _special_tokens(family), family.inputs if sides else UNSIDED
    config = {
        "tokenizer_class": family.tokenizer,
        **_how_text_is_cut(vocabulary, settings),
        "model_max_length": longest,
        **special,
        **({"model_input_names": list(inputs)} if inputs else {}),
    }
    texts = {FILE_NAME: config, "special_tokens_map.json": special}
    found = {name: f"{json.dumps(body, indent=2)}\n".encode() for name, body in texts.items()}
    return found | {family.vocabulary_file: vocabulary.content}


def _special_tokens(family: Family) -> dict[str, str]:
    own = family.specials
    names = {"unk": own.unk, "sep": own.sep, "pad": own.pad, "cls": own.cls, "mask": own.mask}
    if family.scheme != WORDPIECE:
        names |= {"bos": own.cls, "eos": own.sep}
    return {f"{name}_token": piece for name, piece in names.items()}


def _how_text_is_cut(vocabulary: Vocabulary, settings: dict[str, Any]) -> dict[str, bool]:
    """Return the options of transformers beside the vocabulary."""
    if vocabulary.parts is not None:
        return vocabulary.parts.options
    missing = [setting for setting in CONFIG_KEYS if setting not in settings]
    if missing:
        raise InputError(f"tokenizer settings lack {named(missing)}")
    found = {key: settings[setting] for setting, key in CONFIG_KEYS.items()}
    return found | {"do_basic_tokenize": True}
