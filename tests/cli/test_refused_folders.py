"""Folders and options that do not fit are refused by the commands in words, before any work."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from cli.commands import generate, train
from cli.conftest import prepare_corpus

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.products import with_products
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.syntax.rows import Rows

pytestmark = pytest.mark.slow

SHORT = "--max-update 1 --disable-validation"


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the folder to be spoilt."""
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def rewrite(folder, split, feature, change):
    """Change the rows of a feature stream."""
    prefix = stream_prefix(folder, split, "en-de", f"en.{feature}")
    rows = [row.tolist() for row in Rows.read(prefix)]
    change(rows)
    for suffix in (".bin", ".idx"):
        prefix.with_name(prefix.name + suffix).unlink()
    write_stream(prefix, [np.array(row) for row in rows], len(LAYERS[feature].inventory))
    with_products(folder, read_manifest(folder)).save(folder)  # as if it had been prepared so


def edit_manifest(folder, **changes):
    path = folder / "manifest.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**body, **changes}), encoding="utf-8")


def spoil_row(rows):
    del rows[4][0]


def spoil_end(rows):
    del rows[-1]


def spoil_id(rows):
    rows[2][0] = 200


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_row, "en-de.en.pos: line 5 has "),
        (spoil_end, "en-de.en.pos has 36 rows instead of"),
        (spoil_id, "en-de.en.pos, line 3: id 200 is no value of feature 'pos'"),
    ],
)
def test_feature_stream_that_does_not_fit_its_tokens(copy, model, spoil, message):
    rewrite(copy, "test", "pos", spoil)
    assert message in generate(copy, model, fails=True).err


@pytest.mark.parametrize("split", ["train", "valid"])
def test_training_notices_a_short_feature_stream(copy, tmp_path, split):
    rewrite(copy, split, "case", spoil_row)
    found = train(copy, tmp_path / "run", "--max-update 1", fails=True)
    assert f"{split}.en-de.en.case: line 5 has " in found.err
    assert not list((tmp_path / "run").glob("*.pt"))


def test_cut_file(copy, model):
    path = copy / "test.en-de.en.case.bin"
    path.write_bytes(path.read_bytes()[:-2])
    found = generate(copy, model, fails=True)
    assert f"{path.name} has " in found.err
    assert "but was written with" in found.err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ["pos", "colour"]}, "unknown layer 'colour'; choices: pos, case"),
        ({"source_lang": "fr"}, "fr"),
        ({"format": "other"}, "has format 'other'"),
        ({"format_version": 99}, "version 99"),
        ({"more": 1}, "does not fit this release"),
        ({"splits": {"train": {"lines": 7, "tokens": {}}}}, "but the manifest says 7"),
    ],
)
def test_manifest_that_does_not_fit(copy, tmp_path, changes, message):
    edit_manifest(copy, **changes)
    assert message in train(copy, tmp_path / "run", SHORT, fails=True).err


def test_folder_without_manifest(copy, model):
    (copy / "manifest.json").unlink()
    assert "manifest.json is missing" in generate(copy, model, fails=True).err


def test_languages_of_another_folder(folder, model):
    found = generate(folder, model, "--source-lang fr --target-lang de", fails=True)
    assert "ask for fr-de, but the folder was prepared for en-de" in found.err


def test_model_that_needs_a_feature_the_folder_lacks(corpus, folder, model, tmp_path):
    """Same vocabulary, fewer features."""
    (codes,) = folder.glob("*codes*")
    options = {"features": "case", "trainpref": None, "bpe_codes": str(codes)}
    options |= {"srcdict": str(folder / "dict.en.txt"), "tgtdict": str(folder / "dict.de.txt")}
    fewer = prepare_corpus(corpus, tmp_path / "fewer", **options)
    found = generate(fewer, model, fails=True)
    assert "the model reads part-of-speech features, but" in found.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--num-batch-buckets 4", "--num-batch-buckets does not work"),
        ("--features pos,colour", "colour"),
        ("--features pos,pos", "pos"),
        ("--feature-embed-dim 64", "the features are 64 wide and leave the word nothing"),
        ("--word-embed-dim 40", "--word-embed-dim 40 + features 20 = 60 does not fit"),
        ("--feature-combine concat", "--feature-embed-dims needs 3 numbers"),
        ("--feature-combine concat --feature-embed-dims 4,4", "found 2 in '4,4'"),
        ("--feature-merge add --feature-embed-dim 20", "they must agree"),
    ],
)
def test_options_that_do_not_fit(folder, tmp_path, options, message):
    assert message in train(folder, tmp_path, f"{SHORT} {options}", fails=True).err


def test_buckets_are_refused_in_generation(folder, model):
    found = generate(folder, model, "--num-batch-buckets 4", fails=True)
    assert "--num-batch-buckets does not work" in found.err


def test_split_that_is_not_there(folder, model):
    found = generate(folder, model, "--gen-subset test7", fails=True)
    assert "has no split 'test7'" in found.err
    assert "splits: test, test1, train, valid" in found.err


def test_missing_checkpoint(folder, tmp_path):
    found = generate(folder, tmp_path / "none.pt", fails=True)
    assert "Model file not found" in found.err


def test_ablation_leaves_training_alone(folder, tmp_path):
    """--ablate-features takes effect on validation, never on what is learnt."""
    logs = [
        train(folder, tmp_path / name, f"--max-update 6 --validate-interval-updates 6 {options}")
        for name, options in (("with", "--ablate-features pos,case,subword"), ("without", ""))
    ]
    losses = [[r["loss"] for r in log.logged("train_inner")] for log in logs]
    assert len(losses[0]) == 6
    assert losses[0] == losses[1]
    assert logs[0].logged("valid")[-1]["valid_loss"] != logs[1].logged("valid")[-1]["valid_loss"]
