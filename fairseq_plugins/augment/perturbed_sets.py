"""Sets of perturbed examples, whoever made them: found, read, checked against the model.

`perturb` writes folders, TextFlint pairs of files, AdvGLUE one file of six tasks; all
become `PerturbedExamples`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..corpora.readers.expected import Expected
from ..corpora.readers.foreign import (
    TASKS,
    TRANSFORMED,
    read_advglue,
    read_textflint,
    transformation_of,
    transformed_file,
)
from ..corpora.readers.options import ReadOptions
from ..data.manifest import Manifest
from .perturbation.record import RECORD
from .perturbed_folders import PerturbedExamples, read_perturbed

WHOLE = "original"  # what is called so is before, not after
KINDS = (
    f"a folder with {RECORD} (fairseq-plugins perturb), {TRANSFORMED}_NAME_N.json (TextFlint), or "
    "AdvGLUE's dev.json"
)


def expected_of(manifest: Manifest) -> Expected:
    """Return what the models of a prepared folder read and answer.

    Raises:
        ValueError: they label words.
    """
    if manifest.target == "word_labels":
        raise ValueError(
            f"a model of {manifest.dataset!r} labels words; perturbed sets are for models of "
            "sentences and pairs of sentences"
        )
    return Expected(manifest.target, tuple(manifest.labels), manifest.sentences)


def read_sets(paths: Sequence[str | Path], manifest: Manifest) -> list[PerturbedExamples]:
    """Read perturbed sets for the models of a prepared folder.

    Args:
        paths: folders and files of any kind, and folders of such; ``dev.json:TASK`` is one task of
            AdvGLUE. What is named twice is read once.
        manifest: of the folder.

    Raises:
        FileNotFoundError: nothing there, or a part of it is missing.
        ValueError: a damaged file; sets for other models; labels that the model does not know, or
            that contradict the record of changes; two sets of one name.
    """
    expected = expected_of(manifest)
    options = _read_options(manifest)
    found: list[PerturbedExamples] = []
    places = {(place.resolve(), task): place for path in paths for place, task in _places(path)}
    for (_, task), source in places.items():
        if source.is_dir():
            found.append(read_perturbed(source, expected, options))
        elif transformed_file(source):
            originals, perturbed = read_textflint(source, expected)
            name = transformation_of(source)
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
    """Yield the sets that a path stands for: folder or file, and a task of AdvGLUE."""
    place, (name, _, task) = Path(path), str(path).rpartition(":")
    if not place.exists() and task in TASKS:
        place = Path(name)
    else:
        task = ""
    if place.is_dir() and not (place / RECORD).is_file():
        inner = [transformed_file(one) or one for one in sorted(place.iterdir()) if _is_set(one)]
        if not inner:
            raise FileNotFoundError(f"{path} holds no perturbed set; expected {KINDS}")
        yield from ((one, "") for one in inner)
    elif place.is_dir() or place.suffix == ".json":
        yield transformed_file(place) or place, task
    elif place.exists():
        raise ValueError(f"{path} is no perturbed set; expected {KINDS}")
    else:
        raise FileNotFoundError(f"{path}: no such file or folder; expected {KINDS}")


def _is_set(path: Path) -> bool:
    """Whether it is a set; a hidden folder is what a killed run of `perturb` left."""
    samples = path.is_file() and transformed_file(path) is not None
    return not path.name.startswith(".") and (samples or (path / RECORD).is_file())


def _read_options(manifest: Manifest) -> ReadOptions:
    """Return how the files that the folder was prepared from are laid out."""
    known = manifest.options.get("read")
    known = known if isinstance(known, dict) else {}
    names = ReadOptions.__dataclass_fields__.keys() & known.keys()
    values = {name: tuple(v) if isinstance(v := known[name], list) else v for name in names}
    return ReadOptions(**values)


def _check_names(sets: Sequence[PerturbedExamples]) -> None:
    """Refuse two sets of one name, for a table has one column for each, and names of other files.

    A file of predictions is called by the name; what ends in `WHOLE` is that of the originals.
    """
    first: dict[str, PerturbedExamples] = {}
    for one in sets:
        name = one.name
        if not name.strip(". ") or set(name) & set("/\\\0\t\n") or name.endswith(WHOLE):
            raise ValueError(
                f"{one.source}: transformation {name!r} cannot name a file of predictions; such "
                f"names are no paths, and do not end in {WHOLE!r}"
            )
        other = first.setdefault(one.name, one)
        if other is not one:
            raise ValueError(f"{other.source} and {one.source} are both {one.name}: name one")
