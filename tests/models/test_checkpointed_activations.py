"""``--checkpoint-activations``: equal losses and gradients, less kept for the backward pass."""

from __future__ import annotations

import prepared_questions
import prepared_text
import pytest
import torch
from omegaconf import OmegaConf
from torch.autograd.graph import saved_tensors_hooks

SYNTAX = {"features": "pos", "local_attention": "sla,wla", "parent_loss_weight": 0.5}
SYNTAX |= {"ancestor_layers": 2, "dual_layers": "0,1"}
CASES = [
    ("pairs", "bert_plain", {}),
    ("pairs", "bert_plain", SYNTAX),
    ("pairs", "dabert", {"freeze_layers": 1}),
    ("pairs", "bert_uer", {}),
    ("pairs", "bert_sembert", {"semantic_layers": "pos,case"}),
    ("entities", "bert_sla", {}),
    ("qa", "bertqa", SYNTAX),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("bin")
    passages = {"train": prepared_questions.passages(6)}
    found = {"qa": prepared_questions.prepare(root / "qa", passages, annotations=("pos", "heads"))}
    for data, kind in (("pairs", "classes"), ("entities", "entities")):
        annotations = ("pos", "heads", *(["similarity"] if data == "pairs" else []))
        some = {"train": prepared_text.examples(kind, 8, pairs=data == "pairs")}
        found[data] = prepared_text.prepare(root / data, kind, some, annotations=annotations)
    return found


def step(folder, kind, given):
    """Return loss, logged values, gradients, and bytes that the forward pass keeps."""
    make = prepared_questions if folder.name == "qa" else prepared_text
    task = make.make_task(folder)
    torch.manual_seed(1)
    sizes = {"num_attention_heads": 2, "dropout": 0.1, "attention_dropout": 0.1}
    model = prepared_text.make_model(task, f"{kind}_tiny", **sizes, **given).train()
    task.load_dataset("train")
    dataset = task.dataset("train")
    criterion = task.build_criterion(OmegaConf.create({"_name": task.NAME}))
    kept = []
    torch.manual_seed(2)
    with saved_tensors_hooks(lambda x: kept.append(x.numel() * x.element_size()) or x, lambda x: x):
        loss, _, log = criterion(model, dataset.collater([dataset[i] for i in range(6)]))
    loss.backward()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return loss, {name: torch.as_tensor(value) for name, value in log.items()}, gradients, sum(kept)


@pytest.mark.parametrize(("data", "kind", "given"), CASES)
def test_gradients_are_equal_and_less_is_kept(folders, data, kind, given):
    plain, again = (
        step(folders[data], kind, {**given, "checkpoint_activations": on}) for on in (False, True)
    )
    assert torch.equal(plain[0], again[0])
    assert plain[1].keys() == again[1].keys()
    assert all(torch.equal(value, again[1][name]) for name, value in plain[1].items())
    assert plain[2].keys() == again[2].keys()
    assert all(torch.equal(value, again[2][name]) for name, value in plain[2].items())
    assert again[3] < 0.7 * plain[3]


def test_nothing_is_recomputed_without_gradients(folders, monkeypatch):
    from fairseq_plugins.nn import recomputed

    monkeypatch.setattr(recomputed, "checkpoint", lambda *given, **how: pytest.fail("recomputed"))
    task = prepared_text.make_task(folders["pairs"])
    model = prepared_text.make_model(task, num_attention_heads=2, checkpoint_activations=True)
    task.load_dataset("train")
    with torch.no_grad():
        model(**task.dataset("train").collater([task.dataset("train")[0]])["net_input"])
