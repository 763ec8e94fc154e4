"""Translation and understanding with linguistic structure, as plug-ins for fairseq.

Importing the package loads neither torch nor fairseq; `registration` registers tasks and models.
What Python users call (`PUBLIC`) is in `python/`, and is imported at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import InputError as InputError
from .errors import TrainingError as TrainingError

if TYPE_CHECKING:
    from .python.models import load as load
    from .python.prepare import Data as Data
    from .python.prepare import prepare_questions as prepare_questions
    from .python.prepare import prepare_text as prepare_text
    from .python.prepare import prepare_translation as prepare_translation
    from .python.train import Run as Run
    from .python.train import train as train

__version__ = "1.0.0"
PUBLIC = {  # name -> its file in `python/`
    **dict.fromkeys(
        ("Data", "prepare_questions", "prepare_text", "prepare_translation"), "prepare"
    ),
    **dict.fromkeys(("Run", "train"), "train"),
    "load": "models",
}


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.python.{PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *PUBLIC])
