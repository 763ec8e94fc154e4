"""Prepare data from Python, by the recipes and options of the commands `prepare`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..data.manifests import AnyManifest, read_manifest
from ..errors import InputError
from ..messages import like, named
from ..quiet import undisturbed

HELD_OUT = 0.1  # share of the training examples to validate on, where no file is given
Files = str | Path | Iterable[str | Path]


@dataclass(frozen=True)
class Data:
    """A prepared folder; every function of the package takes it as a path."""

    path: Path
    manifest: AnyManifest = field(repr=False)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Data:
        """Return a prepared folder of the disk."""
        manifest: Any = read_manifest(Path(path))
        return cls(Path(path), manifest)

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def counts(self) -> dict[str, int]:
        """Split -> number of examples, questions or pairs of lines."""
        return {split: self.manifest.count(split) for split in self.manifest.splits}

    @property
    def layers(self) -> list[str]:
        """Names of the layers that models may read (`features`)."""
        return self.manifest.layers

    @property
    def labels(self) -> list[str]:
        """The labels in the order of their ids; empty where nothing is labelled."""
        return getattr(self.manifest, "labels", [])

    def __repr__(self) -> str:
        counts = ", ".join(f"{split} {count:,}" for split, count in self.counts.items())
        labels = f"; labels {named(self.labels)}" if self.labels else ""
        layers = named(self.layers, none="none")
        return f"Data {self.path}: {self.manifest.task}, {counts}; layers {layers}{labels}"


@undisturbed()
def prepare_text(
    train: str | Path,
    *,
    out: str | Path,
    text: str = "text",
    pair: str = "",
    label: str = "label",
    valid: Files | None = None,
    test: Files | None = None,
    layers: str | None = None,
    dataset: str = "plain",
    **options: Any,
) -> Data:
    """Prepare sentences, pairs or labelled words for training; the command is `prepare text`.

    Args:
        train: training file (TSV, CSV or JSONL; of words a token file), or the folder of a
            dataset's official files.
        out: folder to write, e.g. ``data-bin/reviews``; a folder that is finished stays as it is.
        text, pair, label: columns of the text, of the second sentence of pairs, and of the label.
        valid: validation files (default: a tenth of the training examples is held out).
        test: test files, which may lack labels.
        layers: what to store beside the words, e.g. ``pos,heads`` (the default), or ``none``.
        dataset: name of a dataset, or format of your own files: ``plain`` for classes,
            ``plain_scores`` for numbers, ``plain_labels`` for sets of labels, ``tokens`` for words.
        options: further options of the command, e.g. ``pretrained="BERT"``, ``workers=4``.

    Raises:
        FileNotFoundError: there is no such file.
        InputError: a missing column, a bad line, or a contradiction of the options.
    """
    from ..corpora.readers.options import ReadOptions
    from ..prep.recipes.text import prepare
    from ..prep.recipes.text_options import TextOptions, options_from

    _check_names(options, (TextOptions, ReadOptions))
    given = _files(train, valid, test) | {"destdir": str(out), "layers": layers}
    given |= {"dataset": dataset, "text_column": text, "text2_column": pair, "label_column": label}
    if "train_file" in given and valid is None:
        given["valid_fraction"] = HELD_OUT
    prepare(options_from({**given, **options}))
    return Data.open(out)


@undisturbed()
def prepare_translation(
    train: str | Path,
    source: str,
    target: str,
    *,
    out: str | Path,
    valid: Files | None = None,
    test: Files | None = None,
    layers: str | None = None,
    **options: Any,
) -> Data:
    """Prepare parallel text for training; the command is `prepare translation`.

    Args:
        train: prefix of the training files: ``corpus/train`` of ``corpus/train.en`` and
            ``corpus/train.de``.
        source, target: codes of the languages, e.g. ``en`` and ``de``.
        out: folder to write; a folder that is finished stays as it is.
        valid, test: prefixes of the validation and test files.
        layers: what to store beside the source words (default: ``pos,case,subword``).
        options: further options of the command, e.g. ``bpe_size=8000``, ``like="data-bin/other"``.

    Raises:
        FileNotFoundError, InputError: see `prepare_text`.
    """
    from ..prep.recipes.like import options_of
    from ..prep.recipes.translation import prepare
    from ..prep.recipes.translation_options import TranslationOptions

    _check_names(options, (TranslationOptions,), ("like", "like_model"))
    prefixes = {"trainpref": train, "validpref": valid, "testpref": test}
    given = {name: _joined(files) for name, files in prefixes.items() if files is not None}
    given |= {"source_lang": source, "target_lang": target, "destdir": str(out), "layers": layers}
    prepare(options_of({**given, **options}))
    return Data.open(out)


@undisturbed()
def prepare_questions(
    train: str | Path,
    *,
    out: str | Path,
    valid: Files | None = None,
    test: Files | None = None,
    layers: str | None = None,
    **options: Any,
) -> Data:
    """Prepare questions on passages for training; the command is `prepare questions`.

    Args:
        train: training file in the format of SQuAD, or the folder of the official files.
        out: folder to write; a folder that is finished stays as it is.
        valid, test: validation and test files.
        layers: what to store beside the words, e.g. ``pos,heads`` (the default), or ``none``.
        options: further options of the command, e.g. ``max_positions=512``.

    Raises:
        FileNotFoundError, InputError: see `prepare_text`.
    """
    from ..prep.recipes.question_options import QuestionOptions
    from ..prep.recipes.questions import prepare

    _check_names(options, (QuestionOptions,))
    given = _files(train, valid, test) | {"destdir": str(out), "layers": layers}
    prepare(QuestionOptions(**{**given, **options}))
    return Data.open(out)


def _files(train: str | Path, valid: Files | None, test: Files | None) -> dict[str, Any]:
    """Return files as options of a preparation; a folder holds the official files."""
    _joined(train)
    found = {"raw_dir" if Path(train).is_dir() else "train_file": str(train)}
    others = {"valid_file": valid, "test_file": test}
    return found | {name: _joined(files) for name, files in others.items() if files is not None}


def _joined(files: Files) -> str:
    found = [*map(str, [files] if isinstance(files, (str, Path)) else files)]
    for file in found:
        if "," in file and Path(file).exists():
            raise InputError(f"{file!r}: a comma separates files: give the file another name")
    return ",".join(found)


def _check_names(options: Collection[str], records: Iterable[type], more: Iterable[str] = ()):
    """Refuse names that are no options of a preparation."""
    known = [spec.name for record in records for spec in fields(record) if spec.metadata]
    for name in options:
        if name not in (*known, *more):
            near = like(name, known)
            hint = f"like it: {near}" if near else f"choices: {named(known)}"
            raise InputError(f"{name!r} is no option of this preparation; {hint}")
