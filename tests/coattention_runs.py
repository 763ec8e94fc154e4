"""Runs with coattention, hardly trained: in both wirings, and one without any."""

from __future__ import annotations

from pathlib import Path

from prepared_text import train
from squad_files import toy_squad, write_toy_bert

from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare

WINDOWS = {"max_positions": 28, "doc_stride": 8, "max_query_length": 8}
OPTIONS = "--max-update 3 --batch-size 6 --disable-validation --no-epoch-checkpoints".split()
TWO = ["--coattention-blocks", "2"]


def make_runs(root: Path) -> Path:
    """Make raw files, a prepared folder ``data`` and the runs ``query``, ``literal``, ``plain``."""
    write_toy_bert(root / "bert")
    toy_squad(root / "raw", paragraphs=3, dev=4)
    options = {"raw_dir": str(root / "raw"), "pretrained": str(root / "bert"), **WINDOWS}
    prepare(QuestionOptions(str(root / "data"), annotations="none", workers=1, **options))
    for name, more in (
        ("query", ["--arch", "bertqa_tiny", *TWO]),
        ("literal", ["--arch", "bertqa_literal_tiny", *TWO]),
        ("plain", ["--arch", "bert_plain_tiny"]),
    ):
        train(root / "data", root / name, *OPTIONS, *more)
        (root / name / "checkpoint_last.pt").rename(root / name / "checkpoint_best.pt")
    return root
