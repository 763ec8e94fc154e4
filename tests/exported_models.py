"""Small models of every family and task, the task that they were made for, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from bert_models import QUIET, SMALL, manifest, options, text_task
from family_directories import FORMS
from family_encoders import fill
from torch import Tensor

from fairseq_plugins.data.dictionaries import ClosedDictionary
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary
from fairseq_plugins.targets.table import target_of
from fairseq_plugins.text.pieces import PieceTokenizer

LABELS = {
    "classes": ["no", "yes", "maybe"],
    "word_labels": ["O", "B-PER"],
    "score": [],
    "multi_label": ["joy", "anger", "fear"],
    "spans": [],
}
SINGLE = ["The cat sat on the mat.", "Dogs", "Was the first answer better than 12 dogs?"]
PAIRS = list(zip(["Was the cat better?", "Dogs", "12"], reversed(SINGLE)))


def small_model(path: Path, family: str, target: str = "classes", **given: Any) -> tuple[Any, Any]:
    """Make a tokeniser in ``path`` and a model of lively weights for it; return task and model."""
    FORMS[family](path)
    about = manifest(
        target=target,
        labels=LABELS[target],
        family=FAMILIES[family],
        sentences=1 if target == "word_labels" else 2,
        tokenizer=read_tokenizer_settings(path),
    )
    wide = {"embedding_size": 10} if family in ("electra", "albert") else {}
    cfg = options(**{**SMALL, **QUIET, **wide, "max_position_embeddings": 64, **given})
    BertModel.complete_config(cfg, about)
    task = text_task(ClosedDictionary(read_vocabulary(path)))
    torch.manual_seed(1)
    model = BertModel.build_model(cfg, task).eval()
    fill(model)
    made = SimpleNamespace(source_dictionary=task.source_dictionary, layers=task.layers)
    made.manifest, made.target = about, target_of(target)
    made.inputs = SimpleNamespace(thresholds=made.target.thresholds(None, LABELS[target]))
    return made, model


def batch_of(task: Any, texts: Sequence[Any]) -> dict[str, Tensor]:
    """Return texts or pairs as our tasks lay them out: tokens and segments (B, S)."""
    known, row = task.source_dictionary, task.manifest.family.row
    cutter = PieceTokenizer(known.vocabulary, task.manifest.tokenizer)
    rows, borders = [], []
    for text in texts:
        parts = [text] if isinstance(text, str) else text
        cut = [cutter.encode_text(part)[0] for part in parts]
        *frame, end = row.frame(known.bos(), known.eos(), len(cut))
        rows.append([*sum((a + b for a, b in zip(frame, cut)), []), *end])
        borders.append(row.border(len(cut[0])))
    width = max(map(len, rows))
    tokens = torch.full((len(rows), width), known.pad())  # (B, S)
    segments = torch.zeros_like(tokens)  # (B, S)
    for number, (ids, border) in enumerate(zip(rows, borders)):
        tokens[number, : len(ids)] = torch.tensor(ids)
        segments[number, border : len(ids)] = 1
    return {"src_tokens": tokens, "segments": segments}


def logits_of(task: Any, model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return our logits: (B, C); of all real tokens (N, C), of words and answers."""
    real = batch["src_tokens"].ne(task.source_dictionary.pad())  # (B, S)
    rows = torch.arange(int(real.sum())) if task.manifest.target == "word_labels" else None
    with torch.no_grad():
        found, _ = model(**batch, word_rows=rows)
    return found[real] if task.manifest.target == "spans" else found
