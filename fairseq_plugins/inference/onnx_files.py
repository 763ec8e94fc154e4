"""A model of an understanding task as one ONNX graph, beside the files that make its input.

The graph takes padded batches of any size (`nn.padded_model`). ``config.json`` holds labels and
sizes as in transformers, the tokenizer's files are those of a Hugging Face directory, and
``features.json`` describes the feature ids in ``src_factors``.
"""

import json
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError
from ..files import complete_folder
from ..installation import how_to_add
from ..nn.bert import BertShape
from ..nn.padded_model import PaddedModel
from ..pretrained import exporting
from ..pretrained.task_heads import ANSWERS, TaskHead
from ..syntax.labels import PAD_ID, SPECIAL_ID
from ..syntax.layers import Layer

MODEL, FEATURES = "model.onnx", "features.json"
OPSET = 20
PACKAGES = ("onnx", "onnxscript")
CHATTY = ("torch.onnx", "onnx_ir", "onnxscript")
LARGEST = 2**31 - 2**26  # bytes of weights in the file itself; more weights go to a second file


def check_installed() -> None:
    """Refuse to continue without the packages that write ONNX."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise InputError(f"--format onnx needs {' and '.join(missing)}: {how_to_add('onnx')}")


def write(
    directory: Path,
    model: Any,
    head: TaskHead,
    source: Mapping[str, Any],
    features: Sequence[Layer] = (),
) -> None:
    """Write a folder with the graph, which appears when complete.

    Args:
        directory: to make; must be missing or empty.
        model: `models.bert.BertModel`.
        head: its head.
        source: ``vocabulary`` and ``settings``, see `exporting.small_files`.
        features: the layers that it reads, with their values, in order.
    """
    for other, *_ in exporting.beyond_plain(model.encoder, features=False):
        raise InputError(
            f"{other}, which --format onnx does not write; a bundle holds every model: "
            "fairseq-plugins export RUN --output BUNDLE"
        )
    files = exporting.small_files(model.encoder.shape, head=head, **source)
    if features:
        files[FEATURES] = f"{json.dumps(_described(features), indent=2)}\n".encode()
    with complete_folder(directory) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        graph = PaddedModel(model.encoder, model.head).float().eval()
        outputs = ["start_logits", "end_logits"] if head.kind == ANSWERS else ["logits"]
        _save(graph, example(model.encoder.shape, len(features)), outputs, folder / MODEL)


def _described(features: Sequence[Layer]) -> dict[str, Any]:
    columns = [{"name": one.name, "values": list(one.inventory.symbols)} for one in features]
    return {"input": "src_factors", "padding": PAD_ID, "special": SPECIAL_ID, "columns": columns}


def example(shape: BertShape, features: int) -> dict[str, Tensor]:
    """Return a batch with the names of the graph's inputs and ``features`` feature columns."""
    tokens = torch.zeros(2, min(8, shape.longest), dtype=torch.long)  # (B, S)
    found = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if shape.sides:
        found["token_type_ids"] = torch.zeros_like(tokens)
    if features:
        found["src_factors"] = tokens[..., None].repeat(1, 1, features)  # (B, S, F)
    return found


def _save(graph: nn.Module, batch: dict[str, Tensor], outputs: list[str], path: Path) -> None:
    """Trace a graph on a batch and write it, for batches of any size."""
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    with _quiet():
        program: Any = torch.onnx.export(
            graph,
            kwargs=batch,
            dynamic_shapes={name: axes for name in batch},
            input_names=list(batch),
            output_names=outputs,
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
        _forget_sources(program.model)
        size = sum(value.nbytes for value in graph.parameters())
        program.save(path, external_data=size > LARGEST)


def _forget_sources(model: Any) -> None:
    for node in model.graph.all_nodes():
        node.metadata_props.clear()
        for value in node.outputs:
            value.metadata_props.clear()
    for value in (*model.graph.inputs, *model.graph.initializers.values()):
        value.metadata_props.clear()
    model.metadata_props.clear()


@contextmanager
def _quiet() -> Iterator[None]:
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
