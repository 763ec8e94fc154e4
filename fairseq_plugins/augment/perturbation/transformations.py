"""The transformations by name: their changes, labels and needs.

Task-specific ones (Naik et al., 2018) and general ones (Gui et al., 2021, "TextFlint"), in the
order of the DABERT paper's Table 3. TextFlint's general ones change both sentences of a pair
independently; here names and synonyms agree between the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ...corpora.datasets import DATASETS
from ...corpora.readers.dataset import Dataset
from ...errors import InputError
from ...text.wordnet import find_wordnet
from ..seeded_random import random_for
from ..translators import one_line
from .insertions import add_adverbs, add_irrelevant, add_punctuation, add_sentence, add_twitter
from .meanings import swap_antonym, swap_synonyms
from .names import swap_names
from .numbers import change_number
from .sentences import NUMBERS, Change, Edit, Pair, Resources, Rule, changed, each

QUESTION_FIRST = ("question", "sentence")  # columns of which the second is no question
WORDS, WORDNET, NAMES, TRANSLATION = "words", "wordnet", "names", "translation"
ALL = "all"
TRANSLATORS = (
    "something that translates: --forward and --backward checkpoints of this project, or "
    "--back-translate COMMAND (one sentence a line in, one a line out)"
)


@dataclass(frozen=True)
class Transformation:
    """One way to perturb pairs."""

    name: str  # in the papers
    short: str  # in the paper's Table 3
    rule: Rule  # changes a pair
    needs: tuple[str, ...] = (WORDS,)  # of `WORDS` (annotated), `WORDNET`, `NAMES`, `TRANSLATION`
    fields: str = "both"  # the sentences to change by default
    fixed: bool = False  # whether it can change no others, because its label depends on them
    differs: bool = False  # whether the sentences then have different meanings
    from_same: bool = False  # whether it needs pairs with the same meaning
    note: str = ""  # remark for readers of figures


@dataclass(frozen=True)
class PairLabels:
    """The meaning of the labels of a dataset of pairs."""

    same: str = ""  # the label of a paraphrase, or of an entailed sentence; empty for scores
    different: str = ""  # the label of contradicting sentences; empty for scores
    alike: bool = True  # whether one sentence could replace the other


def pair_datasets() -> list[str]:
    """Return the datasets of sentence pairs in official files."""
    return [
        name
        for name, dataset in DATASETS.items()
        if dataset.tables and all(len(table.texts) == 2 for table in dataset.tables)
    ]


def pair_labels(dataset: Dataset) -> PairLabels:
    """Return the meaning of a dataset's labels, which follows from the labels themselves."""
    if dataset.name not in pair_datasets():
        raise InputError(
            f"dataset {dataset.name!r} has no pairs of sentences in official columns; choices: "
            f"{', '.join(pair_datasets())}"
        )
    if not dataset.target.labelled:
        return PairLabels()
    labels = dataset.labels or ()
    same = dataset.positive or next(name for name in labels if name.lower().startswith("entail"))
    opposed = [label for label in labels if label.lower() == "contradiction"]
    different = opposed[0] if opposed else next(label for label in labels if label != same)
    return PairLabels(same, different, dataset.tables[0].texts != QUESTION_FIRST)


