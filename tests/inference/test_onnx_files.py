"""ONNX: the graph computes what the model computes, for batches of any size, padded or not."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from exported_models import LABELS, PAIRS, SINGLE, batch_of, logits_of, small_model

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import onnx_files
from fairseq_plugins.inference.export import FORMATS, export_checkpoint
from fairseq_plugins.inference.options import ONNX
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.padded_model import PaddedModel
from fairseq_plugins.pretrained.families import FAMILIES

BATCHES = [SINGLE, SINGLE[:1], PAIRS, PAIRS[1:2], [*PAIRS, *PAIRS[::-1]]]
FEATURES = {
    "added": {"features": "pos,case"},
    "affine": {"features": "pos", "feature_merge": "affine", "feature_embed_dim": 5},
}
GRAPHS = [("bert", target) for target in LABELS]
GRAPHS += [(family, target) for family in [*FAMILIES][1:] for target in ("classes", "spans")]
WITH_FEATURES = [("bert", "classes", kind) for kind in FEATURES]
WITH_FEATURES += [("albert", "word_labels", kind) for kind in FEATURES]
CHOSEN = (("roberta", "spans"), ("albert", "word_labels", "affine"))  # CI's, of a different kind


def with_factors(batch, task, model):
    """Give a batch feature ids as its model reads them, 0 at padding."""
    known = {layer.name: layer for layer in task.layers}
    sizes = [len(known[name].inventory) for name in model.needs.features]
    generator = torch.Generator().manual_seed(4)
    shape = batch["src_tokens"].shape
    columns = [torch.randint(1, size, shape, generator=generator) for size in sizes]
    real = batch["src_tokens"].ne(task.source_dictionary.pad())
    return batch | ({"src_factors": torch.stack(columns, -1) * real[..., None]} if columns else {})


def inputs_of(batch, task, model) -> dict[str, torch.Tensor]:
    """Return our batch by the names of the graph's inputs."""
    real = batch["src_tokens"].ne(task.source_dictionary.pad())
    found = {"input_ids": batch["src_tokens"], "attention_mask": real.long()}
    found |= {"token_type_ids": batch["segments"]} if model.encoder.shape.sides else {}
    return found | {name: value for name, value in batch.items() if name == "src_factors"}


def as_ours(outputs, real, target) -> torch.Tensor:
    """Lay outputs out as `logits_of` does."""
    whole = torch.stack(list(outputs), -1) if target == "spans" else outputs[0]
    return whole[real] if target in ("spans", "word_labels") else whole


def session_of(path):
    return pytest.importorskip("onnxruntime").InferenceSession(path / "model.onnx")


def assert_equal(tmp_path, task, model) -> None:
    """Write a model and compare its graph's logits with its own."""
    target = task.manifest.target
    FORMATS[ONNX](tmp_path / "out", task, model)
    session = session_of(tmp_path / "out")
    for texts in BATCHES[:2] if target == "word_labels" else BATCHES:
        batch = with_factors(batch_of(task, texts), task, model)
        inputs = inputs_of(batch, task, model)
        assert {one.name for one in session.get_inputs()} == inputs.keys()
        outputs = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        real = inputs["attention_mask"].bool()
        found = as_ours(list(map(torch.from_numpy, outputs)), real, target)
        assert (found - logits_of(task, model, batch)).abs().max() < 1e-4


