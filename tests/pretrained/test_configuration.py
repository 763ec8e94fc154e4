"""config.json: read completely, and refused where it would compute something else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pretrained_directories import edit_json, shape_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.bert import BertShape
from fairseq_plugins.nn.relative_positions import Buckets, Disentangled, Rotary
from fairseq_plugins.pretrained.configuration import config_of, constants_of, read_shape
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.forms import FORMS
from fairseq_plugins.pretrained.position_schemes import read_text, text_of

WHOLE, NEAR = "full_attention", "sliding_attention"
RELATIVE = {  # other values than the defaults
    "deberta-v2": [
        Disentangled(99, 0, True, False, False, False, 5, "gelu"),
        Disentangled(99, 6, False, True, True, True, 0, "relu"),
    ],
    "modernbert": [Rotary(700.0, 30.0, 9, 2), Rotary(1.0, 2.0, 1, 99)],
    "mpnet": [Buckets()],
}


@pytest.mark.parametrize(
    ("family", "relative"),
    [(one, value) for one in FAMILIES for value in RELATIVE.get(one, [None])],
)
def test_configuration_round_trip(tmp_path, family, relative) -> None:
    shape = BertShape(
        vocabulary=11,
        hidden=12,
        layers=3,
        heads=2,
        intermediate=7,
        positions=29,
        segments=4,
        activation="relu",
        norm_epsilon=1e-5,
        dropout=0.25,
        attention_dropout=0.125,
        padding=FORMS[family].fixed.get("pad_token_id", 5),
        relative=relative,
    )
    numbers = [value for value in vars(shape).values() if type(value) in (int, float)]
    assert len({*numbers}) == len(numbers)  # no two fields can be exchanged
    own = constants_of(FAMILIES[family], shape.padding)
    own["pooler_activation"] = FORMS[family].pooled
    if FORMS[family].embedding:
        own["embedding"] = 8
    shape = replace(shape, **own)
    (tmp_path / "config.json").write_text(json.dumps(config_of(shape, FAMILIES[family])))
    assert read_shape(tmp_path) == shape


def test_configuration_of_few_words_has_bert_defaults(directory) -> None:
    names = ["type_vocab_size", "pad_token_id", "layer_norm_eps", "hidden_act"]
    names += ["hidden_dropout_prob", "attention_probs_dropout_prob", "position_embedding_type"]
    edit_json(directory / "config.json", **dict.fromkeys(names))
    assert read_shape(directory) == shape_of()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "gpt2"}, "model_type is 'gpt2'; choices: bert, roberta, xlm-roberta"),
        ({"model_type": None}, "model_type is None"),
        ({"position_embedding_type": "relative_key"}, "'relative_key', expected 'absolute'"),
        ({"is_decoder": True}, "is_decoder is True"),
        ({"add_cross_attention": True}, "add_cross_attention is True"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads"),
        ({"hidden_act": "silu"}, "hidden_act is 'silu'; choices: gelu, gelu_new, relu"),
        ({"hidden_act": ["gelu"]}, "hidden_act"),
        ({"hidden_size": None}, "hidden_size is None, expected a number from 1"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"vocab_size": "24"}, "vocab_size is '24'"),
        ({"vocab_size": True}, "vocab_size is True"),
        ({"num_attention_heads": 5}, "num_attention_heads 5 do not divide hidden_size 12"),
        ({"hidden_dropout_prob": 1.5}, "hidden_dropout_prob is 1.5"),
        ({"layer_norm_eps": -1}, "layer_norm_eps is -1"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps is nan"),
        ({"layer_norm_eps": 10**400}, "layer_norm_eps is 1000"),
        ({"pad_token_id": 24}, "pad_token_id 24 is not below vocab_size 24"),
    ],
)
def test_other_configurations_are_refused(directory, change, message) -> None:
    edit_json(directory / "config.json", **change)
    with pytest.raises(InputError, match=r"config\.json: ") as caught:
        read_shape(directory)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("albert", {"num_hidden_groups": 2}, "num_hidden_groups is 2, expected 1"),
        ("albert", {"inner_group_num": 3}, "inner_group_num is 3, expected 1"),
        ("albert", {"embedding_size": 0}, "embedding_size is 0, expected a number from 1"),
        ("albert", {"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000, expected at"),
        ("electra", {"position_embedding_type": "relative_key"}, "expected 'absolute'"),
        ("distilbert", {"n_heads": 5}, "n_heads 5 do not divide dim 12"),
        ("distilbert", {"dim": None}, "dim is None"),
        ("distilbert", {"activation": "silu"}, "activation is 'silu'; choices: gelu"),
        ("roberta", {"max_position_embeddings": 1}, "positions begin at pad_token_id + 1, which"),
        ("mpnet", {"relative_attention_num_buckets": 16}, "num_buckets is 16, expected 32"),
        ("mpnet", {"pad_token_id": 0}, "pad_token_id is 0, expected 1"),
        (
            "modernbert",
            {"num_attention_heads": 4},
            "12 is no multiple of twice num_att",
        ),
        ("modernbert", {"mlp_bias": True}, "mlp_bias is True, expected False"),
        ("modernbert", {"norm_bias": True}, "norm_bias is True, expected False"),
        (
            "modernbert",
            {"rope_scaling": {"factor": 2}},
            "rope_scaling is {'factor': 2}, expected N",
        ),
        (
            "modernbert",
            {"local_attention": 0},
            "local_attention is 0, expected a whole number from",
        ),
        ("modernbert", {"local_attention": 2**40}, "from 1 to 2147483648"),
        ("deberta-v2", {"max_relative_positions": 10**6}, "a whole number from 1 to 65536"),
        ("modernbert", {"global_rope_theta": "1"}, "global_rope_theta is '1', expected a number"),
        (
            "modernbert",
            {"rope_parameters": {WHOLE: {"rope_type": "yarn"}}},
            "{'rope_type': 'yarn'}",
        ),
        (
            "modernbert",
            {"rope_parameters": [1]},
            "full_attention are [1], expected rope_theta alone",
        ),
        (
            "modernbert",
            {"layer_types": [NEAR, WHOLE]},
            "expected full_attention for layer 0 and at",
        ),
        ("modernbert", {"layer_types": [WHOLE]}, "layer_types is ['full_attention'], expected"),
        ("deberta-v2", {"relative_attention": None}, "relative_attention is False, expected True"),
        ("deberta-v2", {"position_buckets": float("nan")}, "position_buckets is nan, expected a"),
        ("deberta-v2", {"attention_head_size": 5}, "attention_head_size is 5, expected 4"),
        ("deberta-v2", {"conv_groups": 2}, "conv_groups is 2, expected 1"),
        ("deberta-v2", {"conv_kernel_size": 4}, "conv_kernel_size is 4, expected an odd number"),
        ("deberta-v2", {"conv_act": ["elu"]}, "conv_act is ['elu'], expected one of tanh, gelu"),
        ("deberta-v2", {"pos_att_type": "p2c|p2p"}, "'p2c|p2p'; choices: c2p, p2c"),
        (
            "deberta-v2",
            {"pos_att_type": None},
            "neither content_to_position nor",
        ),
        ("deberta-v2", {"norm_rel_ebd": 3}, "norm_rel_ebd is 3; choices: layer_norm, none"),
        ("deberta-v2", {"share_att_key": 1}, "share_att_key is 1, expected true or false"),
        (
            "deberta-v2",
            {"position_buckets": 198},
            "position_buckets is 198, expected 2 at",
        ),
        (
            "deberta-v2",
            {"max_relative_positions": 2.5},
            "max_relative_positions is 2.5, expected a",
        ),
    ],
)
def test_what_a_family_does_not_compute_is_refused(tmp_path, family, change, message) -> None:
    own = constants_of(FAMILIES[family], 0) | {"relative": RELATIVE.get(family, [None])[0]}
    padding = FORMS[family].fixed.get("pad_token_id", 0)
    shape = replace(shape_of(norm_epsilon=1e-12, padding=padding), **own)
    (tmp_path / "config.json").write_text(json.dumps(config_of(shape, FAMILIES[family])))
    assert read_shape(tmp_path).layers == 2
    edit_json(tmp_path / "config.json", **change)
    with pytest.raises(InputError, match=r"config\.json: ") as caught:
        read_shape(tmp_path)
    assert message in str(caught.value)


BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12}
BASE |= {"intermediate_size": 3072, "vocab_size": 128100, "max_position_embeddings": 512}
V3 = {
    **BASE,
    "model_type": "deberta-v2",
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "type_vocab_size": 0,
}


@pytest.mark.parametrize(
    ("change", "absolute", "relative"),
    [
        ({}, False, Disentangled()),
        (
            {"conv_kernel_size": 3, "conv_act": "gelu", "attention_head_size": 64},
            False,
            Disentangled(kernel=3, kernel_activation="gelu"),
        ),
        (
            dict.fromkeys([*V3][-8:-3]) | {"position_biased_input": None, "pos_att_type": ["p2c"]},
            True,
            Disentangled(512, 0, False, True, False, False),
        ),
    ],
)
def test_deberta_is_read_as_published(tmp_path, change, absolute, relative) -> None:
    (tmp_path / "config.json").write_text(json.dumps(V3))
    edit_json(tmp_path / "config.json", **change)
    shape = read_shape(tmp_path)
    assert (shape.absolute, shape.relative) == (absolute, relative)
    assert (shape.segments, shape.sides, shape.embedding) == (0, False, None)
    assert (shape.norm_epsilon, shape.projection_first, shape.dropout) == (1e-7, True, 0.1)


MODERN = {**BASE, "model_type": "modernbert", "num_hidden_layers": 6}
OLD = {"global_rope_theta": 9e4, "local_rope_theta": 5e3, "local_attention": 64}
OLD["global_attn_every_n_layers"] = 2
NEW = {"rope_parameters": {WHOLE: {"rope_type": "default", "rope_theta": 9e4}}}
NEW["rope_parameters"][NEAR] = {"rope_theta": 5e3}
NEW |= {"local_attention": 64, "layer_types": [WHOLE, NEAR] * 3}


@pytest.mark.parametrize(
    ("keys", "relative"),
    [
        ({}, Rotary()),
        (OLD, Rotary(9e4, 5e3, 64, 2)),
        (NEW, Rotary(9e4, 5e3, 64, 2)),
        ({**OLD, **NEW, "global_rope_theta": 3.0}, Rotary(9e4, 5e3, 64, 2)),
        ({"local_attention": 64, "sliding_window": 4}, Rotary(window=8)),
        ({"layer_types": [WHOLE] * 6}, Rotary(every=1)),
        ({"layer_types": [WHOLE, *[NEAR] * 5]}, Rotary(every=6)),
        ({"layer_types": [WHOLE, *[NEAR] * 5], "global_attn_every_n_layers": 9}, Rotary(every=9)),
    ],
)
def test_modernbert_is_read_from_keys_of_every_release(tmp_path, keys, relative) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**MODERN, "pad_token_id": 5, **keys}))
    shape = read_shape(tmp_path)
    assert shape.relative == relative
    assert (shape.norm_epsilon, shape.dropout, shape.attention_dropout) == (1e-5, 0, 0)
    assert (shape.absolute, shape.biases, shape.segments) == (False, False, 0)


@pytest.mark.parametrize("family", ["deberta-v2", "modernbert"])
def test_a_scheme_of_positions_is_the_same_as_text(family) -> None:
    for relative in RELATIVE[family]:
        for absolute in {family == "deberta-v2", False}:
            shape = shape_of(relative=relative, absolute=absolute)
            start = replace(shape, relative=FORMS[family].relative, absolute=False)
            assert read_text(start, text_of(shape)) == shape
    assert read_text(shape, f" {[*vars(relative)][1]} = 50").relative != relative


def test_unreadable_configurations_are_named(directory) -> None:
    path = directory / "config.json"
    for content in (b"{", b"\xff", b"[1]", b'{"vocab_size": %s}' % (b"9" * 5000)):
        path.write_bytes(content)
        with pytest.raises(InputError, match="config.json(:1: .* UTF-8| is not| holds no)"):
            read_shape(directory)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="no pretrained BERT directory: no config.json"):
        read_shape(directory)
