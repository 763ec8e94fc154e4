"""Lazy modules: libraries import them, but our commands seldom use them.

fairseq imports scikit-learn and SciPy's statistics for criterions and tasks of its own, spaCy
imports its command line, and CTranslate2 and spaCy import torch where torch is installed. No
library is changed: during its import, a placeholder in `sys.modules` stands for a module that is
not loaded yet.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module whose functions import the real module when called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **options: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **options)

        return call


def deferred(*names: str) -> AbstractContextManager[None]:
    """Replace modules, packages first, by lazy modules while the block imports."""
    found = {name: _Deferred(name) for name in names}
    for name, module in found.items():
        package, _, leaf = name.rpartition(".")
        if package in found:
            setattr(found[package], leaf, module)
    return _in_place(found)


def without_torch() -> AbstractContextManager[None]:
    """Keep torch from being imported by libraries that work without torch.

    spaCy has no torch afterwards either. So torch stays if components of pipelines are installed
    that are not spaCy's own: they may need torch.
    """
    return _in_place({} if entry_points(group="spacy_factories") else {"torch": None})


@contextmanager
def _in_place(modules: Mapping[str, Any]) -> Iterator[None]:
    """Put modules (None: cannot be imported) in place of modules that are not loaded."""
    placed = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(placed)
    try:
        yield
    finally:
        for name, module in placed.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
