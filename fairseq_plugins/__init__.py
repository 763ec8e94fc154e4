"""Translation and understanding with linguistic structure, as plug-ins for fairseq.

Importing the package registers every task, architecture and criterion when fairseq is installed;
without fairseq the pure rooms (``syntax``, ``nn``, ``evaluation``) still import.
"""

import argparse
import importlib.util

__version__ = "0.1.0"

if importlib.util.find_spec("fairseq") is not None:
    import torch

    # fairseq stores its options as a Namespace; torch loads checkpoints with weights_only=True.
    torch.serialization.add_safe_globals([argparse.Namespace])
    from . import models, tasks  # noqa: F401
