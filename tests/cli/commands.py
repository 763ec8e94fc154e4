"""Runs fairseq's commands and our subcommands, each in a fresh process, and reads the result.

A server process imports the heavy libraries once and forks for every run: a start costs a tenth of
a second instead of six, and what fairseq keeps in global variables dies with the run.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
TWO_GPUS = Path(__file__).with_name("two_gpus.py")
USER_DIR = ROOT / "fairseq_plugins"
COMMANDS = {
    "fairseq-train": "fairseq_cli.train",
    "fairseq-hydra-train": "fairseq_cli.hydra_train",
    "fairseq-generate": "fairseq_cli.generate",
    "fairseq-interactive": "fairseq_cli.interactive",
    "fairseq-validate": "fairseq_cli.validate",
    "fairseq-score": "fairseq_cli.score",
}
LONGEST_RUN = 300  # seconds
EXTRA = ("train_iterator", "val_loss", "best", "ema")
METERS = ("loss", "nll_loss")

# Starting a process also asks for the exit status of all others, which can be read only once.
_TURN = threading.Lock()
_FORKS = multiprocessing.get_context("forkserver")
_LIBRARIES = ("spacy", "sacrebleu", "sacremoses", "safetensors", "tokenizers", "torch._dynamo")


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Args:
        code: exit status.
        out: standard output.
        err: standard error.
    """

    code: int
    out: str
    err: str

    def lines(self, mark: str) -> list[str]:
        """Return the text of the ``D-`` (or other) lines, by sentence number, scores cut off."""
        pattern = re.compile(rf"^{mark}-(\d+)\t(.*)$", re.MULTILINE)
        found = [(int(n), text.split("\t")[-1]) for n, text in pattern.findall(self.out)]
        return [text for _, text in sorted(found, key=lambda pair: pair[0])]

    def numbers(self, mark: str = "H") -> list[int]:
        """Return the sentence numbers of the ``H-`` (or other) lines in the order printed."""
        return [int(n) for n in re.findall(rf"^{mark}-(\d+)\t", self.out, re.MULTILINE)]

    def logged(self, tag: str) -> list[dict[str, str]]:
        """Return the records that ``--log-format json`` wrote under a tag."""
        pattern = re.compile(rf"\| {tag} \| (\{{.*\}})$", re.MULTILINE)
        return [json.loads(text) for text in pattern.findall(self.out)]


def run(
    command: str | Path,
    *arguments: Any,
    stdin: str = "",
    cwd: Path | None = None,
    fails: bool = False,
) -> Outcome:
    """Run a command (a key of `COMMANDS`, or the words of a subcommand); check its exit status.

    Args:
        command: what to run; a test's own file, ending in ``.py``, may be run as well.
        arguments: its arguments; each is turned into text.
        stdin: text for its standard input.
        cwd: where to run it.
        fails: whether it has to fail.
    """
    command = str(command)
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("in", "out", "err")]
        Path(names[0]).write_bytes(stdin.encode("utf-8", "surrogateescape"))
        process = start(_child, command, [*map(str, arguments)], names, cwd and str(cwd))
        if not connection.wait([process.sentinel], LONGEST_RUN):
            process.kill()
        code = end(process)
        texts = [Path(name).read_text(encoding="utf-8", errors="replace") for name in names[1:]]
    outcome = Outcome(code, *texts)
    shown = f"{command} {' '.join(map(str, arguments))}\n{outcome.out[-3000:]}\n{outcome.err}"
    assert (outcome.code != 0) == fails, f"exit status {outcome.code}: {shown}"
    return outcome


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    _serve()
    process = _FORKS.Process(target=target, args=arguments)
    with _TURN:
        process.start()
    return process


def end(process: BaseProcess) -> int:
    """Wait for the end of what `start` returned; return its exit status."""
    connection.wait([process.sentinel])
    with _TURN:
        process.join()
    return process.exitcode


@functools.cache
def _serve() -> None:
    """Start the server, with our tests on its path."""
    _FORKS.set_forkserver_preload([*COMMANDS.values(), *_LIBRARIES, "cli.warm"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT / "tests"), before)))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _child(command: str, arguments: list[str], names: Sequence[str], cwd: str | None) -> None:
    """Be the command: take its files, arguments and folder, then call its entry point."""
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, flag) in enumerate(zip(names, flags)):
        os.dup2(os.open(name, flag, 0o600), number)
    os.environ.pop("PYTHONPATH", None)  # of the server alone
    multiprocessing.set_start_method(None, force=True)  # workers need no server of their own
    gc.freeze()  # searching what the server imported for garbage costs more than the run
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    if command.endswith(".py"):
        sys.argv = [command, *arguments]
        sys.path.insert(0, os.path.dirname(command))  # as Python does for a file
        os.chdir(cwd or ".")
        runpy.run_path(command, run_name="__main__")
        return
    own = command not in COMMANDS
    sys.argv = [*(["fairseq-plugins", *command.split()] if own else [command]), *arguments]
    if cwd is not None:
        os.chdir(cwd)
    if own:
        sys.exit(importlib.import_module("fairseq_plugins.cli.main").main())
    importlib.import_module(COMMANDS[command]).cli_main()


