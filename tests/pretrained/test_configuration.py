"""config.json: read completely, and refused where it would compute something else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pretrained_directories import edit_json, shape_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.bert import BertShape
from fairseq_plugins.pretrained.configuration import FORMS, config_of, constants_of, read_shape
from fairseq_plugins.pretrained.families import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_configuration_round_trip(tmp_path, family) -> None:
    shape = BertShape(
        vocabulary=11,
        hidden=6,
        layers=3,
        heads=2,
        intermediate=7,
        positions=29,
        segments=4,
        activation="relu",
        norm_epsilon=1e-5,
        dropout=0.25,
        attention_dropout=0.125,
        padding=5,
    )
    numbers = [value for value in vars(shape).values() if value not in (None, True, False)]
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
    ],
)
def test_what_a_family_does_not_compute_is_refused(tmp_path, family, change, message) -> None:
    shape = replace(shape_of(norm_epsilon=1e-12), **constants_of(FAMILIES[family], 0))
    (tmp_path / "config.json").write_text(json.dumps(config_of(shape, FAMILIES[family])))
    assert read_shape(tmp_path).layers == 2
    edit_json(tmp_path / "config.json", **change)
    with pytest.raises(InputError, match=r"config\.json: ") as caught:
        read_shape(tmp_path)
    assert message in str(caught.value)


def test_unreadable_configurations_are_named(directory) -> None:
    path = directory / "config.json"
    for content in (b"{", b"\xff", b"[1]", b'{"vocab_size": %s}' % (b"9" * 5000)):
        path.write_bytes(content)
        with pytest.raises(InputError, match="config.json(:1: .* UTF-8| is not| holds no)"):
            read_shape(directory)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="no pretrained BERT directory: no config.json"):
        read_shape(directory)
