"""Options of a perturbation: what to perturb and how."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...corpora.datasets import find_split, get_dataset
from ...corpora.readers.dataset import Dataset
from ...errors import InputError
from ...option_flags import check, option
from ...prep.running import CORES
from .sentences import NUMBERS
from .transformations import ALL, TRANSFORMATIONS, PairLabels, pair_labels

DROP, KEEP = "drop", "keep"


@dataclass(frozen=True)
class PerturbOptions:
    """What to perturb and how."""

    dataset: str = option("dataset of sentence pairs whose official files are read")
    raw_dir: str = option("folder with the dataset's official files")
    output: str = option("folder to write into; each transformation gets a subfolder")
    split: str = option("split to perturb, with gold labels: test, valid, train, …", "test")
    transformations: str = option(
        f"transformations to apply: {ALL} (those that suit the dataset and have all they need), "
        f"or any of {','.join(TRANSFORMATIONS)}",
        ALL,
    )
    seed: int = option("seed of all random choices", 1)
    max_pairs: int = option(
        "use only a random sample of this many pairs, chosen by --seed (0: all)", 0, least=0
    )
    untouched: str = option(
        "what to do with pairs to which a transformation does not apply: {choices} (unchanged)",
        DROP,
        choices=(DROP, KEEP),
    )
    fields: str = option(
        "which sentences of a pair to change: {choices} (default: as each transformation "
        "prescribes; SwapAnt and NumWord always rewrite the second, SwapNamedEnt both)",
        "",
        choices=("", *NUMBERS),
    )
    wordnet: str = option(
        "folder of the WordNet database (default: where it is usually installed)", ""
    )
    spacy_model: str = option(
        "annotator: installed spaCy pipeline or its path (default: the bundled English one)", ""
    )
    forward: str = option(
        "for BackTrans: run folder or checkpoint of a model that translates from English", ""
    )
    backward: str = option(
        "for BackTrans: run folder or checkpoint of a model that translates back", ""
    )
    back_translate: str = option(
        "for BackTrans: shell command that translates there and back, one sentence per line in and "
        "out",
        "",
    )
    workers: int = option("number of parallel processes that annotate", CORES, least=1)

    def __post_init__(self) -> None:
        pair_labels(self.source)
        check(self)
        if self.split not in self.source.splits:
            known = ", ".join(self.source.splits)
            raise InputError(f"--split {self.split!r}: choices are {known}")
        if bool(self.forward) != bool(self.backward):
            raise InputError("--forward and --backward go together: there, and back")
        if self.forward and self.back_translate:
            raise InputError("--back-translate and --forward with --backward exclude each other")
        self.path  # noqa: B018 (is there)

    @property
    def source(self) -> Dataset:
        """The dataset in its official form."""
        return get_dataset(self.dataset)

    @cached_property
    def labels(self) -> PairLabels:
        """The meaning of its labels."""
        return pair_labels(self.source)

    @property
    def translates(self) -> bool:
        """Whether there is a translator there and back."""
        return bool(self.forward or self.back_translate)

    @property
    def path(self) -> Path:
        """The split's file."""
        return find_split(self.source, self.split, self.raw_dir)
