"""Scores of a spaCy pipeline on a split of a treebank, and the card that tells them.

They are spaCy's own: accuracies over words, and for another tokenisation than the treebank's F
scores over the words with which spaCy aligns the tokens. Something that the treebank or the
pipeline has none of is left out.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from string import Template

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from ...errors import InputError
from ...files import write_text
from ..annotate import SCORES, load_pipeline
from .documents import read_docs
from .training import cuts, spacy_language
from .treebank import language_of

CARD = Path(__file__).parent / "card"  # templates of the card and the licence note
# name -> spaCy's name, and what it is
OF_WORDS = {
    "upos": ("pos_acc", "UPOS, treebank words"),
    "xpos": ("tag_acc", "XPOS, treebank words"),
    "feats": ("morph_acc", "morphological features, all of a word, treebank words"),
    "lemmas": ("lemma_acc", "lemmas, treebank words"),
    "uas": ("all_uas", "UAS, treebank words, punctuation counted"),
    "las": ("all_las", "LAS, treebank words, punctuation counted"),
    "uas_no_punct": ("dep_uas", "UAS, treebank words, punctuation left out (spaCy's habit)"),
    "las_no_punct": ("dep_las", "LAS, treebank words, punctuation left out (spaCy's habit)"),
}
MEASURES = {name: text for name, (_, text) in OF_WORDS.items()} | {
    "upos_lower": "UPOS, treebank words in lower case",
    "upos_moses": "UPOS, Moses tokens (not escaped), F score of the words",
    "upos_raw": "UPOS, raw text through spaCy's tokeniser, F score of the words",
    "words_per_second": "words a second on one core from raw text, all of it",
    "words_per_second_tags": "words a second on one core from raw text, without parser and lemmas",
}


def evaluate(test: Path, out: Path) -> dict[str, float]:
    """Score the pipeline on the test split of its treebank and write the figures next to it.

    They stand in the card and in `SCORES`, which do not decide what a pipeline is.
    """
    if not (out / "meta.json").is_file():
        raise FileNotFoundError(f"{out}: no spaCy pipeline (no meta.json)")
    nlp, language = load_pipeline(str(out.absolute()), ()), language_of(test.parent)
    if language and spacy_language(language) != nlp.lang:
        raise InputError(f"{test}: is of language {language!r}, and {out} of {nlp.lang!r}")
    found = score(nlp, [*read_docs(test, nlp.vocab)])
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    found["size_mb"] = round(size / 1e6, 2)
    write_card(out, found, test.name)
    return found


def score(nlp: Language, docs: Sequence[Doc]) -> dict[str, float]:
    """Return every score of the card, in per cent, and the speed in words a second."""
    scores: dict[str, float] = {"sentences": len(docs), "words": sum(map(len, docs))}
    for name, cut in cuts(str(nlp.lang)).items():
        given = (Doc(nlp.vocab, words=cut(doc)) for doc in docs)
        found = measures(nlp, [*map(Example, nlp.pipe(given), docs)])
        scores |= {f"upos{name}": found["upos"]} if name else found
    raw = measures(nlp, [*map(Example, nlp.pipe(doc.text for doc in docs), docs)])
    scores["upos_raw"] = raw["upos"]
    scores["words_per_second"] = words_per_second(nlp, docs)
    slow = [name for name in ("parser", "trainable_lemmatizer") if name in nlp.pipe_names]
    with nlp.select_pipes(disable=slow):
        scores["words_per_second_tags"] = words_per_second(nlp, docs)
    return scores


def measures(nlp: Language, examples: Sequence[Example]) -> dict[str, float]:
    """Return the scores of documents, in per cent."""
    found = Scorer(nlp).score(examples)
    if "parser" in nlp.pipe_names:
        with_signs = Scorer.score_deps(examples, "dep", ignore_labels=())
        found |= {f"all_{name}": with_signs[f"dep_{name}"] for name in ("uas", "las")}
    told = {name: found.get(of) for name, (of, _) in OF_WORDS.items()}
    return {name: round(100 * value, 2) for name, value in told.items() if value is not None}


def words_per_second(nlp: Language, docs: Sequence[Doc]) -> float:
    """Time ``nlp.pipe`` over raw text in this process, warmed up; counts treebank words."""
    texts = [doc.text for doc in docs]
    for _ in nlp.pipe(texts[:200]):
        pass
    started = time.perf_counter()
    for _ in nlp.pipe(texts):
        pass
    return round(sum(map(len, docs)) / (time.perf_counter() - started))


def write_card(directory: Path, found: dict[str, float], test: str) -> None:
    """Write the figures, of a file of that name, and the card and the licence note beside them."""
    meta = json.loads((directory / "meta.json").read_text(encoding="utf-8"))
    write_text(directory / SCORES, json.dumps({"of": test, **found}, indent=2) + "\n")
    source = meta["sources"][0]
    entries = {**meta, **source, "source": source["name"], "name": f"{meta['lang']}_{meta['name']}"}
    entries["url"] = source["url"] or "https://universaldependencies.org"
    entries["author"] = source["author"] or "those that the treebank's README names"
    entries["components"] = ", ".join(meta["pipeline"])
    told = ((text, found[name]) for name, text in MEASURES.items() if name in found)
    entries["scores"] = "\n".join(f"| {text} | {value} |" for text, value in told)
    entries |= {name: found[name] for name in ("sentences", "words", "size_mb")} | {"test": test}
    for page in CARD.iterdir():
        text = Template(page.read_text(encoding="utf-8")).substitute(entries)
        write_text(directory / page.name, text)
