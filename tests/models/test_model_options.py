"""Options of the model: what is refused, with which words, and what may not run."""

from __future__ import annotations

import dataclasses

import pytest
from fairseq.models.transformer.transformer_config import TransformerConfig
from prepared import make_model, make_task, prepare, random_pairs

from fairseq_plugins.errors import InputError
from fairseq_plugins.models import _config
from fairseq_plugins.models._plan import resolve_features


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return make_task(prepare(folder, {"train": random_pairs(9)}, joined=True))


CONCAT = {"feature_combine": "concat"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"features": "pos,colour"},
            "'colour', which the data folder lacks; choices: pos, case, subword",
        ),
        ({"features": "pos,pos"}, "names 'pos' twice"),
        ({"features": ""}, "--features is empty; say '--features none'"),
        ({"word_embed_dim": 50}, r"--word-embed-dim 50 \+ features 20 = 70 .*dim 64.* be 44 wide"),
        ({"word_embed_dim": 44, "feature_merge": "overlay"}, "44 does not fit .* be 64 wide"),
        ({"feature_embed_dim": 64}, "64 wide and leave the word nothing of --encoder-embed-dim 64"),
        ({"feature_embed_dim": 0}, "at least one dimension, not 0"),
        (
            {"feature_embed_dim": 20, "feature_merge": "add"},
            "20 wide, but --encoder-embed-dim is 64",
        ),
        ({"feature_embed_dims": "12,4,4"}, "belongs to --feature-combine concat"),
        (CONCAT, "needs 3 numbers, one each for pos,case,subword"),
        ({**CONCAT, "feature_embed_dims": "12,4"}, "needs 3 numbers.*found 2 in '12,4'"),
        ({**CONCAT, "feature_embed_dims": "12,4,x"}, "needs 3 numbers.*found '12,4,x'"),
        (
            {**CONCAT, "feature_embed_dims": "12,4,4", "feature_embed_dim": 21},
            "12,4,4 makes 20, but --feature-embed-dim is 21",
        ),
        (
            {"share_all_embeddings": True},
            "--share-all-embeddings .* use --feature-merge overlay or",
        ),
        ({"merge_src_tgt_embed": True}, "--merge-src-tgt-embed needs a word table of full width"),
        (
            {"tree_threshold": 2},
            r"--tree-threshold 2: this model has no sla \(--encoder-attention none\)",
        ),
        ({"encoder_attention": "sla", "window": 9}, "--window 9: this model has no wla"),
    ],
)
def test_sizes_and_names_that_do_not_fit(task, options, message):
    with pytest.raises(InputError, match=message):
        make_model(task, **options)


def test_feature_the_folder_lacks(tmp_path):
    task = make_task(prepare(tmp_path, {"train": random_pairs(9)}, features=("case",)))
    with pytest.raises(InputError, match="asks for 'pos', which the data .* choices: case, none"):
        make_model(task, features="pos,case")
    assert make_model(task).needs.features == ("case",)


def test_sizes_that_add_up_are_taken(task):
    model = make_model(task, word_embed_dim=44, feature_embed_dim=20)
    assert model.encoder.embed_tokens.words.embedding_dim == 44
    model = make_model(task, **CONCAT, feature_embed_dims="12,4,4", word_embed_dim=44)
    tables = model.encoder.embed_tokens.factors.tables.values()
    assert [table.embedding_dim for table in tables] == [12, 4, 4]


def test_features_by_value():
    assert resolve_features(None, ["pos", "case"]) == ("pos", "case")
    assert resolve_features(" none ", ["pos"]) == ()
    assert resolve_features("case, pos", ["pos", "case"]) == ("case", "pos")


def test_every_option_of_fairseqs_transformer_is_there():
    flat = {field.name for field in dataclasses.fields(_config.SyntaxTransformerConfig)}
    for field in dataclasses.fields(TransformerConfig):
        if field.name in ("encoder", "decoder", "quant_noise"):
            inner = type(getattr(TransformerConfig(), field.name)())
            wanted = {f"{field.name}_{f.name}" for f in dataclasses.fields(inner)}
            assert wanted - flat <= {f"{field.name}__name", f"{field.name}_xformers_att_config"}
        else:
            assert field.name in flat


def test_older_checkpoints_lack_newer_options(task):
    from omegaconf import OmegaConf

    old = OmegaConf.create({"_name": "syntax_transformer_tiny", "features": "pos"})
    model = task.build_model(old, from_checkpoint=True)
    assert model.encoder.embed_tokens.words.embedding_dim == 44


def test_text_that_fairseq_would_run_does_not_run(task, tmp_path):
    from omegaconf import OmegaConf

    marker = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch() or [4]"
    for key in ("adaptive_softmax_cutoff", "encoder_xformers_att_config", "xformers_att_config"):
        cfg = OmegaConf.create({"_name": "syntax_transformer_tiny", "features": "pos", key: code})
        try:
            task.build_model(cfg, from_checkpoint=True)
        except (ValueError, SyntaxError):
            assert key == "adaptive_softmax_cutoff"
        assert not marker.exists()


def test_adaptive_softmax_still_takes_numbers(task):
    model = make_model(task, adaptive_softmax_cutoff=[5])
    assert model.decoder.adaptive_softmax.cutoff == [5, len(task.tgt_dict)]


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_glorot_does_not_draw_over_ready_made_embeddings(task, side):
    with pytest.raises(InputError, match=f"would overwrite --{side}-embed-path"):
        make_model(task, param_init="glorot", **{f"{side}_embed_path": "vectors.txt"})
