"""The model against fairseq's own transformer, and what its features must and must not do."""

from __future__ import annotations

from argparse import Namespace

import pytest
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.models.transformer import TransformerModel
from prepared import batches, make_model, make_task, prepare, random_pairs

from fairseq_plugins.errors import InputError

ARCHS = {
    "syntax_transformer": "transformer",
    "syntax_transformer_tiny": "transformer_tiny",
    "syntax_transformer_iwslt_en_de": "transformer_iwslt_de_en",
    "syntax_transformer_wmt_en_de": "transformer_wmt_en_de",
    "syntax_transformer_wmt_en_de_big": "transformer_wmt_en_de_big",
}
COMBINATIONS = [
    {"feature_combine": combine, "feature_merge": merge, **sizes}
    for combine, merge, sizes in [
        ("sum", "concat", {}),
        ("sum", "overlay", {}),
        ("sum", "add", {}),
        ("concat", "concat", {"feature_embed_dims": "8,4,4"}),
        ("concat", "overlay", {"feature_embed_dims": "8,4,4"}),
        ("concat", "add", {"feature_embed_dims": "32,16,16"}),
    ]
]


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    pairs = random_pairs(12)
    made = make_task(prepare(tmp_path_factory.mktemp("joined"), {"train": pairs}, joined=True))
    made.load_dataset("train")
    return made


@pytest.fixture(scope="module")
def batch(task):
    return batches(task, "train", max_sentences=12)[0]


def fairseq_model(task, arch="transformer_tiny", **options):
    args = Namespace(**options)
    ARCH_CONFIG_REGISTRY[arch](args)
    return TransformerModel.build_model(args, task).eval()


def scores(model, batch, **changes):
    with torch.no_grad():
        return model(**{**batch["net_input"], **changes})[0]


def plain(batch):
    return {k: v for k, v in batch["net_input"].items() if k != "src_factors"}


def test_add_with_zero_tables_is_fairseqs_transformer(task, batch):
    theirs = fairseq_model(task)
    ours = make_model(task, feature_merge="add", feature_init="zero")
    state = {
        key.replace("encoder.embed_tokens.", "encoder.embed_tokens.words."): value
        for key, value in theirs.state_dict().items()
    }
    missing, unexpected = ours.load_state_dict(state, strict=False)
    assert not unexpected
    assert all(".factors." in key for key in missing)
    assert torch.equal(scores(ours, batch), theirs(**plain(batch))[0])
    ours.encoder.embed_tokens.factors.reset_parameters("normal", 64**-0.5)
    assert not torch.allclose(scores(ours, batch), theirs(**plain(batch))[0], atol=1e-2)


def test_no_features_is_fairseqs_transformer_from_the_seed_on(task, batch):
    torch.manual_seed(7)
    theirs = fairseq_model(task)
    torch.manual_seed(7)
    ours = make_model(task, features="none")
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    assert torch.equal(scores(ours, batch), theirs(**plain(batch))[0])


@pytest.mark.parametrize("arch", ARCHS)
def test_archs_have_the_sizes_of_fairseqs(task, arch):
    with torch.device("meta"):
        ours = make_model(task, arch, features="none")
        theirs = fairseq_model(task, ARCHS[arch])
    shapes = [{k: v.shape for k, v in m.state_dict().items()} for m in (ours, theirs)]
    assert shapes[0] == shapes[1]
    for name in ("dropout", "attention_dropout", "activation_dropout"):
        assert getattr(ours.cfg, name) == getattr(theirs.cfg, name)
    heads = [[m.cfg.encoder.attention_heads, m.cfg.decoder.attention_heads] for m in (ours, theirs)]
    assert heads[0] == heads[1]


def test_archs_differ_and_give_way_to_options(task):
    with torch.device("meta"):
        counts = {a: make_model(task, a).parameter_counts()["model"] for a in ARCHS}
        wide = make_model(task, encoder_embed_dim=96)
    assert len(set(counts.values())) == len(ARCHS) - 1  # wmt_en_de is the base body
    assert wide.encoder.embed_tokens.words.embedding_dim == 96 - 20
    assert wide.decoder.embed_tokens.embedding_dim == 96  # as in fairseq, it follows the encoder
    assert len(wide.encoder.layers) == 2


