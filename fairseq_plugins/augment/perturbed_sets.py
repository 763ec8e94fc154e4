"""Perturbed sets from any tool: found, read, checked against the model.

`perturb` writes folders, TextFlint pairs of files, AdvGLUE one file of six tasks; all become
`PerturbedExamples`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..corpora.datasets import find_split, get_dataset, read_split
from ..corpora.examples import Example
from ..corpora.readers.expected import Expected, check_same_pairs, json_file, json_objects
from ..corpora.readers.foreign import (
    TASKS,
    TRANSFORMED,
    read_advglue,
    read_textflint,
    transformed_file,
)
from ..corpora.readers.options import ReadOptions
from ..corpora.squad import JSON_KINDS
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..messages import quoted
from .perturbation.record import CHANGES, ORIGINAL, RECORD

WHOLE = "original"  # suffix of originals
KINDS = (
    f"a folder with {RECORD} (fairseq-plugins perturb), {TRANSFORMED}_NAME_N.json (TextFlint), or "
    "AdvGLUE's dev.json"
)
SHOWN = 200  # characters of a text in an error
CHANGE = {"id": str, "changed": bool, "texts": list, "new_texts": list}


@dataclass(frozen=True)
class PerturbedExamples:
    """Examples after a transformation, with their originals if known."""

    name: str  # of the transformation
    source: Path  # folder or file
    perturbed: list[Example]  # the examples, with the model's names of labels
    originals: list[Example] | None = None  # as many, in the same order, or None
    dataset: str = ""  # of the examples; empty if unknown
    split: str = ""  # of the dataset; empty if unknown
    source_hash: str = ""  # SHA-256 of the split's whole file; empty if unknown


def expected_of(manifest: TextManifest) -> Expected:
    """Return the inputs and labels of a prepared folder's models."""
    if manifest.target_kind.by_word:
        raise InputError(
            f"a model of {manifest.dataset!r} labels words; perturbed sets are for models of "
            "sentences and pairs of sentences"
        )
    return Expected(manifest.target_kind, tuple(manifest.labels), manifest.sentences)


def read_sets(paths: Sequence[str | Path], manifest: TextManifest) -> list[PerturbedExamples]:
    """Read perturbed sets for the models of a prepared folder.

    Args:
        paths: folders and files of any kind, and folders of these; ``dev.json:TASK`` is one task of
            AdvGLUE. Repeated sets are read once.
    """
    expected = expected_of(manifest)
    options = ReadOptions.of(manifest.options)
    found: list[PerturbedExamples] = []
    places = {(place.resolve(), task): place for path in paths for place, task in _places(path)}
    for (_, task), source in places.items():
        if source.is_dir():
            found.append(read_perturbed(source, expected, options))
        elif name := transformed_file(source)[1]:
            originals, perturbed = read_textflint(source, expected)
            found.append(PerturbedExamples(name, source, perturbed, originals))
        else:
            parts = read_advglue(source, task, manifest.dataset, expected)
            found += [
                PerturbedExamples(f"AdvGLUE-{name}", source, part, dataset=TASKS[name][0].name)
                for name, part in parts.items()
            ]
    _check_names(found)
    return found


def _places(path: str | Path) -> Iterator[tuple[Path, str]]:
    """Yield the sets of a path: folder or file, and a task of AdvGLUE."""
    place, (name, _, task) = Path(path), str(path).rpartition(":")
    if not place.exists() and task in TASKS:
        place = Path(name)
    else:
        task = ""
    if place.is_dir() and not (place / RECORD).is_file():
        inner = [transformed_file(one)[0] for one in sorted(place.iterdir()) if _is_set(one)]
        if not inner:
            raise FileNotFoundError(f"{path} holds no perturbed set; expected {KINDS}")
        yield from ((one, "") for one in inner)
    elif place.is_dir() or place.suffix == ".json":
        yield transformed_file(place)[0], task
    elif place.exists():
        raise InputError(f"{path} is no perturbed set; expected {KINDS}")
    else:
        raise FileNotFoundError(f"{path}: no such file or folder; expected {KINDS}")


def _is_set(path: Path) -> bool:
    """Return whether a path is a set; hidden folders are left over from a killed `perturb`."""
    samples = path.is_file() and transformed_file(path)[1]
    return not path.name.startswith(".") and bool(samples or (path / RECORD).is_file())


