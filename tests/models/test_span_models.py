"""Question answering as a value of the one BERT: sizes, options, combinations, padding, saving."""

from __future__ import annotations

import itertools

import pytest
import torch
from bert_models import QUIET, VOCABULARY, build, loud, manifest, net_input, options, text_task
from torch.nn import functional
from trees import Row, random_heads

from fairseq_plugins.errors import InputError
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.nn.coattention import LOCAL, SKIPS, WIRINGS
from fairseq_plugins.nn.span_heads import LSTMS

ABOUT = manifest(target="spans", labels=[], sentences=2)
PAIRS = [
    Row(random_heads(3, 1), random_heads(6, 2), pieces=[[1, 2, 1], [1, 1, 3, 1, 1, 1]]),
    Row(random_heads(2, 3), random_heads(2, 4)),
    Row(random_heads(4, 5), random_heads(5, 6)),
]
BLOCKS = {"coattention_blocks": 2}
EVERYTHING = {
    "features": "pos",
    "local_attention": "sla",
    "parent_loss_weight": 1.0,
    "ancestor_layers": 1,
    "dual_layers": "0,1",
}
VARIANTS = {
    "plain": {},
    **{
        f"{wiring}-{skip}": {**BLOCKS, "coattention": wiring, "coattention_skip": skip}
        for wiring, skip in itertools.product(WIRINGS, SKIPS)
    },
    **{f"local-{local}": {**BLOCKS, "local_convolutions": local} for local in LOCAL[1:]},
    **{f"lstm-{lstm}": {"span_head": "separate", "span_lstm": lstm} for lstm in LSTMS},
    "merge": {**BLOCKS, "merge_activation": "gelu"},
    "layers": {"span_inputs": "layers"},
    "answerability": {"answerability_loss_weight": 0.5},
    "all": {**BLOCKS, **EVERYTHING, "span_head": "separate", "local_convolutions": "shared"},
}


def answering(arch="bert_plain", **given) -> BertModel:
    return loud(build(arch, ABOUT, **{**QUIET, **given}).double())


def one(sample: dict[str, torch.Tensor], row: int) -> dict[str, torch.Tensor]:
    """Take one example out of a batch, without its padding."""
    size = len(PAIRS[row].words)
    wide = ("src_tokens", "segments", "word_of", "src_factors")
    return {
        name: value[row : row + 1, :size] if name in wide else value[row : row + 1]
        for name, value in sample.items()
    }


def head_size(arch: str, **given) -> int:
    """Count the parameters between encoder and logits, without memory for them."""
    cfg = options(arch, **given)
    BertModel.complete_config(cfg, ABOUT)
    with torch.device("meta"):
        task = text_task(VOCABULARY)
        model = BertModel.build_model(cfg, task)
    assert model.encoder.pooler is None
    return model.parameter_counts()["head"]


def test_the_published_model_adds_what_the_released_code_adds():
    assert head_size("bertqa_literal_base") == 128_457_602
    assert head_size("bertqa_literal") == 128_457_602


def test_both_wirings_have_the_same_parameters():
    assert head_size("bertqa_base") == head_size("bertqa_literal_base")


def test_every_part_has_its_size():
    whole, hidden = head_size("bertqa_base"), 768
    layer = 7_087_872
    assert head_size("bertqa_base", coattention_skip="none") == whole - 2 * hidden
    assert head_size("bertqa_base", coattention_skip="transformer") == whole + layer
    assert head_size("bertqa_base", coattention_blocks=6) == whole - 2 * layer
    lstm = 12 * hidden**2 + 8 * hidden
    assert head_size("bertqa_base", span_lstm="none") == whole - lstm
    joint = 2 * layer + lstm
    assert head_size("bertqa_base", span_head="joint") == whole - joint
    assert head_size("bert_plain_base") == 2 * hidden + 2


@pytest.mark.parametrize("name", VARIANTS)
def test_logits_do_not_depend_on_the_batch(name):
    model = answering(**VARIANTS[name])
    sample = net_input(PAIRS, factors=True)
    with torch.no_grad():
        logits, _ = model(**sample)
        for row, pair in enumerate(PAIRS):
            alone, _ = model(**one(sample, row))
            size = len(pair.words)
            torch.testing.assert_close(logits[row, :size], alone[0], rtol=1e-8, atol=1e-8)
            assert (logits[row, size:] == -torch.inf).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_everything_learns(name):
    model = answering(**VARIANTS[name]).train()
    logits, extra = model(**net_input(PAIRS, factors=True))
    target = torch.tensor([[0, 0], [6, 7], [8, 8]])
    loss = sum(functional.cross_entropy(logits[..., k], target[:, k]) for k in (0, 1))
    if "answerability" in extra:
        loss = loss + extra["answerability"].square().sum()
    (loss + sum(extra["losses"].values())).backward()
    for part, parameter in model.named_parameters():
        assert parameter.grad is not None, part
        assert parameter.grad.isfinite().all(), part


