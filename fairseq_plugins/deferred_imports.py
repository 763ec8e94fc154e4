"""Modules that libraries import and our commands seldom use: a start does without them.

fairseq imports scikit-learn and SciPy's statistics for criterions and tasks of its own, spaCy
imports its command line, and CTranslate2 and spaCy import torch where it is installed. No library
is changed: while it is imported, something else stands in `sys.modules` for what is not loaded yet.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module whose functions import the real one when they are called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **options: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **options)

        return call


def deferred(*names: str) -> AbstractContextManager[None]:
    """Import these modules, packages first, when a function that is imported here is called."""
    found = {name: _Deferred(name) for name in names}
    for name, module in found.items():
        package, _, leaf = name.rpartition(".")
        if package in found:
            setattr(found[package], leaf, module)
    return _in_place(found)


def without_torch() -> AbstractContextManager[None]:
    """Keep torch from being imported where libraries can do without it.

    spaCy has no torch afterwards either. So nothing is kept from it if components of pipelines are
    installed that are not spaCy's own: they may need torch.
    """
    return _in_place({} if entry_points(group="spacy_factories") else {"torch": None})


@contextmanager
def _in_place(modules: Mapping[str, Any]) -> Iterator[None]:
    """Put modules (None: cannot be imported) in the place of those that are not loaded."""
    placed = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(placed)
    try:
        yield
    finally:
        for name, module in placed.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
