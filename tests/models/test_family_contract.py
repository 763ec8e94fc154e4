"""What holds of every family of encoders with every kind of model; how options name a family."""

from __future__ import annotations

import io
import logging
from copy import deepcopy

import pytest
import torch
from bert_models import (
    QUIET,
    SMALL,
    FewSubwords,
    build,
    loud,
    manifest,
    net_input,
    options,
    text_task,
)
from family_directories import FORMS, family_of
from family_encoders import POOLED, SIZES, save_fairseq, save_theirs
from trees import Row, random_heads

from fairseq_plugins.data.dictionaries import ClosedDictionary
from fairseq_plugins.errors import InputError
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

SINGLE = [Row(list(range(12))), Row([0, 1], [2, 0])]  # a chain is longer than masks reach
PAIRS = [
    Row(random_heads(3, 1), random_heads(6, 2), pieces=[[1, 2, 1], [1, 1, 3, 1, 1, 1]]),
    Row(random_heads(2, 3), random_heads(2, 4)),
]
WORDS, CLASSES, SPANS = "word_labels", "classes", "spans"
SYNTAX = {"local_attention": "sla,wla", "parent_loss_weight": 1.0, "ancestor_layers": 1}
NEAR = {"local_attention": "sla", "tree_threshold": 1}
KINDS = {  # kind -> target, options
    "features": (WORDS, {"features": "pos"}),
    "affine": (WORDS, {"features": "pos", "feature_merge": "affine", "feature_embed_dim": 5}),
    "sla": (WORDS, {"local_attention": "sla"}),
    "wla": (WORDS, {"local_attention": "wla"}),
    "lisa": (WORDS, {"parent_loss_weight": 1.0}),
    "sgnet": (WORDS, {"ancestor_layers": 1}),
    "dual": (CLASSES, {"dual_layers": "all", "difference_scope": "cross"}),
    "uer": (CLASSES, {"similarity_layers": "0"}),
    "semantic": (WORDS, {"semantic_layers": "pos"}),
    "semantic pairs": (CLASSES, {"semantic_layers": "pos"}),
    "semantic dual": (
        CLASSES,
        {"semantic_layers": "pos", "features": "pos", "dual_layers": "0", **NEAR},
    ),
    "coattention": (SPANS, {"coattention_blocks": 1, "span_head": "separate"}),
    "everything": (SPANS, {"features": "pos", "dual_layers": "0,1", **SYNTAX}),
}


def of(family: str, target: str = CLASSES, **given) -> BertModel:
    about = manifest(family=FAMILIES[family], target=target, sentences=1 + (target != WORDS))
    about.labels = [] if target == SPANS else about.labels
    wide = {"embedding_size": 10} if family in ("electra", "albert") else {}
    return loud(build(about=about, **{**QUIET, **wide, **given}).double())


def sample_of(model: BertModel, rows) -> dict[str, torch.Tensor]:
    sample = net_input(rows, factors=True, pad=model.encoder.shape.padding)
    sample |= {"similarity": sample["similarity"].double()}
    if model.encoder.pooler is None and not hasattr(model.head, "coattention"):
        real = sample["src_tokens"].ne(model.encoder.shape.padding).sum()
        sample["word_rows"] = torch.arange(int(real))  # every token stands for a word
    return sample


def alone(sample, number: int, row: Row, model: BertModel) -> dict[str, torch.Tensor]:
    wide = ("src_tokens", "segments", "word_of", "src_factors")
    found = {
        name: value[number : number + 1, : len(row.words)] if name in wide else value[[number]]
        for name, value in sample.items()
        if name != "word_rows"
    }
    return found | ({"word_rows": torch.arange(len(row.words))} if "word_rows" in sample else {})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_works_with_every_family(family, kind) -> None:
    target, given = KINDS[kind]
    rows = SINGLE if target == WORDS else PAIRS
    model, plain = of(family, target, **given), of(family, target)
    sample = sample_of(model, rows)
    logits, extra = model(**sample)
    shown = logits.isfinite()
    wanted = plain(**sample)[0]
    assert torch.allclose(logits[shown], wanted[shown]) == (kind == "lisa")  # a loss alone
    (logits[shown].square().sum() + sum(extra["losses"].values())).backward()
    new = {n: p for n, p in model.named_parameters() if n not in plain.state_dict()}
    assert bool(new) == (kind not in ("lisa", "uer"))
    learnt = {n for n, p in model.named_parameters() if p.grad is not None and p.grad.any()}
    last = f"layers.{SMALL['num_hidden_layers'] - 1}."
    assert {n for n in new if n not in learnt and not (last in n and target == CLASSES)} == set()
    with torch.no_grad():
        where = 0
        for number, row in enumerate(rows):
            single = model(**alone(sample, number, row, model))[0]
            end = len(row.words)
            if target == WORDS:
                torch.testing.assert_close(logits[where : where + end], single)
            elif target == CLASSES:
                torch.testing.assert_close(logits[[number]], single)
            else:
                torch.testing.assert_close(logits[[number], :end], single)
            where += end
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    numbers = sum(parameter.numel() for parameter in model.parameters())
    assert sum(value.numel() for value in model.state_dict().values()) == numbers  # each once
    file.seek(0)
    other = of(family, target, **given)
    for parameter in other.parameters():
        parameter.data.normal_()
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(**sample)[0], logits)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_sides_of_a_pair_reach_attention_in_every_family(family) -> None:
    model = of(family, dual_layers="0", difference_scope="cross")
    plain, sample = of(family), sample_of(model, PAIRS)
    other = {**sample, "segments": torch.zeros_like(sample["segments"])}
    assert not torch.allclose(model(**sample)[0], model(**other)[0])
    embedded = family in ("bert", "electra", "albert")
    assert torch.allclose(plain(**sample)[0], plain(**other)[0]) != embedded


