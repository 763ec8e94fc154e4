"""Translation and understanding with linguistic structure, as plug-ins for fairseq.

Importing the package loads neither torch nor fairseq; `registration` registers tasks and models.
"""

import importlib
from typing import Any

__version__ = "0.1.0"


def load(path: Any, **options: Any) -> Any:
    """Load a trained model without fairseq, from a bundle; see `inference.loading.load`."""
    return importlib.import_module(f"{__name__}.inference.loading").load(path, **options)
