"""Universal Dependencies sentences, read and re-cut: the pure half of trained pipelines.

A sentence is words with all that a treebank says of them, and the stretch of text each word covers,
counted in characters that are not white space. Re-cutting asks, for another tokenisation of the
same text, which treebank word covers the first character of each new token: that word gives tags,
and the tree is carried over where it stays one.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...corpora.conllu import Row, checked_rows, read_blocks
from ...errors import InputError
from ...syntax.subwords import Span, locate_words
from ...syntax.tree import conllu_heads
from ...text_reading import numbered_lines, read_lines

TEXT = "# text = "


@dataclass(frozen=True)
class TreeSentence:
    """One analysed sentence of W words."""

    text: str  # the raw sentence
    words: tuple[str, ...]  # W surface forms
    upos: tuple[str, ...]  # W coarse tags
    xpos: tuple[str, ...]  # W tags of the treebank's own; empty text for none, as in the next two
    feats: tuple[str, ...]  # W morphological features
    lemmas: tuple[str, ...]  # W lemmas
    # W positions of the heads, a root pointing at itself; None where there is no tree
    heads: tuple[int, ...] | None
    deps: tuple[str, ...]  # W relation labels, aligned with ``heads``
    # W flags, True where white space follows; None when words are taken as given
    spaces: tuple[bool, ...] | None
    spans: tuple[Span, ...]  # W (start, end) pairs in non-space characters of ``text``


def split_file(directory: Path, split: str) -> Path:
    """Return the file of a split of a treebank folder.

    Args:
        directory: holds ``<split>.conllu`` or ``<anything>-ud-<split>.conllu``.
        split: ``train``, ``dev`` or ``test``.

    Raises:
        FileNotFoundError: no such file, or more than one that fits.
    """
    plain = directory / f"{split}.conllu"
    found = [plain] if plain.is_file() else sorted(directory.glob(f"*-ud-{split}.conllu"))
    if len(found) != 1:
        raise FileNotFoundError(
            f"{directory}: expected {split}.conllu or one *-ud-{split}.conllu, found {len(found)}"
        )
    return found[0]


def language_of(directory: Path) -> str:
    """Return the language code of a treebank folder by the names of its files, or nothing."""
    names = {path.name.partition("_")[0] for path in directory.glob("*_*-ud-*.conllu")}
    return names.pop() if len(names) == 1 else ""


def licence_of(directory: Path) -> str:
    """Return the licence that a treebank's README names, or nothing."""
    for path in sorted(directory.glob("README*")):
        for line in read_lines(path):
            if line.startswith("License:"):
                return line.removeprefix("License:").strip()
    return ""


def read_conllu(path: Path) -> Iterator[TreeSentence]:
    """Yield the sentences of a CoNLL-U file.

    Raises:
        InputError: a malformed line or sentence, named by file and line.
    """
    for block in read_blocks(numbered_lines(path)):
        texts = [line.removeprefix(TEXT) for _, line in block if line.startswith(TEXT)]
        words, tokens = checked_rows(block, path)
        if words:
            place = f"{path}:{block[-1][0]}"
            yield _sentence(
                texts[-1] if texts else "", words, tokens, conllu_heads(words, path), place
            )


def _sentence(
    text: str,
    words: Sequence[Row],
    tokens: Mapping[int, tuple[int, list[str]]],
    numbers: Sequence[int],
    where: str,
) -> TreeSentence:
    """Build a sentence from its words, multiword ``tokens`` (see `checked_rows`) and heads."""
    rows = [fields for _, fields in words]
    spans: list[Span] = []
    spaces: list[bool] = []
    spelt = ""
    while len(spans) < len(rows):
        first = len(spans)
        last, token = tokens.get(first + 1, (first + 1, rows[first]))
        surface, parts = squeeze(token[1]), [squeeze(row[1]) for row in rows[first:last]]
        spans += [(len(spelt) + a, len(spelt) + b) for a, b in _place(parts, surface)]
        spaces += [False] * (len(parts) - 1) + ["SpaceAfter=No" not in token[9]]
        spelt += surface
    if squeeze(text) != spelt:
        raise InputError(f"{where}: the tokens do not spell the text {text!r}")
    return TreeSentence(
        text=text,
        words=tuple(row[1] for row in rows),
        upos=tuple(row[3] for row in rows),
        xpos=_said(rows, 4),
        feats=_said(rows, 5),
        lemmas=_said(rows, 2),
        heads=tuple(number - 1 if number else i for i, number in enumerate(numbers)),
        deps=tuple(row[7] if number else "ROOT" for row, number in zip(rows, numbers)),
        spaces=tuple(spaces),
        spans=tuple(spans),
    )


