"""Translation figures: BLEU, chrF and TER on plain text, and the BLEUs of older papers.

Headline figures are computed on detokenised text with sacreBLEU's own tokenisation and have its
signature. The other figures allow comparison with earlier papers:

- tokenised BLEU: no tokenisation on tokenised text, case-sensitive, unsmoothed, as in
  ``multi-bleu.perl``;
- compound-split BLEU: the same after ``rich-text`` became ``rich ##AT##-##AT## text`` on both
  sides, as in Vaswani et al. (2017): 0.5 to 1 point higher, and comparable only with itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics import BLEU
from sacremoses import MosesDetokenizer, MosesTokenizer

from ..errors import InputError
from ..language_codes import base_code
from .choices import SUBWORDS, TOKENIZED
from .sentence_counts import metric_of

FIGURES = ("bleu", "chrf", "ter", "tokenized_bleu", "compound_split_bleu")

_BPE_MARK = re.compile(r"@@ |@@ ?$")
_PIECE_MARK = "\u2581"
_PIECE_BYTES = re.compile(r"(?<!\S)<0x[0-9A-F]{2}>(?: <0x[0-9A-F]{2}>)*(?!\S)")
_NO_BYTE = re.compile("[\udc80-\udcff]")  # Python's code points for invalid bytes
_HYPHEN_COMPOUND = re.compile(rb"(\S)-(\S)")  # on bytes, as the usual perl one-liner
_SPACED_STOP = re.compile(r"\s[.,](?=\s|$)")
_ATTACHED_STOP = re.compile(r"[^\s.,][.,](?=\s|$)")
_MOSES_ESCAPE = re.compile(r"&(?:apos|quot|amp|lt|gt|#124|#91|#93);| @-@ | ##AT##-##AT## ")
TEST_SETS = {  # variants of newstest2014 by size, which differ by up to 3 BLEU
    2737: "sacreBLEU's wmt14 en-de (newstest2014 filtered, the set of the syntax-infused paper)",
    3003: "sacreBLEU's wmt14/full (newstest2014 unfiltered)",
}


@dataclass(frozen=True)
class Corpus:
    """Sentences in the two forms that the figures need."""

    name: str  # for messages
    text: list[str]  # detokenised sentences
    # given Moses tokens with subwords joined, or None for plain text
    tokens: list[str] | None = None
    others: tuple["Corpus", ...] = ()  # further references for the same sentences

    @property
    def versions(self) -> tuple["Corpus", ...]:
        """All references."""
        return self, *self.others


@dataclass(frozen=True)
class SystemScores:
    """All figures of one system."""

    name: str  # the system
    sentences: int  # number of scored sentences; equals the number of hypotheses and of references
    figures: dict[
        str, float
    ]  # name in ``FIGURES`` -> value in points (0 to 100; TER may exceed 100, and less is better)
    signatures: dict[str, str]  # name in ``FIGURES`` -> sacreBLEU signature
    tokens: str  # source of the tokens of the tokenised figures


def check_equal_counts(first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]]) -> None:
    """Refuse two named lists of sentences of different length."""
    (first_name, first_lines), (second_name, second_lines) = first, second
    if len(first_lines) != len(second_lines):
        raise InputError(
            f"unequal line counts: {first_name} has {len(first_lines):,}, "
            f"{second_name} has {len(second_lines):,}; sentence i of one must answer "
            "sentence i of the other"
        )


def remove_subwords(
    lines: Sequence[str], kind: str = "auto", *, alike: Sequence[str] = ()
) -> list[str]:
    """Join subwords (BPE ``@@``, sentencepiece); ``auto`` joins if the text has marks.

    Args:
        alike: further sentences of the same form, evidence for ``auto``.
    """
    _check_choice("subwords", kind, SUBWORDS)
    if kind == "auto":
        kind = _subword_kind([*lines, *alike])
    if kind == "bpe":
        return [_BPE_MARK.sub("", line) for line in lines]
    if kind == "sentencepiece":
        texts = (_PIECE_BYTES.sub(_character, line).replace(" ", "") for line in lines)
        return [text.replace(_PIECE_MARK, " ").strip() for text in texts]
    return list(lines)


def _character(pieces: re.Match[str]) -> str:
    """Return the characters of sentencepiece's bytes, as its programs do."""
    found = bytes(int(piece[3:5], 16) for piece in pieces[0].split())
    text = found.decode("utf-8", "surrogateescape").replace(" ", _PIECE_MARK)
    return _NO_BYTE.sub("\ufffd", text)


def _subword_kind(lines: Sequence[str]) -> str:
    filled = [line for line in lines if line.strip()]
    marked = sum(_PIECE_MARK in line or bool(_PIECE_BYTES.search(line)) for line in filled)
    if filled and 2 * marked >= len(filled):
        return "sentencepiece"
    return "bpe" if any(_BPE_MARK.search(line) for line in filled) else "none"


