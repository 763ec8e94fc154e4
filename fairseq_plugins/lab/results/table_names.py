"""The names of all tables, as experiment files and the command of tables give them."""

from collections.abc import Sequence
from pathlib import Path

from ..plan.yaml_file import read_yaml

FOLDER = Path(__file__).parent / "layouts"  # of the tables over datasets
FRACTIONS, FEATURES, FEATURE_DIMS = "fractions", "features", "feature_dims"  # of one dataset
MODELS, SETTINGS = "bertqa1", "settings"
LAST = 100  # place of a table that says none


def table_names() -> list[str]:
    """Return the names of all tables, in their order."""
    places = {path.stem: read_yaml(path).get("order", LAST) for path in FOLDER.glob("*.yaml")}
    over_datasets = sorted(places, key=lambda name: (places[name], name))
    return [MODELS, *over_datasets, FRACTIONS, FEATURES, FEATURE_DIMS, SETTINGS]


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no table has.

    Raises:
        ValueError: names them and the choices.
    """
    for name in names:
        if name not in table_names():
            raise ValueError(f"table {name!r}: choices are {', '.join(table_names())}")
