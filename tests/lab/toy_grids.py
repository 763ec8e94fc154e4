"""A toy dataset and systems for it, as grids know them."""

from __future__ import annotations

from fairseq_plugins.data.folder_names import WINDOWS
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.targets.table import TARGETS

SIDE = dict.fromkeys(("tokenizer", "normalizer", "subwords"), "none")
PARALLEL = {  # of a manifest of parallel text, which says no dataset and no target
    "source_lang": "en",
    "target_lang": "de",
    "features": [],
    "segmentation": dict.fromkeys(("source", "target"), {**SIDE, "model": "", "vocabulary": ""}),
}


def manifest_of(dataset: str, target: str, counts: dict[str, tuple[int, int]], **changes):
    """Make a manifest of splits, each with its number of examples and of labelled ones."""
    if target == "translation":
        lines = {split: {"lines": number, "tokens": {}} for split, (number, _) in counts.items()}
        return TranslationManifest(**{**PARALLEL, "splits": lines, **changes})
    asked = target == "spans"
    values = {
        "dataset": dataset,
        "task": TARGETS[target].task,
        "target": target,
        "labels": ["no", "yes"] if TARGETS[target].labelled else [],
        "positive": "",
        "metric": NAMES[target][0],
        "sentences": 1 + asked,
        "tokenizer": dict.fromkeys(("lowercase", "strip_accents", "chinese_characters"), True),
        "tokenize": "whitespace",
        "annotations": [],
        "splits": {
            split: {"examples": number, "labelled": labelled, "paragraphs": 1, "answerable": 1}
            for split, (number, labelled) in counts.items()
        },
        "windows": dict.fromkeys(WINDOWS, 9) if asked else {},
    }
    return TextManifest(**{**values, **changes})


COUNTS = {"train": (65, 65), "valid": (9, 9), "test": (9, 0)}
SYSTEMS = {"plain": {"arch": "bert_plain_tiny"}, "zero": {"arch": "a", "feature-init": "zero"}}
OPEN = {"plain": {"arch": "a_tiny"}, "sla": {"arch": "b_tiny", "tree-threshold": [3, 4], "x": 1}}
