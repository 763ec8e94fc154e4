"""Loading is strict, and never runs code."""

from __future__ import annotations

import dataclasses
import json
import logging
import pickle
import re

import pytest
import torch
from pretrained_directories import edit_json, lively_state, shape_of
from safetensors.torch import load_file, save_file

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.bert import BertEncoder
from fairseq_plugins.pretrained.huggingface import load_state, read_config

NAME = "encoder.layer.1.attention.self.key.weight"


def tensors_of(directory) -> dict[str, torch.Tensor]:
    return load_file(directory / "model.safetensors")


def rewrite(directory, tensors, form="safetensors") -> None:
    """Replace the weights."""
    (directory / "model.safetensors").unlink(missing_ok=True)
    if form == "safetensors":
        save_file(tensors, directory / "model.safetensors")
    elif form == "bin":
        torch.save(tensors, directory / "pytorch_model.bin")
    elif form == "old bin":
        path = directory / "pytorch_model.bin"
        torch.save(tensors, path, _use_new_zipfile_serialization=False)
    else:
        shards = [dict(list(tensors.items())[i::3]) for i in range(3)]
        index = {}
        for i, shard in enumerate(shards):
            file = f"model-{i}.safetensors" if form == "shards" else f"part-{i}.bin"
            (save_file if form == "shards" else torch.save)(shard, directory / file)
            index |= dict.fromkeys(shard, file)
        name = "model.safetensors" if form == "shards" else "pytorch_model.bin"
        (directory / f"{name}.index.json").write_text(json.dumps({"weight_map": index}))


def assert_equal(first, second) -> None:
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


@pytest.mark.parametrize("pooler", [True, False])
def test_state_is_the_encoders_own(directory, pooler) -> None:
    if not pooler:
        kept = {k: v for k, v in tensors_of(directory).items() if not k.startswith("pooler")}
        rewrite(directory, kept)
    shape = read_config(directory)
    assert shape == shape_of(pooler=pooler)
    state = load_state(directory, shape)
    BertEncoder(shape).load_state_dict(state, strict=True)
    assert_equal(state, {k: v for k, v in lively_state(shape_of()).items() if k in state})
    assert_equal(state, load_state(directory))


@pytest.mark.parametrize("form", ["bin", "old bin", "shards", "bin shards"])
def test_every_file_form_gives_the_same(directory, form) -> None:
    expected = load_state(directory)
    rewrite(directory, tensors_of(directory), form)
    assert_equal(load_state(directory), expected)
    assert read_config(directory) == shape_of()


def test_safetensors_go_before_a_pickle(directory) -> None:
    expected = load_state(directory)
    (directory / "pytorch_model.bin").write_bytes(b"nonsense")
    assert_equal(load_state(directory), expected)


def test_prefix_old_names_heads_and_buffers_are_accounted_for(directory, caplog) -> None:
    expected = load_state(directory)
    tensors = {}
    for name, tensor in tensors_of(directory).items():
        if "LayerNorm" in name:
            name = name.replace("weight", "gamma").replace("bias", "beta")
        tensors[f"bert.{name}"] = tensor
    tensors["bert.embeddings.position_ids"] = torch.arange(16)[None]
    for head in ("cls.predictions.transform.LayerNorm.gamma", "classifier.weight", "cls.x.bias"):
        tensors[head] = torch.zeros(2)
    rewrite(directory, tensors)
    with caplog.at_level(logging.INFO):
        assert_equal(load_state(directory), expected)
    assert "left out classifier.weight, cls.predictions.transform.LayerNorm.gamma" in caplog.text
    assert read_config(directory).pooler


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_become_single(directory, dtype) -> None:
    exact = load_state(directory)
    rewrite(directory, {k: v.to(dtype) for k, v in tensors_of(directory).items()})
    for name, tensor in load_state(directory).items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, exact[name].to(dtype).float())


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t, p: t.pop(p + NAME), f"missing tensors {NAME} "),
        (lambda t, p: t.update({p + "adapter.weight": t[p + NAME] + 1}), "adapter.weight"),
        (
            lambda t, p: t.update({p + NAME.replace("layer.1", "layer.2"): t[p + NAME] + 1}),
            r"unknown tensors encoder\.layer\.2\.attention\.self\.key\.weight",
        ),
        (
            lambda t, p: t.update({p + NAME: torch.zeros(12, 8)}),
            rf"'{NAME}' has shape \(12, 8\), config.json says \(12, 12\)",
        ),
        (lambda t, p: t.update({p + NAME: torch.zeros(12, 12).int()}), "torch.int32"),
        (lambda t, p: t.pop(p + "pooler.dense.bias"), r"missing tensors pooler\.dense\.bias"),
        (
            lambda t, p: t.update({p + "embeddings.LayerNorm.gamma": torch.zeros(12)}),
            "is there twice",
        ),
    ],
)
def test_every_tensor_is_accounted_for(directory, prefix, edit, message) -> None:
    tensors = {prefix + name: tensor for name, tensor in tensors_of(directory).items()}
    edit(tensors, prefix)
    rewrite(directory, tensors)
    with pytest.raises(InputError, match="model.safetensors: ") as caught:
        load_state(directory)
    assert re.search(message, str(caught.value))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e300])
