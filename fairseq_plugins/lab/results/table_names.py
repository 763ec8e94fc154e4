"""The names of all tables, as experiment files and the command of tables give them."""

from __future__ import annotations

from collections.abc import Sequence

from .layouts import layouts

FRACTIONS, FEATURES, FEATURE_DIMS = "fractions", "features", "feature_dims"  # of one dataset
MODELS, SETTINGS = "bertqa1", "settings"


def table_names() -> list[str]:
    """Return the names of all tables."""
    return [MODELS, *layouts(), FRACTIONS, FEATURES, FEATURE_DIMS, SETTINGS]


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no table has.

    Raises:
        ValueError: names them and the choices.
    """
    for name in names:
        if name not in table_names():
            raise ValueError(f"table {name!r}: choices are {', '.join(table_names())}")
