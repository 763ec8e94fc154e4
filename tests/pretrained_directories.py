"""Tiny pretrained directories with weights that are all alive (no bias zero, no norm one)."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from fairseq_plugins.nn.bert import BertEncoder, BertShape
from fairseq_plugins.pretrained.exporting import export

SPECIALS = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = {
    "uncased": "a b the cat cats dog ##s ##ing run ! , . résumé 東 京".split(),
    "cased": "a b The the Cat cat dog ##s ##ing Run ! , . résumé 東 京".split(),
    "chinese": "我 们 在 北 京 学 习 。 ， ##s ##我 1 2 the".split(),
}
SETTINGS = {"lowercase": True, "strip_accents": True, "chinese_characters": True}


def vocabulary_of(kind: str) -> bytes:
    """Return a vocabulary file: special wordpieces first, but [PAD] alone at 0."""
    return "".join(f"{piece}\n" for piece in [*SPECIALS, *PIECES[kind]]).encode()


def shape_of(**changes) -> BertShape:
    """Return a tiny shape."""
    sizes = {"vocabulary": 24, "hidden": 12, "layers": 2, "heads": 3, "intermediate": 20}
    return BertShape(**{**sizes, "positions": 16, **changes})


def lively_state(shape: BertShape) -> dict[str, torch.Tensor]:
    """Return a random state of an encoder."""
    generator = torch.Generator().manual_seed(7)
    return {
        name: torch.randn(tensor.shape, generator=generator)
        for name, tensor in BertEncoder(shape).state_dict().items()
    }


def write_directory(path: Path, shape: BertShape | None = None, kind: str = "uncased") -> Path:
    shape = shape or shape_of()
    state = lively_state(shape)
    export(path, state, shape, vocabulary=vocabulary_of(kind), settings=SETTINGS)
    return path


def edit_json(path: Path, **changes) -> None:
    """Change entries of a JSON file; None takes one away."""
    body = json.loads(path.read_text())
    for key, value in changes.items():
        body.pop(key, None)
        if value is not None:
            body[key] = value
    path.write_text(json.dumps(body))
