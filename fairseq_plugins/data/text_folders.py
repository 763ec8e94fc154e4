"""A prepared folder of texts or questions: opened, checked, read split by split."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..messages import named
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.entity_labels import allowed_steps
from ..syntax.layers import STANDARD
from ..syntax.rows import AGAIN, Rows, stream_exists, stream_layout
from ..targets.entities import ENTITIES
from ..targets.gold import LABEL, SCORES, Gold
from ..targets.table import TARGETS
from ..text_reading import read_lines, read_text
from .folder_names import ANSWERABLE, LABELS, NO_SPLITS, UNKNOWN
from .inventories import bound_layers
from .manifests import read_manifest
from .passages import read_ids
from .products import check_whole
from .qa_columns import QuestionColumns
from .text_columns import SentenceColumns
from .text_manifest import TextManifest


def open_folder(folder: Path, task: str) -> TextManifest:
    """Return the manifest of a complete folder for this task.

    Labels of words also serve as entities.
    """
    manifest = read_manifest(folder, TextManifest)
    for other in TARGETS.values():
        if other.task == task and other.source is manifest.target_kind:
            manifest = manifest.as_learnt(other)
    if manifest.task != task:
        raise InputError(f"{folder} was prepared for --task {manifest.task}, not for --task {task}")
    if manifest.levels and not manifest.target_kind.asks:
        raise InputError(
            f"{folder} has {manifest.levels} labels a word: --task {ENTITIES.task} takes all, "
            f"--task {task} a folder that was prepared with one label column"
        )
    check_whole(folder, manifest)
    if manifest.labels:
        path = folder / LABELS
        found = read_text(path).removesuffix("\n").split("\n")
        if found != manifest.labels:
            raise InputError(f"{path} and the manifest disagree; prepare the folder again")
    return manifest


def read_sentences(
    folder: Path,
    manifest: TextManifest,
    split: str,
    names: Sequence[str],
    *,
    pieces: int | None = None,
    controls: Controls = UNCONTROLLED,
) -> list[SentenceColumns]:
    """Read the first, and for pairs the second sentences of a split; see `SentenceColumns.read`."""
    _check_split(folder, manifest, split)
    layers = bound_layers(folder, manifest, names)
    columns: list[SentenceColumns] = []
    for number in range(manifest.sentences):
        how = {"first": columns[0] if columns else None, "pieces": pieces, "controls": controls}
        columns.append(SentenceColumns.read(folder, split, number, layers, **how))
        _check_count(folder, manifest, split, "examples", len(columns[number].tokens))
    return columns


def read_questions(
    folder: Path,
    manifest: TextManifest,
    split: str,
    names: Sequence[str],
    *,
    pieces: int | None = None,
    required: bool = True,
    controls: Controls = UNCONTROLLED,
) -> QuestionColumns:
    """Read the questions of a split and their passages; see `SentenceColumns.read`."""
    _check_split(folder, manifest, split)
    layers = bound_layers(folder, manifest, names)
    columns = QuestionColumns.read(folder, split, layers, pieces=pieces, controls=controls)
    _check_count(folder, manifest, split, "examples", len(columns.questions.tokens))
    _check_count(folder, manifest, split, "paragraphs", len(columns.offsets))
    if required:
        require_gold(folder, manifest, split, columns.gold)
    return columns


def _check_split(folder: Path, manifest: TextManifest, split: str) -> None:
    if split not in manifest.splits:
        own = "; --valid-fraction 0.1 of `prepare` makes it of training examples"
        raise FileNotFoundError(
            f"{folder} has no split {split!r}; splits: {named(manifest.splits, none=NO_SPLITS)}"
            f"{own if split == 'valid' else ''}"
        )


def _check_count(folder: Path, manifest: TextManifest, split: str, what: str, count: int) -> None:
    promised = manifest.splits[split][what]
    if count != promised:
        raise InputError(
            f"{folder}: split {split!r} has {count} {what}, but the manifest says {promised}; "
            f"{AGAIN}"
        )


def count_examples(folder: Path, manifest: TextManifest, split: str) -> dict[str, int]:
    """Count the content of a split's files, as in the manifest."""

    def lengths(name: str) -> np.ndarray:
        return stream_layout(folder / f"{split}.{name}")[0].astype(np.int64)

    sides, scores = range(manifest.sentences), folder / f"{split}.{SCORES}"
    tokens = [lengths(f"tokens{k}") for k in sides]
    found = {
        "examples": len(tokens[0]),
        "labelled": 0,
        "tokens": int(sum(side.sum() for side in tokens)),
        "words": int(sum(lengths(f"{STANDARD[0]}{k}").sum() for k in sides)),
        "longest": 0,  # with special tokens
    }
    if manifest.by_paragraph:
        answers = Rows.read(folder / f"{split}.answers")
        states = answers.values[answers.ends - answers.lengths]
        found["labelled"] = int((states != UNKNOWN).sum())
        found |= {"paragraphs": len(tokens[1]), "answerable": int((states == ANSWERABLE).sum())}
        tokens[1] = tokens[1][Rows.read(folder / f"{split}.paragraph").values]
    elif scores.is_file():
        found["labelled"] = sum(map(bool, read_lines(scores)))
    elif stream_exists(folder / f"{split}.{LABEL}"):
        found["labelled"] = int((lengths(LABEL) > 0).sum())
    specials = manifest.family.row.specials(manifest.sentences)
    found["longest"] = int(np.sum(tokens, axis=0).max(initial=0)) + specials
    return found