def looks_tokenized(lines: Sequence[str]) -> bool:
    """Return whether lines are Moses tokens: stops and commas stand alone, ``&apos;`` occurs."""
    alone = sum(
        len(_SPACED_STOP.findall(line)) + len(_MOSES_ESCAPE.findall(line)) for line in lines
    )
    attached = sum(len(_ATTACHED_STOP.findall(line)) for line in lines)
    return alone > attached


@dataclass(frozen=True)
class TextForm:
    """The form of translation files."""

    lang: str  # target language, for detokenisation
    # whether systems (and T- lines) are Moses tokens: ``yes``, ``no`` or ``auto`` (by content)
    tokenized: str = "auto"
    reference_tokenized: str = "auto"  # the same for the reference file
    subwords: str = "auto"  # one of ``SUBWORDS``


def prepare(
    name: str, lines: Sequence[str], form: TextForm, alike: Sequence[str] | None = None
) -> Corpus:
    """Convert sentences to plain text, keeping given tokens.

    Args:
        lines: sentences: plain, Moses-tokenised, or either in subwords.
        form: their form; only ``tokenized`` counts.
        alike: further sentences of the same form, evidence for ``auto``: a poor system may produce
            no punctuation, but the T- lines of its log have some.
    """
    alike, tokenized = alike or (), form.tokenized
    _check_choice("tokenized", tokenized, TOKENIZED)
    words = remove_subwords(lines, form.subwords, alike=alike)
    if tokenized == "auto":
        tokenized = "yes" if looks_tokenized([*words, *alike]) else "no"
    if tokenized == "no":
        return Corpus(name, words)
    detokenizer: Any = MosesDetokenizer(base_code(form.lang))  # un-escapes &apos; and similar
    text = [detokenizer.detokenize(_join_hyphens(line).split()) for line in words]
    return Corpus(name, text, [detokenizer.unescape_xml(line) for line in words])


def tokenize(lines: Sequence[str], lang: str) -> list[str]:
    """Moses-tokenise plain text without escaping."""
    tokenizer: Any = MosesTokenizer(base_code(lang))
    return [tokenizer.tokenize(line, return_str=True, escape=False) for line in lines]


def split_compounds(line: str) -> str:
    """Turn ``rich-text`` into ``rich ##AT##-##AT## text``, whatever the form of its hyphen."""
    joined = _join_hyphens(line).encode("utf-8")
    return _HYPHEN_COMPOUND.sub(rb"\1 ##AT##-##AT## \2", joined).decode("utf-8")


def _join_hyphens(line: str) -> str:
    """Undo both conventions for separate hyphens."""
    return line.replace(" ##AT##-##AT## ", "-").replace(" @-@ ", "-")


def token_bleu() -> BLEU:
    """Return BLEU as in ``multi-bleu.perl``: given tokens, case-sensitive, unsmoothed."""
    return BLEU(tokenize="none", force=True, smooth_method="none")


def score(system: Corpus, reference: Corpus, *, lang: str) -> SystemScores:
    """Compute every figure of a system; the language decides tokenisation and the Moses rules."""
    for one in reference.versions:
        check_equal_counts((system.name, system.text), (one.name, one.text))
    if not system.text:
        raise InputError(f"{system.name}: no sentences to score")
    hypotheses, references, origin = _tokens_of_all(system, reference, lang)
    texts = [one.text for one in reference.versions]
    pairs = {
        "bleu": (metric_of("bleu", lang), system.text, texts),
        "chrf": (metric_of("chrf"), system.text, texts),
        "ter": (metric_of("ter"), system.text, texts),
        "tokenized_bleu": (token_bleu(), hypotheses, references),
        "compound_split_bleu": (
            token_bleu(),
            [split_compounds(line) for line in hypotheses],
            [[split_compounds(line) for line in lines] for lines in references],
        ),
    }
    figures, signatures = {}, {}
    for name, (metric, sys_lines, ref_lines) in pairs.items():
        figures[name] = metric.corpus_score(sys_lines, ref_lines).score
        signatures[name] = str(metric.get_signature())
    return SystemScores(system.name, len(system.text), figures, signatures, origin)


def _tokens_of_all(
    system: Corpus, reference: Corpus, lang: str
) -> tuple[list[str], list[list[str]], str]:
    """Return the tokens of all sides: given tokens if all have them, else the same tokenisation."""
    given = [one.tokens for one in reference.versions if one.tokens is not None]
    if system.tokens is not None and len(given) == len(reference.versions):
        return system.tokens, given, "as given"
    found = [tokenize(one.text, lang) for one in reference.versions]
    return tokenize(system.text, lang), found, f"sacremoses {lang}"


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InputError(f"{option}: unknown value {value!r}; choose from {', '.join(choices)}")
