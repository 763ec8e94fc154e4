"""All tables of runs by the names that experiment files and `table` give them.

Those of a paper lay systems of several datasets out (`paper_tables`), `bertqa1` tells what models
are, and the others are of one dataset each: `fractions`, `features`, `feature_dims`, and
`settings`, which has every setting of every system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ....messages import named
from ...plan.prepared_data import TRANSLATION
from ...report.model import Table
from ...report.records import read_experiments
from ...report.settings import name_of, settings_table
from ..outcomes import Outcomes
from . import bertqa_models, feature_tables, fractions
from .found_runs import FoundRuns
from .paper_tables import (
    BERTQA_MODELS,
    FEATURE_DIMS,
    FEATURES,
    FRACTIONS,
    LAYOUTS,
    SETTINGS,
    TABLES,
)
from .table_formats import Fields, csv_lines, format_markdown, format_table, pair_lines
from .table_making import Test, make_tables, over_drawn_examples, over_seeds, without_paper
from .variants import Pair, label_of, seeds_or_examples
from .variants import Test as PairTest


@dataclass(frozen=True)
class Laying:
    """How a table of one dataset is made.

    Args:
        table: runs and a test of differences -> the table.
        pairs: runs -> what is in it, with its baseline.
        translates: whether it is about translation alone.
        printed: whether a paper's figures may stand in it: both take ``paper``, whether they do.
    """

    table: Callable[..., Table]
    pairs: Callable[..., Iterable[Pair]]
    translates: bool = True
    printed: bool = False

    def asked(self, paper: bool) -> dict[str, bool]:
        """Return what table and pairs are to be told of the paper's figures."""
        return {"paper": paper} if self.printed else {}


OF_ONE_DATASET = {
    FRACTIONS: Laying(fractions.fraction_table, fractions.pairs, translates=False, printed=True),
    FEATURES: Laying(feature_tables.feature_table, feature_tables.feature_pairs),
    FEATURE_DIMS: Laying(feature_tables.width_table, feature_tables.width_pairs),
}


@dataclass(frozen=True)
class Significance:
    """How differences are tested.

    Args:
        papers: in the papers' tables.
        name: of that test.
        pairs: in tables of one dataset.
    """

    papers: Test
    name: str
    pairs: PairTest


def significance(test: str, samples: int, seed: int) -> Significance:
    """Return tests over ``seeds`` or ``examples``; both resample in tables of one dataset."""
    pairs = seeds_or_examples(samples, seed)
    if test == "seeds":
        return Significance(over_seeds, "two-sided Welch's t-test over seeds", pairs)
    name = f"paired bootstrap over examples ({samples:,} samples, seed {seed})"
    return Significance(over_drawn_examples(samples, seed), name, pairs)


def with_ensembles(found: FoundRuns, folders: Sequence[str], *, paper: bool) -> FoundRuns:
    """Return runs with the answers of ensembles of them.

    Args:
        found: the runs.
        folders: of answers; empty for those that steps of the experiment left.
        paper: whether the papers' figures may stand beside them.
    """
    outcomes = found.outcomes
    for folder in folders or found.ensembles:
        outcomes = bertqa_models.with_ensemble(outcomes, folder)
    return replace(found, outcomes=outcomes, is_invented=found.is_invented or not paper)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no table has.

    Raises:
        ValueError: names them and the choices.
    """
    for name in names:
        if name not in TABLES:
            raise ValueError(f"table {name!r}: choices are {', '.join(TABLES)}")


def lay_out(
    found: FoundRuns, folders: Sequence[Path], names: Sequence[str], test: Significance
) -> tuple[list[str], str, list[Fields]]:
    """Return tables as Markdown texts, Table 1 of BERTQA as CSV, and the lines of the others' CSV.

    Args:
        found: the runs.
        folders: where they were looked for.
        names: of the tables; empty for all that fit.
        test: of differences.

    Raises:
        ValueError: an unknown name, none of the runs stands in a table, or runs that do not go
            together.
    """
    check_names(names)
    texts: list[str] = []
    lines: list[Fields] = []
    models = bertqa_models.models_of(found.outcomes)
    models = models if not names or BERTQA_MODELS in names else []
    if models:
        texts.append(bertqa_models.format_markdown(models))
    elif BERTQA_MODELS in names:
        raise ValueError(f"table {BERTQA_MODELS!r}: no run is called model1, model2 or model3")
    for name in [name for name in names if name in LAYOUTS] or ([] if names else [""]):
        tables = _paper_tables(found, name, test)
        texts += [format_markdown([table], test.name) for table in tables]
        lines += csv_lines(tables)
    for one, name in _of_one_dataset(found.outcomes, names):
        laying = OF_ONE_DATASET[name]
        asked = laying.asked(not found.is_invented)
        table = laying.table(one, test.pairs, **asked)
        texts.append(format_table(table))
        lines += pair_lines(table.title, one, laying.pairs(one, **asked), test.pairs)
    if SETTINGS in names or not (texts or names):
        texts += map(format_table, _settings(folders))
    return texts, bertqa_models.format_csv(models) if models else "", lines


def _paper_tables(found: FoundRuns, name: str, test: Significance) -> list:
    """Fill papers' tables in, without their figures where the corpora are none of theirs."""
    if not name and all(one.dataset == TRANSLATION for one in found.outcomes):
        return []
    tables = make_tables(found.outcomes, name, test.papers)
    return [without_paper(table) for table in tables] if found.is_invented else tables


def _of_one_dataset(
    found: Sequence[Outcomes], names: Sequence[str]
) -> Iterator[tuple[Outcomes, str]]:
    """Yield datasets with the tables that are asked for, or, if none is, those of fractions.

    Raises:
        ValueError: a table that is asked for is of translation, and there is none.
    """
    for name, how in OF_ONE_DATASET.items():
        fitting = [one for one in found if one.dataset == TRANSLATION or not how.translates]
        if name in names and not fitting:
            there = named(sorted({label_of(one) for one in found}))
            raise ValueError(f"table {name!r} is of translation; the runs are on {there}")
        for one in fitting:
            if name in names or (not names and not how.translates and _has_fractions(one)):
                yield one, name


def _has_fractions(found: Outcomes) -> bool:
    return len(fractions.shares_of(found)) > 1


def _settings(folders: Sequence[Path]) -> Iterator[Table]:
    """Yield the table of all settings of every dataset."""
    for folder in folders:
        for experiment in read_experiments(folder, []):
            for part in experiment.parts:
                table = settings_table(name_of(experiment, part), experiment.of(part))
                if table:
                    yield table