def _said(rows: Sequence[Sequence[str]], column: int) -> tuple[str, ...]:
    return tuple("" if row[column] == "_" != row[1] else row[column] for row in rows)


def _place(parts: list[str], surface: str) -> list[Span]:
    """Place the words of a multiword token; one not spelt in its surface starts at the cursor."""
    placed: list[Span] = []
    cursor = 0
    for part in parts:
        found = surface.find(part, cursor)
        start = found if found >= 0 else min(cursor, len(surface) - 1)
        cursor = min(start + len(part), len(surface))
        placed.append((start, cursor))
    return placed


def squeeze(text: str) -> str:
    """Return ``text`` without its white space."""
    return "".join(text.split())


def is_forest(heads: Sequence[int]) -> bool:
    """Tell whether following ``heads`` from every word ends at a word that heads itself."""
    for word in range(len(heads)):
        for _ in heads:
            if heads[word] == word:
                break
            word = heads[word]
        else:
            return False
    return True


def token_spans(tokens: Sequence[str], text: str) -> list[Span] | None:
    """Return the non-space spans of ``tokens`` in ``text``, or None when they do not spell it."""
    return locate_words(squeeze(text), tokens)


def owners(spans: Sequence[Span], gold: Sequence[Span]) -> list[int]:
    """Return, for every span, the position of the gold span that covers its first character."""
    starts = [start for start, _ in gold]
    return [max(bisect_right(starts, start) - 1, 0) for start, _ in spans]


def recut(sentence: TreeSentence, tokens: Sequence[str]) -> TreeSentence | None:
    """Carry the analysis over to another tokenisation of the same text.

    A token takes the tag of the word that covers its first character. A token that merges several
    words takes the head and the relation of the one whose head lies outside; further pieces of a
    split word hang on the first (``goeswith``).

    Returns:
        The sentence in the new tokens, with ``heads`` None when no tree remains; or None when the
        tokens do not spell the text.
    """
    spans = token_spans(tokens, sentence.text)
    if spans is None or any(start == end for start, end in spans):
        return None
    first = owners(spans, sentence.spans)
    home = owners(sentence.spans, spans)  # the token that stands for each word
    for token, owner in reversed(list(enumerate(first))):
        home[owner] = token
    heads, deps = list(range(len(tokens))), ["goeswith"] * len(tokens)
    for token, owner in enumerate(first):
        if home[owner] != token:
            heads[token] = home[owner]
    parents: Any = sentence.heads  # of a sentence with a tree
    for word in reversed(range(len(home))):
        head = parents[word]
        if head == word or home[head] != home[word]:
            heads[home[word]] = home[head]
            deps[home[word]] = sentence.deps[word]
    roots = sum(heads[token] == token for token in range(len(tokens)))
    return replace(
        sentence,
        words=tuple(tokens),
        upos=tuple(sentence.upos[word] for word in first),
        xpos=tuple(sentence.xpos[word] for word in first),
        feats=tuple(sentence.feats[word] for word in first),
        lemmas=tuple(
            sentence.lemmas[word] if token == sentence.words[word] else ""
            for token, word in zip(tokens, first)
        ),
        heads=tuple(heads) if roots == 1 and is_forest(heads) else None,
        deps=tuple(deps),
        spaces=None,
        spans=tuple(spans),
    )


def lowered(sentence: TreeSentence) -> TreeSentence:
    """Return the sentence in lower case."""
    return replace(
        sentence,
        text=sentence.text.lower(),
        words=tuple(word.lower() for word in sentence.words),
        lemmas=tuple(lemma.lower() for lemma in sentence.lemmas),
    )


def as_given(sentence: TreeSentence) -> TreeSentence:
    """Return the sentence with its words to be taken as given, not found in raw text."""
    return replace(sentence, spaces=None)


def variants(
    sentences: Sequence[TreeSentence],
    *,
    tokenize: Callable[[str], list[str]] | None,
    rate: float,
    seed: int,
) -> list[TreeSentence]:
    """Return the training mixture: every sentence once, and rates of its variants besides.

    Half of the sentences keep their raw text, so that the pipeline meets its own tokeniser; a
    fraction ``rate`` comes again in lower case and another as re-cut by ``tokenize`` (if there is
    such a thing in its language), a quarter of the latter in lower case too.
    """
    draw = random.Random(seed)
    mixture: list[TreeSentence] = []
    for sentence in sentences:
        mixture.append(sentence if draw.random() < 0.5 else as_given(sentence))
        if draw.random() < rate:
            mixture.append(as_given(lowered(sentence)))
        if tokenize is not None and draw.random() < rate:
            other = recut(sentence, tokenize(sentence.text))
            if other is not None:
                mixture.append(lowered(other) if draw.random() < 0.25 else other)
    return mixture
