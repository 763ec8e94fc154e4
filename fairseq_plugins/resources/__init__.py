"""The bundled English pipelines: their places, and the layers that each provides. Loads nothing."""

from collections.abc import Collection
from pathlib import Path

BUNDLED = "bundled"
PIPELINES = {  # name -> folder
    BUNDLED: "en_ewt_small",
    "bundled-layers": "en_ewt_layers",
}
SMALL = ("pos", "heads", "dep")  # layers of the smaller pipeline


def pipeline_path(name: str) -> Path:
    """Return the directory of a bundled pipeline, for ``spacy.load``."""
    return Path(__file__).resolve().parent / PIPELINES[name]


def enough_for(layers: Collection[str]) -> str:
    """Return the name of the smaller pipeline if it has these layers, else of the larger."""
    small, large = PIPELINES
    return small if {*layers} <= {*SMALL} else large
