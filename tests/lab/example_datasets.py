"""What the datasets of grids and tables are: those of `prepare text`, and SQuAD."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.prep.recipes.question_options import OFFICIAL
from fairseq_plugins.prep.recipes.questions import DATASET
from fairseq_plugins.targets.spans import SPANS


def dataset_of(name: str) -> Any:
    """Return target and splits of a dataset."""
    squad = SimpleNamespace(target=SPANS, splits=tuple(OFFICIAL))
    return squad if name == DATASET else DATASETS[name]
