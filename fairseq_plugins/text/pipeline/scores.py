"""Scores of a spaCy pipeline on a split of a treebank, and the pipeline's card.

The scores are spaCy's own: accuracies over words, and for another tokenisation than the treebank's
F scores over the words with which spaCy aligns the tokens. Scores of layers that the treebank or
the pipeline lacks are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from ...errors import InputError
from ...files import write_text
from ..annotate import SCORES, load_pipeline
from .training import cuts, spacy_language
from .treebank import language_of, read_docs

CARD = Path(__file__).parent / "card"  # templates of the card and the licence note
UNKNOWN = {  # of a treebank
    "url": "https://universaldependencies.org",
    "author": "those that the treebank's README names",
}
OF_WORDS = {  # name in the card -> spaCy's name
    "upos": "pos_acc",
    "xpos": "tag_acc",
    "feats": "morph_acc",
    "lemmas": "lemma_acc",
    "uas": "all_uas",
    "las": "all_las",
    "uas_no_punct": "dep_uas",
    "las_no_punct": "dep_las",
}


def evaluate(test: Path, out: Path) -> dict[str, float]:
    """Score the pipeline on the test split of its treebank; write the scores into its folder.

    The card and `SCORES` have the scores; neither counts in a pipeline's hash.
    """
    if not (out / "meta.json").is_file():
        raise FileNotFoundError(f"{out}: no spaCy pipeline (no meta.json)")
    nlp, language = load_pipeline(str(out.absolute()), ()), language_of(test.parent)
    if language and spacy_language(language) != nlp.lang:
        raise InputError(f"{test}: is of language {language!r}, and {out} of {nlp.lang!r}")
    docs = [*read_docs(test, nlp.vocab)]
    found = {"sentences": len(docs), "words": sum(map(len, docs)), **score(nlp, docs)}
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    found["size_mb"] = round(size / 1e6, 2)
    write_text(out / SCORES, json.dumps({"of": test.name, **found}, indent=2) + "\n")
    write_card(out, {"test": test.name, **found})
    return found


def score(nlp: Language, docs: Sequence[Doc]) -> dict[str, float]:
    """Return every score of the card, in per cent, and the speed in words per second."""
    scores: dict[str, float] = {}
    for name, cut in cuts(str(nlp.lang)).items():
        given = (Doc(nlp.vocab, words=cut(doc)) for doc in docs)
        found = measures(nlp, [*map(Example, nlp.pipe(given), docs)])
        scores |= {f"upos{name}": found["upos"]} if name else found
    raw = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    found = nlp.evaluate(raw)
    scores["upos_raw"] = round(100 * found["pos_acc"], 2)
    scores["words_per_second"] = round(found["speed"])
    slow = [name for name in ("parser", "trainable_lemmatizer") if name in nlp.pipe_names]
    with nlp.select_pipes(disable=slow):
        scores["words_per_second_tags"] = round(nlp.evaluate(raw)["speed"])
    return scores


def measures(nlp: Language, examples: Sequence[Example]) -> dict[str, float]:
    """Return the scores of documents, in per cent."""
    found = Scorer(nlp).score(examples)
    if "parser" in nlp.pipe_names:
        with_signs = Scorer.score_deps(examples, "dep", ignore_labels=())
        found |= {f"all_{name}": with_signs[f"dep_{name}"] for name in ("uas", "las")}
    told = {name: found.get(of) for name, of in OF_WORDS.items()}
    return {name: round(100 * value, 2) for name, value in told.items() if value is not None}


def write_card(folder: Path, found: Mapping[str, Any]) -> None:
    """Write the card and the licence note of a pipeline, with its scores."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    source = {name: value for name, value in meta["sources"][0].items() if value}
    entries = UNKNOWN | meta | found | source | {"source": source["name"]}
    entries |= {"name": f"{meta['lang']}_{meta['name']}", "components": ", ".join(meta["pipeline"])}
    for page in CARD.iterdir():
        lines = page.read_text(encoding="utf-8").splitlines()
        write_text(folder / page.name, "".join(f"{line}\n" for line in filled(lines, entries)))


def filled(lines: Iterable[str], entries: Mapping[str, Any]) -> Iterator[str]:
    """Fill in the lines of a template; lines with unknown entries are left out."""
    for line in lines:
        with suppress(KeyError):
            yield Template(line).substitute(entries)
