"""Bundles of translation models: the translations that fairseq finds, of every kind of model."""

from __future__ import annotations

import pytest
import torch
from inference import translation_runs as runs
from prepared import StubDecoder, StubEncoder, make_model, make_task, random_pairs

import fairseq_plugins
from fairseq_plugins.bundles.ctranslate2_model import Search
from fairseq_plugins.bundles.translation import Translator
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import translation_export, translation_weights
from fairseq_plugins.inference.translation_export import REFUSED, export_translation
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.tasks import SyntaxTranslationTask

pytestmark = pytest.mark.slow

LINES = [source for source, _ in random_pairs(120, seed=3)]
ALL = "pos,case,subword"
SIDE = {"feature_combine": "concat", "feature_embed_dims": "12,4,4"}
FEATURES = {
    "words": {"features": "none", "share_decoder_input_output_embed": True},
    "order": {"features": "subword,pos", "encoder_layerdrop": 0.2, "decoder_layerdrop": 0.2},
    "scaled": {"features": ALL, "feature_scale": 3.0, "no_decoder_final_norm": True},
    "shared_overlay": {"features": ALL, "feature_merge": "overlay", "share_all_embeddings": True},
    "concat": {"features": ALL, **SIDE},
    "overlay_concat": {
        **{"features": ALL, **SIDE, "feature_merge": "overlay"},
        "share_decoder_input_output_embed": True,
    },
    "shared": {"features": ALL, "feature_merge": "add", "share_all_embeddings": True},
    "add_concat": {
        **{"features": ALL, **SIDE, "feature_merge": "add", "feature_embed_dims": "32,16,16"},
        "no_decoder_final_norm": True,
    },
}
SWITCHES = (
    {"encoder_normalize_before": True},
    {"decoder_normalize_before": True},
    {"encoder_learned_pos": True, "decoder_learned_pos": True},
    {"layernorm_embedding": True},
    {"no_scale_embedding": True},
    {"encoder_attention_heads": 4, "encoder_layers": 3, "decoder_layers": 1},
    {"decoder_embed_dim": 48, "decoder_output_dim": 40, "decoder_ffn_embed_dim": 24},
)
ACTIVATIONS = ("relu", "gelu", "gelu_fast", "tanh")


def mixed(number):
    """Return the switches of a model: of any two, every combination is among eight models."""
    a, b, c = (number >> place & 1 for place in (2, 1, 0))
    on = (a, b, c, a ^ b, a ^ c, b ^ c, a ^ b ^ c)
    given = {"activation_fn": ACTIVATIONS[2 * a + (b ^ c)]}
    return given | {key: v for is_on, own in zip(on, SWITCHES) if is_on for key, v in own.items()}


MODELS = {name: mixed(number) | own for number, (name, own) in enumerate(FEATURES.items())}
SEARCHES = [{"beam": 1, "lenpen": 1.0}, {"beam": 4, "lenpen": 0.6}, {"beam": 4, "lenpen": 1.0}]


@pytest.fixture(autouse=True)
def _stubs(monkeypatch):
    monkeypatch.setattr(SyntaxTranslationTask, "build_source_encoder", lambda self: StubEncoder())
    monkeypatch.setattr(SyntaxTranslationTask, "build_target_decoder", lambda self: StubDecoder())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return runs.folder_of(tmp_path_factory.mktemp("data") / "plain")


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    return runs.folder_of(tmp_path_factory.mktemp("data") / "joined", joined=True)


def both(checkpoint, lines=LINES, **how):
    """Return fairseq's hub with its input, and the bundle's translator with the same."""
    output = checkpoint.with_suffix(".bundle")
    if not output.exists():
        export_translation(checkpoint, output, **how)
    hub = SyntaxTransformerModel.from_pretrained(str(checkpoint.parent), checkpoint.name)
    tokens, _ = hub.task.get_interactive_tokens_and_lengths(list(lines), None)
    translator = Translator.open(output, threads=1)
    held = [layer.name for layer in hub.task.source_layers]
    columns = [held.index(name) for name in translator.features]
    rows = [
        (ids.tolist(), [factors[:, column].tolist() for column in columns])
        for ids, factors in zip(tokens, tokens.factors)
    ]
    return hub, tokens, translator, rows