@pytest.mark.parametrize("name", VARIANTS)
def test_half_products_give_nearly_the_same(name):
    model, sample = answering(**VARIANTS[name]).float(), net_input(PAIRS, factors=True)
    wanted, _ = model(**sample)
    with torch.autocast("cpu", torch.bfloat16):
        logits, _ = model(**sample)
    real = wanted.isfinite()
    assert not torch.equal(logits.float(), wanted)
    spread = wanted[real].std()
    assert (logits.float() - wanted)[real].abs().mean() < 0.2 * spread
    logits[real].float().square().mean().backward()
    for part, parameter in model.named_parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all(), part


@pytest.mark.parametrize("name", VARIANTS)
def test_a_saved_model_answers_alike(name, tmp_path):
    model = answering(**VARIANTS[name])
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = build("bert_plain", ABOUT, **{**QUIET, **VARIANTS[name]}).double()
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    sample = net_input(PAIRS, factors=True)
    with torch.no_grad():
        assert torch.equal(model(**sample)[0], other(**sample)[0])


def test_each_option_changes_the_answers():
    sample, seen = net_input(PAIRS, factors=True), {}
    for name, given in VARIANTS.items():
        with torch.no_grad():
            found = answering(**given)(**sample)[0].flatten()
        if name != "answerability":  # a loss of its own; the logits stay
            assert not [other for other, value in seen.items() if torch.equal(found, value)], name
            seen[name] = found


def test_the_features_syntax_and_differences_beneath_matter():
    sample = net_input(PAIRS, factors=True)
    with torch.no_grad():
        plain = answering(**BLOCKS)(**sample)[0]
        for option, value in EVERYTHING.items():
            if option == "parent_loss_weight":  # a loss of its own
                continue
            assert not torch.equal(plain, answering(**BLOCKS, **{option: value})(**sample)[0])


def test_weights_of_coattention_are_shown_when_wanted():
    model, sample = answering(**BLOCKS), net_input(PAIRS)
    with torch.no_grad():
        assert "coattention" not in model(**sample)[1]
        (logits, extra), (plain, _) = model(**sample, need_weights=True), model(**sample)
    assert len(extra["coattention"]) == 2
    torch.testing.assert_close(logits, plain)


@pytest.mark.parametrize("arch", ["bertqa_tiny", "bertqa_literal_minilm"])
def test_coattention_wants_questions(arch):
    with pytest.raises(InputError, match="answers questions.*classes.*prepare questions"):
        build(arch, manifest(sentences=2))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"coattention_blocks": -1}, "--coattention-blocks -1"),
        ({"answerability_loss_weight": -0.5}, "--answerability-loss-weight -0.5"),
        ({"local_convolutions": "shared"}, "--coattention-blocks 0"),
        ({"merge_activation": "gelu"}, "--merge-activation gelu: this model has no coattention"),
        (
            {"span_lstm": "bidirectional"},
            "--span-lstm bidirectional: --span-head joint has no LSTM",
        ),
        ({"answerability_loss_weight": "nan"}, "--answerability-loss-weight nan: must be at least"),
        ({"answerability_loss_weight": "inf"}, "--answerability-loss-weight inf: must be at least"),
        (
            {"classifier_dropout": 0.1},
            "--classifier-dropout 0.1: what finds answers has no dropout",
        ),
        ({"coattention_blocks": 1, "num_attention_heads": 3}, "3 attention heads"),
    ],
)
def test_refuses_options_that_do_not_fit(given, complaint):
    with pytest.raises(InputError, match=complaint):
        build("bert_plain", ABOUT, **given)


def test_a_plain_model_finetunes_into_one_with_coattention(caplog):
    plain = answering(span_head="separate")
    state = plain.state_dict()
    model = build("bert_plain", ABOUT, **QUIET, span_head="separate", **BLOCKS).double()
    model.upgrade_state_dict_named(state, "")
    model.load_state_dict(state)
    assert "no coattention" in caplog.text
    assert torch.equal(model.head.head.start.weight, plain.head.head.start.weight)
