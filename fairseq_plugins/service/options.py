"""Options of the service, and their limits; importing this loads no library of the web."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..option_flags import check, option
from .http import names_of

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """What is served where, to whom, and how much of it.

    Args:
        bundles: ``PATH`` or ``NAME=PATH`` each.
    """

    bundles: Sequence[str] = field(default=())
    host: str = option("address to listen at", "127.0.0.1")
    port: int = option("port to listen at; 0 for any that is free", 8000, least=0, most=65535)
    allowed_hosts: str = option(
        "names by which it may be asked beside those of this machine, joined by commas (default: "
        "at a local address none, elsewhere any)",
        "",
        metavar="NAMES",
    )
    workers: int = option("threads that compute, for all models together", 2, least=1, most=256)
    threads: int = option("threads within each computation", 1, least=1, most=256)
    batch_size: int = option("most texts or questions of a batch", 32, least=1)
    max_texts: int = option("most texts or questions of a request", 64, least=1)
    max_characters: int = option("most characters of a text", 20_000, least=1)
    max_body: int = option("most bytes of a request", 2_000_000, least=1)
    queue: int = option("most texts that wait for a model; further requests get 503", 1024, least=1)
    timeout: float = option("seconds until a request gets 503", 30.0, least=0.001)
    spacy_model: str | None = option(
        "what annotates raw text: a spaCy pipeline, installed or a path, or udpipe:MODEL (default: "
        "the bundle's, or that of the data folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    cpu: bool = option("use no GPU", False)
    int8: bool = option("compute linear maps in 8 bits, on the CPU", False)
    log_level: str = option("least important messages shown", "info", choices=LEVELS)

    def check(self) -> None:
        """Refuse options that do not go together (ValueError)."""
        check(self)
        if self.max_texts > self.queue:
            raise ValueError(
                f"--max-texts {self.max_texts}: must be at most --queue {self.queue}, or a request "
                "could wait for ever"
            )

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which it may be asked; none for any."""
        return names_of(self.host, self.allowed_hosts)
