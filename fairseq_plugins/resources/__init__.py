"""The bundled English pipelines: where they lie, and which is enough for what. It loads nothing."""

from collections.abc import Collection
from pathlib import Path

BUNDLED = "bundled"
PIPELINES = {  # name -> folder
    BUNDLED: "en_ewt_small",
    "bundled-layers": "en_ewt_layers",
}
SMALL = ("pos", "heads", "dep")  # the layers of the first


def pipeline_path(name: str) -> Path:
    """Return the directory of a bundled pipeline, to be given to ``spacy.load``."""
    return Path(__file__).resolve().parent / PIPELINES[name]


def enough_for(layers: Collection[str]) -> str:
    """Return the name of the smaller pipeline if that gives these layers, else of the other."""
    small, large = PIPELINES
    return small if {*layers} <= {*SMALL} else large