def _check_names(sets: Sequence[PerturbedExamples]) -> None:
    """Refuse two sets with one name, which have one column in a table, and names of other files.

    The name is also the file name of predictions; names that end in `WHOLE` are those of originals.
    """
    first: dict[str, PerturbedExamples] = {}
    for one in sets:
        name = one.name
        if not name.strip(". ") or set(name) & set("/\\\0\t\n") or name.endswith(WHOLE):
            raise InputError(
                f"{one.source}: transformation {name!r} cannot name a file of predictions; such "
                f"names are no paths, and do not end in {WHOLE!r}"
            )
        other = first.setdefault(one.name, one)
        if other is not one:
            raise InputError(f"{other.source} and {one.source} are both {one.name}: name one")


def read_perturbed(folder: Path, expected: Expected, options: ReadOptions) -> PerturbedExamples:
    """Read a folder with ``perturbation.json``, and check its parts against each other."""
    record = _read_record(folder / RECORD)
    dataset, split = get_dataset(record["dataset"]), record["split"]
    if dataset.target is not expected.target:
        raise InputError(
            f"{folder / RECORD}: dataset {dataset.name!r} has {dataset.target.said}, but the "
            f"model gives {expected.target.said}"
        )
    try:
        after, before = (find_split(dataset, split, place) for place in (folder, folder / ORIGINAL))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{error}: run fairseq-plugins perturb again") from None
    perturbed, originals = ([*read_split(dataset, split, p, options)] for p in (after, before))
    check_same_pairs(originals, perturbed, (before, after))
    names = _check_changes(folder / CHANGES, (before, originals), (after, perturbed))
    for part, path in ((perturbed, after), (originals, before)):
        for number, (example, name) in enumerate(zip(part, names)):
            where = f"{path}:{example.line}"
            expected.check_sentences(len(example.texts), where)
            part[number] = replace(example, id=name, label=expected.label(example.label, where))
    expected.log_respelled(folder)
    source = record.get("source")
    digest = str(source.get("sha256", "")) if isinstance(source, dict) else ""
    name = record["transformation"]
    return PerturbedExamples(name, folder, perturbed, originals, dataset.name, split, digest)


def _read_record(path: Path) -> dict[str, Any]:
    record = json_file(path)
    _check_kinds(record, dict.fromkeys(("dataset", "split", "transformation"), str), path)
    try:
        splits = get_dataset(record["dataset"]).splits
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if record["split"] not in splits:
        choices = ", ".join(splits)
        raise InputError(f"{path}: unknown split {quoted(record['split'])}; choices: {choices}")
    return record


def _check_kinds(found: dict[str, Any], kinds: dict[str, type], where: object) -> None:
    for name, kind in kinds.items():
        if not isinstance(found.get(name), kind):
            shown = quoted(found.get(name))
            raise InputError(f"{where}: {name!r} is {shown}, expected {JSON_KINDS[kind]}")


def _check_changes(
    path: Path, before: tuple[Path, list[Example]], after: tuple[Path, list[Example]]
) -> list[str]:
    """Refuse examples that contradict the record of changes.

    The files hold either all examples of the split, or only the changed ones.

    Returns:
        The examples' ids in the split's whole file, because rows without ids are numbered anew in
        every file.
    """
    changes = _read_changes(path)
    kept = [change for change in changes if change[1]["changed"]]
    count = len(after[1])
    if count not in (len(kept), len(changes)):
        raise InputError(
            f"{after[0]} has {count} examples, but {path} tells of {len(kept)} changed ones among "
            f"{len(changes)}"
        )
    written = kept if count == len(kept) else changes
    numbered = [example.id for example in after[1]] == [str(number) for number in range(count)]
    for (file, part), new in ((before, ""), (after, "new_")):
        for example, (number, change) in zip(part, written):
            places = f"{file}:{example.line}", f"{path}:{number}"
            found = {"text": list(example.texts), "label": example.label, "id": example.id}
            gold = change.get(f"{new}label")
            recorded = {"text": change[f"{new}texts"], "label": gold if gold is None else str(gold)}
            _check_same(found, recorded if numbered else recorded | {"id": change["id"]}, *places)
    return [change["id"] for _, change in written]


def _check_same(found: dict[str, Any], recorded: dict[str, Any], place: str, other: str) -> None:
    """Refuse an example that contradicts its record."""
    for name, value in recorded.items():
        if found[name] != value:
            raise InputError(
                f"{place}: {name} {quoted(found[name], SHOWN)} contradicts {other}, where it is "
                f"{quoted(value, SHOWN)}"
            )


def _read_changes(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file: run fairseq-plugins perturb again")
    changes = list(json_objects(path))
    for number, change in changes:
        _check_kinds(change, CHANGE, f"{path}:{number}")
    return changes
