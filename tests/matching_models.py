"""Small models that match pairs, folders of pairs to train them on, and how they are trained."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils, distributed_utils
from fairseq_cli import train as fairseq_train
from omegaconf import OmegaConf
from prepared_text import config, make_task

from fairseq_plugins.architectures.matching_options import KINDS
from fairseq_plugins.models._matching_config import MatchingConfig
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.recipes.text_options import ReadOptions, TextOptions

ARCHS = [f"{kind}_tiny" for kind in KINDS]
COLUMNS = {"text_column": "first", "text2_column": "second"}


def build(folder: Path, arch: str, *, task: Any = None, **given: Any) -> Any:
    """Build a model for a prepared folder, in evaluation mode; ``task`` is one that has it open."""
    cfg = OmegaConf.structured(MatchingConfig(**{"dropout": 0.0, **given}))
    cfg._name = arch
    return (task or make_task(folder)).build_model(cfg).eval()


def write_pairs(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    lines = ["first\tsecond\tlabel", *("\t".join(row) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def prepare_pairs(root: Path, splits: dict[str, list[tuple[str, str, str]]], **given: Any) -> Path:
    """Prepare pairs with the words of their own training examples."""
    files = {
        f"{name}_file": str(write_pairs(root / f"{name}.tsv", splits[name])) for name in splits
    }
    how = {"annotations": "none", "words_from": "train", "workers": 1}
    prepare(
        TextOptions(
            dataset="plain",
            destdir=str(root / "data"),
            read=ReadOptions(**COLUMNS),
            **{**files, **how, **given},
        )
    )
    return root / "data"


COLORS, THINGS = "red blue green black white".split(), "hat coat bag cup ball".split()


def aligned_pairs(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Make pairs that say the same if and only if every thing keeps its color.

    Both sentences have the same words; in half of the pairs the colors changed places. So a bag of
    words, of either sentence or of both, knows nothing.
    """
    rng, rows = random.Random(seed), []
    for _ in range(count):
        things, colors = rng.sample(THINGS, 2), rng.sample(COLORS, 2)
        said = list(zip(colors, things))
        same = rng.random() < 0.5
        again = said if same else list(zip(reversed(colors), things))
        again = rng.sample(again, 2)
        texts = [" ".join(f"{color} {thing}" for color, thing in side) for side in (said, again)]
        rows.append((texts[0], texts[1], "same" if same else "other"))
    return rows


def lacking_pairs(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Make pairs of which the second sentence has both things of the first, or one other."""
    rng, rows = random.Random(seed), []
    for _ in range(count):
        *said, other = rng.sample(THINGS, 3)
        same = rng.random() < 0.5
        again = said if same else [rng.choice(said), other]
        rows.append((" ".join(said), " ".join(rng.sample(again, 2)), "same" if same else "other"))
    return rows


def arguments(folder: Path, run: Path, arch: str, *more: str) -> list[str]:
    fixed = f"{folder} --task text_classification --criterion text_classification --arch {arch}"
    fixed += f" --save-dir {run} --cpu --optimizer adam --lr 0.003 --num-workers 0"
    fixed += " --log-interval 1000 --no-progress-bar --no-epoch-checkpoints --dropout 0"
    if "--batch-size" not in more:
        fixed += " --batch-size 32"
    return [*fixed.split(), *more]


def train(folder: Path, run: Path, arch: str, *more: str) -> Path:
    """Run fairseq-train in this process; return the run's folder, its last checkpoint the best."""
    if hasattr(checkpoint_utils.save_checkpoint, "best"):
        del checkpoint_utils.save_checkpoint.best  # fairseq keeps it from run to run
    distributed_utils.call_main(config(*arguments(folder, run, arch, *more)), fairseq_train.main)
    shutil.copy(run / "checkpoint_last.pt", run / "checkpoint_best.pt")
    return run
