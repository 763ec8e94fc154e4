"""A directory's tokeniser options beside subwords: supported, refused, or reported.

Words that were added to a tokeniser, special or not, are cut like other text, and rows have the
family's special tokens: the log warns if a directory has others.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from ..errors import InputError
from ..messages import named, quoted
from .directory import TOKENIZER, read_json
from .families import UNSIDED
from .tokenizer_checks import ordered_pieces, special_pieces
from .tokenizer_models import Body
from .vocabulary import Vocabulary

logger = logging.getLogger(__name__)

CONFIG = "tokenizer_config.json"
ADDED = "added_tokens.json"  # word -> id, of tokenisers that were not saved as one file
FILES = (TOKENIZER, CONFIG, "special_tokens_map.json")
LISTS = ("added_tokens", "additional_special_tokens", "extra_special_tokens")
LONGEST_WORD = 100  # characters; longer words are unknown to WordPiece, as in BERT
MODEL = {"type": "WordPiece", "continuing_subword_prefix": "##"}
MODEL |= {"max_input_chars_per_word": LONGEST_WORD}
CLASSES = {"PreTrainedTokenizer", "TokenizersBackend", "BertTokenizer"}  # without "Fast"
UNSPLIT = {"split_by_punct": False}
OLD = {"do_basic_tokenize": True, "never_split": None}  # key -> the only supported value


def check_wordpiece(directory: Path, vocabulary: Vocabulary) -> None:
    """Refuse a ``tokenizer.json`` with other steps than BERT's, or other subwords."""
    path, unknown = directory / TOKENIZER, vocabulary.family.specials.unk
    body = read_json(path) if path.is_file() else {}
    model = body.get("model") if isinstance(body.get("model"), dict) else {}
    for key, wanted in (MODEL | {"unk_token": unknown}).items():
        if model.get(key, wanted) != wanted:
            raise InputError(f"{path}: {key} is {quoted(model[key])}, expected {quoted(wanted)}")
    for key, wanted in (("normalizer", "BertNormalizer"), ("pre_tokenizer", "BertPreTokenizer")):
        found = only_step(body.get(key, {"type": wanted}))
        if found.get("type") != wanted or found.get("clean_text", True) is not True:
            raise InputError(
                f"{path}: {key} is {quoted(body[key])}, expected {wanted} alone, as BERT cuts "
                "text; other ways are not read here"
            )
    if "vocab" not in model:
        return
    words, pieces = {*_added(directory)}, ordered_pieces(model["vocab"], str(path), gaps=True)
    pairs = {(piece, model["vocab"][piece]) for piece in pieces} ^ vocabulary.indices.items()
    for piece, number in sorted(pair for pair in pairs if pair[0] not in words):
        raise InputError(
            f"{path} has other subwords than the file beside it: one of them alone has "
            f"{quoted(piece)} as subword {number}"
        )


def only_step(part: Any) -> Body:
    """Return the only step of a normaliser or pre-tokeniser; empty if there are more."""
    steps = [part]
    if isinstance(part, dict) and part.get("type") == "Sequence":
        steps = part.get("normalizers", part.get("pretokenizers"))
    alone = isinstance(steps, list) and len(steps) == 1 and isinstance(steps[0], dict)
    return steps[0] if alone else {}


def tell(directory: Path, vocabulary: Vocabulary) -> None:
    """Warn of ignored options; refuse a configuration that contradicts the file."""
    family, path = vocabulary.family, directory / CONFIG
    config, body = (read_json(p) if p.is_file() else {} for p in (path, directory / TOKENIZER))
    options = UNSPLIT | vocabulary.parts.options if vocabulary.parts else OLD
    for key, wanted in options.items():
        if config.get(key) and not wanted or config.get(key) is False and wanted:
            raise InputError(f"{path}: {key} is {quoted(config[key])}, expected {quoted(wanted)}")
    runs = vocabulary.parts.runs if vocabulary.parts else ()
    told, own = [], special_pieces(family, runs)
    name = str(config.get("tokenizer_class") or "BertTokenizer").removesuffix("Fast")
    if name not in {*CLASSES, f"{family.title}Tokenizer"}:
        told.append(f"is a {name}; here text is cut as a {family.title}Tokenizer does")
    if lost := [word for word in dict.fromkeys(_added(directory)) if word not in own]:
        words = named(lost, 6)
        told.append(f"has the added words {words}; here they are cut like any other text")
    if not _has_rows(body.get("post_processor"), vocabulary):
        told.append(f"makes rows of other special tokens or sides than {family.short} does")
    for what in told:
        logger.warning("%s: its tokeniser %s", directory, what)


def _added(directory: Path) -> Iterator[str]:
    if (directory / ADDED).is_file():
        yield from read_json(directory / ADDED)
    for body in (read_json(directory / n) for n in FILES if (directory / n).is_file()):
        lists = [body.get(name) for name in LISTS]
        decoder = body.get("added_tokens_decoder")
        lists.append([*decoder.values()] if isinstance(decoder, dict) else None)
        for token in (token for one in lists if isinstance(one, list) for token in one):
            word = token.get("content") if isinstance(token, dict) else token
            if isinstance(word, str):
                yield word


def _has_rows(processor: Any, vocabulary: Vocabulary) -> bool:
    """Return whether a post-processor adds nothing, or makes the rows of the family."""
    first, second = len(vocabulary), len(vocabulary) + 1
    body = json.loads(Tokenizer(WordLevel({"a": first, "b": second}, unk_token="a")).to_str())
    try:
        made = Tokenizer.from_str(json.dumps(body | {"post_processor": processor})).encode("a", "b")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # the library's errors are plain Exception, its panics BaseException
        return False
    row = vocabulary.family.row
    before, between, behind = row.frame(vocabulary.cls, vocabulary.sep, 2)
    ids = [*before, first, *between, second, *behind]
    sides = [int(row.separators == 1 and place >= row.border(1)) for place in range(len(ids))]
    sides = made.type_ids if vocabulary.family.inputs == UNSIDED else sides
    return made.ids == [first, second] or (made.ids, made.type_ids) == (ids, sides)
