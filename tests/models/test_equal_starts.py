"""With one seed a variant starts as the plain model does, but for what it has of its own."""

from __future__ import annotations

import pytest
import torch
from bert_models import build, manifest
from prepared import make_model, make_task, prepare, random_pairs

from fairseq_plugins.nn.starts import own_start
from fairseq_plugins.pretrained.families import FAMILIES

WORDS, CLASSES, SPANS = "word_labels", "classes", "spans"
KINDS = {  # kind -> target, options
    "features": (WORDS, {"features": "pos"}),
    "affine": (WORDS, {"features": "pos", "feature_merge": "affine", "feature_embed_dim": 5}),
    "sla": (WORDS, {"local_attention": "sla,wla"}),
    "lisa": (WORDS, {"parent_loss_weight": 1.0}),
    "sgnet": (WORDS, {"ancestor_layers": 2}),
    "dual": (CLASSES, {"dual_layers": "all"}),
    "second affinity": (CLASSES, {"dual_layers": "all", "dual_control": "second-affinity"}),
    "semantic": (WORDS, {"semantic_layers": "pos"}),
    "coattention": (SPANS, {"coattention_blocks": 2}),
    "plain layers": (SPANS, {"coattention_blocks": 2, "coattention_control": "plain-layers"}),
    "span parts": (SPANS, {"span_inputs": "layers", "answerability_loss_weight": 0.5}),
    "everything": (
        SPANS,
        {
            "features": "pos",
            "dual_layers": "0,1",
            "local_attention": "sla",
            "ancestor_layers": 1,
            "coattention_blocks": 2,
        },
    ),
}
OWN = {"semantic": ("head.", "encoder.pooler.")}  # the head is of another width
TRANSLATING = {
    "features added": {"feature_merge": "add"},
    "features beside": {"feature_merge": "concat"},
    "sla": {"feature_merge": "add", "encoder_attention": "wla"},
    "glorot": {"feature_merge": "add", "encoder_attention": "wla", "param_init": "glorot"},
}


def of(family: str, target: str, seed: int = 1, **given) -> dict[str, torch.Tensor]:
    sides = {"labels": [] if target == SPANS else ["0", "1"], "sentences": 1 + (target != WORDS)}
    about = manifest(family=FAMILIES[family], target=target, **sides)
    wide = {"embedding_size": 10} if family == "albert" else {}
    return build("bert_plain", about, seed=seed, **wide, **given).state_dict()


@pytest.mark.parametrize("family", ["bert", "albert"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_variant_shares_with_the_plain_model_starts_equal(kind, family):
    target, options = KINDS[kind]
    plain, variant = of(family, target), of(family, target, **options)
    shared = [name for name in plain if not name.startswith(OWN.get(kind, ("none",)))]
    assert len(shared) > 10
    for name in shared:
        assert torch.equal(variant[name], plain[name]), name
    if kind != "lisa":
        drawn = [name for name in {*variant} - {*plain} if variant[name].unique().numel() > 2]
        other = of(family, target, seed=2, **options)
        assert drawn
        assert not any(torch.equal(variant[name], other[name]) for name in drawn)


def test_layers_draw_each_their_own():
    state = of("bert", CLASSES, local_attention="sla", dual_layers="all")
    for mark in ("mixer.gate.weight", "fusion.difference_hat.weight"):
        one, two, three = (value for name, value in state.items() if name.endswith(mark))
        assert not torch.equal(one, two)
        assert not torch.equal(two, three)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return make_task(prepare(tmp_path_factory.mktemp("starts"), {"train": random_pairs(6)}))


@pytest.mark.parametrize("kind", TRANSLATING)
def test_translation_starts_equal_but_for_what_reads_features(kind, task):
    options = TRANSLATING[kind]
    how = {"param_init": options.get("param_init", "fairseq")}
    torch.manual_seed(1)
    plain = make_model(task, features="none", **how).state_dict()
    torch.manual_seed(1)
    variant = make_model(task, **options).state_dict()
    if options["feature_merge"] == "add":
        variant["encoder.embed_tokens.weight"] = variant["encoder.embed_tokens.words.weight"]
    shared = {*plain} & {*variant}
    assert any("encoder.layers" in name for name in shared)
    assert any("decoder.layers" in name for name in shared)
    if "glorot" in kind:  # each matrix draws by its name
        shared -= {"encoder.embed_tokens.weight"}
    for name in shared:
        assert torch.equal(variant[name], plain[name]), name


def test_a_part_draws_from_the_seed_and_its_name_and_leaves_the_rest_alone():
    def drawn(seed: int, part: str) -> list[float]:
        torch.manual_seed(seed)
        with own_start(part):
            inside = torch.rand(()).item()
        return [inside, torch.rand(()).item(), torch.rand(()).item()]

    one = drawn(1, "gate")
    assert one == drawn(1, "gate")
    assert one[0] not in one[1:]  # nor are they the numbers that come next
    assert drawn(1, "top")[1:] == one[1:] != drawn(2, "gate")[1:]
    assert len({one[0], drawn(1, "top")[0], drawn(2, "gate")[0]}) == 3


def test_an_error_inside_leaves_the_rest_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="negative"), own_start("gate"):
        torch.rand(3, -torch.rand(3).numel())
    assert torch.equal(torch.get_rng_state(), before)
