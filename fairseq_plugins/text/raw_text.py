"""Lines of text and their words: clean white space, Moses tokenisation, entities.

``--tokenizer`` names what a line of input is:
``moses``         raw text, cut into words by sacremoses;
``pretokenized``  words are already separated by spaces (Moses entities may stand in it);
``none``          raw text that stays as it is (for sentencepiece).
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..errors import InputError
from ..language_codes import base_code
from ..text_reading import BYTE_ORDER_MARK

TOKENIZERS = ("moses", "pretokenized", "none")
NORMALIZERS = ("none", "moses")
LONGEST_WORD = 500  # characters without white space: more at once is slow for a tokeniser

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


def overlong_words(text: str) -> int:
    """Return how many stretches without white space are longer than `LONGEST_WORD`."""
    if len(text) <= LONGEST_WORD:
        return 0
    return sum(len(word) > LONGEST_WORD for word in text.split())


def ends_in_punctuation(word: str) -> bool:
    """Whether a word ends in a punctuation sign and is more than such signs, as ``ball.`` is."""
    return _is_sign(word[-1:]) and not all(map(_is_sign, word))


def _is_sign(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "P"


def parts_of(text: str) -> list[str]:
    """Cut a text within its overlong words; the parts make up the whole text again."""
    cuts = [0]
    if overlong_words(text):
        for run in _RUN.finditer(text):
            cuts += range(run.start() + LONGEST_WORD, run.end(), LONGEST_WORD)
    return [text[begin:end] for begin, end in zip(cuts, [*cuts[1:], len(text)])]


def readable(line: str) -> str:
    """Return a line as Unicode text: what cannot be becomes U+FFFD.

    Bytes that Python read as lone surrogates (its ``surrogateescape``) count as the bytes they are.
    """
    try:
        line.encode("utf-8")
        return line
    except UnicodeEncodeError:
        pass
    try:
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # surrogates of another origin, such as JSON's
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
    # half a second: training does without
    from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

    # texts are cut by the code as it stands, which prepared folders were cut by
    detokenizer = MosesDetokenizer(base_code(lang))
    return MosesTokenizer(lang), detokenizer, MosesPunctNormalizer(lang)


def line_reader(tokenizer: str, normalizer: str, lang: str) -> Callable[[str], str]:
    """Return the function from an input line to the text that subwords are made of.

    The result has single spaces and none at its ends; with ``moses`` and ``pretokenized`` its
    space-separated pieces are the words. Byte order marks before the text are no part of it, and
    a line with nothing visible is empty.
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
            line = _moses(lang)[0].tokenize(line, return_str=True, escape=False)
        return " ".join(line.split())

    return read


def detokenize(text: str, tokenizer: str, lang: str) -> str:
    """Turn words back into text (entities and split dashes included); ``none`` changes nothing."""
    if tokenizer == "none":
        return text
    text = re.sub(r" @([-/])@ ", r"\1", text)  # a @-@ b -> a-b
    text = " ".join(unescape(word) for word in text.split())
    return _moses(lang)[1].detokenize(text.split(), return_str=True, unescape=False)