@pytest.mark.parametrize("options", COMBINATIONS, ids=lambda o: "-".join(o.values()))
def test_every_combination_learns_from_every_feature(task, batch, options):
    model = make_model(task, **options)
    assert model.encoder.embed_tokens.embedding_dim == 64
    model(**batch["net_input"])[0].square().mean().backward()
    for name, table in model.encoder.embed_tokens.factors.tables.items():
        assert table.weight.grad[2:].abs().max() > 0, name
        assert table.weight.grad[0].abs().max() == 0, name
    for column in range(3):
        changed = batch["net_input"]["src_factors"].clone()
        changed[..., column][changed[..., column] > 1] = 2
        assert not torch.equal(scores(model, batch, src_factors=changed), scores(model, batch))


def test_model_reads_the_columns_it_names(task, batch):
    model = make_model(task, features="subword,pos")
    assert model.needs.features == ("subword", "pos")
    factors = batch["net_input"]["src_factors"]
    for column, read in [(0, True), (1, False), (2, True)]:
        changed = factors.clone()
        changed[..., column] = 0
        assert torch.equal(scores(model, batch, src_factors=changed), scores(model, batch)) != read


def test_column_order_of_the_folder_does_not_matter(task, tmp_path):
    other = make_task(
        prepare(
            tmp_path, {"train": random_pairs(12)}, features=("subword", "case", "pos"), joined=True
        )
    )
    other.load_dataset("train")
    torch.manual_seed(3)
    here = make_model(task, features="pos,case")
    torch.manual_seed(3)
    there = make_model(other, features="pos,case")
    a, b = (batches(t, "train", max_sentences=12)[0] for t in (task, other))
    assert torch.equal(scores(here, a), scores(there, b))


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_and_batching_change_nothing(task, batch, side):
    model = make_model(task)
    whole = scores(model, batch)
    pad = task.src_dict.pad()
    for row in range(3):
        net = {k: v[row : row + 1] for k, v in batch["net_input"].items()}
        real = net["src_tokens"][0].ne(pad)
        alone = {**net, "src_tokens": net["src_tokens"][:, real]}
        alone["src_factors"] = net["src_factors"][:, real]
        amount = (5, 0) if side == "left" else (0, 5)
        padded = {
            **alone,
            "src_tokens": torch.nn.functional.pad(alone["src_tokens"], amount, value=pad),
        }
        padded["src_factors"] = torch.nn.functional.pad(alone["src_factors"], (0, 0, *amount))
        for inputs in (alone, padded):
            torch.testing.assert_close(model(**inputs)[0], whole[row : row + 1], rtol=0, atol=1e-5)


def test_feature_of_a_pad_changes_nothing(task, batch):
    model = make_model(task)
    factors = batch["net_input"]["src_factors"].clone()
    pads = batch["net_input"]["src_tokens"].eq(task.src_dict.pad())
    assert pads.any()
    factors[pads] = 3
    assert torch.equal(scores(model, batch, src_factors=factors), scores(model, batch))


@pytest.mark.parametrize("merge", ["overlay", "add"])
def test_all_embeddings_can_be_shared(task, batch, merge):
    model = make_model(task, feature_merge=merge, share_all_embeddings=True)
    words = model.encoder.embed_tokens.words.weight
    assert words is model.decoder.embed_tokens.weight
    assert words is model.decoder.output_projection.weight
    assert scores(model, batch).isfinite().all()


@pytest.mark.parametrize("merge", ["concat", "overlay", "add"])
def test_the_whole_vector_is_scaled_before_its_position(task, batch, merge):
    """[e ; f] sqrt(D), then the position: features are scaled by the width of the whole."""
    model, net = make_model(task, feature_merge=merge), batch["net_input"]
    tokens, encoder = net["src_tokens"], model.encoder
    vector = encoder.embed_tokens(tokens, net["src_factors"])  # (B, S, D)
    with torch.no_grad():
        embedding = encoder(tokens, src_factors=net["src_factors"])["encoder_embedding"][0]
        wanted = 64**0.5 * vector
        torch.testing.assert_close(embedding, wanted)
        states, _ = encoder.forward_embedding(tokens, vector)
        torch.testing.assert_close(states, wanted + encoder.embed_positions(tokens))
    assert encoder.embed_positions(tokens).abs().max() > 0.1


def test_scale_multiplies_features(task, batch):
    models = []
    for scale in (1.0, 2.0):
        torch.manual_seed(5)
        models.append(make_model(task, feature_scale=scale))
    with torch.no_grad():
        for table in models[0].encoder.embed_tokens.factors.tables.values():
            table.weight *= 2
    torch.testing.assert_close(scores(models[0], batch), scores(models[1], batch))


