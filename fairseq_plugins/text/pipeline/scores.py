"""Scores of the English pipeline on a treebank split, and the card that is written from them.

Tags are accuracies over words; trees are UAS and LAS (relation with its subtype). For another
tokenisation than the treebank's a token counts as right when it has the tag of the word that covers
its first character; ``_exact`` counts only tokens that coincide with a word.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import Template

from english_treebank import Sentence, Span, lowered, owners, token_spans
from sacremoses import MosesTokenizer
from spacy.language import Language
from spacy.tokens import Doc

CARD = Template("""# en_ewt_small

$description

| | |
|---|---|
| name, version | `$name` $version, spaCy $spacy_version |
| components | $components |
| trained on | [$source]($url), train split; best checkpoint chosen on dev |
| licence | $license, see `LICENSE` |
| size | $size_mb MB |

Load it with `spacy.load(path)`; nothing has to be registered. It tags raw text (spaCy's English
tokeniser) and given words (`Doc(vocab, words=...)`), and the same input gives the same output.

## Scores

Test split: $sentences sentences, $words words. Per cent.

| measure | score |
|---|---|
| UPOS, treebank words | $upos |
| UAS / LAS, treebank words, punctuation counted | $uas / $las |
| UAS / LAS, treebank words, punctuation left out (spaCy's habit) | $uas_no_punct / $las_no_punct |
| UPOS, treebank words in lower case | $upos_lower |
| UPOS, Moses tokens (not escaped), tag of the word under the first character | $upos_moses |
| UPOS, Moses tokens that coincide with a word | $upos_moses_exact |
| UPOS, raw text through spaCy's tokeniser, tag of the word under the first character | $upos_raw |
| UPOS, raw text, tokens that coincide with a word | $upos_raw_exact |
| words a second on one core from raw text, tags and tree | $words_per_second |
| words a second on one core from raw text, tags only | $words_per_second_tags |

The scored documents hold one sentence each. Relations carry their subtype (`nsubj:pass`).

## How it was made

`scripts/train_english_pipeline.py train`: spaCy's stock CPU configuration (hash embeddings of norm,
prefix, suffix and shape, window encoder), averaged weights, and a training mixture with lower-cased
and Moses-tokenised variants of the sentences. `scripts/train_english_pipeline.py evaluate` wrote
this card and the `performance` block of `meta.json`.

## Limits

Web text of the treebank's five genres (weblogs, newsgroups, emails, reviews, answers): other
domains score lower. No lemmas, features, fine tags or entities.
""")

LICENCE = Template("""The pipeline in this directory is licensed under the Creative Commons
Attribution-ShareAlike 4.0 International licence ($license):
https://creativecommons.org/licenses/by-sa/4.0/legalcode

It is adapted material: statistical weights trained on

    $source
    $url
    Contributors: $author
    Annotations (c) 2013 and later, The Board of Trustees of The Leland Stanford Junior University,
    licensed under CC BY-SA 4.0. The underlying texts belong to their various owners.

    Natalia Silveira, Timothy Dozat, Marie-Catherine de Marneffe, Samuel Bowman, Miriam Connor,
    John Bauer and Christopher D. Manning (2014): A Gold Standard Dependency Corpus for English.
    Proceedings of LREC 2014.

The treebank itself is not contained here. Changes made: the sentences were re-tokenised and
lower-cased in part, and only coarse tags and basic dependencies were used. Neither the treebank's
authors nor their institutions endorse this work. The licence of the surrounding software does not
apply to this directory, nor this one to the software.
""")


def score(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Returns every score of the card, in per cent, and the speed in words a second."""
    moses = MosesTokenizer("en")

    def cut_moses(text: str) -> list[str]:
        return moses.tokenize(text, escape=False)

    scores = {"sentences": len(sentences), "words": sum(len(s.words) for s in sentences)}
    scores |= score_words(nlp, sentences)
    scores["upos_lower"] = score_words(nlp, [lowered(s) for s in sentences])["upos"]
    scores |= score_tokens(nlp, sentences, "upos_moses", given=cut_moses)
    scores |= score_tokens(nlp, sentences, "upos_raw", given=None)
    scores["words_per_second"] = words_per_second(nlp, sentences)
    with nlp.select_pipes(disable=["parser"]):
        scores["words_per_second_tags"] = words_per_second(nlp, sentences)
    return scores


