"""Local attention in the translation encoder: what it must be, must read and must not change."""

from __future__ import annotations

import pytest
import torch
from prepared import batches, make_model, make_task, prepare, random_pairs, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.models import _encoder
from fairseq_plugins.models._encoder import LocalPlan, heads_of_words, openings
from fairseq_plugins.nn.tree_masks import RelationRule, TreeRule, WindowRule

KINDS = ["sla", "wla", "parent", "child", "sibling", "sla,wla", "parent,child,sibling"]


def narrow(kind):
    """Return options that let local attention of a kind go but one step."""
    own = {"sla": {"tree_threshold": 1}, "wla": {"window": 1}}
    return {name: value for one in kind.split(",") for name, value in own.get(one, {}).items()}


START = ("--arch", "syntax_transformer_tiny", "--batch-size", "4", "--max-update", "1")


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    pairs = random_pairs(12, longest=12)
    folder = prepare(tmp_path_factory.mktemp("parsed"), {"train": pairs}, joined=True, parse=True)
    made = make_task(folder)
    made.load_dataset("train")
    return made


@pytest.fixture(scope="module")
def unparsed(tmp_path_factory):
    pairs = random_pairs(12, longest=12)
    return make_task(prepare(tmp_path_factory.mktemp("bare"), {"train": pairs}, joined=True))


@pytest.fixture(scope="module")
def batch(task):
    return batches(task, "train", max_sentences=12)[0]


@pytest.fixture(scope="module")
def plain(task):
    torch.manual_seed(2)
    return make_model(task)


def local(task, plain, kind, **options):
    """A model with the weights of a plain one and gates of its own."""
    model = make_model(task, encoder_attention=kind, **{**narrow(kind), **options})
    model.load_state_dict(plain.state_dict())
    return model


def gates(model):
    return [p for name, p in model.named_parameters() if ".gate." in name]


def scores(model, batch, **changes):
    with torch.no_grad():
        return model(**{**batch["net_input"], **changes})[0]