def test_values_that_are_not_finite_are_refused(directory, value) -> None:
    tensors = tensors_of(directory)
    tensors[NAME] = tensors[NAME].double()
    tensors[NAME][3, 5] = value
    rewrite(directory, tensors)
    message = rf"model\.safetensors: '{NAME}' holds a value that is no finite number"
    with pytest.raises(InputError, match=message):
        load_state(directory)


def test_a_stranger_beside_a_prefixed_encoder_is_refused(directory) -> None:
    tensors = {f"bert.{name}": tensor for name, tensor in tensors_of(directory).items()}
    rewrite(directory, tensors | {"embeddings.words": torch.zeros(2)})
    with pytest.raises(InputError, match="unknown tensors embeddings.words"):
        load_state(directory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"hidden": 15},
            r"word_embeddings.weight' has shape \(24, 12\), the model says \(24, 15\)",
        ),
        ({"vocabulary": 30}, r"has shape \(24, 12\), the model says \(30, 12\)"),
        ({"intermediate": 8}, r"has shape \(20, 12\), the model says \(8, 12\)"),
        ({"positions": 8}, r"position_embeddings.weight' has shape \(16, 12\)"),
        ({"layers": 1}, "layers is 2, the model has 1"),
        ({"layers": 3}, "layers is 2, the model has 3"),
        ({"heads": 4}, "heads is 3, the model has 4"),
        ({"activation": "relu"}, "activation is gelu, the model has relu"),
        ({"norm_epsilon": 1e-5}, "norm_epsilon is 1e-12"),
        ({"padding": 2}, "padding is 0, the model has 2"),
    ],
)
def test_a_model_of_another_shape_is_refused(directory, change, message) -> None:
    asked = dataclasses.replace(shape_of(), **change)
    with pytest.raises(InputError, match=message):
        load_state(directory, asked)


def test_dropout_and_pooler_are_the_models_own(directory) -> None:
    asked = shape_of(dropout=0.0, attention_dropout=0.5, pooler=False)
    BertEncoder(asked).load_state_dict(load_state(directory, asked), strict=True)
    kept = {k: v for k, v in tensors_of(directory).items() if not k.startswith("pooler")}
    rewrite(directory, kept)
    with pytest.raises(InputError, match=r"no pooler \(pooler.dense.\*\), the model has one"):
        load_state(directory, shape_of())


def test_rows_behind_the_vocabulary_are_left_out_for_a_model_of_its_size(directory) -> None:
    full = load_state(directory)
    lines = (directory / "vocab.txt").read_bytes().splitlines(keepends=True)
    (directory / "vocab.txt").write_bytes(b"".join(lines[:-3]))
    rows = len(lines) - 3
    state = load_state(directory, shape_of(vocabulary=rows))
    BertEncoder(shape_of(vocabulary=rows)).load_state_dict(state, strict=True)
    assert torch.equal(state["embeddings.words.weight"], full["embeddings.words.weight"][:rows])
    assert len(load_state(directory, shape_of())["embeddings.words.weight"]) == 24
    with pytest.raises(InputError, match=r"has shape \(24, 12\)"):
        load_state(directory, shape_of(vocabulary=rows - 1))


