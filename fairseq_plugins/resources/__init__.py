"""Where the bundled English pipeline lies. Importing this room loads nothing."""

from pathlib import Path


def english_pipeline_path() -> Path:
    """Returns the directory of the bundled pipeline, to be given to ``spacy.load``."""
    return Path(__file__).resolve().parent / "en_ewt_small"
