"""Scores of a spaCy pipeline on a split of a treebank.

Tags, features and lemmas are accuracies over words; trees are UAS and LAS (relation with its
subtype). Something that the treebank or the pipeline has none of is left out. For another
tokenisation than the treebank's a token counts as right when it has the tag of the word that covers
its first character; ``_exact`` counts only tokens that coincide with a word.
"""

import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...errors import InputError
from ...syntax.labels import ordered_feats
from ...syntax.subwords import Span
from .treebank import TreeSentence, lowered, owners, token_spans

MEASURES = {  # of the card
    "upos": "UPOS, treebank words",
    "xpos": "XPOS, treebank words",
    "feats": "morphological features, all of a word, treebank words",
    "lemmas": "lemmas, treebank words",
    "uas": "UAS, treebank words, punctuation counted",
    "las": "LAS, treebank words, punctuation counted",
    "uas_no_punct": "UAS, treebank words, punctuation left out (spaCy's habit)",
    "las_no_punct": "LAS, treebank words, punctuation left out (spaCy's habit)",
    "upos_lower": "UPOS, treebank words in lower case",
    "upos_moses": "UPOS, Moses tokens (not escaped), tag of the word under the first character",
    "upos_moses_exact": "UPOS, Moses tokens that coincide with a word",
    "upos_raw": "UPOS, raw text through spaCy's tokeniser, tag of the word under the first letter",
    "upos_raw_exact": "UPOS, raw text, tokens that coincide with a word",
    "words_per_second": "words a second on one core from raw text, all of it",
    "words_per_second_tags": "words a second on one core from raw text, without parser and lemmas",
}


def score(
    nlp: Language,
    sentences: Sequence[TreeSentence],
    moses: Callable[[str], list[str]] | None = None,
) -> dict[str, float]:
    """Return every score of the card, in per cent, and the speed in words a second.

    ``moses`` is Moses' tokeniser of the language, if there is one.
    """
    scores = {"sentences": len(sentences), "words": sum(len(s.words) for s in sentences)}
    scores |= score_words(nlp, sentences)
    scores["upos_lower"] = score_words(nlp, [lowered(s) for s in sentences])["upos"]
    if moses is not None:
        scores |= score_tokens(nlp, sentences, "upos_moses", given=moses)
    scores |= score_tokens(nlp, sentences, "upos_raw", given=None)
    scores["words_per_second"] = words_per_second(nlp, sentences)
    slow = [name for name in ("parser", "trainable_lemmatizer") if name in nlp.pipe_names]
    with nlp.select_pipes(disable=slow):
        scores["words_per_second_tags"] = words_per_second(nlp, sentences)
    return scores


# column of a treebank's sentence -> what reads a token's
READ: dict[str, Callable[[Any], str]] = {
    "upos": attrgetter("pos_"),
    "xpos": attrgetter("tag_"),
    "feats": lambda token: ordered_feats(str(token.morph)),
    "lemmas": attrgetter("lemma_"),
}


def score_words(nlp: Language, sentences: Sequence[TreeSentence]) -> dict[str, float]:
    """Score tags and trees on the treebank's own words."""
    names = (*READ, "uas", "las", "uas_no_punct", "las_no_punct")
    hits: dict[str, list[bool]] = {key: [] for key in names}
    known = dict.fromkeys(READ, False)
    docs = nlp.pipe(Doc(nlp.vocab, words=list(s.words)) for s in sentences)
    for sentence, doc in zip(sentences, docs, strict=True):
        for name, read in READ.items():
            found, wanted = [read(token) for token in doc], getattr(sentence, name)
            known[name] = known[name] or (any(found), any(wanted)) == (True, True)
            hits[name] += [one == other for one, other in zip(found, wanted, strict=True)]
        gold = zip(doc, sentence.heads or (), sentence.deps, strict=True)
        for token, head, dep in gold if doc.has_annotation("DEP") else ():
            attached = token.head.i == head
            for ending in ("", "_no_punct") if dep != "punct" else ("",):
                hits[f"uas{ending}"].append(attached)
                hits[f"las{ending}"].append(attached and token.dep_ == dep)
    return {key: per_cent(values) for key, values in hits.items() if known.get(key, bool(values))}


def score_tokens(
    nlp: Language,
    sentences: Sequence[TreeSentence],
    name: str,
    *,
    given: Callable[[str], list[str]] | None,
) -> dict[str, float]:
    """Score tags on other tokens: ``given`` ones, or those the pipeline finds in the raw text.

    Raises:
        InputError: the tokens do not spell their sentence.
    """
    tags, exact = [], []
    texts = (sentence.text for sentence in sentences)
    docs = nlp.pipe(Doc(nlp.vocab, words=given(text)) if given else text for text in texts)
    for sentence, doc in zip(sentences, docs, strict=True):
        tokens = [token for token in doc if not token.is_space]
        spans = token_spans([token.text for token in tokens], sentence.text)
        if spans is None:
            raise InputError(f"{name}: the tokens do not spell {sentence.text!r}")
        found = [token.pos_ for token in tokens]
        right = compare_tags(found, spans, sentence)
        gold = set(sentence.spans)
        tags += right
        exact += [hit for hit, span in zip(right, spans, strict=True) if span in gold]
    return {name: per_cent(tags), f"{name}_exact": per_cent(exact)}


def compare_tags(tags: Sequence[str], spans: Sequence[Span], sentence: TreeSentence) -> list[bool]:
    """Tell for every token whether its tag is that of the word under its first character."""
    words = owners(spans, sentence.spans)
    return [tag == sentence.upos[word] for tag, word in zip(tags, words, strict=True)]


def per_cent(hits: Sequence[bool]) -> float:
    """Return the share of hits, 0 for none at all."""
    return round(100 * sum(hits) / max(len(hits), 1), 2)


def words_per_second(nlp: Language, sentences: Sequence[TreeSentence]) -> float:
    """Time ``nlp.pipe`` over raw text in this process, warmed up; counts treebank words."""
    texts = [sentence.text for sentence in sentences]
    for _ in nlp.pipe(texts[:200]):
        pass
    started = time.perf_counter()
    for _ in nlp.pipe(texts):
        pass
    words = sum(len(sentence.words) for sentence in sentences)
    return round(words / (time.perf_counter() - started))
