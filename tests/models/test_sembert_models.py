"""SemBERT as a value of the BERT models: its options, its parts, what it starts from."""

from __future__ import annotations

import logging

import pytest
import torch
from bert_models import (
    QUIET,
    SMALL,
    VOCABULARY,
    build,
    loud,
    manifest,
    net_input,
    options,
    text_task,
)
from pretrained_directories import vocabulary_of, write_directory
from trees import Row

from fairseq_plugins.architectures.bert_options import ARCHITECTURES
from fairseq_plugins.errors import InputError
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.pretrained.huggingface import load_state
from fairseq_plugins.pretrained.vocabulary import Vocabulary
from fairseq_plugins.syntax.labels import Inventory
from fairseq_plugins.syntax.layers import layer_of
from fairseq_plugins.syntax.needs import Needs

ROLES = [f"given.srl{k}" for k in (1, 2, 3)]
LABELS = [("O", "B-V", "B-ARG0"), ("O", "B-ARG0", "B-V", "B-ARG1"), ("O",)]
ROWS = [Row([0, 1, 1], pieces=[[1, 3, 4]]), Row([0, 1])]
LAYERS = [
    layer_of(name).bound(Inventory(name, labels, learnt=True))
    for name, labels in zip(ROLES, LABELS)
]


def about(**changes):
    return manifest(annotations=["pos", "heads", *ROLES], **changes)


def sembert(arch="bert_sembert", target="classes", **given) -> BertModel:
    """Build a model for a folder with the roles of three predicates."""
    cfg, folder = options(arch, **{**SMALL, **QUIET, **given}), about(target=target)
    BertModel.complete_config(cfg, folder, LAYERS)
    torch.manual_seed(1)
    task = text_task(Vocabulary(VOCABULARY))
    task.layers = [*task.layers, *LAYERS]
    return loud(BertModel.build_model(cfg, task).eval())


def sample_of(columns: int, target="classes") -> dict[str, torch.Tensor]:
    sample = net_input(ROWS)
    shape = sample["src_tokens"].shape
    ids = torch.randint(2, 4, (*shape, columns), generator=torch.Generator().manual_seed(7))
    special = sample["word_of"].lt(0) & sample["src_tokens"].ne(0)
    ids[special], ids[sample["src_tokens"].eq(0)] = 1, 0
    return sample | {"src_factors": ids, "word_rows": torch.tensor([1, 2, 5, 11, 12])}


def test_architectures_read_the_roles_of_three_predicates() -> None:
    sizes = ("", "_tiny", "_minilm", "_base", "_large")
    for name in (f"bert_sembert{size}" for size in sizes):
        plain = ARCHITECTURES[name.replace("sembert", "plain")]
        changed = {k: v for k, v in ARCHITECTURES[name].items() if v != plain[k]}
        assert changed == {"semantic_layers": ",".join(ROLES)}
    model = sembert()
    assert model.needs == Needs(tuple(ROLES), words=True)
    assert model.encoder.pooler is None
    assert sembert("bert_plain").needs == Needs()


@pytest.mark.parametrize("target", ["classes", "score", "word_labels"])
def test_roles_decide_and_none_is_plain_bert(target) -> None:
    model, sample = sembert(target=target), sample_of(3)
    logits = model(**sample)[0]
    other = {**sample, "src_factors": sample["src_factors"].clone()}
    other["src_factors"][0, 2, 1] ^= 1  # of the first subword of a word
    assert not torch.allclose(model(**other)[0], logits)
    other = {**sample, "src_factors": sample["src_factors"].clone()}
    other["src_factors"][0, 3, 1] ^= 1  # a word has one label
    assert torch.equal(model(**other)[0], logits)
    off, plain = sembert(target=target, semantic_layers="none"), sembert("bert_plain", target)
    assert off.state_dict().keys() == plain.state_dict().keys()
    assert torch.equal(off(**sample)[0], plain(**sample)[0])


def test_layers_may_be_features_too_and_stand_in_their_columns() -> None:
    both = sembert(features="pos,given.srl2")
    assert both.needs.features == ("pos", "given.srl2", "given.srl1", "given.srl3")
    assert both.semantics.labels.columns == (2, 1, 3)
    assert [*both.encoder.embeddings.features.factors.tables] == ["pos", "given:srl2"]
    sample = sample_of(4)
    before = both(**sample)[0]
    for column in range(4):
        other = {**sample, "src_factors": sample["src_factors"].clone()}
        other["src_factors"][0, 1, column] ^= 1
        assert not torch.allclose(both(**other)[0], before)


def test_labels_of_all_layers_share_a_table() -> None:
    reader = sembert().semantics.labels
    assert reader.table.num_embeddings == 3 + 4  # <pad>, <special>, <unknown> and all labels
    assert reader.shared.tolist() == [
        [0, 1, 2, 3, 4, 5, 0],
        [0, 1, 2, 3, 5, 4, 6],
        [0, 1, 2, 3, 0, 0, 0],
    ]


