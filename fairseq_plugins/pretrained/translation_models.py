"""Trained translation models from elsewhere: their options, weights and dictionaries, as data.

A model is a checkpoint of fairseq, or the folder with it; its dictionaries (``dict.LANG.txt``) lie
beside it, as in the archives that fairseq's authors published. Nothing of a file runs
(`door.torch_files`), and no other place is read, whatever a checkpoint names.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from ..door.torch_files import check_finite, read_state
from ..errors import InputError
from ..messages import named
from ..text_reading import read_lines
from .fairseq_folder import options_of

CHECKPOINTS = ("checkpoint_best.pt", "model.pt", "checkpoint_last.pt")  # the first is taken
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")  # of fairseq, before the lines of a dictionary


@dataclass(frozen=True)
class TranslationModel:
    """The content of a trained model."""

    path: Path  # the file with its weights
    options: Mapping[str, Any]  # by fairseq's names, unchecked; ``_name`` is the architecture
    weights: Mapping[str, Tensor]  # by fairseq's names
    languages: tuple[str | None, str | None]  # of source and target, if the file names them

    def symbols(self, languages: Sequence[str]) -> list[tuple[Path, list[str]]]:
        """Return the dictionaries of source and target, each with its file.

        Args:
            languages: names that count if the model's own are unknown.
        """
        return [
            _symbols(self.path.parent, own or other, of_whom=self.path)
            for own, other in zip(self.languages, languages)
        ]


def read_model(place: str | Path) -> TranslationModel:
    """Read a checkpoint, or the checkpoint of a folder."""
    path = _file(Path(place))
    state = read_state(path)
    check_finite(state["model"], path)
    options = {str(name): value for name, value in options_of(state, path).items()}
    cfg = state.get("cfg")
    task: Any = cfg.get("task") if isinstance(cfg, Mapping) else options
    task = vars(task) if isinstance(task, argparse.Namespace) else task
    told = [task.get(f"{side}_lang") for side in ("source", "target")] if task else [None, None]
    source, target = (one if isinstance(one, str) else None for one in told)
    options["_name"] = options.get("_name") or options.get("arch")
    return TranslationModel(path, options, state["model"], (source, target))


def _file(place: Path) -> Path:
    """Return the checkpoint that a path names."""
    if not place.is_dir():
        return place  # the reader reports a missing file
    held = sorted(path.name for path in place.glob("*.pt"))
    found = [name for name in CHECKPOINTS if name in held] or held
    if not found or (found[0] not in CHECKPOINTS and len(found) > 1):
        raise InputError(
            f"{place} holds {named(held, none='no checkpoint (*.pt)')}: give the checkpoint itself"
        )
    return place / found[0]


def _symbols(folder: Path, language: str, *, of_whom: Path) -> tuple[Path, list[str]]:
    """Read a dictionary of fairseq's as symbols in the order of their ids."""
    names = [f"dict.{Path(language).name}.txt", "dict.txt"]
    found = [folder / name for name in names if (folder / name).is_file()]
    if not found:
        raise InputError(
            f"{of_whom}: no {names[0]} beside it, so its subwords cannot be compared with those of "
            "the prepared folder: copy the dictionaries with which it was trained there"
        )
    return found[0], [*SPECIALS, *(line.split(" ")[0] for line in read_lines(found[0]))]