def close(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=5e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", ["none", "pos,case"])
def test_closed_gates_are_the_plain_encoder(task, batch, kind, features):
    plain = make_model(task, features=features)
    model = local(task, plain, kind, features=features)
    assert not torch.allclose(scores(model, batch), scores(plain, batch), atol=1e-3)
    for gate in gates(model):
        torch.nn.init.constant_(gate, 0 if gate.dim() > 1 else -60)
    close(scores(model, batch), scores(plain, batch))


def test_none_has_nothing_new(task, plain, batch):
    torch.manual_seed(2)
    model = make_model(task, encoder_attention="none")
    assert model.state_dict().keys() == plain.state_dict().keys()
    assert torch.equal(scores(model, batch), scores(plain, batch))
    assert model.needs.layers == ()
    kinds = {type(layer).__module__ for layer in model.encoder.layers}
    assert kinds == {"fairseq.modules.transformer_layer"}


@pytest.mark.parametrize(("kind", "far"), [("sla", {"tree_threshold": 2}), ("wla", {"window": 50})])
def test_far_sight_is_plain_whatever_the_gates(task, plain, batch, kind, far):
    """The trees here are two steps wide."""
    close(scores(local(task, plain, kind, **far), batch), scores(plain, batch))
    assert not torch.allclose(scores(local(task, plain, kind), batch), scores(plain, batch))


@pytest.mark.parametrize(("kind", "reads"), [("sla", True), ("parent", True), ("wla", False)])
def test_only_syntax_reads_heads(task, plain, batch, kind, reads):
    model = local(task, plain, kind)
    assert (model.needs.layers == ("heads",)) == reads
    factors = batch["net_input"]["src_factors"].clone()
    factors[..., 4] = factors[..., 3].clamp(max=1)  # the first word becomes the root
    changed = scores(model, batch, src_factors=factors)
    assert torch.equal(changed, scores(model, batch)) != reads


def test_open_punctuation_is_seen_by_all(tmp_path):
    """The subword of a sign is one, marked or not; without any nothing changes."""
    letters = random_pairs(12, longest=12)
    answers = {}
    for name, change in (("letters", {}), ("signs", {"dog": ".", "go@@": ",@@"})):
        source = [" ".join(change.get(word, word) for word in a.split()) for a, _ in letters]
        pairs = [*zip(source, (b for _, b in letters))]
        made = make_task(prepare(tmp_path / name, {"train": pairs}, joined=True, parse=True))
        made.load_dataset("train")
        torch.manual_seed(2)
        plain, (inputs,) = make_model(made), batches(made, "train", max_sentences=12)
        for value in ("none", "punctuation"):
            given = {"tree_threshold": 0, "tree_neighbours": "none", "tree_open": value}
            torch.manual_seed(3)  # of the gates
            model = local(made, plain, "sla", **given)
            answers[name, value] = scores(model, inputs)
            assert not any("punctuation" in key for key in model.state_dict())
    symbols = [made.src_dict.symbols[i] for i in model.encoder.punctuation.nonzero()[:, 0]]
    assert symbols == [",@@", "."]
    assert torch.equal(answers["letters", "none"], answers["letters", "punctuation"])
    assert not torch.allclose(answers["signs", "none"], answers["signs", "punctuation"], atol=1e-4)


def test_subwords_and_words_are_counted(task, plain, batch):
    by_words = local(task, plain, "wla", window_unit="words")
    found = scores(by_words, batch)
    assert not torch.allclose(found, scores(local(task, plain, "wla"), batch))
    factors = batch["net_input"]["src_factors"].clone()
    factors[..., 3] = (factors[..., 3] + 1) // 2  # pairs of words become one
    assert not torch.equal(scores(by_words, batch, src_factors=factors), found)


def test_relations_are_as_the_rules_say(task, batch):
    net = batch["net_input"]
    padding = net["src_tokens"].eq(task.src_dict.pad())
    special = padding | net["src_tokens"].eq(task.src_dict.eos())
    plan = LocalPlan((TreeRule(0, "none"), RelationRule("parent")), (0,), 0.0, (3, 4))
    masks = openings(plan, special, padding, net["src_factors"])
    keys, near, parents = (part.added == 0 for part in masks)
    for b, row in enumerate(net["src_factors"]):
        for i, j in torch.cartesian_prod(*[torch.arange(len(row))] * 2).tolist():
            open_ = special[b, i] or special[b, j]
            same = row[i, 3] == row[j, 3]
            parent, seen = row[i, 4] == row[j, 3], not padding[b, j]
            assert near[b, i, j] == (seen and (open_ or same))
            assert parents[b, i, j] == (seen and (open_ or same or parent))
    assert torch.equal(keys[:, 0], ~padding)


def test_heads_of_words():
    words = torch.tensor([[0, 0, 1, 1, 2, 3, 0], [1, 2, 3, 4, 5, 6, 0]])
    heads = torch.tensor([[0, 0, 3, 3, 1, 3, 0], [2, 2, 2, 3, 4, 5, 0]])
    found = heads_of_words(words, heads)
    assert found.tolist() == [[2, 0, 2, 3, 4, 5, 6], [1, 1, 1, 2, 3, 4, 6]]


def test_masks_never_wait_for_the_device():
    """A tensor of the meta device has no values that anybody could wait for."""
    special, padding = torch.zeros(2, 2, 9, dtype=torch.bool, device="meta").unbind()
    factors = torch.zeros(2, 9, 4, dtype=torch.long, device="meta")
    plan = LocalPlan((TreeRule(3), WindowRule(2, "words")), (0,), 0.0, (2, 3))
    found = openings(plan, special, padding, factors)
    assert [part.added.shape for part in found] == [(2, 1, 9), *[(2, 9, 9)] * 2]


@pytest.mark.parametrize("kind", ["sla", "wla", "sla,parent"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_and_batching_change_nothing(task, plain, batch, side, kind):
    model = local(task, plain, kind)
    whole, pad = scores(model, batch), task.src_dict.pad()
    for row in range(4):
        net = {k: v[row : row + 1] for k, v in batch["net_input"].items()}
        real = net["src_tokens"][0].ne(pad)
        amount = (5, 0) if side == "left" else (0, 5)
        alone = {**net, **{k: net[k][:, real] for k in ("src_tokens", "src_factors")}}
        padded = {
            **alone,
            "src_tokens": torch.nn.functional.pad(alone["src_tokens"], amount, value=pad),
            "src_factors": torch.nn.functional.pad(alone["src_factors"], (0, 0, *amount)),
        }
        for inputs in (alone, padded):
            torch.testing.assert_close(model(**inputs)[0], whole[row : row + 1], rtol=0, atol=1e-5)


def test_padding_is_never_seen(task, plain, batch):
    model, net = local(task, plain, "sla"), batch["net_input"]
    pads = net["src_tokens"].eq(task.src_dict.pad())
    assert pads.any()
    embeddings = model.encoder.embed_tokens(net["src_tokens"], net["src_factors"])
    changed = embeddings.masked_fill(pads[..., None], 7.0)
    outs = [
        model.encoder(net["src_tokens"], token_embeddings=e, src_factors=net["src_factors"])
        for e in (embeddings, changed)
    ]
    real = ~pads.T
    assert torch.equal(*(out["encoder_out"][0][real] for out in outs))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", ["all", "1"])
def test_parameters_are_counted_and_learn(task, plain, batch, kind, layers):
    model = make_model(
        task, encoder_attention=kind, encoder_attention_layers=layers, **narrow(kind)
    )
    many = (2 if layers == "all" else 1) * len(kind.split(","))
    sizes = [sum(p.numel() for p in m.parameters()) for m in (model, plain)]
    assert sizes[0] - sizes[1] == many * (64 + 1) == model.parameter_counts()["gates"]
    model(**batch["net_input"])[0].square().mean().backward()
    assert len(gates(model)) == 2 * (2 if layers == "all" else 1)
    for gate in gates(model):
        assert (gate.grad.flatten(1).abs().amax(1) if gate.dim() > 1 else gate.grad.abs()).min() > 0
    named = {name.split(".")[2] for name, _ in model.named_parameters() if ".gate." in name}
    assert named == ({"0", "1"} if layers == "all" else {"1"})


def test_a_layer_without_local_attention_is_fairseqs(task, plain, batch):
    one, both = (local(task, plain, "sla", encoder_attention_layers=n) for n in ("1", "0,1"))
    assert not torch.allclose(scores(one, batch), scores(both, batch))
    torch.nn.init.constant_(one.encoder.layers[1].self_attn.gate.bias, -60)
    torch.nn.init.zeros_(one.encoder.layers[1].self_attn.gate.weight)
    close(scores(one, batch), scores(plain, batch))


def test_gates_start_where_they_are_told_and_dropout_is_separate(task, plain):
    model = make_model(task, encoder_attention="sla")
    assert model.encoder.local.separate
    for bias in (0.0, -3.0):
        model = make_model(task, encoder_attention="sla,wla", gate_bias_init=bias)
        starts = [p for p in gates(model) if p.dim() == 1]
        assert all((start == bias).all() for start in starts)


def test_weights_of_a_plain_model_keep_the_gates_that_are_there(task, plain):
    model = make_model(task, encoder_attention="sla", gate_bias_init=-1.5)
    before = [gate.clone() for gate in gates(model)]
    model.load_state_dict(plain.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(before, gates(model)))
    state = model.state_dict()
    torch.nn.init.ones_(gates(model)[0])
    model.load_state_dict(state)
    other = make_model(task, encoder_attention="sla")
    other.load_state_dict(model.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(gates(model), gates(other)))


@pytest.mark.parametrize(("where", "times"), [("mixture", 1), ("separate", 3)])
def test_dropout_falls_on_each_softmax_or_once_on_the_mixture(task, plain, batch, where, times):
    options = {"attention_dropout": 0.5, "encoder_attention_layers": "0", "local_dropout": where}
    model = local(task, plain, "sla,wla", **options)
    seen = []
    attention = model.encoder.layers[0].self_attn
    attention.dropout_module.register_forward_hook(lambda m, args, out: seen.append((*args, out)))
    model.train()
    scores(model, batch)
    assert len(seen) == times
    for weights, dropped in seen:
        close(weights.sum(-1), torch.ones_like(weights[..., 0]))
        assert 0.4 < (dropped[weights > 0] == 0).float().mean() < 0.6
    model.eval()
    scores(model, batch)
    assert torch.equal(*seen[-1])


@pytest.mark.parametrize("kind", ["sla", "sla,wla"])
def test_fused_calls_are_the_open_encoder_and_share_its_dropout(
    task, plain, batch, kind, monkeypatch
):
    """What an accelerator computes: alike without dropout, in the mean over copies with it."""
    model = local(task, plain, kind, attention_dropout=0.5, encoder_attention_layers="0")
    attention = model.eval().encoder.layers[0].self_attn.double()
    parameters = [*attention.parameters()]

    def attend(copies=1):
        plan, tokens = model.encoder.local, batch["net_input"]["src_tokens"]
        padding = tokens.eq(task.src_dict.pad())
        special = padding | tokens.eq(task.src_dict.eos())
        factors = batch["net_input"]["src_factors"]
        told = [
            part.repeat(copies, *[1] * (part.dim() - 1)) for part in (special, padding, factors)
        ]
        masks = openings(plan, *told, torch.float64)
        generator = torch.Generator().manual_seed(4)
        shape = (tokens.shape[1], len(tokens), 64)
        x = torch.randn(shape, dtype=torch.float64, generator=generator).repeat(1, copies, 1)
        return attention(x, key_padding_mask=masks)[0]

    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention

    def spy(*args, **how):
        calls.append(how["dropout_p"])
        return kernel(*args, **how)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    softmaxes = 1 + len(kind.split(","))
    found = []
    for fused in (False, True):
        monkeypatch.setattr(_encoder, "fuses", lambda values, fused=fused: fused)
        out = attend()
        found.append([out, *torch.autograd.grad(out.sin().sum(), parameters)])
    torch.testing.assert_close(*found)
    assert calls == [0.0] * softmaxes
    model.train()
    torch.manual_seed(5)
    with torch.no_grad():
        means = attend(500).unflatten(1, (500, -1)).mean(1)
    assert calls[softmaxes:] == [0.5] * softmaxes
    # Without the factor of what is kept, values of up to 2.8 would halve.
    torch.testing.assert_close(means, found[0][0], atol=0.15, rtol=0)
    attention.separate = False
    attend()
    assert len(calls) == 2 * softmaxes


def test_checkpointed_activations_give_the_same_gradients(task, plain, batch):
    models = [local(task, plain, "sla", checkpoint_activations=flag) for flag in (False, True)]
    models[1].load_state_dict(models[0].state_dict())
    for model in models:
        model(**batch["net_input"])[0].square().mean().backward()
    for one, other in zip(*(gates(model) for model in models)):
        close(one.grad, other.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(task, plain, batch, dtype):
    model = local(task, plain, "sla,wla")
    low = make_model(task, encoder_attention="sla,wla", **narrow("sla,wla")).to(dtype)
    low.load_state_dict(model.state_dict())
    out = scores(low, batch)
    assert out.dtype == dtype
    torch.testing.assert_close(out.float(), scores(model, batch), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("how", ["autocast", "half", "single"])
def test_masks_are_of_the_type_of_the_scores(task, plain, batch, how, monkeypatch):
    """Otherwise every layer would make, and keep, its own."""
    model, kinds = local(task, plain, "sla"), []

    def spy(qkv, masks, *rest):
        kinds.append({*(part.dtype for part in qkv), *(mask.added.dtype for mask in masks)})
        return qkv[2]

    monkeypatch.setattr(_encoder, "fuses", lambda values: True)
    monkeypatch.setattr(_encoder, "fused", spy)
    model.to(torch.bfloat16 if how == "half" else torch.float32)
    with torch.autocast("cpu", torch.bfloat16, enabled=how == "autocast"):
        scores(model, batch)
    assert kinds == [{torch.float32 if how == "single" else torch.bfloat16}] * 2


def test_encoder_returns_what_fairseqs_returns(task, plain, batch):
    net = {k: batch["net_input"][k] for k in ("src_tokens", "src_lengths", "src_factors")}
    found, expected = (
        m.encoder(**net, return_all_hiddens=True) for m in (local(task, plain, "sla"), plain)
    )
    assert found.keys() == expected.keys()
    for key in found.keys() - {"fc_results"}:
        kinds = [[(x.shape, x.dtype) for x in out[key]] for out in (found, expected)]
        assert kinds[0] == kinds[1], key
    order = torch.tensor([1, 0, 2])
    moved = plain.encoder.reorder_encoder_out(found, order)["encoder_out"][0]
    assert torch.equal(moved, found["encoder_out"][0][:, order])


def test_a_folder_without_parses_says_how_to_prepare_it(unparsed, tmp_path):
    for kind, what in [("sla", "parse trees"), ("wla,child", "parse trees")]:
        with pytest.raises(InputError, match=f"--encoder-attention {kind} reads {what}.*--layers"):
            make_model(unparsed, encoder_attention=kind)
    with pytest.raises(InputError, match=r"wla reads parse trees.*--layers"):
        make_model(unparsed, encoder_attention="wla", window_unit="words")
    with pytest.raises(InputError, match=r"prepare it with --layers"):
        train(unparsed.folders[0], tmp_path, *START, "--encoder-attention", "sla")


def test_windows_of_subwords_need_no_parses(unparsed, task, plain, batch):
    here = make_model(unparsed, encoder_attention="wla", window=1, features="none")
    there = make_model(task, encoder_attention="wla", window=1, features="none")
    there.load_state_dict(here.state_dict())
    unparsed.load_dataset("train")
    bare = batches(unparsed, "train", max_sentences=12)[0]
    assert bare["net_input"]["src_factors"].size(-1) == 3
    assert torch.equal(scores(here, bare), scores(there, batch))


def test_trees_are_missed_when_missing(task, batch):
    model = make_model(task, features="none", encoder_attention="sla")
    net = {k: v for k, v in batch["net_input"].items() if k != "src_factors"}
    with pytest.raises(InputError, match="got none"):
        model(**net)
    with pytest.raises(InputError, match="do not fit source tokens"):
        model(**net, src_factors=batch["net_input"]["src_factors"][..., :4])
    make_model(task, features="none", encoder_attention="wla")(**net)
