"""Options of the service, and their limits; this file imports no web library."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ..option_flags import check, option
from .http import names_of

CONNECTIONS = 1000  # at a time; uvicorn answers further ones with 503, as plain text
LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """What to serve, where, and its limits."""

    bundles: Sequence[str] = field(default=())  # ``PATH`` or ``NAME=PATH`` each
    host: str = option("address to listen on", "127.0.0.1")
    port: int = option("port to listen on; 0 for any that is free", 8000, least=0, most=65535)
    allowed_hosts: str = option(
        "host names that requests may use besides those of this machine, separated by commas "
        "(default: none at a local address, any elsewhere)",
        "",
        metavar="NAMES",
    )
    workers: int = option(
        "number of threads that compute, for all models together", 2, least=1, most=256
    )
    threads: int = option("number of threads within each computation", 1, least=1, most=256)
    batch_size: int = option("maximum number of texts or questions in a batch", 32, least=1)
    max_texts: int = option("maximum number of texts or questions in a request", 64, least=1)
    max_characters: int = option("maximum number of characters of a text", 20_000, least=1)
    max_body: int = option("maximum number of bytes of a request", 2_000_000, least=1)
    queue: int = option(
        "maximum number of texts that wait for a model; further requests get status 503",
        1024,
        least=1,
    )
    timeout: float = option(
        "seconds after which an unanswered request gets status 503", 30.0, least=0.001
    )
    spacy_model: str | None = option(
        "annotator of raw text: an installed spaCy pipeline or its path, or udpipe:MODEL (default: "
        "the bundle's, or that of the prepared folder, if it is bundled or installed)",
        None,
        alias="--annotator",
    )
    cut_long: bool = option(
        "cut texts that are longer than a model reads: sentences and pairs at their ends, texts "
        "whose words are labelled into parts (default: refuse them, or as in training)",
        False,
    )
    cpu: bool = option("use no GPU", False)
    int8: bool = option("compute linear layers in 8 bits, on the CPU", False)
    log_level: str = option(
        "level of the least important messages that are shown", "info", choices=LEVELS
    )

    def check(self) -> None:
        """Refuse options that exclude each other."""
        check(self)
        if self.max_texts > self.queue:
            raise InputError(
                f"--max-texts {self.max_texts}: must be at most --queue {self.queue}, or a request "
                "could wait for ever"
            )

    @property
    def hosts(self) -> frozenset[str]:
        """The allowed host names; empty for any."""
        return names_of(self.host, self.allowed_hosts)
