"""Translation of raw text or a prepared split by the checkpoint of a run, with fairseq."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

import torch

from ..augment.translators import Translate
from ..bundles.ctranslate2_model import Search
from ..bundles.run_folder import Origin
from ..data.folder_names import NO_SPLITS
from ..data.manifests import read_manifest
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..messages import named
from ..models.checkpoints import folder_of, read_checkpoint
from .options import TRANSLATING
from .translation_attention import load

USER_DIR = Path(__file__).resolve().parents[1]


def open_checkpoint(
    checkpoint: Path,
    search: Search,
    *,
    data: str | None = None,
    spacy_model: str | None = None,
    cpu: bool = False,
) -> tuple[Translate, str]:
    """Load a checkpoint that translates like a bundle.

    Args:
        checkpoint: the file.
        search: beam search; only the best translation counts.
        data: the prepared folder (default: the run's own).
        spacy_model: annotator of raw text.
        cpu: compute on the CPU even if there is a GPU.

    Returns:
        A function of raw lines, and the language of its results.
    """
    model = load(checkpoint, data, spacy_model)
    if torch.cuda.is_available() and not cpu:
        model = model.cuda()
    model.cfg.dataset.max_tokens = max(search.max_tokens, model.max_positions[0])
    how = {"beam": search.beam, "lenpen": search.lenpen, "max_len_b": search.longest}
    return partial(model.translate, **how), model.task.manifest.target_lang


def generate(
    checkpoint: Path, data: str, split: str, words: Sequence[str], stream: IO[bytes]
) -> None:
    """Translate a split of a prepared folder by fairseq-generate.

    Args:
        checkpoint: the file.
        data, split: the folder, and its split.
        words: further options of fairseq-generate.
        stream: for the output.
    """
    command = [sys.executable, "-m", "fairseq_cli.generate", data, "--user-dir", str(USER_DIR)]
    command += ["--task", TRANSLATING, "--path", str(checkpoint), "--gen-subset", split, *words]
    done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        last = done.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:]
        raise InputError(f"fairseq-generate failed: {''.join(last)}")


def folder_of_run(
    path: Path, split: str, data: str | None, *, elsewhere: bool
) -> tuple[str, TranslationManifest]:
    """Return the prepared folder that a checkpoint translates, and its manifest.

    Args:
        split: that the folder must have.
        data: the folder (default: the training folder).
        elsewhere: whether the translations go to another file than the run's own.
    """
    checkpoint = read_checkpoint(path)
    folder, known = data or folder_of(checkpoint), checkpoint.origin.path
    manifest = read_manifest(Path(folder), TranslationManifest)
    if split not in manifest.splits:
        choices = named(manifest.splits, none=NO_SPLITS)
        gone = f"; {known}, which the model was trained on, is not there" * (not data)
        gone *= not Path(known).is_dir()
        raise InputError(f"{folder}: no split {split!r}; choices are {choices}{gone}")
    if not elsewhere and is_other(folder, checkpoint.origin):
        raise InputError(
            f"{folder} is another folder than {known}, which the model was trained on: name a file "
            f"for its log with --output, since {path.parent} keeps the scores of that"
        )
    return folder, manifest


def is_other(data: str, origin: Origin) -> bool:
    """Return whether a prepared folder has other data than the training folder.

    A checkpoint of an older release is compared by input files and options; a training folder that
    no longer exists may be this folder.
    """
    if origin.splits:
        return bool(origin.other_data(Path(data)))
    made, known = read_manifest(Path(data)).decisive(), []
    for part in map(Path, origin.path.split(os.pathsep)):
        with contextlib.suppress(OSError, InputError):
            known.append(read_manifest(part).decisive())
    return bool(known) and made not in known
