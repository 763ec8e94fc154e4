"""Predict perturbed sets and their originals: the work of `robustness`.

All checkpoints, prepared folders and sets are checked before the first prediction. Each checkpoint
is loaded once, and examples that several sets share are predicted once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from ..augment.perturbed_sets import PerturbedExamples, expected_of, read_sets
from ..bundles.index import found_bundles, open_bundle
from ..corpora.examples import Example
from ..data.manifests import read_manifest
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..evaluation.contrast import named_path, short_names
from ..evaluation.example_answers import Answers
from ..evaluation.robustness import WHOLE, SystemAnswers, before
from ..files import write_text
from ..option_flags import check
from ..targets.prediction import Prediction
from ..targets.target import Target
from .options import EXAMPLES, LABELLING, ExampleOptions, given_overrides
from .prediction import Predictor, load
from .text_checkpoints import check_checkpoint, find_checkpoints, folder_of

Texts = tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A system to test."""

    name: str  # in the table
    checkpoints: tuple[str, ...]  # one per run; the parts of an ensemble are joined by ``:``


@dataclass(frozen=True)
class RobustnessOptions(ExampleOptions):
    """Options of `robustness`."""

    systems: Sequence[System]  # to compare with the first
    sets: Sequence[str]  # folders and files of perturbed sets
    output: Path  # folder of the predictions

    def __post_init__(self) -> None:
        check(self)


class RobustnessTrial(NamedTuple):
    """The first system's manifest, the perturbed sets, and each system's answers."""

    manifest: TextManifest
    sets: list[PerturbedExamples]
    systems: list[SystemAnswers]


