"""A bundle of every kind of model, hardly trained, to be looked at on the page."""

from __future__ import annotations

from pathlib import Path

import coattention_runs
from prepared_text import examples, prepare, train

from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.translation_export import export_translation

OPTIONS = "--max-update 3 --disable-validation --no-epoch-checkpoints".split()
TEXTS = {  # name -> kind of examples, whether they are pairs, architecture
    "sla": ("classes", False, "bert_sla_tiny"),
    "words": ("entities", False, "bert_plain_tiny"),
    "dabert": ("classes", True, "dabert_tiny"),
    "scores": ("score", True, "bert_plain_tiny"),
}


def make_bundles(root: Path, **translating: Path) -> Path:
    """Make bundles of texts, pairs and questions, and of given checkpoints that translate."""
    for name, (kind, pairs, arch) in TEXTS.items():
        splits = {"train": examples(kind, 40, 1, pairs=pairs)}
        data = prepare(root / f"{name}-data", kind, splits, annotations=("pos", "heads"))
        run = train(data, root / f"{name}-run", *OPTIONS, "--arch", arch)
        export_checkpoint(run / "checkpoint_last.pt", root / name)
    coattention_runs.make_runs(root / "asked")
    for name in ("query", "plain"):
        export_checkpoint(root / "asked" / name, root / name)
    for name, path in translating.items():
        export_translation(path, root / name)
    return root