def untied(model: BertModel) -> BertModel:
    """Return a copy of a model with shared layers in which every layer has weights of its own."""
    found = deepcopy(model)
    for layer in found.encoder.layers:
        for module in (layer, layer.attention):
            for name, value in [*vars(module).items()]:
                if isinstance(value, torch.nn.Module):
                    del vars(module)[name]
                    setattr(module, name, deepcopy(value))
    return found


def test_layers_that_share_weights_repeat_one_and_its_gradients_add_up() -> None:
    model = of("albert", dual_layers="all")
    apart, sample = untied(model), sample_of(model, PAIRS)
    logits = [one(**sample)[0] for one in (model, apart)]
    assert torch.equal(*logits)
    assert torch.equal(deepcopy(model)(**sample)[0], logits[0])
    for found in logits:
        found.square().sum().backward()
    first, *others = (dict(layer.named_parameters()) for layer in apart.encoder.layers)
    own = dict(model.encoder.layers[1].named_parameters())
    assert own
    assert all(name.startswith("attention.dual.") for name in own)
    for name, parameter in model.encoder.layers[0].named_parameters():
        parts = [layer[name].grad for layer in (first, *others)]
        wanted = parts[0] if name in own else sum(parts)
        torch.testing.assert_close(parameter.grad, wanted)


@pytest.mark.parametrize("family", FAMILIES)
def test_frozen_layers_do_not_learn_but_what_is_new_does(family) -> None:
    layers = SMALL["num_hidden_layers"]
    model = of(family, features="pos", local_attention="sla", target=WORDS, freeze_layers=layers)
    learning = {n for n, p in model.encoder.named_parameters() if p.requires_grad}
    assert learning
    assert all("features" in n or "attention.mixer." in n for n in learning)
    if family == "albert":
        with pytest.raises(InputError, match="--freeze-layers 1: all 3 layers share their weights"):
            of(family, freeze_layers=1)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "bert"])
def test_a_checkpoint_of_any_family_arrives_and_is_needed_no_more(tmp_path, form, caplog) -> None:
    family = FAMILIES[family_of(form)]
    path = FORMS[form](tmp_path / "model")
    save_fairseq(path) if "fairseq" in form else save_theirs(path, family.name)
    sizes = dict(zip(SMALL, (SIZES[n] for n in ("hidden", "layers", "heads", "intermediate"))))
    cfg = options(**sizes, pretrained=path)
    about = manifest(sentences=2, family=family)
    with caplog.at_level(logging.WARNING):
        BertModel.complete_config(cfg, about)
        dictionary = ClosedDictionary(read_vocabulary(path))
        task = text_task(dictionary)
        model = BertModel.build_model(cfg, task).eval()
    anew = form not in POOLED  # fairseq's neither
    assert ("has no pooler: it starts from random weights" in caplog.text) == anew
    assert cfg.family == family.name
    cfg.pretrained = None
    again = BertModel.build_model(cfg, task).eval()
    again.load_state_dict(model.state_dict())
    sample = sample_of(model, PAIRS)
    assert torch.equal(again(**sample)[0], model(**sample)[0])
    assert model.max_positions() == model.encoder.shape.longest
    with pytest.raises(InputError, match=f"family {family.name}, but .* was prepared for bert"):
        BertModel.complete_config(options(**sizes, pretrained=path), manifest())


def test_random_weights_take_the_family_of_the_folder() -> None:
    found = {name: of(name).encoder.shape for name in FAMILIES}
    assert found["roberta"].longest == found["bert"].longest == 512
    assert [found[name].segments for name in FAMILIES] == [2, 1, 1, 2, 0, 2, 0, 0, 0]
    cfg = options(**SMALL, family="electra")
    with pytest.raises(InputError, match="--family is of the family electra, but"):
        BertModel.complete_config(cfg, manifest())
    BertModel.complete_config(cfg, manifest(family=FAMILIES["electra"]))
    assert cfg.family == "electra"
    del cfg.family  # as in older checkpoints
    task = text_task(FewSubwords(FAMILIES["electra"]))
    with pytest.raises(InputError, match="model is of the family bert, .* prepared for electra"):
        BertModel.build_model(cfg, task)


