"""Small runs of question answering: one that knows its few training questions by heart, one with
disturbed weights. Contexts take several windows.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from prepared_text import train
from squad_files import paragraph, question, toy_squad, write_squad, write_toy_bert

from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare

WINDOWS = {"max_positions": 32, "doc_stride": 12, "max_query_length": 8}
OPTIONS = (
    "--hidden-size 48 --intermediate-size 64 --clip-norm 1 --max-update 400 --batch-size 3 "
    "--save-interval 1000 --disable-validation --no-epoch-checkpoints"
).split()
TEST = [
    paragraph(
        "Ilse\u00a0sold the  old bridge, in Gent.\nNadia found it.",
        question("test-0", "Who sold the bridge?", gold=False),
        question("test-1", "Where is the old boat?", gold=False),
    )
]


def make_runs(root: Path) -> Path:
    """Make raw files, a prepared folder ``data`` and the runs ``first`` and ``second``."""
    write_toy_bert(root / "bert")
    toy_squad(root / "raw", paragraphs=3, dev=4)
    write_squad(root / "raw" / "test-v2.0.json", TEST)
    options = {"raw_dir": str(root / "raw"), "pretrained": str(root / "bert"), **WINDOWS}
    prepare(QuestionOptions(str(root / "data"), annotations="none", workers=1, **options))
    train(root / "data", root / "first", *OPTIONS)
    best = root / "first" / "checkpoint_best.pt"
    (root / "first" / "checkpoint_last.pt").rename(best)
    state = torch.load(best, weights_only=True)
    generator = torch.Generator().manual_seed(4)
    for value in state["model"].values():
        value += 0.2 * torch.randn(value.shape, generator=generator)
    (root / "second").mkdir()
    torch.save(state, root / "second" / "checkpoint_best.pt")
    return root


def gold_of(path: Path) -> dict[str, list[str]]:
    """Return id -> texts of the answers of a SQuAD file."""
    return {
        asked["id"]: [answer["text"] for answer in asked["answers"]]
        for article in json.loads(path.read_text())["data"]
        for body in article["paragraphs"]
        for asked in body["qas"]
    }
