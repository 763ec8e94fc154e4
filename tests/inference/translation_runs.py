"""Tiny translation models: trained for a moment on invented pairs, and saved as fairseq does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf
from prepared import batches, make_task, prepare, random_pairs
from torch.nn import functional

from fairseq_plugins.models._config import SyntaxTransformerConfig
from fairseq_plugins.syntax.labels import Inventory
from fairseq_plugins.syntax.layers import LAYERS

ARCH = "syntax_transformer_tiny"
SPLITS = {"train": random_pairs(60), "test": random_pairs(120, seed=3)}


def folder_of(place: Path, **how: Any) -> Path:
    return prepare(place, SPLITS, **how)


def learnt(monkeypatch: Any, count: int) -> None:
    """Let the part of speech have many values more, as learnt layers have."""
    labels = tuple(LAYERS["pos"].inventory.labels) + tuple(f"v{i}" for i in range(count))
    wide = LAYERS["pos"].bound(Inventory("pos", labels))
    monkeypatch.setitem(LAYERS, "pos", wide)


def save_trained(folder: Path, path: Path, *, steps: int = 150, **options: Any) -> Path:
    """Train a model for some steps and save it."""
    task = make_task(folder)
    task.load_dataset("train")
    cfg = OmegaConf.structured(SyntaxTransformerConfig(**{"dropout": 0.0, **options}))
    cfg._name = ARCH
    torch.manual_seed(1)
    model = task.build_model(cfg).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    found = batches(task, "train", max_tokens=300)
    for step in range(steps):
        sample = found[step % len(found)]
        logits = model(**sample["net_input"])[0].flatten(0, 1)
        loss = functional.cross_entropy(logits, sample["target"].flatten(), ignore_index=1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    told = {**vars(task.cfg), "_name": "syntax_translation"}
    told = {k: v for k, v in told.items() if v is None or type(v) in (str, int, float, bool)}
    options = OmegaConf.to_container(cfg, enum_to_str=True)
    state = {"cfg": {"task": told, "model": options}, "args": None, "model": model.state_dict()}
    torch.save(state, path)
    return path