def check_same(hub, tokens, translator, rows, **how):
    """Compare the best translations and their scores.

    Candidates that differ by less than a processor rounds may end one search before the other: of a
    hundred sentences one or two may have another translation, unless there is nothing to search.
    """
    expected = [beam[0] for beam in hub.generate(tokens, **how)]
    found = [beam[0] for beam in translator.model.translate(rows, Search(**how))]
    triples = [*zip(rows, found, expected)]
    same = [one for one in triples if one[1][0] == one[2]["tokens"].tolist()[:-1]]
    assert len(same) >= len(triples) * (1 if how["beam"] == 1 else 0.98)
    scores = [one["score"].item() for *_, one in same]
    assert [score for _, (_, score), _ in same] == pytest.approx(scores, abs=1e-4)
    assert len({tuple(ids) for ids, _ in found}) > len(rows) / 4
    for row, (ids, _), one in same[:5]:
        weights = translator.model.attention(row, ids)  # (T, S)
        assert weights.sum(1) == pytest.approx(1, abs=1e-4)
        seen = one["attention"].T[:-1, -len(row[0]) :].numpy()  # padded on the left
        assert weights == pytest.approx(seen, abs=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_translations_are_fairseqs(folder, joined, tmp_path, name):
    data = joined if name.startswith("shared") else folder
    options = MODELS[name]
    path = runs.save_trained(data, tmp_path / "checkpoint.pt", **options)
    compared = both(path)
    for search in SEARCHES:
        check_same(*compared, **search)


def test_several_translations_are_sorted_and_have_their_own_scores(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", features=ALL)
    _, _, translator, rows = both(path)
    best = translator.model.translate(rows, Search())
    for row, (only,), several in zip(rows, best, translator.model.translate(rows, Search(nbest=4))):
        assert several[0] == only
        assert len({tuple(ids) for ids, _ in several}) == 4
        scores = [score for _, score in several]
        assert scores == sorted(scores, reverse=True)
        own = translator.model.score([row] * 4, [ids for ids, _ in several])
        assert [sum(one) / len(one) ** 0.6 for one in own] == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"feature_merge": "add"}])
def test_large_inventories(tmp_path, monkeypatch, options):
    runs.learnt(monkeypatch, 5000)
    path = runs.save_trained(
        runs.folder_of(tmp_path / "data"), tmp_path / "checkpoint.pt", features=ALL, **options
    )
    hub, tokens, translator, rows = both(path)
    assert translator.model.layout.factors[0] > 5000
    check_same(hub, tokens, translator, rows, beam=4, lenpen=1.0)


def test_untrained_models_find_no_padding_and_no_empty_translation(folder, tmp_path):
    """A model whose likeliest words are padding and end marks has its search without them."""
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=10)
    state = torch.load(path, weights_only=True)
    weight = state["model"]["decoder.output_projection.weight"]
    weight[1] = weight[5] * 1.2
    weight[2] = weight[6] * 1.2
    torch.save(state, path)
    hub, tokens, translator, rows = both(path)
    expected = hub.generate(tokens, beam=2, max_len_b=30)
    found = translator.model.translate(rows, Search(beam=2, longest=30, lenpen=1.0))
    assert all(ids and 1 not in ids for nbest in found for ids, _ in nbest)
    same = [nbest[0][0] == one[0]["tokens"].tolist()[:-1] for nbest, one in zip(found, expected)]
    assert sum(same) > 0.7 * len(same)


def test_features_reach_the_model(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", features=ALL)
    _, _, translator, rows = both(path)
    targets = [ids for ((ids, _),) in translator.model.translate(rows, Search(beam=1))]
    scores = translator.model.score(rows, targets)
    for k in range(3):
        changed = [
            (ids, [[2 + (i == 2) for i in row] if j == k else row for j, row in enumerate(factors)])
            for ids, factors in rows
        ]
        others = translator.model.score(changed, targets)
        different = [abs(sum(a) - sum(b)) > 1e-3 for a, b in zip(scores, others)]
        assert sum(different) > 0.9 * len(rows)
    moved = [(ids, [[3] * len(ids), [2] * len(ids), [4] * len(ids)]) for ids, _ in rows]
    found = [ids for ((ids, _),) in translator.model.translate(moved, Search(beam=1))]
    assert found != targets


def test_int8_is_smaller_and_close(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", features=ALL)
    export_translation(path, tmp_path / "small", int8=True)
    _, _, translator, rows = both(path)
    small = Translator.open(tmp_path / "small", threads=1)
    exact, rounded = (one.model.translate(rows, Search()) for one in (translator, small))
    assert [a[0][1] for a in exact] != [b[0][1] for b in rounded]
    targets = [ids for ((ids, _),) in exact]
    scores = [
        torch.tensor([sum(one) for one in model.score(rows, wanted)])
        for model, wanted in (
            (translator.model, targets),
            (small.model, targets),
            (translator.model, targets[1:] + targets[:1]),
        )
    ]
    own, rounded, of_others = scores
    assert (rounded - own).abs().mean() < 0.1 * (of_others - own).abs().mean()
    sizes = [
        (where / "ctranslate2" / "model.bin").stat().st_size
        for where in (tmp_path / "small", path.with_suffix(".bundle"))
    ]
    assert sizes[0] < sizes[1] / 1.8


def test_batches_and_their_order_change_nothing(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", features=ALL)
    _, _, translator, rows = both(path)
    whole = translator.model.translate(rows, Search())
    for max_tokens in (1, 30):
        parts = translator.model.translate(rows[::-1], Search(max_tokens=max_tokens))[::-1]
        assert [a[0][0] for a in whole] == [b[0][0] for b in parts]
        assert [a[0][1] for a in whole] == pytest.approx([b[0][1] for b in parts], abs=1e-4)
    assert translator.model.translate([], Search()) == []


REASONS = {
    "encoder_attention": "wla",
    "adaptive_softmax_cutoff": [4, 8],
    "no_token_positional_embeddings": True,
    "no_cross_attention": True,
    "cross_self_attention": True,
    "merge_src_tgt_embed": True,
    "quant_noise_pq": 0.1,
    "quant_noise_scalar": 0.1,
    "base_layers": 1,
}


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_said_is_refused_by_its_name(folder, tmp_path, name):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0)
    state = torch.load(path, weights_only=True)
    state["cfg"]["model"][name] = REASONS[name]
    torch.save(state, path)
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} .* cannot be exported"):
        export_translation(path, tmp_path / "bundle")
    assert name in REFUSED
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize("activation", ["linear", "relu_squared"])
def test_other_activations_are_refused(folder, tmp_path, activation):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0)
    state = torch.load(path, weights_only=True)
    state["cfg"]["model"]["activation_fn"] = activation
    torch.save(state, path)
    with pytest.raises(InputError, match=f"{activation}"):
        export_translation(path, tmp_path / "bundle")


