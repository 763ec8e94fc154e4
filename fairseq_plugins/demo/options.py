"""What users choose for the page: models, and where it is served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..option_flags import check, option

LOCAL = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What is shown, and where."""

    models: Sequence[str]
    port: int = option("port of the page; 0 for any that is free", 7860, least=0, most=65535)
    host: str = option(
        "address to listen on; 0.0.0.0 for all addresses of the machine, unprotected", LOCAL
    )
    presets: str | None = option(
        "YAML file with examples to choose from: kind of model -> list of examples, each a list of "
        "its texts (default: English examples)",
        None,
        metavar="FILE",
    )
    spacy_model: str | None = option(
        "annotator of raw text (default: the one of the training data)", None, alias="--annotator"
    )
    int8: bool = option("compute linear layers in 8 bits", False)
    browser: bool = option("open the page in the system's browser", False)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check(self)
        if self.presets is not None and not Path(self.presets).is_file():
            raise FileNotFoundError(f"{self.presets}: no such file")
