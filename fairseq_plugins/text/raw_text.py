"""Lines of text and their words: clean white space, Moses tokenisation, entities.

``--tokenizer`` names the kind of input lines:

``moses``         raw text, split into words by sacremoses;
``pretokenized``  words already separated by spaces (maybe with Moses entities);
``none``          raw text, unchanged (for sentencepiece).
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..errors import InputError
from ..language_codes import base_code
from ..syntax.sequences import whole_words
from ..text_reading import BYTE_ORDER_MARK

TOKENIZERS = ("moses", "pretokenized", "none")
NORMALIZERS = ("none", "moses")
LONGEST_WORD = 500  # characters without white space; longer stretches are slow in tokenisers

ENTITIES = (
    ("&apos;", "'"),
    ("&quot;", '"'),
    ("&#91;", "["),
    ("&#93;", "]"),
    ("&#124;", "|"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
)
SPLIT_MARKS = {"@-@": "-", "@/@": "/"}


UNSEEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))  # Unicode's categories
_RUN = re.compile(r"\S+")
_DROPPED = dict.fromkeys({*range(32)} - {*map(ord, "\t\n\v\f\r")})  # by Moses


def overlong_words(text: str) -> int:
    """Return the number of stretches without white space longer than `LONGEST_WORD`."""
    if len(text) <= LONGEST_WORD:
        return 0
    return sum(len(word) > LONGEST_WORD for word in text.split())


def ends_in_punctuation(word: str) -> bool:
    """Whether a word ends in a punctuation sign but has other characters, such as ``ball.``."""
    return _is_sign(word[-1:]) and not all(map(_is_sign, word))


def _is_sign(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "P"


def parts_of(text: str) -> list[str]:
    """Split a text within its overlong words; the joined parts are the text."""
    cuts = [0]
    if overlong_words(text):
        for run in _RUN.finditer(text):
            cuts += range(run.start() + LONGEST_WORD, run.end(), LONGEST_WORD)
    return [text[begin:end] for begin, end in zip(cuts, [*cuts[1:], len(text)])]


def readable(line: str) -> str:
    """Return a line as Unicode text, with U+FFFD for undecodable parts.

    Lone surrogates of Python's ``surrogateescape`` count as their bytes.
    """
    try:
        line.encode("utf-8")
        return line
    except UnicodeEncodeError:
        pass
    try:
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # other surrogates, such as JSON's
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def has_visible(line: str) -> bool:
    """Whether a line has more than white space, control and format characters (zero-width …)."""
    return any(unicodedata.category(char) not in UNSEEN for char in line)


def unescape(word: str) -> str:
    """Undo Moses escaping of one word (``&apos;s`` -> ``'s``, ``@-@`` -> ``-``)."""
    if word in SPLIT_MARKS:
        return SPLIT_MARKS[word]
    if "&" in word:
        for entity, char in ENTITIES:
            word = word.replace(entity, char)
    return word


@lru_cache(maxsize=8)
def _moses(lang: str) -> tuple[Any, Any, Any]:
    # takes half a second: training does without
    from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

    # the tokeniser gets the code as given, as in existing prepared folders
    detokenizer = MosesDetokenizer(base_code(lang))
    return MosesTokenizer(lang), detokenizer, MosesPunctNormalizer(lang)


def line_reader(
    tokenizer: str, normalizer: str, lang: str, *, sequences: bool = False
) -> Callable[[str], str]:
    """Return the function from an input line to the text for subwords.

    The result has single spaces and none at its ends; with ``moses`` and ``pretokenized`` spaces
    separate the words. Byte order marks at the beginning are dropped, and a line without visible
    characters is empty. With ``sequences``, Moses tears none (`syntax.sequences`).
    """
    for value, choices in ((tokenizer, TOKENIZERS), (normalizer, NORMALIZERS)):
        if value not in choices:
            raise InputError(f"unknown value {value!r}; choices: {', '.join(choices)}")

    def read(line: str) -> str:
        line = line.lstrip(BYTE_ORDER_MARK)
        if not has_visible(line):
            return ""
        if normalizer == "moses":
            line = _moses(lang)[2].normalize(line)
        if tokenizer == "moses":
            words = _moses(lang)[0].tokenize(line, return_str=True, escape=False).split()
            return " ".join(whole_words(line.translate(_DROPPED), words) if sequences else words)
        return " ".join(line.split())

    return read


def detokenize(text: str, tokenizer: str, lang: str) -> str:
    """Turn words back into text (with entities and split dashes); ``none`` changes nothing."""
    if tokenizer == "none":
        return text
    text = re.sub(r" @([-/])@ ", r"\1", text)  # a @-@ b -> a-b
    text = " ".join(unescape(word) for word in text.split())
    return _moses(lang)[1].detokenize(text.split(), return_str=True, unescape=False)