class Evil:
    """Creates a file when it is unpickled."""

    def __init__(self, path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("form", ["zip", "old", "bare", "shard"])
def test_a_pickle_that_would_run_code_is_refused(directory, tmp_path, form) -> None:
    (directory / "model.safetensors").unlink()
    trap, path = tmp_path / "trap", directory / "pytorch_model.bin"
    content = {"embeddings.x": torch.zeros(2), "evil": Evil(trap)}
    if form == "bare":
        path.write_bytes(pickle.dumps(Evil(trap), protocol=2))
    elif form == "shard":
        index = {"weight_map": {"embeddings.x": path.name, "evil": path.name}}
        torch.save(content, path)
        path.rename(directory / "part.bin")
        index["weight_map"] = dict.fromkeys(content, "part.bin")
        (directory / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=form == "zip")
    for read in (load_state, read_config):
        with pytest.raises(InputError, match=r"\.bin: refused: it asks for .*; nothing of it was"):
            read(directory)
    assert not trap.exists()
    if form == "bare":  # the trap works where nothing guards against it
        pickle.loads(path.read_bytes()).close()
        assert trap.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.safetensors", b"junk", "not readable, damaged"),
        ("model.safetensors", b"", "not readable, damaged"),
        ("pytorch_model.bin", b"junk", "not readable, damaged"),
        ("pytorch_model.bin", b"", "not readable, damaged"),
        ("pytorch_model.bin", pickle.dumps([1, 2], protocol=2), "not readable, damaged"),
        ("pytorch_model.bin", b"PK\x03\x04junk", "not readable, damaged"),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("pytorch_model.bin", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("model.safetensors.index.json", b"{}", "no weight_map"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": "../b"}}', "no plain file name"),
    ],
)
def test_damaged_weights_are_named(directory, name, content, message) -> None:
    (directory / "model.safetensors").unlink()
    (directory / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_state(directory)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_something_else_than_tensors_is_refused(directory) -> None:
    rewrite(directory, {"model": {"a": torch.zeros(1)}}, "bin")
    with pytest.raises(InputError, match="expected tensors by name"):
        load_state(directory)


def test_shards_must_fit_their_index(directory) -> None:
    rewrite(directory, tensors_of(directory), "shards")
    index = json.loads((directory / "model.safetensors.index.json").read_text())["weight_map"]
    (directory / index[NAME]).rename(directory / "away")
    with pytest.raises(FileNotFoundError, match=f"shard {index[NAME]} is missing"):
        load_state(directory)
    (directory / "away").rename(directory / index[NAME])
    other = min(set(index.values()) - {index[NAME]})
    edit_json(directory / "model.safetensors.index.json", weight_map=index | {NAME: other})
    with pytest.raises(InputError, match=f"does not hold what .*index.json says: {NAME}"):
        load_state(directory)


def test_missing_weights_are_named(directory) -> None:
    (directory / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"no weights; expected one of model\.safetensors"):
        load_state(directory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_hidden_layers": 10**9}, "39 tensors, config.json says 1000000000 layers"),
        ({"vocab_size": 10**15}, r"shape (24, 12), config.json says (1000000000000000, 12)"),
        ({"max_position_embeddings": 10**12}, "config.json says (1000000000000, 12)"),
        ({"type_vocab_size": 10**12}, "config.json says (1000000000000, 12)"),
        ({"intermediate_size": 10**12}, "config.json says (1000000000000, 12)"),
        ({"intermediate_size": 10**30}, "no encoder can be so large as config.json says"),
    ],
)
@pytest.mark.parametrize("form", ["safetensors", "bin"])
def test_sizes_are_compared_with_the_tensors_before_anything_is_made(
    directory, change, message, form
) -> None:
    if form == "bin":
        rewrite(directory, tensors_of(directory), form)
    assert read_config(directory).layers == 2
    edit_json(directory / "config.json", **change)
    for read in (read_config, load_state):
        with pytest.raises(InputError, match=re.escape(message)):
            read(directory)
