"""Parts that every model of text shares: refusals of options, and parameter counts."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Optional

from torch import nn

from ..errors import InputError

logger = logging.getLogger(__name__)


@contextmanager
def fitting() -> Iterator[None]:
    """Raise a ``ValueError`` of a model's parts as an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def size(*modules: Optional[nn.Module]) -> int:
    """Count the parameters of modules; some modules may be None."""
    return sum(p.numel() for part in modules if part is not None for p in part.parameters())


def counted(model: Any, parts: Mapping[str, int]) -> dict[str, int]:
    """Return the parameter counts of parts, head, model, and trainable parameters."""
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return {**parts, "head": size(model.head), "model": size(model), "trainable": trained}


def log_counts(features: Sequence[str], counts: Mapping[str, int]) -> None:
    """Log features and parameter counts."""
    told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    logger.info("features: %s; parameters: %s", ",".join(features) or "none", told)