def swap_translation(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Replace sentences by their translations there and back, if different."""
    edits = {}
    for number in numbers:
        old = pair[number].text
        new = resources.translated[old]
        if new and new != one_line(old):
            edits[number] = [Edit(0, len(old), new, "translated")]
    return changed(pair, edits)


ADDING = ("AddSent", "AppendIrr")  # they add whole sentences
NO_ENTITIES = "names are runs of PROPN: the pipeline has no entities"
TRANSFORMATIONS = {
    item.name: item
    for item in (
        Transformation(
            "SwapAnt",
            "SA",
            swap_antonym,
            (WORDS, WORDNET),
            fields="second",
            fixed=True,
            differs=True,
            from_same=True,
        ),
        Transformation("NumWord", "NW", change_number, fields="second", fixed=True, differs=True),
        Transformation("InsertAdv", "IA", each(add_adverbs)),
        Transformation("AppendIrr", "Al", each(add_irrelevant)),
        Transformation("BackTrans", "BT", swap_translation, (TRANSLATION,)),
        Transformation("AddSent", "AS", each(add_sentence), (), fields="first"),
        Transformation("TwitterType", "TT", each(add_twitter)),
        Transformation(
            "SwapNamedEnt", "SN", swap_names, (WORDS, NAMES), fixed=True, note=NO_ENTITIES
        ),
        Transformation("SwapSyn", "SW", swap_synonyms, (WORDS, WORDNET)),
        Transformation("AddPunc", "AP", each(add_punctuation), ()),
    )
}


def choose(
    text: str, dataset: str, labels: PairLabels, *, wordnet: str, translates: bool
) -> tuple[list[Transformation], dict[str, str]]:
    """Read ``all`` or names with commas.

    Args:
        dataset: its name.
        wordnet: folder of the database, or empty.
        translates: whether there is a translator there and back.

    Returns:
        The transformations in the order of `TRANSFORMATIONS`, and the reasons of those that ``all``
        excludes.
    """
    everything = text.strip() == ALL
    names = [*TRANSFORMATIONS] if everything else [*filter(None, map(str.strip, text.split(",")))]
    if not names or not TRANSFORMATIONS.keys() >= {*names}:
        choices = ", ".join(TRANSFORMATIONS)
        raise InputError(f"--transformations {text!r}: choices are {choices}, or {ALL}")
    chosen, left_out = [], {}
    for item in (item for name, item in TRANSFORMATIONS.items() if name in names):
        try:
            name = "" if everything else item.name
            _check(item, name, dataset, labels, wordnet=wordnet, translates=translates)
            chosen.append(item)
        except (InputError, FileNotFoundError) as error:
            if not everything:
                raise
            left_out[item.name] = str(error)
    return chosen, left_out


def _check(
    item: Transformation,
    name: str,
    dataset: str,
    labels: PairLabels,
    *,
    wordnet: str,
    translates: bool,
) -> None:
    """Refuse a transformation that does not fit the dataset, or whose needs are missing."""
    reason = ""
    if not labels.same and item.differs:
        reason = (
            f"it makes pairs that mean different things, for which {dataset} has no label but a "
            "score, and nothing tells how low"
        )
    elif not labels.same and item.name in ADDING:
        reason = f"it keeps labels, and a further sentence may change a score of {dataset}"
    elif item.differs and not labels.alike:
        reason = f"it sets one sentence to the other, and one of {dataset}'s is a question"
    if reason:
        raise InputError(f"{name} does not apply to {dataset}: {reason}" if name else reason)
    if WORDNET in item.needs:
        find_wordnet(wordnet or None)
    if TRANSLATION in item.needs and not translates:
        raise InputError(f"{name or 'it'} needs {TRANSLATORS}")


def perturb_pair(
    item: Transformation, pair: Pair, label: str, options: Any, resources: Resources
) -> Change | None:
    """Apply a transformation to one pair; the result depends only on seed and pair.

    Args:
        options: `PerturbOptions`, of which ``labels``, ``seed`` and ``fields`` count.

    Returns:
        The changed pair with its label, or None if the transformation does not apply.
    """
    if item.from_same and label != options.labels.same:
        return None
    random = random_for(options.seed, item.name, *(sentence.text for sentence in pair))
    numbers = NUMBERS[fields_of(item, options.fields)]
    found = item.rule(pair, numbers, random, resources)
    return found and found._replace(label=options.labels.different if item.differs else label)


def fields_of(item: Transformation, fields: str) -> str:
    """Return which sentences to change: the user's choice, if there is one."""
    return item.fields if item.fixed else fields or item.fields
