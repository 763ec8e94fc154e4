"""Imported by the server of `commands` before it forks, so that every run has it: hydra's grammar,
which takes longer to warm up than a small training takes, and our rooms that register nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

import fairseq_plugins

LOWER = "architectures bundles checkpoints corpora data evaluation nn prep pretrained syntax text"
ALONE = ("fairseq_plugins.bundles.translation", "fairseq_plugins.bundles.ctranslate2_model")


def warm_rooms() -> None:
    """Import what `tests/test_layering.py` keeps from registering anything.

    Our package's own name goes again: fairseq loads a --user-dir only under a name that is free.
    """
    for room in LOWER.split():
        folder = f"{fairseq_plugins.__path__[0]}/{room}"
        for found in pkgutil.walk_packages([folder], f"fairseq_plugins.{room}."):
            if found.name not in ALONE:  # CTranslate2 brings an OpenMP of its own
                with contextlib.suppress(ImportError):
                    importlib.import_module(found.name)
    del sys.modules["fairseq_plugins"]


_parser = options.get_training_parser()
_words = ["data", "--task", "translation", "--arch", "transformer_tiny"]
convert_namespace_to_omegaconf(options.parse_args_and_arch(_parser, _words))
warm_rooms()