def score_words(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Scores tags and trees on the treebank's own words."""
    hits: dict[str, list[bool]] = {key: [] for key in ("upos", "uas", "las")}
    hits |= {"uas_no_punct": [], "las_no_punct": []}
    docs = nlp.pipe(Doc(nlp.vocab, words=list(s.words)) for s in sentences)
    for sentence, doc in zip(sentences, docs, strict=True):
        for token, tag, head, dep in zip(
            doc, sentence.upos, sentence.heads, sentence.deps, strict=True
        ):
            attached = token.head.i == head
            labelled = attached and token.dep_ == dep
            hits["upos"].append(token.pos_ == tag)
            hits["uas"].append(attached)
            hits["las"].append(labelled)
            if dep != "punct":
                hits["uas_no_punct"].append(attached)
                hits["las_no_punct"].append(labelled)
    return {key: per_cent(values) for key, values in hits.items()}


def score_tokens(
    nlp: Language,
    sentences: Sequence[Sentence],
    name: str,
    *,
    given: Callable[[str], list[str]] | None,
) -> dict[str, float]:
    """Scores tags on other tokens: ``given`` ones, or those the pipeline finds in the raw text.

    Raises:
        ValueError: the tokens do not spell their sentence.
    """
    tags, exact = [], []
    docs = nlp.pipe(_inputs(nlp, sentences, given))
    for sentence, doc in zip(sentences, docs, strict=True):
        tokens = [token for token in doc if not token.is_space]
        spans = token_spans([token.text for token in tokens], sentence.text)
        if spans is None:
            raise ValueError(f"{name}: the tokens do not spell {sentence.text!r}")
        found = [token.pos_ for token in tokens]
        right = compare_tags(found, spans, sentence)
        gold = set(sentence.spans)
        tags += right
        exact += [hit for hit, span in zip(right, spans, strict=True) if span in gold]
    return {name: per_cent(tags), f"{name}_exact": per_cent(exact)}


def _inputs(
    nlp: Language, sentences: Sequence[Sentence], given: Callable[[str], list[str]] | None
) -> Iterator[Doc | str]:
    for sentence in sentences:
        yield Doc(nlp.vocab, words=given(sentence.text)) if given else sentence.text


def compare_tags(tags: Sequence[str], spans: Sequence[Span], sentence: Sentence) -> list[bool]:
    """Tells for every token whether its tag is that of the word under its first character."""
    words = owners(spans, sentence.spans)
    return [tag == sentence.upos[word] for tag, word in zip(tags, words, strict=True)]


def per_cent(hits: Sequence[bool]) -> float:
    """Returns the share of hits, 0 for none at all."""
    return round(100 * sum(hits) / max(len(hits), 1), 2)


def words_per_second(nlp: Language, sentences: Sequence[Sentence]) -> float:
    """Times ``nlp.pipe`` over raw text in this process, warmed up; counts treebank words."""
    texts = [sentence.text for sentence in sentences]
    for _ in nlp.pipe(texts[:200]):
        pass
    started = time.perf_counter()
    for _ in nlp.pipe(texts):
        pass
    return round(
        sum(len(sentence.words) for sentence in sentences) / (time.perf_counter() - started)
    )


def size_megabytes(directory: Path) -> float:
    """Returns the size of all files of a directory in millions of bytes."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return round(sum(path.stat().st_size for path in files) / 1e6, 2)


def write(directory: Path, scores: dict[str, float]) -> None:
    """Writes the figures into ``meta.json``, and the card and the licence note beside it."""
    path = directory / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    meta["performance"] = scores
    path.write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    source = meta["sources"][0]
    fields = {**meta, **source, **scores, "source": source["name"], "name": meta["name"]}
    fields["components"] = ", ".join(meta["pipeline"])
    (directory / "README.md").write_text(CARD.substitute(fields), encoding="utf-8")
    (directory / "LICENSE").write_text(LICENCE.substitute(fields), encoding="utf-8")
