"""How a file from elsewhere is refused: kinds of files as values, and one sentence for all.

The kinds are `TORCH` (`torch_files`), `PIPELINE` and `NAMED_PIPELINE` (`pipelines`) and `UDPIPE`
(`udpipe_models`). What a checkpoint or bundle says of itself goes through `records`, and the model
that it asks for through `model_trial`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of file, or of folder, that somebody else may have made.

    Args:
        problems: yields what is wrong with a path before any library reads it.
        cure: what to do instead, for messages.
    """

    problems: Callable[[Path], Iterator[str]]
    cure: str = ""

    def admit(self, path: Path) -> None:
        """Refuse a path that has a problem (InputError)."""
        try:
            problem = next(self.problems(path), "")
        except RecursionError:
            problem = "it is nested too deeply"
        if problem:
            raise refusal(path, problem, self.cure)


def refusal(path: Path, why: str, cure: str = "") -> InputError:
    """Return the error by which a file is refused."""
    return InputError(f"{path}: refused: {why}; nothing of it was executed{cure and f': {cure}'}")