def test_words_and_features_start_equally_high(tmp_path):
    words = " ".join(f"w{i}" for i in range(3000))
    task = make_task(prepare(tmp_path, {"train": [(words, "x")]}))
    embed = make_model(task, "syntax_transformer", encoder_layers=1, decoder_layers=1)
    embed = embed.encoder.embed_tokens
    assert embed.words.weight.std().item() == pytest.approx(512**-0.5, rel=0.01)
    rows = torch.cat([table.weight[1:].flatten() for table in embed.factors.tables.values()])
    assert rows.std().item() == pytest.approx((3 * 512) ** -0.5, rel=0.1)


@pytest.mark.parametrize("features", ["none", "pos,case"])
def test_glorot_start_is_one_rule_for_both_systems(task, features):
    model = make_model(task, features=features, param_init="glorot")
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.8 * bound < parameter.abs().max() <= bound, name
    words = model.encoder.embed_tokens if features == "none" else model.encoder.embed_tokens.words
    assert words.weight[task.src_dict.pad()].abs().max() == 0
    zero = make_model(task, features="pos", param_init="glorot", feature_init="zero")
    assert zero.encoder.embed_tokens.factors.tables["pos"].weight.abs().max() == 0


def test_parameter_counts_add_up(task, caplog):
    with caplog.at_level("INFO"):
        model = make_model(task)
    counts = model.parameter_counts()
    V = len(task.src_dict)
    assert counts["source words"] == V * 44
    assert counts["source features"] == (19 + 4 + 6) * 20
    plain = make_model(task, features="none").parameter_counts()
    assert plain["source features"] == 0
    assert counts["model"] - plain["model"] == 29 * 20 - V * 20
    line = f"features: pos,case,subword; parameters: source words {V * 44:,}, source features 580"
    assert line in caplog.text


def test_features_are_missed_when_missing(task, batch):
    model = make_model(task)
    with pytest.raises(InputError, match="reads source features and got none"):
        model(**plain(batch))
    factors = batch["net_input"]["src_factors"]
    for wrong in (factors[..., :2], factors[:, :-1], factors[:-1]):
        with pytest.raises(InputError, match="do not fit source tokens"):
            model(**{**batch["net_input"], "src_factors": wrong})
    make_model(task, features="none")(**plain(batch))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(task, batch, dtype):
    model = make_model(task)
    low = make_model(task).to(dtype)
    low.load_state_dict(model.state_dict())
    out = scores(low, batch)
    assert out.dtype == dtype
    torch.testing.assert_close(out.float(), scores(model, batch), rtol=0.1, atol=0.1)


def test_other_task_is_refused(task):
    stock = Namespace(source_dictionary=task.src_dict, target_dictionary=task.tgt_dict)
    from fairseq_plugins.models import SyntaxTransformerModel

    with pytest.raises(InputError, match="needs --task syntax_translation"):
        SyntaxTransformerModel.build_model(Namespace(arch="syntax_transformer_tiny"), stock)


def test_pretrained_words_fill_the_narrow_table(task, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("1 44\nCat " + " ".join(["0.5"] * 44) + "\n")
    model = make_model(task, encoder_embed_path=str(path))
    weight = model.encoder.embed_tokens.words.weight
    assert (weight[task.src_dict.index("Cat")] == 0.5).all()
    assert (weight[task.src_dict.index("dog")] != 0.5).all()


@pytest.mark.parametrize(("merge", "width"), [("concat", 44), ("add", 64), ("overlay", 64)])
def test_word_vectors_are_as_wide_as_the_table(task, tmp_path, merge, width):
    """Those of another width are refused in one sentence; a file without a head loses no word."""
    path, how = tmp_path / "vectors.txt", {"feature_merge": merge}
    for wide in (width - 20, width, width + 20):
        path.write_text("".join(f"{word}{' 0.5' * wide}\n" for word in ("Cat", "dog")))
        if wide == width:
            weight = make_model(task, encoder_embed_path=str(path), **how).encoder.embed_tokens
            for word in ("Cat", "dog"):
                assert (weight.words.weight[task.src_dict.index(word)] == 0.5).all()
            continue
        with pytest.raises(InputError, match=rf"txt:1: expected a word and {width} numbers"):
            make_model(task, encoder_embed_path=str(path), **how)
        path.write_text(f"2 {wide}\n{path.read_text()}")
        with pytest.raises(InputError, match=rf"have {wide} numbers, but the width .* is {width}"):
            make_model(task, encoder_embed_path=str(path), **how)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_missing_and_damaged_word_vectors_are_named(task, tmp_path, side):
    for text, error in ((None, FileNotFoundError), ("", ValueError), ("Cat\tx\n", ValueError)):
        path = tmp_path / f"{side}.txt"
        if text is not None:
            path.write_text(text)
        with pytest.raises(error, match=f"{side}.txt"):
            make_model(task, **{f"{side}_embed_path": str(path)})
