"""Training with ``--autocast bfloat16``: every kind of model, on every kind of data."""

from __future__ import annotations

import prepared_questions
import prepared_text
import pytest
import torch
from omegaconf import OmegaConf

ANNOTATIONS = ("pos", "heads")
KINDS = "plain pos sla wla lisa sgnet syntax_masks".split()
SEMANTIC = {"semantic_layers": "pos,case"}  # of bert_sembert; these folders have no roles
PAIRED = ["bert_sembert", "bert_uer", "dabert", "dabert_literal"]
ASKED = ["dabert", "dabert_literal", "bertqa", "bertqa_literal"]
CASES = [
    *((data, f"bert_{kind}") for data in ("classes", "score", "entities", "qa") for kind in KINDS),
    *(("pairs", arch) for arch in PAIRED),
    *((data, "bert_sembert") for data in ("classes", "score", "entities")),
    *(("qa", arch) for arch in ASKED),
]
WINDOWS = {"max_positions": 24, "doc_stride": 8, "max_query_length": 6}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("autocast")
    passages = {"train": prepared_questions.passages(9)}
    found = {"qa": prepared_questions.prepare(root / "qa", passages, annotations=ANNOTATIONS)}
    for data in ("classes", "score", "entities", "pairs"):
        kind, pairs = data.replace("pairs", "classes"), data == "pairs"
        annotations = (*ANNOTATIONS, *(["similarity"] if pairs else []))
        some = {"train": prepared_text.examples(kind, 12, pairs=pairs)}
        found[data] = prepared_text.prepare(root / data, kind, some, annotations=annotations)
    return found


def trained(folder, arch, autocast):
    """Take a step without the optimiser; return loss, model and what is logged."""
    given = WINDOWS if folder.name == "qa" else {}
    make = prepared_questions if folder.name == "qa" else prepared_text
    task = make.make_task(folder, autocast=autocast, **given)
    torch.manual_seed(1)
    own = {"num_attention_heads": 2, "dropout": 0.1, **(SEMANTIC if "sembert" in arch else {})}
    model = prepared_text.make_model(task, f"{arch}_tiny", **own)
    task.load_dataset("train")
    dataset = task.dataset("train")
    batch = dataset.collater([dataset[i] for i in range(8)])
    criterion = task.build_criterion(OmegaConf.create({"_name": task.NAME}))
    torch.manual_seed(2)
    loss, _, output = criterion(model.train(), batch)
    loss.backward()
    return loss.detach(), model, output


@pytest.mark.parametrize(("data", "arch"), CASES)
def test_every_model_trains_with_half_products_and_whole_sums(folders, data, arch):
    loss, model, output = trained(folders[data], arch, "bfloat16")
    wanted, _, _ = trained(folders[data], arch, "none")
    assert loss.dtype is torch.float32
    assert loss.isfinite()
    assert not torch.equal(loss, wanted)
    sums = [value for value in output.values() if torch.is_tensor(value)]
    assert all(value.dtype in (torch.float32, torch.int64) for value in sums)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.dtype is torch.float32, name
        assert parameter.grad.isfinite().all(), name