def parse_systems(given: Sequence[str]) -> list[System]:
    """Read systems from the command line.

    Args:
        given: run folders or checkpoints, ``NAME=PATH``, or ``NAME=PATH,PATH`` for several runs;
            without a name the distinct part of the path is the name.
    """
    parts = list(map(named_path, given))
    paths = [tuple(path for path in text.split(",") if path) for _, text in parts]
    for text, found in zip(given, paths):
        if not found:
            raise InputError(f"system {text!r} has no checkpoint")
        twice = next((path for path in found if found.count(path) > 1), None)
        if twice is not None:
            raise InputError(f"system {text!r} names {twice!r} twice: its runs are to differ")
    short = short_names([found[0] for found in paths])
    names = [name or other for (name, _), other in zip(parts, short)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two systems are called {name!r}: write NAME=PATH")
        if not name or name in (".", "..") or set(name) & set("/\\\0\n\t"):
            raise InputError(f"system {name!r}: write NAME=PATH, with a name good for a folder")
    return [System(name, found) for name, found in zip(names, paths)]


def try_systems(options: RobustnessOptions) -> RobustnessTrial:
    """Check everything, predict, and write predictions as JSON lines.

    The files are ``OUTPUT/SYSTEM/RUN/SET.jsonl``, ``SET.original.jsonl`` for the originals, and
    ``original.jsonl`` for the whole split; runs count from 1.
    """
    checked = [
        (system, path, *_checked(path, options.data))
        for system in options.systems
        for path in system.checkpoints
    ]
    manifest = _common(checked)
    sets = read_sets(options.sets, manifest)
    answered = []
    for system in options.systems:
        runs = []
        for number, path in enumerate(system.checkpoints, start=1):
            folder = options.output / system.name / str(number)
            runs.append(_try_run(path, sets, options, folder))
        arch = next(arch for one, _, _, arch in checked if one is system)
        answered.append(SystemAnswers(system.name, arch, system.checkpoints, runs))
    return RobustnessTrial(manifest, sets, answered)


def _checked(path: str, data: str | None) -> tuple[TextManifest, str]:
    """Check a checkpoint (or all of an ensemble) without building it.

    Returns:
        The manifest of its prepared folder, and its architecture (empty for an ablation).
    """
    if bundles := found_bundles(path):
        options = open_bundle(bundles[0]).content["model"]
        folder: str | Path = data or bundles[0]
    else:
        found = find_checkpoints(path)
        first = check_checkpoint(found[0], LABELLING)
        for other in found[1:]:  # one after the other: each holds its weights
            check_checkpoint(other, LABELLING)
        options, folder = first.model, folder_of(first, data)
    manifest = read_manifest(Path(folder), TextManifest)
    try:
        expected_of(manifest)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    whole = options.get("ablate", "none") == "none"
    return manifest, str(options["_name"]) if whole else ""


def _common(checked: Sequence[tuple[System, str, TextManifest, str]]) -> TextManifest:
    """Return the first system's manifest; refuse systems with other inputs or labels."""
    _, first_path, first, _ = checked[0]
    for _, path, manifest, _ in checked[1:]:
        for name in ("dataset", "target", "labels", "sentences"):
            one, other = getattr(first, name), getattr(manifest, name)
            if one != other:
                raise InputError(
                    f"{first_path} and {path} cannot be compared: their {name} are {one!r} and "
                    f"{other!r}"
                )
    return first


def _try_run(
    path: str, sets: Sequence[PerturbedExamples], options: RobustnessOptions, folder: Path
) -> dict[str, Answers]:
    given = given_overrides(options, EXAMPLES)
    predictor = load(path, options.data, cpu=options.cpu, int8=options.int8, **given)
    known = _predict_all(predictor, sets, options, folder.parent.name)
    made = {}
    for one in sets:
        if one.originals is not None:
            made[before(one.name)] = _made(one.originals, known, predictor.target)
        made[one.name] = _made(one.perturbed, known, predictor.target)
    split = whole_split(predictor.manifest, sets)
    if split is not None:
        total = predictor.manifest.splits[split]["examples"]
        found = predictor.predict_split(split, **options.limits)
        made[WHOLE] = list(tqdm(found, f"whole {split}", total, unit=" examples", disable=None))
    return {
        name: _write(folder / f"{name}.jsonl", part, predictor.target)
        for name, part in made.items()
    }


def _predict_all(
    predictor: Predictor, sets: Sequence[PerturbedExamples], options: RobustnessOptions, name: str
) -> dict[Texts, Prediction]:
    unique: dict[Texts, Example] = {}
    for one in sets:
        for example in (*one.perturbed, *(one.originals or ())):
            named = f"{one.source}: example {example.id}"
            unique.setdefault(example.texts, Example(named, example.texts, line=example.line))
    made = predictor.predict_examples(unique.values(), **options.limits)
    bar = tqdm(made, name, len(unique), unit=" examples", disable=None)
    return dict(zip(unique, bar))


def _made(
    examples: Iterable[Example], known: dict[Texts, Prediction], target: Target
) -> list[Prediction]:
    """Return the prediction of each example, with its own id and gold label."""
    made = []
    for example in examples:
        found, gold = known[example.texts], target.truth(example)
        made.append(replace(found, id=example.id, gold=gold, texts=example.texts))
    return made


def whole_split(manifest: TextManifest, sets: Sequence[PerturbedExamples]) -> str | None:
    """Return the split behind all sets, with gold labels and the same hash, or None."""
    origins = {(one.dataset, one.split, one.source_hash) for one in sets if one.split}
    if len(origins) != 1:
        return None
    ((dataset, split, source_hash),) = origins
    counts = manifest.splits.get(split)
    if dataset != manifest.dataset or not counts or counts["labelled"] != counts["examples"]:
        return None
    prepared = manifest.inputs.get(split, {}).get("sha256")
    return split if source_hash and prepared == source_hash else None


def _write(path: Path, made: Sequence[Prediction], target: Target) -> Answers:
    write_text(path, "".join(one.json() for one in made))
    ids, gold, predicted = zip(*((one.id, one.gold, one.answer) for one in made))
    return Answers(str(path), target, list(ids), list(gold), list(predicted))