@pytest.mark.parametrize("family", ["electra", "distilbert"])
def test_classifiers_of_before_have_tanh_and_new_ones_what_the_family_has(family) -> None:
    about, cfg = manifest(family=FAMILIES[family]), options(**SMALL)
    task, sample = text_task(FewSubwords(about.family)), net_input(SINGLE)
    BertModel.complete_config(cfg, about)
    models = [BertModel.build_model(cfg, task)]
    del cfg.pooler_activation  # as in older checkpoints
    models.append(BertModel.build_model(cfg, task))
    cfg.pooler_activation = "tanh"
    models.append(BertModel.build_model(cfg, task))
    new, before, tanh = (loud(model.eval())(**sample)[0] for model in models)
    assert torch.equal(before, tanh)
    assert not torch.allclose(new, before)


@pytest.mark.parametrize(
    ("family", "given", "message"),
    [
        ("distilbert", {"type_vocab_size": 2}, "--type-vocab-size 2: distilbert has 0 alone"),
        ("distilbert", {"layer_norm_eps": 1e-5}, "--layer-norm-eps 1e-05: distilbert has 1e-12"),
        ("bert", {"embedding_size": 8}, "--embedding-size: bert has embeddings of its own width"),
        ("electra", {"type_vocab_size": 0}, "--type-vocab-size 0: electra has 1 at least"),
        ("bert", {"position_scheme": "every=2"}, "of bert know positions in one way alone"),
        ("mpnet", {"position_scheme": "every=2"}, "of mpnet know positions in one way alone"),
        (
            "modernbert",
            {"position_scheme": "evry=2"},
            "'evry' is unknown; choices: global_base, loc",
        ),
        (
            "modernbert",
            {"position_scheme": "absolute=true"},
            "'absolute' is unknown; choices: glob",
        ),
        (
            "modernbert",
            {"position_scheme": "every=0"},
            "--position-scheme: every is 0, expected a w",
        ),
        (
            "modernbert",
            {"position_scheme": "window=[[]"},
            r"window is '\[\[\]', expected a whole num",
        ),
        (
            "modernbert",
            {"position_scheme": "local_base=NaN"},
            "local_base is nan, expected a number",
        ),
        ("deberta-v2", {"position_scheme": "absolute=1"}, "absolute is 1, expected true or false"),
        (
            "deberta-v2",
            {"position_scheme": "kernel_activation=elu"},
            "is 'elu', expected one of tanh",
        ),
    ],
)
def test_options_that_no_encoder_of_a_family_has_are_refused(family, given, message) -> None:
    with pytest.raises(InputError, match=message):
        of(family, **given)


SCHEMES = {  # family -> option, fields
    "modernbert": ("window=4, every=2", {"window": 4, "every": 2}),
    "deberta-v2": ("buckets=0,furthest=3,kernel=3", {"buckets": 0, "furthest": 3, "kernel": 3}),
}


@pytest.mark.parametrize("family", SCHEMES)
def test_a_scheme_of_positions_decides_alone(family) -> None:
    text, values = SCHEMES[family]
    plain, model = of(family), of(family, position_scheme=text)
    assert vars(model.encoder.shape.relative) == vars(plain.encoder.shape.relative) | values
    for one in (plain, model):
        for parameter in one.parameters():
            parameter.data.fill_(0.1).mul_(torch.arange(parameter.numel()).view_as(parameter).cos())
    sample = sample_of(model, PAIRS)
    assert not torch.allclose(plain(**sample)[0], model(**sample)[0])


OWN_SCHEMES = {"modernbert": "window=6,every=2", "deberta-v2": "furthest=64,buckets=8"}


@pytest.mark.parametrize("family", SCHEMES)
def test_another_scheme_than_the_checkpoints_is_refused(tmp_path, family) -> None:
    path, (text, _) = save_theirs(FORMS[family](tmp_path / "model"), family), SCHEMES[family]
    sizes = dict(zip(SMALL, (SIZES[n] for n in ("hidden", "layers", "heads", "intermediate"))))
    about, found = manifest(family=FAMILIES[family]), []
    for given in ({}, {"position_scheme": OWN_SCHEMES[family]}):
        cfg = options(**sizes, pretrained=path, **given)
        BertModel.complete_config(cfg, about)
        found.append(cfg.position_scheme)
    assert found[0] == found[1]
    assert OWN_SCHEMES[family] in found[0]
    with pytest.raises(
        InputError, match=f"--position-scheme {text} .checkpoint: .*{OWN_SCHEMES[family]}"
    ):
        BertModel.complete_config(options(**sizes, pretrained=path, position_scheme=text), about)
