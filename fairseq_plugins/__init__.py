"""Translation and understanding with linguistic structure, as plug-ins for fairseq.

Importing the package registers every task, architecture and criterion when fairseq is installed;
without fairseq the pure rooms (``syntax``, ``nn``, ``evaluation``) still import.
"""

import argparse
import importlib.util
import logging

__version__ = "0.1.0"


def _register() -> None:
    """Import fairseq and our registered rooms, and leave logging as it was.

    fairseq turns on debug logging for the whole process when it is imported before its commands.
    """
    import torch

    # fairseq stores its options as a Namespace; torch loads checkpoints with weights_only=True.
    torch.serialization.add_safe_globals([argparse.Namespace])
    root = logging.getLogger()
    level, handlers, disabled = root.level, root.handlers[:], root.manager.disable
    logging.disable(logging.WARNING)
    try:
        from . import criterions, models, optim, tasks  # noqa: F401
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers


if importlib.util.find_spec("fairseq") is not None:
    _register()