@pytest.mark.parametrize("target", LABELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_padded_models_compute_what_packed_ones_do(tmp_path, family, target) -> None:
    """What stands at padding is nothing to real tokens."""
    task, model = small_model(tmp_path / "model", family, target, features="pos")
    padded = PaddedModel(model.encoder, model.head).eval()
    for texts in BATCHES[:2] if target == "word_labels" else BATCHES:
        batch = with_factors(batch_of(task, texts), task, model)
        inputs = inputs_of(batch, task, model)
        real = inputs["attention_mask"].bool()
        noise = {**inputs, "input_ids": inputs["input_ids"].where(real, torch.tensor(7))}
        for given in (inputs, noise):
            with torch.no_grad():
                found = as_ours(padded(**given), real, target)
            torch.testing.assert_close(found, logits_of(task, model, batch), atol=1e-5, rtol=1e-5)


def test_padded_layouts_hang_on_sizes_alone() -> None:
    padding = torch.tensor([[False, False, True], [False, True, True]])
    layout = BatchLayout.padded(padding)
    rows = torch.arange(6)
    assert torch.equal(layout.pack(layout.pad(rows)), rows)
    assert torch.equal(layout.first_rows, torch.tensor([0, 3]))
    (block,) = layout.blocks
    assert torch.equal(block.allowed[:, 0, 0], ~padding)
    assert BatchLayout.of(padding).pack(padding).numel() == 3


def tiered(cases):
    """Mark the cases of CI's tier, and the others."""
    marks = {True: pytest.mark.slow, False: pytest.mark.long}
    return [pytest.param(*case, marks=marks[case in CHOSEN]) for case in cases]


@pytest.mark.parametrize(("family", "target"), tiered(GRAPHS))
def test_graphs_compute_what_models_do(tmp_path, family, target) -> None:
    assert_equal(tmp_path, *small_model(tmp_path / "model", family, target))


@pytest.mark.parametrize(("family", "target", "merge"), tiered(WITH_FEATURES))
def test_graphs_of_models_with_features_read_them(tmp_path, family, target, merge) -> None:
    task, model = small_model(tmp_path / "model", family, target, **FEATURES[merge])
    assert_equal(tmp_path, task, model)


@pytest.mark.slow
def test_what_stands_beside_a_graph_says_what_it_reads(tmp_path) -> None:
    task, model = small_model(tmp_path / "model", "bert", features="case,pos")
    FORMATS[ONNX](tmp_path / "out", task, model)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"model.onnx", "config.json", "vocab.txt", "features.json"}
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["id2label"] == {"0": "no", "1": "yes", "2": "maybe"}
    described = json.loads((tmp_path / "out" / "features.json").read_text())
    assert [column["name"] for column in described["columns"]] == ["case", "pos"]
    assert described["columns"][0]["values"] == ["<pad>", "<special>", "lower", "upper"]
    whole = (tmp_path / "out" / "model.onnx").read_bytes()
    assert b".py" not in whole  # nothing of where it was made
    session = session_of(tmp_path / "out")
    assert [one.name for one in session.get_outputs()] == ["logits"]
    batch = with_factors(batch_of(task, SINGLE), task, model)
    inputs = inputs_of(batch, task, model)
    found = session.run(None, {name: value.numpy() for name, value in inputs.items()})[0]
    inputs["src_factors"] = inputs["src_factors"].flip(-1).clamp(max=3)
    other = session.run(None, {name: value.numpy() for name, value in inputs.items()})[0]
    assert np.abs(found - other).max() > 1e-2


class Program:
    """Stands for what torch exports: nodes and values that say where their code lay."""

    def __init__(self) -> None:
        self.told = [{"source": "mine.py"} for _ in range(5)]
        values = [SimpleNamespace(metadata_props=told) for told in self.told]
        values[0].outputs = values[1:2]
        initializers = {"weight": values[3]}
        graph = SimpleNamespace(inputs=values[2:3], initializers=initializers)
        graph.all_nodes = lambda: values[:1]
        self.model = SimpleNamespace(graph=graph, metadata_props=self.told[4])

    def save(self, path, external_data) -> None:
        self.apart = external_data


@pytest.mark.parametrize(("largest", "apart"), [(100, False), (99, True)])
def test_a_graph_tells_nothing_of_its_code_and_large_weights_lie_apart(
    tmp_path, monkeypatch, largest, apart
) -> None:
    """torch's own export stands below, at the length of the long tier."""
    program = Program()
    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: program)
    monkeypatch.setattr(onnx_files, "LARGEST", largest)
    onnx_files._save(torch.nn.Linear(4, 5), {}, [], tmp_path / "model.onnx")  # of 100 bytes
    assert program.apart is apart
    assert program.told == [{}] * 5


@pytest.mark.long
def test_many_weights_lie_in_a_second_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(onnx_files, "LARGEST", 100)
    task, model = small_model(tmp_path / "model", "roberta")
    assert_equal(tmp_path, task, model)
    assert (tmp_path / "out" / "model.onnx.data").stat().st_size > 100


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"local_attention": "sla"}, "layer 0 attends by LocalMixer"),
        ({"dual_layers": "0"}, "layer 0 has dual attention"),
        ({"ancestor_layers": 1, "features": "pos"}, "has syntax-guided layers on top"),
    ],
)
def test_other_attention_is_left_to_bundles(tmp_path, given, message) -> None:
    task, model = small_model(tmp_path / "model", "bert", **given)
    with pytest.raises(InputError, match=f"{message}, .*a bundle holds every model"):
        FORMATS[ONNX](tmp_path / "out", task, model)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_missing_packages_are_named_before_any_work(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(onnx_files, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs onnx and onnxscript: .* pip install .*\[onnx\]"):
        export_checkpoint(tmp_path / "none", tmp_path / "out", form=ONNX)
    with pytest.raises(InputError, match="'torch' is unknown; choices: bundle, huggingface, "):
        export_checkpoint(tmp_path / "none", tmp_path / "out", form="torch")
