"""What the data of a run were made of, as its row says, and rows whose data were made otherwise.

A setting does not say which files were prepared, nor what parsed them. Paths and versions of
packages are left out, so that rows of several machines can be compared.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ...messages import quoted
from ...syntax.layers import identity_line

MADE_OF = "made_of"  # key of a row
ANNOTATOR = "annotator"
_DIGITS = 12  # of a SHA-256


def made_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return input -> first digits of its SHA-256, and `ANNOTATOR` -> name, version and hash.

    Args:
        manifest: of a prepared folder.
    """
    inputs = manifest.get("inputs", {})
    found = {name: one["sha256"][:_DIGITS] for name, one in inputs.items() if one.get("sha256")}
    annotator = identity_line(manifest.get("annotator") or {})
    return {**found, ANNOTATOR: annotator} if annotator else found


def otherwise_made(runs: pd.DataFrame) -> Iterator[str]:
    """Say which rows have data made of something else than rows before them; once for each value.

    Rows that do not say it are passed over. Systems may be trained on data of their own, with words
    of their own: all but what is scored and what annotates is compared within a setting.
    """
    first: dict[tuple, tuple[str, Any]] = {}
    told = set()
    for run in runs.itertuples():
        own = run.facts.get(MADE_OF)
        for name, value in own.items() if isinstance(own, dict) else ():
            shared = name.partition(".")[0] in (ANNOTATOR, run.validation, run.evaluated)
            about = name, None if shared else run.setting
            place, before = first.setdefault(about, (run.place, value))
            if value != before and (*about, repr(value)) not in told:
                told.add((*about, repr(value)))
                yield (
                    f"{run.place}: its data were made of {name} {quoted(value)}, those of {place} "
                    f"of {quoted(before)}: they are compared as if they were the same"
                )
