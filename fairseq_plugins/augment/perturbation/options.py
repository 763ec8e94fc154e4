"""Options of a perturbation: a record with checks, and its flags."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...corpora.datasets import find_splits, get_dataset
from ...corpora.readers.dataset import Dataset
from ...messages import named
from ...prep.running import CORES
from .labels import PairLabels, pair_labels
from .pairs import NUMBERS
from .transformations import ALL, TRANSFORMATIONS

DROP, KEEP = "drop", "keep"


@dataclass(frozen=True)
class PerturbOptions:
    """What to perturb and how; `FLAGS` documents each option.

    Raises:
        ValueError: a value that is none of the choices.
        FileNotFoundError: no such folder, or no file of the split in it.
    """

    dataset: str
    raw_dir: str
    output: str
    split: str = "test"
    transformations: str = ALL
    seed: int = 1
    max_pairs: int = 0
    untouched: str = DROP
    fields: str = ""
    wordnet: str = ""
    spacy_model: str = ""
    forward: str = ""
    backward: str = ""
    back_translate: str = ""
    workers: int = CORES

    def __post_init__(self) -> None:
        """Check what can be checked without reading the file."""
        pair_labels(self.source)
        for flag, value, choices in (
            ("untouched", self.untouched, (DROP, KEEP)),
            ("fields", self.fields, ("", *NUMBERS)),
            ("split", self.split, tuple(self.source.splits)),
        ):
            if value not in choices:
                known = ", ".join(choice for choice in choices if choice)
                raise ValueError(f"--{flag} {value!r}: choices are {known}")
        if self.max_pairs < 0 or self.workers < 1:
            raise ValueError(
                f"--max-pairs {self.max_pairs} --workers {self.workers}: must be at least 0 and 1"
            )
        if bool(self.forward) != bool(self.backward):
            raise ValueError("--forward and --backward go together: there, and back")
        if self.forward and self.back_translate:
            raise ValueError("--back-translate and --forward with --backward exclude each other")
        self.path  # noqa: B018 (is there)

    @property
    def source(self) -> Dataset:
        """The dataset in its official form."""
        return get_dataset(self.dataset)

    @property
    def labels(self) -> PairLabels:
        """What its labels say."""
        return pair_labels(self.source)

    @property
    def translates(self) -> bool:
        """Whether something translates there and back."""
        return bool(self.forward or self.back_translate)

    @property
    def path(self) -> Path:
        """The split's file."""
        found = find_splits(self.source, self.raw_dir)
        if self.split not in found:
            names = " or ".join(self.source.splits[self.split])
            raise FileNotFoundError(
                f"{self.raw_dir} holds no file of split {self.split!r} ({names}); it has "
                f"{named(found)}"
            )
        return found[self.split]


FLAGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dataset", "whose official files to read, a dataset of pairs", {}),
    ("raw_dir", "folder with the dataset's official files", {}),
    ("output", "folder to write into; every transformation gets a folder in it", {}),
    ("split", "split to perturb, with gold labels: test, valid, train, …", {}),
    (
        "transformations",
        f"{ALL} (that apply and need nothing further), or any of {','.join(TRANSFORMATIONS)}",
        {},
    ),
    ("seed", "of all choices", {}),
    ("max_pairs", "a seeded sample of the pairs (0: all)", {}),
    ("untouched", f"pairs to which nothing applies: {DROP} | {KEEP} (as they are)", {}),
    (
        "fields",
        f"which sentences to change: {' | '.join(NUMBERS)} (default: what each transformation "
        "prescribes; SwapAnt and NumWord always rewrite the second, SwapNamedEnt both)",
        {},
    ),
    ("wordnet", "folder of the WordNet database (default: where it is usually installed)", {}),
    ("spacy_model", "installed spaCy pipeline or path (default: the bundled English one)", {}),
    ("forward", "BackTrans: run folder or checkpoint that translates from English", {}),
    ("backward", "BackTrans: run folder or checkpoint that translates back", {}),
    ("back_translate", "BackTrans: command, one sentence a line in and out", {}),
    ("workers", "processes that annotate", {}),
)
