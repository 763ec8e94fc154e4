"""Controls that are other models: dual attention and coattention with something else in place."""

from __future__ import annotations

import pytest
import torch
from bert_models import QUIET, SMALL, added, build, loud, manifest, net_input
from trees import Row, random_heads

from fairseq_plugins.architectures.model_parts import size
from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.dual_attention import CONTROLS

PAIRS = manifest(sentences=2)
ABOUT = manifest(target="spans", labels=[], sentences=2)
ROWS = [
    Row(random_heads(3, 1), random_heads(6, 2), pieces=[[1, 2, 1], [1, 1, 3, 1, 1, 1]]),
    Row(random_heads(2, 3), random_heads(2, 4)),
]
SAMPLE = net_input(ROWS)
PLAIN = {"coattention_blocks": 2, "coattention_control": "plain-layers"}


def pair_model(**given):
    return loud(build("dabert", PAIRS, **{**QUIET, **given}).double())


def answering(**given):
    return loud(build("bertqa", ABOUT, **{**QUIET, "coattention_blocks": 2, **given}).double())


@pytest.mark.parametrize("scope", ["all", "cross"])
def test_controls_of_dual_attention_differ_and_have_its_parameters(scope):
    models = {name: pair_model(dual_control=name, difference_scope=scope) for name in CONTROLS}
    assert len({added("dabert_base", PAIRS, dual_control=name) for name in CONTROLS}) == 1
    state, answers = models["none"].state_dict(), {}
    for name, model in models.items():
        model.load_state_dict(state)
        answers[name] = model(**SAMPLE)[0]
    assert torch.equal(answers["none"], pair_model(difference_scope=scope)(**SAMPLE)[0])
    for one, other in (CONTROLS[:2], CONTROLS[1:], CONTROLS[::2]):
        assert not torch.allclose(answers[one], answers[other])


def test_a_second_affinity_is_the_layers_own_attention():
    model = pair_model(dual_control="second-affinity")
    _, extra = model(**SAMPLE, need_weights=True)
    torch.testing.assert_close(extra["difference"][0], extra["attention"][0])
    _, extra = pair_model()(**SAMPLE, need_weights=True)
    assert not torch.allclose(extra["difference"][0], extra["attention"][0])


def test_without_a_difference_the_fusion_reads_nothing_beside_affinity():
    model = pair_model(dual_control="no-difference")
    _, extra = model(**SAMPLE, need_weights=True)
    assert not extra["difference"][0].any()
    before = model(**SAMPLE)[0]
    dual = model.encoder.layers[0].attention.dual
    with torch.no_grad():
        dual.fusion.guide_difference.values.weight.add_(1)
        dual.fusion.difference_star.weight[:, : SMALL["hidden_size"]].add_(1)
    assert torch.equal(model(**SAMPLE)[0], before)
    with torch.no_grad():
        dual.fusion.affinity_star.weight.add_(1)
    assert not torch.allclose(model(**SAMPLE)[0], before)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"coattention_skip": "highway"},
        {"local_convolutions": "shared"},
        {"coattention_blocks": 7},
    ],
    ids=str,
)
def test_plain_layers_have_as_many_parameters_as_coattention(given):
    own, plain = (
        answering(**given, coattention_control=name).head.coattention
        for name in ("none", "plain-layers")
    )
    count = len(own.blocks)
    assert len(plain.layers) == count
    assert abs(size(plain) - size(own)) <= count * (2 * SMALL["hidden_size"] + 1) / 2


def test_in_plain_layers_no_side_attends_to_the_other_alone():
    """They read the row as layers of the encoder do, segments or not."""
    model = answering(**PLAIN)
    swapped = {**SAMPLE, "segments": 1 - SAMPLE["segments"]}
    logits = []
    for sample in (SAMPLE, swapped):
        output = model.encoder(SAMPLE["src_tokens"], SAMPLE["segments"])
        logits.append(model.head(output, sample["segments"])[0])
    assert torch.equal(*logits)
    output = model.encoder(SAMPLE["src_tokens"], SAMPLE["segments"])
    own = answering()
    sides = [own.head(output, sample["segments"])[0] for sample in (SAMPLE, swapped)]
    assert not torch.allclose(*sides)


def test_plain_layers_learn_and_do_not_depend_on_the_batch():
    model = answering(**PLAIN)
    logits, extra = model(**SAMPLE, need_weights=True)
    assert extra["coattention"] == []
    width = len(ROWS[1].words)
    alone = {name: value[1:2, :width] for name, value in SAMPLE.items() if name != "similarity"}
    torch.testing.assert_close(model(**alone)[0], logits[1:2, :width])
    logits[logits.isfinite()].square().sum().backward()
    layers = model.head.coattention.parameters()
    assert all(weight.grad.abs().sum() > 0 for weight in layers)


def test_plain_layers_need_blocks_to_replace():
    with pytest.raises(InputError, match="--coattention-control plain-layers: this model has no"):
        build("bert_plain", ABOUT, coattention_control="plain-layers")
