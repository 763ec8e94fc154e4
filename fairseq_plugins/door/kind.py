"""The refusal of files from elsewhere: kinds of files as values, and one sentence for all.

The kinds are `TORCH` (`torch_files`), `PIPELINE` and `NAMED_PIPELINE` (`pipelines`) and `UDPIPE`
(`udpipe_models`). Options of a checkpoint or bundle go through `records`, and the model that they
describe through `model_trial`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of file, or of folder, of unknown origin.

    Args:
        problems: yields the problems of a path before any library reads it.
        cure: advice for messages.
    """

    problems: Callable[[Path], Iterator[str]]
    cure: str = ""

    def admit(self, path: Path) -> None:
        """Refuse a path with a problem."""
        try:
            problem = next(self.problems(path), "")
        except RecursionError:
            problem = "it is nested too deeply"
        if problem:
            raise refusal(path, problem, self.cure)


def refusal(path: Path, why: str, cure: str = "") -> InputError:
    """Return the error that refuses a file."""
    return InputError(f"{path}: refused: {why}; nothing of it was executed{cure and f': {cure}'}")
