"""Options of an augmentation: questions, translators, and results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..files import sha256
from ..option_flags import check, option
from .translators import CHUNK

BEST = "checkpoint_best.pt"  # used from a run's folder
DECISIVE = "rate seed beam sampling chunk max_ratio max_characters suffix".split()


class TranslationStep(NamedTuple):
    """A translator one way: a checkpoint, or a command."""

    flag: str  # its option
    checkpoint: str = ""  # of a model; empty for a command
    data: str = ""  # prepared folder of the model (empty: the training folder)
    command: str = ""  # for a shell; empty for a model

    def described(self) -> dict[str, str]:
        """Return its identity: a model's hash, or a command's text."""
        if self.command:
            return {"command": self.command}
        return {"checkpoint": self.checkpoint, "sha256": sha256(self.checkpoint)}


@dataclass(frozen=True)
class AugmentOptions:
    """Which questions to paraphrase, and how."""

    input: str
    output: str
    rate: float = option(
        "share of the questions to paraphrase, 0 to 1; a larger share includes the questions of a "
        "smaller one",
        least=0,
        most=1,
    )
    seed: int = option("random seed of the choice of questions, and of --sampling", 1)
    forward: str = option(
        f"run folder (its {BEST} is used) or checkpoint of the model that translates the questions",
        "",
    )
    backward: str = option("run folder or checkpoint of the model that translates back", "")
    forward_data: str = option(
        "prepared folder of the --forward model (default: the one it was trained on)", ""
    )
    backward_data: str = option(
        "prepared folder of the --backward model (default: the one it was trained on)", ""
    )
    forward_command: str = option(
        "shell command in place of --forward: reads and writes one question per line", ""
    )
    backward_command: str = option(
        "shell command in place of --backward: reads and writes one question per line", ""
    )
    command: str = option(
        "shell command that translates both ways, or paraphrases in any other manner", ""
    )
    beam: int = option("beam size of the --forward and --backward models", 5, least=1)
    sampling: int = option(
        "sample from this many most probable subwords instead of beam search (0: off)",
        0,
        least=0,
    )
    cpu: bool = option("use no GPU", False)
    chunk: int = option(
        "number of questions translated together; a command is started once for each such chunk",
        CHUNK,
        least=1,
    )
    max_ratio: float = option(
        "drop paraphrases whose number of words or characters differs from that of their question "
        "by more than this factor (0: off)",
        3.0,
    )
    max_characters: int = option(
        "drop a paraphrase if it or its question has more characters than this", 500, least=1
    )
    suffix: str = option("suffix of a paraphrase's id, added to the id of its question", "-q")
    overwrite: bool = option("replace an existing output file", False)

    def __post_init__(self) -> None:
        check(self)
        if not Path(self.output).name:
            raise InputError(f"--output {self.output!r}: name a file for the output")
        if not (self.max_ratio == 0 or self.max_ratio >= 1):
            raise InputError(f"--max-ratio {self.max_ratio}: 0 (off) or at least 1")
        if not self.suffix or self.suffix != "".join(self.suffix.split()):
            raise InputError(
                f"--suffix {self.suffix!r}: must be some characters, none of them blank"
            )
        if not Path(self.input).is_file():
            raise FileNotFoundError(f"no file {self.input!r}")
        for path in self.results:
            if path.resolve() == Path(self.input).resolve():
                raise InputError(
                    f"{path} would replace the input {self.input}: name another output"
                )
            if path.is_dir():
                raise InputError(f"{path} is a folder: name a file for the output")
        if Path(self.output).exists() and not self.overwrite:
            raise InputError(f"{self.output} is there already: name another or give --overwrite")
        for step in self.steps:
            if step.checkpoint and not Path(step.checkpoint).is_file():
                raise FileNotFoundError(f"{step.flag}: no file {step.checkpoint!r}")

    @property
    def steps(self) -> list[TranslationStep]:
        """The translation steps in order."""
        ways = [("--forward", self.forward, self.forward_data, self.forward_command)]
        ways += [("--backward", self.backward, self.backward_data, self.backward_command)]
        given = [bool(checkpoint) + bool(command) for _, checkpoint, _, command in ways]
        if self.command and not any(given):
            return [TranslationStep("--command", command=self.command)]
        if self.command or given != [1, 1]:
            raise InputError(
                "what translates is either --command, or one for each way: --forward or "
                "--forward-command, and --backward or --backward-command"
            )
        steps = []
        for flag, checkpoint, data, command in ways:
            path = Path(checkpoint) / BEST if Path(checkpoint).is_dir() else Path(checkpoint)
            model = TranslationStep(flag, str(path), data)
            told = TranslationStep(f"{flag}-command", command=command)
            steps.append(model if checkpoint else told)
        return steps

    @property
    def results(self) -> tuple[Path, Path, Path]:
        """The output, the paraphrases with their results, and the report."""
        path = Path(self.output)
        return path, path.with_suffix(".paraphrases.jsonl"), path.with_suffix(".report.json")

    @property
    def work(self) -> Path:
        """File of unfinished translations."""
        return Path(self.output).with_name(f".{Path(self.output).name}.augmenting.jsonl")

    def decisive(self) -> Mapping[str, Any]:
        """Return all that decides the result, except the input."""
        translation = [step.described() for step in self.steps]
        return {name: getattr(self, name) for name in DECISIVE} | {"translation": translation}
