"""Builds a model without memory, to learn how much the options of a checkpoint need.

torch's ``meta`` device gives every tensor its shape and no numbers. So a wrong option (a width of a
billion), or weights that do not belong to the options, are found in milliseconds, before the option
takes all memory of the machine.
"""

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..errors import InputError
from ..messages import quoted, shortened

TABLES = 2**30  # bytes of tables that a model computes itself: positions, masks
SHOWN = 400  # characters of torch's list of mismatches


class _NoDraws(TorchFunctionMode):
    """Skips random numbers, which would need memory, and make torch load its compiler."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (nn.init.normal_, torch.Tensor.normal_):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def try_model(
    build: Callable[[], nn.Module], weights: Mapping[str, Tensor] | None = None, **how: Any
) -> nn.Module:
    """Build a model without memory; refuse a model that is too large here or has other weights.

    Args:
        build: builds the model; its log messages are dropped.
        weights: tensors of a file; none is read.
        how: further arguments of the model's ``load_state_dict``.
    """
    with _silence():
        try:
            with torch.device("meta"), _NoDraws():
                model = build()
        except InputError:
            raise
        except Exception as error:  # any error that parts raise for contradicting options
            reason = _line(f"{type(error).__name__}: {error}")
            raise InputError(
                f"no model can be built of the checkpoint's options ({reason})"
            ) from error
        if weights is not None:
            _check_weights(model, weights, how)
    _check_size(model)
    return model


def _check_size(model: nn.Module) -> None:
    """Refuse a model that is too large for this machine."""
    weights = sum(parameter.nbytes for parameter in model.parameters())
    tables = sum(table.nbytes for table in _tables(model))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if tables > TABLES or weights + tables > memory:
        raise InputError(
            f"the options of the checkpoint ask for {weights:,} bytes of weights and {tables:,} of "
            f"tables of positions; this machine has {memory:,}, and tables may have {TABLES:,}"
        )


def _check_weights(model: nn.Module, weights: Mapping[str, Tensor], how: Mapping[str, Any]) -> None:
    # fairseq reads single numbers, versions of its modules
    shapes = {n: value if value.numel() == 1 else value.to("meta") for n, value in weights.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns for every tensor that nothing is copied
            model.load_state_dict(shapes, strict=True, **how)
    except RuntimeError as error:
        raise InputError(_line(error)) from None
    shapes |= weights  # older names, beside the names by which the model replaced them
    for name, own in model.state_dict().items():
        if name in shapes and own.is_floating_point() != shapes[name].is_floating_point():
            raise InputError(f"{quoted(name)} is of {shapes[name].dtype}, not of {own.dtype}")


def _line(reason: object) -> str:
    return shortened(" ".join(str(reason).split()), SHOWN)


@contextmanager
def _silence() -> Iterator[None]:
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(disabled)


def _tables(model: nn.Module) -> list[Tensor]:
    """Return the tensors of a model that are no parameters, registered or not."""
    plain = [value for part in model.modules() for value in vars(part).values()]
    return [*model.buffers(), *(value for value in plain if torch.is_tensor(value))]
