"""How much an encoder looks locally: the mean gate of each layer over all tokens.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 2. A token's gate is the
share of its attention that is local, 1 minus that of global attention; [CLS] and [SEP] are tokens
as all others are.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..architectures import local_options
from ..data.manifest import TEXT, Manifest
from .prediction import BATCH_SIZE, Predictor
from .text_checkpoints import LABELLING, check_checkpoint, lacking, prepared_folder


class GateMeans(NamedTuple):
    """Number of tokens, and number of a layer from 0 -> their mean share of local attention."""

    tokens: int
    layers: dict[int, float]


@dataclass(frozen=True)
class GatedRun:
    """A checkpoint with gates.

    Args:
        path: its file.
        system: what it is called; runs of one system on one dataset are its seeds.
        dataset: name of what it was trained on: its prepared folder's.
        options: of its model.
    """

    path: Path
    system: str
    dataset: str
    options: dict[str, Any]


def gated_runs(
    paths: Sequence[Path], names: Sequence[str] | None = None, data: str | None = None
) -> list[GatedRun]:
    """Look at checkpoints, before any of them is built.

    Args:
        paths: the files.
        names: of their systems; without names those of their architectures, and then runs of one
            architecture on one dataset must agree in all options.
        data: the prepared folder (default: those the checkpoints were trained on).

    Raises:
        FileNotFoundError: there is no such file or prepared folder.
        ValueError: a checkpoint without gates, of another task or damaged; runs that are no seeds
            of one system.
    """
    folders, options = [], []
    for path in paths:
        found = check_checkpoint(path, LABELLING)
        folders.append(prepared_folder(path, found.task, data))
        options.append(found.model)
        if not _is_gated(found.model):
            raise lacking(path, found.model["_name"], "gates", "local attention", _is_gated)
    systems = names or [one["_name"] for one in options]
    runs = list(map(GatedRun, paths, systems, _dataset_names(folders), options))
    if not names:
        _check_seeds(runs)
    return runs


def _is_gated(options: dict[str, Any]) -> bool:
    return bool(local_options.read_local(options.get("local_attention")))


def _dataset_names(folders: Sequence[str]) -> list[str]:
    """Name prepared folders, those of the same training file alike, however they were prepared."""
    names: dict[tuple[str, str], str] = {}
    found = []
    for folder in folders:
        manifest = Manifest.load(Path(folder), TEXT)
        place = Path(folder).resolve()
        content = manifest.inputs.get("train", {}).get("sha256") or str(place)
        name = place.name if place.name not in names.values() else str(place)
        found.append(names.setdefault((manifest.dataset, content), name))
    return found


def _check_seeds(runs: Sequence[GatedRun]) -> None:
    """Refuse different models under one name."""
    first: dict[tuple[str, str], GatedRun] = {}
    for run in runs:
        one = first.setdefault((run.dataset, run.system), run)
        for option in sorted({*one.options, *run.options}):
            values = [other.options.get(option) for other in (one, run)]
            if values[0] != values[1]:
                raise ValueError(
                    f"{one.path} and {run.path} are both {run.system!r}, but differ in "
                    f"--{option.replace('_', '-')} ({values[0]} and {values[1]}): tell them apart "
                    "with --names"
                )


def mean_gates(
    predictor: Predictor, datasets: Iterable[Any], *, batch_size: int = BATCH_SIZE
) -> GateMeans:
    """Average the gates of every layer over all tokens of some datasets.

    Args:
        predictor: what `prediction.load` returned (its first model is read).
        datasets: from `Predictor.load_split` or `Predictor.encode`.
        batch_size: most examples of a batch.

    Raises:
        ValueError: no tokens, or no gates.
    """
    tokens, sums = 0, Counter()
    for dataset in datasets:
        for sample in predictor.batches(dataset, batch_size):
            gates = predictor.outputs(sample)[0][1].get("gates")
            if not gates:
                raise ValueError(f"{':'.join(predictor.checkpoints)} has no gates")
            for layer, shares in gates.items():  # (N, K)
                sums[layer] += shares.double().sum().item()
            tokens += sample["ntokens"]
    if not tokens:
        raise ValueError("there is no text to average gates over")
    return GateMeans(tokens, {layer: sums[layer] / tokens for layer in sorted(sums)})