def take_sentences(
    examples: Sequence[Sequence[Any]],
    number: int,
    names: Sequence[str],
    ids: Sequence[str],
    controls: Controls = UNCONTROLLED,
) -> list[SentenceColumns]:
    """Take examples of ``number`` sentences each from the encoder of raw text; ``ids`` name them.

    ``controls`` may draw nothing: raw text is no split.
    """
    for name, sentences in zip(ids, examples):
        if len(sentences) != number:
            raise InputError(f"{name} has {len(sentences)} texts; this task takes {number}")
    columns: list[SentenceColumns] = []
    for place in range(number):
        side = [sentences[place] for sentences in examples]
        first = columns[0] if columns else None
        how = {"first": first, "name_of": ids.__getitem__, "controls": controls}
        columns.append(SentenceColumns.of(side, names, **how))
    return columns


def read_gold(folder: Path, manifest: TextManifest, split: str, *, required: bool) -> Gold | None:
    """Read the gold labels of a split; None without any."""
    gold = None
    if manifest.splits[split]["labelled"]:
        gold = manifest.target_kind.gold.read(folder, split, len(manifest.labels))
    if required:
        require_gold(folder, manifest, split, gold)
    return gold


def require_gold(folder: Path, manifest: TextManifest, split: str, gold: Any) -> None:
    """Refuse a split unless every example has its gold label."""
    if gold is not None and gold.complete:
        return
    counts = manifest.splits
    what = f"split {split!r} of {folder} has no labels"
    if gold is not None:
        what = f"{name_example(folder, split, int((~gold.present).argmax()))} has no label"
    labelled = [name for name, c in counts.items() if c["labelled"] == c["examples"] > 0]
    raise InputError(
        f"{what}: training and metrics need gold labels; splits with labels: {named(labelled)}"
    )


def check_scheme(folder: Path, manifest: TextManifest, split: str, gold: Any) -> None:
    """Refuse gold labels of words that their scheme forbids, such as I-PER behind O."""
    labels, rows = manifest.labels, gold.values
    allowed, edge = np.array(allowed_steps(labels)), len(labels)
    ends = np.cumsum(rows.lengths)
    steps = np.insert(np.asarray(rows.values), np.append(0, ends), edge)  # an edge beside each row
    wrong = ~allowed[steps[:-1], steps[1:]]
    if wrong.any():
        place = int(wrong.argmax())
        before, after = ([*labels, ""][number] for number in steps[place : place + 2])
        example = int(np.searchsorted(ends + np.arange(len(ends)), place))
        step = f"{after or 'the end'} behind {before or 'the beginning'}"
        raise InputError(
            f"{name_example(folder, split, example)} has {step}, which --crf scheme never "
            "predicts: convert the labels to IOB2, or take --crf free"
        )


def name_example(folder: Path, split: str, index: int) -> str:
    """Return an example's name for messages: split, number from 1, and its own id."""
    ids = read_ids(folder, split)
    own = f" (id {ids[index]!r})" if index < len(ids) else ""
    return f"split {split!r} of {folder}: example {index + 1}{own}"
