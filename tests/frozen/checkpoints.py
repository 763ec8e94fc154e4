"""Checkpoints of the code of before, and what is asked of them.

Each lies in ``checkpoints/NAME.pt`` as fairseq-train wrote it (with ``user_dir`` freed of the
machine's path). It names its prepared folder by a relative path, as all paths here are relative to
the working folder. Every output is plain values: texts and labels count exactly, numbers within
`TOLERANCE`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from cli.commands import differences
from frozen import commands
from frozen.workshop import HERE, Workshop, record

TOLERANCE = 1e-4
ROUNDED = 2e-3  # of what a log says
STORED = HERE / "checkpoints"
LINES = "Watch the old lighthouse!\nThe dog's neighbour doesn't play well-known caf\u00e9 lights.\n"
PAIRS = "The old dog sees a cat.\tA small hound rises.\nMice can't buy a car .\tThe auto fell .\n"
CONTEXT = "Ilse sold the old bridge in Gent. Nadia found the garden in Riga in 1905."
ASKED = ("Who sold the bridge?", "When did Nadia find the garden?", "Where is the clock?")
_FIXED = (
    "--num-workers 0 --no-epoch-checkpoints --log-format json --log-interval 1 --seed 3 "
    "--no-progress-bar"
)
_TRANSLATION = (
    "--task syntax_translation --arch syntax_transformer_tiny --optimizer adam --lr 0.01 "
    "--criterion label_smoothed_cross_entropy --label-smoothing 0 --batch-size 16 "
    "--encoder-embed-dim 24 --decoder-embed-dim 16 --encoder-ffn-embed-dim 16 --encoder-layers 2 "
    "--decoder-ffn-embed-dim 16 --decoder-layers 1 --dropout 0 "
    "--share-decoder-input-output-embed --encoder-attention-heads 2 --decoder-attention-heads 2"
)
_BERT = (
    "--optimizer bert_adamw --lr 0.01 --lr-scheduler linear_warmup --warmup-ratio 0.1 "
    "--total-num-update 400 "
    "--batch-size 4 --pretrained none --hidden-size 8 --intermediate-size 12 "
    "--max-position-embeddings 96"
)


def _bert(task: str, arch: str) -> str:
    return f"--task {task} --criterion {task} --arch {arch} {_BERT}"


@dataclass(frozen=True)
class Training:
    """How a checkpoint was trained.

    Args:
        folder: prepared folder, of `recipes.FOLDERS`.
        options: of fairseq-train.
        updates: how long.
        ask: what is asked of the checkpoint, by name.
        resumed: whether the checkpoint has the optimiser's state.
        noise: what is added to the weights, so that answers hang on everything that is read.
    """

    folder: str
    options: str
    updates: int
    ask: dict[str, Callable[[Workshop, str], Any]]
    resumed: bool = False
    noise: float = 0.4


def _lines(text: str) -> list[list[Any]]:
    """Read sentences, hypotheses and their scores from what fairseq-generate prints."""
    found = re.findall(r"^([SDH]-\d+)\t(?:(-?\d+\.\d+)\t)?(.*)$", text, re.MULTILINE)
    return [[mark, float(score) if score else None, rest] for mark, score, rest in found]


def _generate(workshop: Workshop, name: str) -> Any:
    words = f"{TRAININGS[name].folder} --path {_run(name)} --task syntax_translation --beam 3"
    words += " --max-len-b 12 --num-workers 0 --batch-size 8 --gen-subset test --nbest 2"
    return _lines(commands.fairseq("generate", *words.split(), cwd=workshop.place).out)


def _interact(workshop: Workshop, name: str) -> Any:
    words = f"{TRAININGS[name].folder} --path {_run(name)} --task syntax_translation --beam 2"
    words += " --max-len-b 12 --buffer-size 2"
    done = commands.fairseq("interactive", *words.split(), cwd=workshop.place, stdin=LINES)
    return _lines(done.out)


def _predict(*words: str, stdin: str = "", gold: bool = True) -> Callable[[Workshop, str], Any]:
    def ask(workshop: Workshop, name: str) -> Any:
        given = ["predict", Path(_run(name)).parent, "--cpu", *words, "--output", "predictions"]
        given += ["--metrics", "metrics.json"] if gold else []
        commands.run(*given, cwd=workshop.place, stdin=stdin)
        text = (workshop.place / "predictions").read_text(encoding="utf-8")
        found = {"lines": [_parsed(line) for line in text.splitlines()]}
        metrics = workshop.place / "metrics.json"
        return found | ({"metrics": json.loads(metrics.read_text())} if gold else {})

    return ask


def _parsed(line: str) -> Any:
    return json.loads(line) if line.startswith("{") else line


def _answer(*words: str) -> Callable[[Workshop, str], Any]:
    def ask(workshop: Workshop, name: str) -> Any:
        given = ("answer", Path(_run(name)).parent, "--cpu", "--output", "answers")
        commands.run(*given, "--n-best", 3, *words, cwd=workshop.place)
        files = sorted((workshop.place / "answers").iterdir())
        found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in files}
        shutil.rmtree(workshop.place / "answers")
        return found

    return ask


def _ask(workshop: Workshop, name: str) -> Any:
    (workshop.place / "context.txt").write_text(f"{CONTEXT}\n", encoding="utf-8")
    given = (Path(_run(name)).parent, "--context", "context.txt", "--cpu")
    shown = commands.run("ask", *given, "--question", *ASKED, cwd=workshop.place).out
    return re.sub(r"[-+]?\d+\.\d+(?=[,) ])", "#", shown).splitlines()


def _export(workshop: Workshop, name: str) -> Any:
    given = ("--format", "huggingface-encoder")  # once there was no other
    commands.run(
        "export", Path(_run(name)).parent, "--output", "exported", *given, cwd=workshop.place
    )
    found = record(workshop.place / "exported")["files"]
    shutil.rmtree(workshop.place / "exported")
    return found


def _average(workshop: Workshop, name: str) -> Any:
    given = (_run(name), _run(name), "--output", f"averaged/{name}.pt")
    (workshop.place / "averaged").mkdir(exist_ok=True)
    commands.run("average checkpoints", *given, cwd=workshop.place)
    one, other = (workshop.place / path for path in (_run(name), given[-1]))
    states = [torch.load(path, weights_only=True)["model"] for path in (one, other)]
    return differences(*states)


_TRANSLATED = {"generate": _generate, "interactive": _interact}
TRAININGS = {
    "translation-sum": Training(
        "translation",
        f"{_TRANSLATION} --features pos,case,subword --feature-combine sum --feature-embed-dim 8",
        250,
        _TRANSLATED,
        resumed=True,
        noise=0.0,
    ),
    "translation-concat": Training(
        "translation-parsed",
        f"{_TRANSLATION} --features case,pos --feature-combine concat --feature-embed-dims 4,4 "
        "--encoder-attention sla",
        250,
        _TRANSLATED,
        noise=0.0,
    ),
    "bert": Training(
        "text-rte",
        f"{_bert('text_classification', 'bert_pos_tiny')} --local-attention sla "
        "--tree-threshold 2 --dual-layers 1 --guide-dim 8",
        4,
        {
            "valid": _predict("--split", "valid"),
            "raw": _predict("--input", "-", stdin=PAIRS, gold=False),
        },
        resumed=True,
    ),
    "tagging": Training(
        "text-wnut17",
        f"{_bert('sequence_labeling', 'bert_sgnet_tiny')} --features case",
        4,
        {
            "test": _predict("--split", "test"),
            "columns": _predict("--split", "test", "--format", "conll", gold=False),
            "raw": _predict("--input", "-", stdin="The old dog rose .\nMara sold it\n", gold=False),
        },
        resumed=True,
    ),
    "dabert": Training(
        "text-pairs",
        f"{_bert('text_classification', 'dabert_tiny')} --similarity-layers 0 --guide-dim 8",
        4,
        {
            "valid": _predict("--split", "valid"),
        },
    ),
    "scores": Training(
        "text-scores",
        _bert("text_classification", "bert_plain_tiny"),
        4,
        {
            "valid": _predict("--split", "valid"),
            "export": _export,
            "average": _average,
        },
    ),
    "questions": Training(
        "questions-narrow",
        f"{_bert('extractive_qa', 'bertqa_tiny')} --coattention-blocks 2",
        4,
        {
            "valid": _answer("--split", "valid"),
            "file": _answer("--input", "raw/squad2/test-v2.0.json", "--doc-stride", "10"),
            "ask": _ask,
        },
        resumed=True,
    ),
}


def _run(name: str) -> str:
    return f"runs/{name}/checkpoint_best.pt"


def place_checkpoint(workshop: Workshop, name: str, path: str) -> None:
    """Put a stored checkpoint where a command looks for it; make its prepared folder."""
    workshop.folder(TRAININGS[name].folder)
    target = workshop.place / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(STORED / f"{name}.pt", target)


def output(workshop: Workshop, name: str, question: str) -> Any:
    """Return what a stored checkpoint answers to one question."""
    place_checkpoint(workshop, name, _run(name))
    return TRAININGS[name].ask[question](workshop, name)


def resume(workshop: Workshop, name: str) -> dict[str, float]:
    """Train a stored checkpoint for one more update; return what the log says of that."""
    save_dir = f"resumed/{name}"
    place_checkpoint(workshop, name, f"{save_dir}/checkpoint_last.pt")
    more = ("--max-update", str(TRAININGS[name].updates + 1))
    log = _train(workshop, name, save_dir, *more)
    last = {**log.logged("train_inner")[-1], **log.logged("valid")[-1]}
    kept = ("num_updates", "loss", "gnorm", "lr", "valid_loss", "valid_num_updates")
    shutil.rmtree(workshop.place / save_dir)
    return {key: float(last[key]) for key in kept if key in last}


def _train(workshop: Workshop, name: str, save_dir: str, *more: str) -> Any:
    made = TRAININGS[name]
    words = f"{made.folder} --save-dir {save_dir} {made.options} {_FIXED}".split()
    return commands.fairseq("train", *words, *more, cwd=workshop.place)


def disturb(weights: dict[str, torch.Tensor], noise: float) -> None:
    """Add normal noise to weights, the same on every machine."""
    generator = torch.Generator().manual_seed(4)
    for value in weights.values():
        if noise and value.is_floating_point():
            value += noise * torch.randn(value.shape, generator=generator)


def make_outputs(workshop: Workshop) -> Any:
    """Ask everything of all stored checkpoints."""
    return {
        name: {question: output(workshop, name, question) for question in made.ask}
        | ({"resume": resume(workshop, name)} if made.resumed else {})
        for name, made in TRAININGS.items()
    }


def make_checkpoints(workshop: Workshop, *, replace: bool) -> int:
    """Train all checkpoints; store them, or say where they differ from those in store."""
    status = 0
    for name, made in TRAININGS.items():
        workshop.folder(made.folder)
        more = () if made.resumed else ("--no-save-optimizer-state",)
        length = ("--max-update", str(made.updates), "--disable-validation")
        _train(workshop, name, f"runs/{name}", *length, *more)
        path = workshop.place / f"runs/{name}/checkpoint_last.pt"
        state = torch.load(path, weights_only=True)
        state["cfg"]["common"]["user_dir"] = commands.USER_DIR.name
        disturb(state["model"], made.noise)
        if replace:
            torch.save(state, STORED / f"{name}.pt")
            continue
        stored = torch.load(STORED / f"{name}.pt", weights_only=True)
        for part in ("cfg", "model"):
            found = differences(stored[part], state[part])
            status |= bool(found)
            print(name, part, found or "as in store")
    return status


def far(one: Any, other: Any, tolerance: float = TOLERANCE, where: str = "") -> list[str]:
    """List the places where two outputs differ, numbers by more than a tolerance.

    Today's output may have more keys, such as further metrics.
    """
    pairs: Any = None
    if isinstance(one, dict) and isinstance(other, dict):
        if [key for key in other if key in one] == list(one):
            pairs = [(key, one[key], other[key]) for key in one]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = zip(range(len(one)), one, other)
    if pairs is not None:
        return [x for k, a, b in pairs for x in far(a, b, tolerance, f"{where}/{k}")]
    if isinstance(one, float) and isinstance(other, (int, float)):
        return [] if abs(one - other) <= tolerance else [f"{where}: {one} {other}"]
    return [] if one == other else [f"{where}: {one!r} {other!r}"]