def test_parameters_are_counted(caplog) -> None:
    with caplog.at_level(logging.INFO):
        model = sembert(semantic_label_dim=4, semantic_gru_dim=3, semantic_dim=5, semantic_kernel=2)
    counts, d = model.parameter_counts(), SMALL["hidden_size"]
    labels = 7 * 4 + 2 * 4 + 2 * (3 * 3 * (4 + 3) + 2 * 3 * 3) + (3 * 6 * 5 + 5)
    wanted = labels + (2 * d * d + d) + ((d + 5) ** 2 + d + 5)
    assert counts["semantic layers"] == wanted
    assert f"semantic layers {wanted:,}, head {(d + 5) * 2 + 2}" in caplog.text
    assert counts["model"] == counts["encoder"] + wanted + counts["head"]
    assert "semantic layers" not in sembert("bert_plain").parameter_counts()


def test_base_adds_what_the_readme_says() -> None:
    found = []
    for arch in ("bert_sembert_base", "bert_plain_base"):
        cfg = options(arch)
        BertModel.complete_config(cfg, about(), LAYERS)
        task = text_task(Vocabulary(VOCABULARY))
        task.layers = [*task.layers, *LAYERS]
        with torch.device("meta"):
            found.append(BertModel.build_model(cfg, task).parameter_counts()["model"])
    labels, classes = 7, 2
    assert found[0] - found[1] == 1_787_660 + 10 * (labels + classes)


@pytest.mark.parametrize("target", ["classes", "word_labels"])
def test_a_plain_checkpoint_starts_it(target, caplog) -> None:
    model, plain = sembert(target=target), sembert("bert_plain", target)
    own = {name: value.clone() for name, value in model.state_dict().items()}
    for value in plain.parameters():
        value.data.add_(1.0)
    model.load_state_dict(plain.state_dict())  # as --finetune-from-model does
    for name, value in model.state_dict().items():
        anew = name.startswith(("semantics.", "head."))
        assert torch.equal(value, own[name] if anew else plain.state_dict()[name]), name
    assert "the checkpoint has no semantic layers: they start anew" in caplog.text
    damaged = {name: value for name, value in own.items() if "gru.bias_hh_l0" not in name}
    with pytest.raises(RuntimeError, match="gru.bias_hh_l0"):
        model.load_state_dict(damaged)


def test_it_starts_from_a_pretrained_directory_without_its_pooler(tmp_path) -> None:
    start = write_directory(tmp_path / "bert")
    sizes = dict(zip(SMALL, (12, 2, 3, 20)))
    cfg = options("bert_sembert", **sizes, pretrained=start)
    BertModel.complete_config(cfg, about(), LAYERS)
    task = text_task(Vocabulary(vocabulary_of("uncased")))
    task.layers = [*task.layers, *LAYERS]
    model, wanted = BertModel.build_model(cfg, task), load_state(start)
    assert {name for name in wanted if "pooler" in name}
    for name, value in model.encoder.state_dict().items():
        assert torch.equal(value, wanted[name][: len(value)]), name  # of known subwords


def test_frozen_layers_leave_it_learning() -> None:
    model = sembert(freeze_layers=3)
    model(**sample_of(3))[0].square().sum().backward()
    learning = {name for name, p in model.named_parameters() if p.grad is not None}
    assert learning == {n for n, _ in model.named_parameters() if n.startswith(("sem", "head."))}


def test_a_checkpoint_knows_the_values_of_its_layers() -> None:
    cfg = options("bert_sembert", **SMALL)
    BertModel.complete_config(cfg, about(), LAYERS)
    assert [pair.partition("=")[0] for pair in cfg.inventories.split(",")] == ROLES
    del cfg.semantic_layers  # as in older checkpoints
    cfg.arch = cfg._name = "bert_plain"
    model = BertModel.build_model(cfg, text_task(Vocabulary(VOCABULARY)))
    assert model.semantics is None


def test_a_folder_without_the_layers_is_refused() -> None:
    message = (
        "--semantic-layers given.srl1,given.srl2,given.srl3 reads the values srl1 that a text "
        "comes with, but the data folder was prepared without: prepare it with --layers .*"
        r"given.srl1,given.srl2,given.srl3 \(CoNLL-U with srl1 in MISC, a column or a file of "
        r"values\)"
    )
    with pytest.raises(InputError, match=message):
        build("bert_sembert", manifest())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"semantic_layers": "heads"}, "--semantic-layers 'heads': 'heads' is no feature"),
        ({"semantic_layers": "roles"}, "--semantic-layers 'roles': unknown layer 'roles'"),
        ({"semantic_layers": "pos,pos"}, "a layer is named twice in 'pos,pos'"),
        ({"semantic_layers": ""}, "--semantic-layers is empty; say '--semantic-layers none'"),
        ({"semantic_kernel": 0}, "--semantic-kernel 0: must be at least 1"),
        ({"semantic_dim": 0}, "--semantic-dim 0: must be at least 1"),
        (
            {"semantic_layers": "pos", "target": "spans"},
            "--semantic-layers pos: what answers questions reads no such layers; choices: "
            "--semantic-layers none, or another architecture",
        ),
    ],
)
def test_wrong_options_are_refused(given, message) -> None:
    target = {"target": given.pop("target"), "labels": []} if "target" in given else {}
    with pytest.raises(InputError, match=message):
        build("bert_sembert", manifest(**target), **given)


@pytest.mark.parametrize("pooling", ["max", "first"])
def test_poolings_differ(pooling) -> None:
    other = "first" if pooling == "max" else "max"
    models = [sembert(semantic_pooling=name) for name in (pooling, other)]
    found = [model(**sample_of(3))[0] for model in models]
    assert not torch.allclose(*found)
