"""Mean gates: every token counts once, whatever the batches; what has no gates is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from prepared_text import SIZES, encode, examples, make_model, make_task, prepare, train

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.gated_runs import _dataset_names, gated_runs
from fairseq_plugins.inference.gates import mean_gates
from fairseq_plugins.inference.prediction import Predictor

COUNT = 11


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": examples("classes", 30, 1), "valid": examples("classes", COUNT, 2)}
    root = tmp_path_factory.mktemp("gates")
    return prepare(root / "data", "classes", splits, annotations=("pos", "heads"))


def predictor(folder, arch, **options):
    task = make_task(folder)
    torch.manual_seed(4)
    model = make_model(task, arch, **{**SIZES, **options})
    for name, parameter in model.named_parameters():
        if "gate" in name or parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.6)
    return Predictor(task.inputs, [model])


def by_hand(made, part):
    """Each example alone: layer -> all its tokens' local shares."""
    found = {}
    for example in part:
        dataset = made.inputs.take([[encode(text.split()) for text in example.texts]])
        sample = dataset.collater([dataset[0]])
        with torch.no_grad():
            gates = made.models[0](**sample["net_input"])[1]["gates"]
        for layer, shares in gates.items():
            found.setdefault(layer, []).extend(shares.sum(-1).tolist())
    return found


@pytest.mark.parametrize("arch", ["bert_sla_tiny", "bert_wla_tiny", "bert_syntax_masks_tiny"])
def test_every_token_counts_once(folder, arch):
    made = predictor(folder, arch)
    shares = by_hand(made, examples("classes", COUNT, 2))
    assert sorted(shares) == [0, 1]
    for size in (1, 4, 32):  # batches of different sizes, the last one smaller
        found = mean_gates(made, [made.load_split("valid")], batch_size=size)
        assert found.tokens == len(shares[0])
        for layer, values in shares.items():
            assert found.layers[layer] == pytest.approx(np.mean(values), abs=1e-6)
    batches = [np.mean(part) for part in np.array_split(shares[0], 2)]
    assert batches[0] != batches[1]


def test_datasets_add_up_by_their_tokens(folder):
    made = predictor(folder, "bert_wla_tiny")
    part = examples("classes", COUNT, 2)
    rows = [[encode(text.split()) for text in example.texts] for example in part]
    datasets = [made.inputs.take(some) for some in (rows[:2], rows[2:])]
    whole = mean_gates(made, [made.load_split("valid")])
    found = mean_gates(made, datasets)
    assert found.tokens == whole.tokens
    assert found.layers == pytest.approx(whole.layers, abs=1e-6)


def test_gates_shut_are_0_and_open_are_1(folder):
    made = predictor(folder, "bert_sla_tiny")
    for bias in (-40.0, 40.0):
        for name, parameter in made.models[0].named_parameters():
            if "gate" in name:
                parameter.data.fill_(bias if name.endswith("bias") else 0.0)
        found = mean_gates(made, [made.load_split("valid")])
        assert list(found.layers.values()) == pytest.approx([float(bias > 0)] * 2)


def test_only_layers_with_gates_are_reported(folder):
    made = predictor(folder, "bert_sla_tiny", local_layers="1", num_hidden_layers=3)
    assert mean_gates(made, [made.load_split("valid")]).layers.keys() == {1}


def test_no_gates_and_no_text_are_refused(folder):
    plain = predictor(folder, "bert_plain_tiny")
    with pytest.raises(InputError, match="no gates"):
        mean_gates(plain, [plain.load_split("valid")])
    with pytest.raises(InputError, match="no text"):
        mean_gates(predictor(folder, "bert_sla_tiny"), [])


@pytest.fixture(scope="module")
def runs(folder):
    """Checkpoints of all kinds, hardly trained."""
    found = {}
    fixed = ["--max-update", "1", "--disable-validation", "--no-epoch-checkpoints", "--arch"]
    for name, more in (
        ("sla", ["bert_sla_tiny"]),
        ("near", ["bert_sla_tiny", "--tree-threshold", "2"]),
        ("sgnet", ["bert_sgnet_tiny"]),
    ):
        save = folder.parent / name
        train(folder, save, *fixed, *more)
        found[name] = save / "checkpoint_last.pt"
    return found


@pytest.mark.slow
def test_runs_are_named_by_architecture_and_dataset(runs):
    (one, two) = gated_runs([runs["sla"], runs["sla"]], ["", ""])
    assert (one.system, one.dataset, one.path) == ("bert_sla_tiny", "data", runs["sla"])
    assert one == two


def test_other_data_are_another_dataset(runs, folder, tmp_path):
    """Folders of one training file are one dataset; others are not, whatever they are called."""
    copies = {}
    for place, content in (("a/parsed", "1"), ("b/tagged", "1"), ("c/parsed", "2")):
        copies[place] = tmp_path / place
        shutil.copytree(folder, copies[place])
        manifest = read_manifest(copies[place], TextManifest)
        inputs = {"train": {"file": "train.tsv", "sha256": content}}
        replace(manifest, inputs=inputs).save(copies[place])
    folders = [*map(str, copies.values())]
    last = str(tmp_path / "c" / "parsed")
    assert _dataset_names(folders, ["parsed", "tagged", "parsed"]) == ["parsed", "parsed", last]
    assert _dataset_names(folders, ["wnut", "wnut", "cola"]) == ["wnut", "wnut", "cola"]


def test_models_without_gates_are_told_who_has_them(runs):
    with pytest.raises(InputError, match="bert_sgnet_tiny.*no gates.*bert_sla, .*bert_wla"):
        gated_runs([runs["sla"], runs["sgnet"]], ["", ""])


def test_other_options_are_no_seeds(runs):
    pair = [runs["sla"], runs["near"]]
    with pytest.raises(InputError, match=r"differ in --tree-threshold \(4 and 2\).*NAME=PATH"):
        gated_runs(pair, ["", ""])
    assert [run.system for run in gated_runs(pair, ["m4", "m2"])] == ["m4", "m2"]
    assert {run.system for run in gated_runs(pair, ["SLA", "SLA"])} == {"SLA"}


def test_missing_files_are_named(runs, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.pt"):
        gated_runs([tmp_path / "nowhere.pt"], [""])
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        gated_runs([runs["sla"]], [""], data=str(tmp_path / "elsewhere"))
