"""A training that starts from a trained translation model, before its first update."""

from __future__ import annotations

import logging
from argparse import Namespace
from itertools import combinations

import pytest
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.models.bart import BARTModel
from fairseq.models.transformer import TransformerModel
from prepared import batches, make_model, make_task, prepare, random_pairs, train

from fairseq_plugins.tasks._checks import Refused

FEATURES = ("pos", "case", "subword")
SIDES = ("encoder", "decoder")
SETS = [",".join(names) for k in (1, 2, 3) for names in combinations(FEATURES, k)]
SIZES = {"encoder_embed_dim": 32, "encoder_ffn_embed_dim": 48, "encoder_layers": 3}
SIZES |= {"encoder_attention_heads": 4, "decoder_layers": 1, "activation_fn": "gelu"}
SHAPES = {  # of fairseq's transformer, and of BART
    "plain": {"share_decoder_input_output_embed": True},
    "shared": {"share_all_embeddings": True, "encoder_normalize_before": True,
               "decoder_normalize_before": True},
    "learnt": {"encoder_learned_pos": True, "decoder_learned_pos": True,
               "layernorm_embedding": True, "no_scale_embedding": True,
               "max_source_positions": 40, "max_target_positions": 50},
    "mbart": {"max_source_positions": 40, "max_target_positions": 50, "layernorm_embedding": True,
              "decoder_attention_heads": 4},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pairs = {"train": random_pairs(12), "valid": random_pairs(4, 1)}
    return prepare(tmp_path_factory.mktemp("data") / "data", pairs, joined=True, parse=True)


@pytest.fixture(scope="module")
def task(folder):
    made = make_task(folder)
    made.load_dataset("train")
    return made


@pytest.fixture(scope="module")
def stock(folder, task, tmp_path_factory):
    """Return what makes a checkpoint of stock fairseq, with its model."""

    def make(shape="plain", **more):
        args = Namespace(**{**SIZES, **SHAPES[shape]})
        args.arch, kind = "transformer_tiny", TransformerModel
        if shape == "mbart":
            args.arch, kind = "mbart_base", BARTModel
        ARCH_CONFIG_REGISTRY[args.arch](args)
        torch.manual_seed(3)
        model = kind.build_model(args, task).eval()
        place = tmp_path_factory.mktemp("model")
        for name in ("dict.en.txt", "dict.de.txt"):
            (place / name).write_bytes((folder / name).read_bytes())
        cfg = {"model": args, "task": {"_name": "translation"}}
        torch.save({"args": None, "cfg": cfg, "model": model.state_dict()} | more, place / "a.pt")
        return model, place

    return make


def hypotheses(task, model, sample):
    """Translate a batch: tokens and scores of all beams."""
    found = task.build_generator([model], Namespace(beam=3, max_len_b=12)).generate([model], sample)
    return [[(one["tokens"].tolist(), one["score"].item()) for one in beams] for beams in found]


def start(task, place, **options):
    return make_model(task, "syntax_transformer", pretrained=str(place), **options)


def bare(sample):
    kept = {k: v for k, v in sample["net_input"].items() if k != "src_factors"}
    return {**sample, "net_input": kept}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_feature_set_begins_at_the_trained_translations(task, stock, shape, caplog):
    theirs, place = stock(shape)
    sample = batches(task, "train", max_sentences=12)[0]
    scores = theirs(**bare(sample)["net_input"])[0]  # first: fairseq's search changes BART's
    wanted = hypotheses(task, theirs, bare(sample))
    for names in SETS:
        with caplog.at_level(logging.INFO):
            ours = start(task, place, features=names, feature_merge="add")
        assert torch.equal(ours(**sample["net_input"])[0], scores)
        assert hypotheses(task, ours, sample) == wanted, names
    assert f"starts from {place / 'a.pt'}; new: source features; left out: none" in caplog.text
    ours(**sample["net_input"])[0].square().mean().backward()  # and the features learn
    assert all(
        table.weight.grad[2:].abs().max() > 0
        for table in ours.encoder.embed_tokens.factors.tables.values()
    )
    other = start(task, place, features="pos", feature_merge="add", feature_init="normal")
    assert hypotheses(task, other, sample) != wanted


def test_a_checkpoint_of_an_old_release_starts(task, stock):
    theirs, place = stock()
    state = torch.load(place / "a.pt", weights_only=False)
    weights = {k: v for k, v in state["model"].items() if "output_projection" not in k}
    weights |= {f"{side}.embed_positions._float_tensor": torch.zeros(1) for side in SIDES}
    torch.save({"args": state["cfg"]["model"], "model": weights}, place / "a.pt")
    sample = batches(task, "train", max_sentences=12)[0]
    ours = start(task, place, feature_merge="add")
    assert torch.equal(ours(**sample["net_input"])[0], theirs(**bare(sample)["net_input"])[0])


def test_a_plain_model_and_one_with_local_attention_start(task, stock, caplog):
    theirs, place = stock()
    sample = batches(task, "train", max_sentences=12)[0]
    wanted = theirs(**bare(sample)["net_input"])[0]
    assert torch.equal(start(task, place, features="none")(**bare(sample)["net_input"])[0], wanted)
    how = {"features": "none", "encoder_attention": "wla", "window": 0}
    with caplog.at_level(logging.INFO):
        near = start(task, place, gate_bias_init=-30.0, **how)(**sample["net_input"])[0]
    assert "new: gates of local attention; left out: none" in caplog.text
    assert torch.allclose(near, wanted, atol=1e-5)
    half = start(task, place, **how)(**sample["net_input"])[0]
    assert not torch.allclose(half, wanted, atol=1e-3)


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """Return what trains a model of ours for two updates, and gives its checkpoint."""

    def run(*more, name=None, updates=2):
        place = name or tmp_path_factory.mktemp("run")
        fixed = f"--arch syntax_transformer_tiny --lr 0.01 --max-update {updates} --max-tokens 99"
        return train(folder, place, *fixed.split(), *more)

    return run


def test_a_model_of_ours_starts_one_with_other_features(task, trained, caplog):
    place = trained("--features", "pos,case", "--feature-merge", "overlay")
    kept = torch.load(place)["model"]
    with caplog.at_level(logging.INFO):
        made = start(task, place, features="case,subword")
    assert "new: source features; left out: source features" in caplog.text
    tables = made.encoder.embed_tokens.factors.tables
    assert made.encoder.embed_tokens.merge == "overlay"
    assert torch.equal(
        tables["case"].weight, kept["encoder.embed_tokens.factors.tables.case.weight"]
    )
    assert not tables["subword"].weight.any()
    assert "pos" not in tables


def test_a_training_goes_on_without_the_model_it_started_from(
    folder, stock, trained, tmp_path, monkeypatch
):
    _, place = stock("learnt")
    how = ["--pretrained", str(place / "a.pt"), "--feature-merge", "add"]
    straight = torch.load(trained(*how, name=tmp_path / "straight", updates=4))
    trained(*how, name=tmp_path / "run")
    (place / "a.pt").unlink()
    resumed = torch.load(trained(*how, name=tmp_path / "run", updates=4))
    assert resumed["cfg"]["model"]["encoder_layers"] == 3
    for name, value in straight["model"].items():
        assert torch.equal(value, resumed["model"][name]), name
    with pytest.raises(Refused, match="no such checkpoint"):
        trained(*how, name=tmp_path / "new")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoder_layers": 6}, r"a.pt contradicts --encoder-layers 6 \(there 3\)$"),
        ({"share_all_embeddings": True}, r"contradicts --share-all-embeddings True \(there False"),
        ({"feature_merge": "concat"}, "concat takes dimensions .* give --feature-merge add"),
        ({"feature_merge": "overlay"}, "overlay takes dimensions"),
    ],
)
def test_options_that_contradict_the_model_are_refused(task, stock, options, said):
    _, place = stock()
    with pytest.raises(Refused, match=said):
        start(task, place, **options)