def train(
    folder: Path | str, save_dir: Path, options: str = "", *more: Any, **kwargs: Any
) -> Outcome:
    """Run fairseq-train with small defaults, which ``options`` may overrule.

    Args:
        folder: prepared folder.
        save_dir: where checkpoints go.
        options: further options, split at spaces.
        more: further options as they are.
        kwargs: for `run`.
    """
    return run("fairseq-train", *train_arguments(folder, save_dir, options, *more), **kwargs)


def train_arguments(folder: Path | str, save_dir: Path, options: str, *more: Any) -> list[Any]:
    fixed = "--cpu --log-format json --log-interval 1 --num-workers 0"
    if " --task " not in f" {options} ":
        fixed += f" --user-dir {USER_DIR} --task syntax_translation --arch syntax_transformer_tiny"
    fixed += " --optimizer adam --lr 0.003 --dropout 0 --criterion label_smoothed_cross_entropy"
    if "--max-tokens" not in options and "--batch-size" not in options:
        fixed += " --batch-size 40"
    return [folder, "--save-dir", save_dir, *fixed.split(), *options.split(), *more]


def train_on_two(arguments: Sequence[Any]) -> str:
    """Run fairseq-train on two emulated GPUs; return the log of both processes."""
    return run(TWO_GPUS, *arguments, "--user-dir", USER_DIR).out


def generate(folder: Path | str, path: Path | str, options: str = "", **kwargs: Any) -> Outcome:
    """Run fairseq-generate on the test set with short translations; see `train`."""
    return _translate("fairseq-generate", folder, path, options, **kwargs)


def interactive(folder: Path | str, path: Path | str, options: str = "", **kwargs: Any) -> Outcome:
    """Run fairseq-interactive with short translations; see `train`."""
    return _translate("fairseq-interactive", folder, path, options, **kwargs)


def _translate(
    command: str, folder: Path | str, path: Path | str, options: str, **kwargs: Any
) -> Outcome:
    fixed = "--cpu --beam 4 --max-len-b 20 --num-workers 0 --no-progress-bar"
    if " --task " not in f" {options} ":
        fixed += f" --user-dir {USER_DIR} --task syntax_translation"
    return run(command, folder, "--path", path, *fixed.split(), *options.split(), **kwargs)


def state_of(path: Path) -> dict[str, Any]:
    """Load a checkpoint as users load it: tensors and plain values only."""
    return torch.load(path, weights_only=True)


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """List the places where two nested states differ in any bit."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        absent = object()
        return [
            place
            for key in keys
            for place in differences(one.get(key, absent), other.get(key, absent), f"{where}/{key}")
        ]
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            return [where]
        return [
            place
            for i, (a, b) in enumerate(zip(one, other))
            for place in differences(a, b, f"{where}/{i}")
        ]
    if torch.is_tensor(one) and torch.is_tensor(other):
        return [] if one.dtype == other.dtype and torch.equal(one, other) else [where]
    return [] if type(one) is type(other) and one == other else [where]


def training_state(path: Path) -> dict[str, Any]:
    """Return what decides how a run goes on: weights, optimiser, schedule, data, best value.

    The schedule's own ``best`` is left out: fairseq saves it at the end of an epoch before it is
    told the validation loss. Only ``reduce_lr_on_plateau`` would mind.
    """
    state = state_of(path)
    extra = {key: value for key, value in state["extra_state"].items() if key in EXTRA}
    run = state["optimizer_history"][-1]
    schedule = {key: value for key, value in run["lr_scheduler_state"].items() if key != "best"}
    return {
        "model": state["model"],
        "optimizer": state["last_optimizer_state"],
        "schedule": (run["num_updates"], schedule),
        "extra": extra,
        "meters": meter_values(state, "train"),
    }


def meter_values(state: dict[str, Any], tag: str) -> dict[str, tuple[float, float]]:
    """Return sum and count of the metrics of an epoch, in full precision, by their name."""
    meters = state["extra_state"]["metrics"].get(tag, [])
    found = {}
    for _, name, _, meter in meters:
        if name in METERS and "sum" in meter:
            found[name] = (float(meter["sum"]), float(meter["count"]))
    return found
