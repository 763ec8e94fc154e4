"""The card and the licence of a trained pipeline, written from its scores."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

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

`fairseq-plugins train-pipeline`: spaCy's stock CPU configuration (hash embeddings of norm,
prefix, suffix and shape, window encoder), averaged weights, and a training mixture with lower-cased
and Moses-tokenised variants of the sentences. `fairseq-plugins score-pipeline` wrote this
card and the `performance` block of `meta.json`.

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
