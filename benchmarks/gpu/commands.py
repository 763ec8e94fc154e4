"""The part *commands*: each task in each number format, from training to use, by the commands.

    python -m benchmarks.gpu.commands [--device cuda] [--jobs 12] [--only WORDS ...]

A chain is trained, stopped half-way, resumed and validated; then its model predicts (or translates,
or answers) and is exported. Its figure is how many of its commands failed; the last lines of what
failed are printed. The validation loss is compared with that of float32, and in float32 with that
of a run without a stop. Nothing here needs spaCy, CTranslate2 or a network.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fairseq_plugins.door.torch_files import read_state

from .chains import FLOAT32, PRECISIONS, TASKS, USER_DIR, Precision, Task, flags_of, options_of
from .figures import ROOT, Figure, Recorder, add_flags

PART = "commands"
LONGEST = 240  # seconds of a command
STOP, END = 6, 12  # updates
SHOWN = 10  # lines of a command that failed


@dataclass(frozen=True)
class Chain:
    """A task in a number format, from training to use, in a folder beside the prepared one."""

    task: Task
    precision: Precision
    folder: Path
    cpu: bool
    width: int

    @property
    def what(self) -> str:
        """The chain in words."""
        return f"{self.task.what}, {self.precision.what}"

    def run(self) -> Figure:
        """Run all commands and count those that fail."""
        begin, failed = time.monotonic(), []
        self.folder.mkdir(parents=True)
        for name, words in self.commands():
            code, said = call(words)
            if code:
                failed.append(f"; {name} failed")
                last = "\n".join(said.splitlines()[-SHOWN:])
                print(f"{self.what}: {name} failed\n{last}", flush=True)
        note = f"{time.monotonic() - begin:.0f} s{''.join(failed)}"
        return Figure(PART, self.what, len(failed), "failures", None, "<= 0", note)

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the name and the words of each command."""
        yield "train", self._train("run", STOP)
        yield "resume", self._train("run", END)
        if self.precision is FLOAT32:
            yield "train without a stop", self._train("through", END)
        last, out, cpu = self._last("run"), str(self.folder / "out"), ["--cpu"] * self.cpu
        stock = f"--user-dir {USER_DIR} --task {self.task.name} --path {last} --batch-size 8"
        words = [str(self.folder.parent / self.task.what), *cpu, *stock.split()]
        yield "validate", ["fairseq_cli.validate", *words]
        if self.task.translates:
            yield "generate", ["fairseq_cli.generate", *words, "--gen-subset", "valid"]
            return
        ours, split = "fairseq_plugins", ["--split", "valid", *cpu]
        if self.task.name == "extractive_qa":
            yield "answer", [ours, "answer", str(last), *split, "--output", out]
        else:
            yield "predict", [ours, "predict", str(last), *split, "--output", out]
        yield "export", [ours, "export", str(last), "--output", str(self.folder / "bundle")]

    def _train(self, run: str, updates: int) -> list[str]:
        data = self.folder.parent / self.task.what
        options = options_of(self.task, self.precision, data, cpu=self.cpu, width=self.width)
        options["optimization"]["max_update"] = updates
        options["checkpoint"] = {"save_dir": str(self.folder / run), "no_epoch_checkpoints": True}
        if "bf16" not in self.precision.common:
            return ["fairseq_cli.train", *flags_of(options)]
        (self.folder / f"{updates}.yaml").write_text(json.dumps(options))  # JSON is YAML
        where = ["--config-dir", str(self.folder), "--config-name", str(updates)]
        return ["fairseq_cli.hydra_train", *where, f"hydra.run.dir={self.folder / 'hydra'}"]

    def _last(self, run: str) -> Path:
        return self.folder / run / "checkpoint_last.pt"

    def loss(self, run: str = "run") -> float | None:
        """Return the validation loss at the end of a run; None if there is none."""
        path = self._last(run)
        return float(read_state(path)["extra_state"]["val_loss"]) if path.is_file() else None


def call(words: Sequence[str]) -> tuple[int, str]:
    """Run a module; return its exit status and all it says."""
    command = [sys.executable, "-m", *words]
    one = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    try:
        done = subprocess.run(command, cwd=ROOT, timeout=LONGEST, check=False, **one)
    except subprocess.TimeoutExpired:
        return 1, f"no end within {LONGEST} seconds"
    return done.returncode, done.stdout


def compared(chain: Chain, exact: Chain) -> Figure:
    """Return how far the loss of a chain is from that in float32, or from that without a stop."""
    same = chain is exact
    loss, other = chain.loss(), exact.loss("through" if same else "run")
    known = None if loss is None or other is None else abs(loss - other)
    what = f"{chain.what}: loss against " + ("no stop" if same else FLOAT32.what)
    bar = "<= 0.001" if same else ""
    return Figure(PART, what, known, "difference", None, bar, f"losses {loss}, {other}")


def measure(chains: Sequence[Chain], recorder: Recorder, jobs: int) -> None:
    """Run chains side by side; record whether their commands failed, then their losses."""
    with ThreadPoolExecutor(jobs) as pool:
        for figure in pool.map(Chain.run, chains):
            recorder.add(figure)
    whole = {chain.task.what: chain for chain in chains if chain.precision is FLOAT32}
    for chain in chains:
        if exact := whole.get(chain.task.what):
            recorder.add(compared(chain, exact))


def main(words: Sequence[str] | None = None) -> int:
    """Run all chains, or those whose names have one of the words; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_flags(parser)
    parser.add_argument("--jobs", type=int, default=12, help="chains at once")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of chains")
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        chains = [
            Chain(task, how, Path(name, f"{task.what}{i}"), args.device == "cpu", width)
            for i, how in enumerate(PRECISIONS)
            for task in TASKS
            for width in [16 if args.tiny else 128]
            if how.suits(task, args.device)
        ]
        chains = [one for one in chains if any(word in one.what for word in args.only)]
        for task in TASKS:
            task.write(Path(name, task.what))
        recorder = Recorder(args.output, args.device)
        measure(chains, recorder, args.jobs)
    print(recorder.table())
    return int(any(figure.holds is False for figure in recorder.figures))


if __name__ == "__main__":
    sys.exit(main())
