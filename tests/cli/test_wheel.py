"""The package as a wheel, far from its checkout: prepare, train, predict, an experiment, a report.

The wheel is installed into an environment of its own that also sees the libraries of the present
one, but not the checkout, and everything runs in a folder that was empty.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli.commands import LONGEST_RUN, ROOT
from raw_datasets import write_raw
from squad_files import write_toy_bert

pytestmark = pytest.mark.slow

LIBRARIES = [*map(Path, sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))]
WITHOUT = ("fairseq", "hydra", "omegaconf", "submitit", "pandas", "matplotlib")  # beginnings

GRID = """
dataset: cola
systems: [bert_plain_tiny]
learning_rates: [5e-3]
epochs: [1]
seeds: [1]
batch_size: 8
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: 0}
"""
TRAIN = """--task text_classification --criterion text_classification --arch bert_plain_tiny
    --pretrained none --cpu --optimizer adam --lr 0.003 --batch-size 8 --max-update 2
    --num-workers 0 --no-progress-bar"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a copy of what it is made of."""
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "fairseq_plugins", source / "fairseq_plugins", ignore=unwanted)
    out = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source]
    subprocess.run([*map(str, words)], check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """Install it into an environment that sees the libraries of this one; return its commands."""
    folder = tmp_path_factory.mktemp("environment")
    return installed(folder, wheel, LIBRARIES)


def installed(folder: Path, wheel: Path, libraries: Sequence[Path]) -> Path:
    """Make an environment with the wheel and what lies in some folders; return its commands."""
    venv.create(folder, with_pip=False)
    own = next(folder.glob("lib/python*/site-packages"))
    # A path in such a file is searched, but the .pth files in it, the checkout's among them, not.
    (own / "libraries.pth").write_text("".join(f"{place}\n" for place in libraries))
    words = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"]
    words += ["--no-deps", "--no-index", "--ignore-installed", wheel]  # of the checkout
    subprocess.run([*map(str, words)], check=True, capture_output=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def serving(wheel, tmp_path_factory) -> Path:
    """Install it where neither fairseq is nor what only training needs."""
    linked = tmp_path_factory.mktemp("linked")
    for path in (path for folder in LIBRARIES for path in folder.iterdir()):
        name = path.name.lower().replace("-", "_").split(".")[0]
        if not name.startswith(WITHOUT) and not (linked / path.name).exists():
            (linked / path.name).symlink_to(path)
    return installed(tmp_path_factory.mktemp("serving"), wheel, [linked])


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Make a folder with raw data and nothing else."""
    folder = tmp_path_factory.mktemp("place")
    write_raw("cola", folder / "raw", 40)
    write_toy_bert(folder / "bert")
    (folder / "toy.yaml").write_text(GRID)
    return folder


@pytest.fixture(scope="module")
def call(environment, place):
    """Return what runs a command of the environment in that folder and gives its output."""

    def call(*words: str, commands: Path = environment) -> str:
        done = subprocess.run(
            [commands / words[0], *map(str, words[1:])],
            cwd=place,
            env={"PATH": f"{commands}:/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=LONGEST_RUN,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    return call


def test_all_that_is_no_code_is_in_the_wheel(wheel):
    files = (ROOT / "fairseq_plugins").rglob("*")
    here = {path for path in files if path.is_file() and "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = {ROOT / name for name in archive.namelist() if name.startswith("fairseq_plugins/")}
    assert packed == here


def test_far_from_the_checkout_everything_runs(call, environment, place):
    user_dir = call("python", "-m", "fairseq_plugins").strip()
    assert Path(user_dir).is_relative_to(environment.parent)
    assert call("fairseq-plugins").strip() == user_dir
    words = "prepare text --dataset cola --raw-dir raw --pretrained bert --annotations none"
    call("fairseq-plugins", *words.split(), "--destdir", "data-bin/cola", "--workers", "1")
    train = ["-m", "fairseq_cli.train", "data-bin/cola", "--user-dir", user_dir]
    call("python", *train, *TRAIN.split(), "--save-dir", "runs/one")
    call("fairseq-plugins", *"predict runs/one --split valid --output valid.jsonl --cpu".split())
    rows = [json.loads(line) for line in (place / "valid.jsonl").read_text().splitlines()]
    assert len(rows) == 40
    call("fairseq-plugins", *"run toy.yaml --runs runs/toy --cpu --jobs 2".split())
    results = [*(place / "runs" / "toy").rglob("result.json")]
    assert len(results) == 1
    assert len([*(place / "runs" / "toy").rglob("predictions.jsonl")]) == 1
    said = call("fairseq-plugins", "results", "page", "runs/toy")
    assert said.startswith("1 of 1 runs finished, 0 failed\n")
    assert (place / "runs" / "toy" / "report.html").is_file()
    everything = [path for path in place.rglob("*") if path.suffix in (".json", ".txt", ".log")]
    assert everything
    # The libraries may lie in the checkout's .venv, and their warnings name their own files.
    texts = {path: path.read_text(errors="replace").replace(sys.prefix, "") for path in everything}
    assert not [path for path, text in texts.items() if str(ROOT) in text]


LOADED = """
import json, sys
from fairseq_plugins import load
with open("raw.txt") as lines:
    texts = [line.rstrip("\\n") for line in lines]
found = [p.answer for p in load("bundles/pos").predict(texts)]
assert "fairseq" not in sys.modules and len(found) == len(texts)
print(json.dumps(found))
"""


def test_a_bundle_runs_where_fairseq_is_not(call, serving, place):
    """Text is annotated by the pipeline that the bundle brings."""
    words = "prepare text --dataset cola --raw-dir raw --pretrained bert --layers pos,heads"
    call("fairseq-plugins", *words.split(), "--destdir", "data-bin/pos", "--workers", "1")
    user_dir = call("fairseq-plugins").strip()
    train = ["-m", "fairseq_cli.train", "data-bin/pos", "--user-dir", user_dir, *TRAIN.split()]
    model = "--features pos --local-attention sla --save-dir runs/pos"
    call("python", *train, *model.split())
    call("fairseq-plugins", *"export runs/pos --output bundles/pos --with-pipeline".split())
    assert (place / "bundles" / "pos" / "pipeline" / "config.cfg").is_file()
    lines = [json.loads(line) for line in (place / "valid.jsonl").read_text().splitlines()]
    texts = [f"The cat number {k} sat on the mat, {row['id']}." for k, row in enumerate(lines)]
    (place / "raw.txt").write_text("".join(f"{text}\n" for text in texts))
    predict = "--input raw.txt --cpu --output".split()
    call("fairseq-plugins", "predict", "runs/pos", *predict, "run.jsonl")
    shutil.move(place / "runs" / "pos", place / "gone")
    shutil.move(place / "data-bin" / "pos", place / "gone")
    said = [*predict, "bundle.jsonl"]
    call("fairseq-plugins", "predict", "bundles/pos", *said, commands=serving)
    assert (place / "bundle.jsonl").read_text() == (place / "run.jsonl").read_text() != ""
    found = json.loads(call("python", "-c", LOADED, commands=serving))
    assert found == [json.loads(row)["label"] for row in (place / "run.jsonl").open()]
    broken = subprocess.run(
        [serving / "python", "-c", "import fairseq"], capture_output=True, text=True, check=False
    )
    assert "ModuleNotFoundError" in broken.stderr
