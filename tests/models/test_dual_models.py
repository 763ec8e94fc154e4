"""``dabert`` and ``bert_uer``: options become parts, parts combine, checkpoints carry them."""

from __future__ import annotations

import pytest
import torch
from bert_models import (
    QUIET,
    SMALL,
    VOCABULARY,
    added,
    build,
    loud,
    manifest,
    net_input,
    options,
    text_task,
)
from fairseq.models import ARCH_MODEL_REGISTRY
from trees import Row, context_of

from fairseq_plugins.architectures.bert_options import SIZES
from fairseq_plugins.errors import InputError
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.nn.fusion import ABLATIONS

KINDS = ["dabert", "dabert_literal", "bert_uer"]
PAIRS = manifest(sentences=2)
ROWS = [Row([0, 1, 2], [2, 0], pieces=[[1, 2, 1], [1, 1]]), Row([0], [0, 1, 1, 1])]


def made(arch: str, **given) -> BertModel:
    return build(arch, PAIRS, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_every_size(kind):
    assert {kind, *(f"{kind}_{size}" for size in SIZES)} <= set(ARCH_MODEL_REGISTRY)


def test_added_parameters():
    assert added("dabert_base", PAIRS) == 5_120_000  # 5,120,002 with the biases that cancel
    guides = 2 * (768 * 128 + 128)  # what cancels in the printed form: W_a and its bias, twice
    assert added("dabert_literal_base", PAIRS) == 5_120_000 - guides
    assert added("dabert_base", PAIRS, dual_layers="0,3") == 2 * 5_120_000
    assert added("dabert_base", PAIRS, ablate="difference") == 0
    assert added("dabert_base", PAIRS, ablate="regulation") == 0
    assert added("bert_uer_base", PAIRS) == 0


def test_every_option_reaches_its_part():
    model = made(
        "dabert",
        dual_layers="1,2",
        difference="l2",
        difference_scope="cross",
        guide="concat",
        guide_dim=5,
        fusion_output="replace",
        fusion_init="zero",
        ablate="filter-gate",
        attention_dropout=0.3,
    )
    layers = [layer.attention.dual for layer in model.encoder.layers]
    assert [dual is None for dual in layers] == [True, False, False]
    for number, dual in enumerate(layers[1:], 1):
        assert dual.layer == number
        assert (dual.difference.difference, dual.difference.dropout.p) == ("l2", 0.3)
        assert dual.difference.rule is not None
        assert dual.fusion.guide_affinity.guide is None
        assert dual.fusion.guide_affinity.values.out_features == 5
        assert not dual.fusion.adds
        assert dual.fusion.last_weight.abs().sum() == 0
        assert dual.fusion.ablate == "filter-gate"
    similar = made("bert_uer", similarity_layers="0,2")
    assert [layer.attention.mixer.similar for layer in similar.encoder.layers] == [
        True,
        False,
        True,
    ]


def test_presets_are_the_papers_two_readings():
    intended = made("dabert").encoder.layers[0].attention.dual
    literal = made("dabert_literal").encoder.layers[0].attention.dual
    assert (intended.difference.difference, intended.fusion.adds) == ("l1", True)
    assert (literal.difference.difference, literal.fusion.adds) == ("signed", False)
    assert intended.fusion.guide_affinity.guide is not None
    assert literal.fusion.guide_affinity.guide is None


def test_what_a_model_reads_follows_from_its_parts():
    def reads(*kind, **given):
        needs = made(*kind, **given).needs
        assert needs.pairs
        return needs.words, needs.reads(training=True)

    assert reads("dabert") == (False, ())
    assert reads("dabert", difference_scope="cross") == (True, ())
    assert reads("bert_uer") == (True, ("similarity",))
    assert reads("dabert", local_attention="sla") == (True, ("heads",))
    assert reads("dabert", local_attention="wla") == (True, ())


@pytest.mark.parametrize("kind", KINDS)
def test_every_new_parameter_learns_and_every_kind_differs_from_plain_bert(kind):
    model, sample = loud(made(kind, **QUIET)).double(), net_input(ROWS)
    plain = loud(made("bert_plain", **QUIET)).double()
    logits, _ = model(**sample)
    assert (logits - plain(**{**sample, "similarity": None})[0]).abs().max() > 1e-3
    logits.square().sum().backward()
    for name, parameter in model.encoder.layers[0].attention.named_parameters():
        # as printed, all rows of the difference are equal: whatever guides them chooses the same
        idle = kind == "dabert_literal" and "guide_difference" in name
        assert (parameter.grad.abs().sum() > 1e-9) != idle, name


def test_the_guide_as_printed_learns_where_the_rows_of_two_sentences_differ():
    model = loud(made("dabert_literal", difference_scope="cross", **QUIET)).double()
    model(**net_input(ROWS))[0].square().sum().backward()
    for parameter in model.encoder.layers[0].attention.dual.fusion.guide_difference.parameters():
        assert parameter.grad.abs().sum() > 1e-9


@pytest.mark.parametrize("ablate", ABLATIONS[1:])
def test_every_ablation_differs_from_the_whole_and_one_is_plain(ablate):
    sample = net_input(ROWS)
    logits, _ = loud(made("dabert", ablate=ablate, **QUIET))(**sample)
    assert (logits - loud(made("dabert", **QUIET))(**sample)[0]).abs().max() > 1e-4
    plain = loud(made("bert_plain", **QUIET))(**sample)[0]
    assert torch.equal(logits, plain) == (ablate == "difference")


def test_a_zero_start_is_plain_bert_at_step_0_through_the_model():
    sample = net_input(ROWS)
    plain = made("bert_plain", **QUIET)
    for init, same in (("zero", True), ("normal", False)):
        model = made("dabert", fusion_init=init, **QUIET)
        model.load_state_dict(plain.state_dict(), strict=False)
        assert torch.equal(model(**sample)[0], plain(**sample)[0]) == same


LOCAL = ("tree_threshold", "window")


def test_features_trees_similarity_and_dual_attention_meet_in_one_encoder():
    together = {
        "features": "pos",
        "local_attention": "sla,wla",
        "tree_threshold": 0,
        "window": 1,
        "similarity_layers": "all",
        "parent_loss_weight": 0.5,
        "ancestor_layers": 1,
        "dual_layers": "0,1",
    }
    model, sample = loud(made("dabert", **together, **QUIET)).train(), net_input(ROWS, factors=True)
    logits, extra = model(**sample)
    assert set(extra["gates"]) == {0, 1, 2}
    assert set(extra["fusion"]) == {0, 1}
    (logits.square().sum() + sum(extra["losses"].values())).backward()
    still = [
        name
        for name, p in model.named_parameters()
        if p.grad is None and not name.endswith("layers.2.attention.mixer.gate.weight")
    ]
    assert still == []
    whole = model.eval()(**sample)[0]
    off = {"features": "none", "local_attention": "none", "similarity_layers": "none"}
    off |= {"parent_loss_weight": 0.0, "ancestor_layers": 0, "dual_layers": "none"}
    for name, value in off.items():
        if name != "parent_loss_weight":  # learns only
            given = {**together, name: value}
            if name == "local_attention":  # whose options nothing reads then
                given = {key: one for key, one in given.items() if key not in LOCAL}
            other = loud(made("dabert", **given, **QUIET))
            assert (other(**sample)[0] - whole).abs().max() > 1e-4, name


def test_without_affinity_local_gates_of_the_layer_are_not_made():
    model = made("dabert", local_attention="wla", ablate="affinity", **QUIET)
    loud(model)(**net_input(ROWS))[0].sum().backward()
    assert all(p.grad is not None for p in model.encoder.layers[0].attention.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_batch_equals_single(kind):
    model, sample = loud(made(kind, **QUIET)), net_input(ROWS)
    together, _ = model(**sample)
    for b, row in enumerate(ROWS):
        size, words = len(row.words), len(row.heads)
        alone = {name: value[b : b + 1, :size] for name, value in sample.items()}
        alone |= {"heads": sample["heads"][b : b + 1, :words]}
        alone |= {"similarity": sample["similarity"][b : b + 1, :words, :words]}
        torch.testing.assert_close(model(**alone)[0][0], together[b], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_models_agree(kind, tmp_path):
    model, sample = loud(made(kind, **QUIET)), net_input(ROWS)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = made(kind, **QUIET)
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(other(**sample)[0], model(**sample)[0])


def test_word_similarity_multiplies_scores():
    """Weights are the softmax of scores times the similarity of the tokens' words."""
    model, sample = loud(made("bert_uer", num_hidden_layers=1, **QUIET)), net_input(ROWS)
    shown = model(**sample, need_weights=True)[1]["attention"][0]  # (B, H, S, S)
    ones = {**sample, "similarity": torch.ones_like(sample["similarity"])}
    assert (shown - model(**ones, need_weights=True)[1]["attention"][0]).abs().max() > 1e-3
    layer = model.encoder.layers[0].attention
    context = context_of(ROWS)
    context = type(context)(
        context.layout, context.segments, context.words, context.heads, sample["similarity"]
    )
    rows = model.encoder.embeddings(sample["src_tokens"], sample["segments"], context.layout, None)
    (block, *_) = context.layout.blocks
    query, key, _ = block.take(layer.qkv(rows)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
    scores = query @ key.mT / query.shape[-1] ** 0.5 * context.similarity_of(block)[:, None]
    size = block.length
    torch.testing.assert_close(scores.softmax(-1), shown[block.sentences, :, :size, :size])


def test_dual_attention_of_frozen_layers_learns():
    model = made("dabert", freeze_layers=2)
    layer = model.encoder.layers[0]
    assert all(p.requires_grad for p in layer.attention.dual.parameters())
    assert not layer.attention.qkv.weight.requires_grad


@pytest.mark.parametrize("arch", ["dabert", "dabert_literal", "bert_uer"])
def test_a_plain_or_local_checkpoint_starts_any_kind(arch, caplog):
    for start in ("bert_plain", "bert_sla"):
        given = {"local_attention": "sla"} if start == "bert_sla" else {}
        state, model = made(start).state_dict(), made(arch, **given)
        model.upgrade_state_dict_named(state, "")
        model.load_state_dict(state)
    assert ("no dual attention" in caplog.text) == (arch != "bert_uer")


def test_an_older_checkpoint_without_these_options_is_plain():
    cfg = options("bert_plain", **SMALL)
    BertModel.complete_config(cfg, PAIRS)
    for name in ("dual_layers", "difference", "guide", "fusion_output", "similarity_layers"):
        delattr(cfg, name)
    task = text_task(VOCABULARY)
    model = BertModel.build_model(cfg, task)
    assert all(layer.attention.dual is None for layer in model.encoder.layers)


def test_single_sentences_are_refused():
    for arch in KINDS:
        with pytest.raises(InputError, match="the data folder has single sentences"):
            build(arch, manifest(sentences=1))
    build("dabert", manifest(sentences=1), dual_layers="none")


def test_a_folder_without_similarities_is_refused():
    about = manifest(sentences=2, annotations=["pos", "heads"])
    with pytest.raises(InputError, match="prepare it with --layers pos,heads,similarity"):
        build("bert_uer", about)
    build("dabert", about)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dual_layers": "3"}, "--dual-layers '3': there is no layer 3"),
        ({"dual_layers": "first"}, "--dual-layers 'first': say 'all', or numbers"),
        ({"similarity_layers": "0,0"}, "--similarity-layers '0,0' names a layer twice"),
        ({"guide_dim": 0}, "--guide-dim 0: must be at least 1"),
        (
            {"dual_layers": "none", "ablate": "guide"},
            "--ablate guide: this model has no dual",
        ),
        ({"similarity_layers": "0", "ablate": "affinity"}, "0: --ablate affinity leaves these"),
    ],
)
def test_wrong_options_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        made("dabert", **given)


def test_an_unknown_norm_is_refused_on_the_command_line_and_in_python(capsys):
    with pytest.raises(SystemExit):
        options("dabert", difference="l3")
    assert "l1" in capsys.readouterr().err
    cfg = options("dabert", **SMALL)
    cfg.difference = "l3"
    with pytest.raises(InputError, match="--difference 'l3': choices are l1, l2, squared, signed"):
        BertModel.complete_config(cfg, PAIRS)
