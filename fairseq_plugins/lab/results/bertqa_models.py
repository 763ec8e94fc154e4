"""What models of question answering were trained with: Table 1 of Chadha and Sood (2019).

The layout ``bertqa1`` says what the paper says of them, and which options are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .layouts import Entries, labels, special
from .paper_tables import row_of
from .runs import Outcomes
from .table_names import MODELS
from .tables import Cell, Heading, Table

QUERY = "query_"  # how the names of systems in the other wiring begin
_HEADS = {"BS": True, "GA": True, "LR": True, "dataset": False, "arch. changes": False}


class Models(Entries):
    """The layout.

    Args:
        title: of the table.
        systems: kind -> what the paper says of it.
        usual: option -> value that goes without saying; the options that are named.
        called: option and value -> what the paper calls it.
    """

    title: str
    systems: dict[str, str]
    usual: dict[str, str | None]
    called: dict[str, str]

    def changes(self, options: dict[str, Any]) -> str:
        """Say what a model has otherwise than its architecture."""
        named = (name for name in self.usual if options.get(name) != self.usual[name])
        words = (f"{name} {options[name]}" for name in named if name in options)
        return ", ".join(self.called.get(word, word) for word in words) or "none"


@cache
def layout() -> Models:
    """Return the layout."""
    return special(MODELS, Models)


def models_table(found: Sequence[Outcomes]) -> Table | None:
    """Lay the paper's models among runs out, each once; None if there are none."""
    models: dict[tuple[int, str], list[str]] = {}
    for run in (run for one in found for run in one.runs.itertuples()):
        row = row_of(run)
        said = layout().systems.get(row.kind.removeprefix(QUERY))
        if said and not row.name:
            size, accumulated = (
                int(run.options.get(name, usual))
                for name, usual in (("batch-size", 0), ("update-freq", 1))
            )
            texts = [f"{row.label} ({row.size})", str(size * accumulated), str(accumulated)]
            texts += [f"{run.learning_rate:g}", Path(run.prepared).name or "–"]
            texts += [layout().changes(run.options), said]
            models.setdefault((list(labels()).index(row.kind), row.size), texts)
    if not models:
        return None
    headings = [Heading(name, is_number=number) for name, number in _HEADS.items()]
    headings = [Heading("model", is_number=False), *headings, Heading("paper", is_number=False)]
    rows = [list(map(Cell, models[key])) for key in sorted(models)]
    caption = "BS: questions of an update; GA: batches that they are read in. Paper: the same."
    return Table(layout().title, headings, rows, caption)
