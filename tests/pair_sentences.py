"""Invented sentences with their words, and what transformations draw on, for tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from hypothesis import strategies as st

from fairseq_plugins.augment.perturbation.names import collect_names
from fairseq_plugins.augment.perturbation.sentences import Change, Pair, Resources, TaggedSentence
from fairseq_plugins.augment.perturbation.transformations import (
    TRANSFORMATIONS,
    PairLabels,
    perturb_pair,
)
from fairseq_plugins.text.wordnet import open_wordnet
from tests.small_wordnet import write_small_wordnet

WORDS = (
    *(("the", "DET"), ("a", "DET"), ("A", "DET"), ("an", "DET"), ("is", "AUX"), ("you", "PRON")),
    *(("dogs", "NOUN"), ("car", "NOUN"), ("Cars", "NOUN"), ("mice", "NOUN"), ("day", "NOUN")),
    *(("rises", "VERB"), ("bought", "VERB"), ("falling", "VERB"), ("fell", "VERB")),
    *(("big", "ADJ"), ("larger", "ADJ"), ("good", "ADJ"), ("slowly", "ADV"), ("not", "PART")),
    *(("12", "NUM"), ("seven", "NUM"), ("1,200", "NUM"), ("1999", "NUM"), ("3.5", "NUM")),
    *(("Anna", "PROPN"), ("Berg", "PROPN"), ("Rome", "PROPN"), ("May", "PROPN"), (",", "PUNCT")),
    *(("zxqv", "X"), ("caf\u00e9", "NOUN"), ("\u201c", "PUNCT"), (".", "PUNCT"), ("in", "ADP")),
)
BLANKS = st.sampled_from((" ", "  ", " ", "\u00a0"))
PARAPHRASE = PairLabels("1", "0")
LABELS = {
    "paraphrase": PARAPHRASE,
    "inference": PairLabels("entailment", "contradiction"),
}


@st.composite
def sentences(draw) -> TaggedSentence:
    """Draw a sentence of known words with blanks of all kinds between and around them."""
    chosen = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9))
    text, spans = draw(st.sampled_from(("", " "))), []
    for word, _ in chosen:
        spans.append((len(text), len(text) + len(word)))
        text += word + draw(BLANKS)
    text = text.rstrip() + draw(st.sampled_from(("", ".", " ?", " ")))
    return TaggedSentence(text, *zip(*chosen), tuple(spans))


def made(*tagged: str) -> TaggedSentence:
    """Make a sentence of ``word/TAG``, with single blanks."""
    words, tags = zip(*(part.rsplit("/", 1) for part in " ".join(tagged).split()))
    spans, place = [], 0
    for word in words:
        spans.append((place, place + len(word)))
        place += len(word) + 1
    return TaggedSentence(" ".join(words), words, tags, tuple(spans))


class Shouting(dict):
    """A translation there and back into capitals."""

    def __missing__(self, text: str) -> str:
        return " ".join(text.split()).upper()


def small_resources(folder: Path) -> Resources:
    """Write a tiny WordNet below ``folder``; add some names and a translation."""
    others = [
        made("Otto/PROPN Weiss/PROPN saw/VERB Eva/PROPN in/ADP Oslo/PROPN"),
        made("Ida/PROPN lives/VERB in/ADP Bergen/PROPN"),
        made("Anna/PROPN Berg/PROPN was/AUX in/ADP Rome/PROPN"),
    ]
    wordnet = open_wordnet(write_small_wordnet(folder / "dict"))
    return Resources(wordnet, collect_names(others), Shouting())


def run(
    name: str,
    pair: Pair,
    label: str = "1",
    *,
    labels: PairLabels = PARAPHRASE,
    seed: int = 1,
    fields: str = "",
    resources: Resources,
) -> Change | None:
    """Apply a transformation by name."""
    options = SimpleNamespace(labels=labels, seed=seed, fields=fields)
    return perturb_pair(TRANSFORMATIONS[name], pair, label, options, resources)