def test_target_factors_are_refused(tmp_path):
    data = runs.folder_of(tmp_path / "data", truecase=True)
    path = runs.save_trained(data, tmp_path / "checkpoint.pt", steps=0, target_features="truecase")
    with pytest.raises(InputError, match="--target-features truecase cannot be exported"):
        export_translation(path, tmp_path / "bundle")


def test_an_option_nobody_knows_of_is_found_by_its_difference(folder, tmp_path, monkeypatch):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0, activation_fn="tanh")
    monkeypatch.setitem(translation_weights.ACTIVATIONS, "tanh", "relu")
    with pytest.raises(InputError, match="computes something else"):
        export_translation(path, tmp_path / "bundle")
    assert [item.name for item in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_where_things_are_not(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0)
    with pytest.raises(FileNotFoundError, match="nowhere is not there"):
        export_translation(path, tmp_path / "bundle", data="nowhere")
    with pytest.raises(FileNotFoundError, match="none.pt"):
        export_translation(tmp_path / "none.pt", tmp_path / "bundle")
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match="is there already"):
        export_translation(path, tmp_path / "taken")


def test_the_pipeline_may_be_copied_into_a_bundle(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0)
    export_translation(path, tmp_path / "bundle", with_pipeline=True, spacy_model="bundled")
    found = translation_export.contents.open_bundle(tmp_path / "bundle")
    assert "pipeline/config.cfg" in found.files
    for spacy_model in (None, "bundled"):
        made = fairseq_plugins.load(tmp_path / "bundle", spacy_model=spacy_model)
        own = made.encoder.annotator.files == found.folder / "pipeline"
        assert own == (spacy_model is None)
        assert len(made.translate(["a b", "c"])) == 2
    with pytest.raises(InputError, match="CTranslate2 decodes with one model"):
        fairseq_plugins.load([tmp_path / "bundle"] * 2)
    with pytest.raises(InputError, match="'beam' is no option of a bundle; choices: int8, spacy"):
        fairseq_plugins.load(tmp_path / "bundle", beam=3)


def test_no_path_of_the_exporting_machine_is_in_a_bundle(folder, tmp_path):
    path = runs.save_trained(folder, tmp_path / "checkpoint.pt", steps=0)
    export_translation(path, tmp_path / "bundle")
    for file in (tmp_path / "bundle").rglob("*"):
        assert file.is_dir() or str(tmp_path.parent).encode() not in file.read_bytes()


def test_tables_add_up_to_the_embeddings(folder):
    task = make_task(folder)
    tokens, factors = torch.tensor([[5, 6]]), torch.tensor([[[2, 3, 4], [5, 2, 3]]])
    for name, options in MODELS.items():
        if options.get("features") == ALL and "shared" not in name:
            embedding = make_model(task, **options).encoder.embed_tokens
            tables = [*translation_weights.source_tables(embedding)]
            found = sum(table[ids] for table, ids in zip(tables, (tokens, *factors.unbind(-1))))
            assert torch.allclose(found, embedding(tokens, factors), atol=1e-6)