def test_another_dictionary_is_refused_by_its_first_difference(task, stock):
    _, place = stock()
    path = place / "dict.de.txt"
    lines = path.read_text().split("\n")
    path.write_text("\n".join([lines[1], lines[0], *lines[2:]]))
    with pytest.raises(Refused, match=r"dict\.de\.txt is not .*: subword 4 is 'Cat', .* has 'E'"):
        start(task, place, feature_merge="add")
    path.unlink()
    with pytest.raises(Refused, match=r"no dict\.de\.txt beside it"):
        start(task, place, feature_merge="add")


def test_other_models_and_broken_weights_are_refused(task, stock):
    state = torch.load(stock()[1] / "a.pt", weights_only=False)
    args, weights = state["cfg"]["model"], state["model"]
    changes = {
        "'lstm'; --pretrained reads": {"args": Namespace(arch="lstm"), "cfg": None},
        "'decoder.layers.0.fc2.bias' has shape none there": {
            "model": {k: v for k, v in weights.items() if k != "decoder.layers.0.fc2.bias"}
        },
        "'encoder.layers.0.fc1.weight' has shape .48, 32. there, .64, 32. here": {
            "args": Namespace(**{**vars(args), "encoder_ffn_embed_dim": 64}), "cfg": None
        },
        "no finite number": {"model": {k: v / 0 for k, v in weights.items()}},
        "option 'encoder_layers' is 'x', expected": {
            "args": Namespace(**{**vars(args), "encoder_layers": "x"}), "cfg": None
        },
        "ask for .* bytes of weights": {
            "args": Namespace(**{**vars(args), "encoder_ffn_embed_dim": 10**12}), "cfg": None
        },
    }  # fmt: skip
    for said, change in changes.items():
        with pytest.raises(Refused, match=said):
            start(task, stock(**change)[1], feature_merge="add")


def test_a_start_from_two_models_is_refused(stock, trained):
    place = str(stock()[1])
    with pytest.raises(Refused, match="--pretrained and --finetune-from-model: give one"):
        trained("--pretrained", place, "--finetune-from-model", f"{place}/a.pt")
