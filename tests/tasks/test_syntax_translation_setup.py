"""What the task refuses before anything is trained, and what it warns of."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest
import torch
from omegaconf import OmegaConf
from prepared import batches, dictionary_of, make_model, make_task, prepare, random_pairs

from fairseq_plugins.architectures import agreement
from fairseq_plugins.errors import InputError

PAIRS = random_pairs(9)


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path / "one", {"train": PAIRS, "valid": PAIRS[:5]})


def edit_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_folder_without_manifest(folder):
    (folder / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"manifest\.json is missing"):
        make_task(folder)


def test_languages_come_from_the_folder(folder):
    task = make_task(folder)
    assert (task.cfg.source_lang, task.cfg.target_lang) == ("en", "de")
    make_task(folder, source_lang="en", target_lang="de")
    with pytest.raises(InputError, match="ask for de-en, but the folder was prepared for en-de"):
        make_task(folder, source_lang="de", target_lang="en")


def test_feature_of_a_later_release(folder):
    edit_manifest(folder, features=["pos", "gist"])
    with pytest.raises(InputError, match="'features': unknown layer 'gist'; choices: pos"):
        make_task(folder)


def test_inventory_with_other_labels(folder):
    path = folder / "dict.en.pos.txt"
    path.write_text(path.read_text().replace("NOUN", "NN"))
    with pytest.raises(InputError, match=r"dict\.en\.pos\.txt lists other labels .* NN, .* NOUN "):
        make_task(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"dict\.en\.pos\.txt is missing"):
        make_task(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ("pos",)}, "differ in features"),
        ({"parse": True}, "differ in heads: False and True"),
        ({"annotator": {"name": "other"}}, "differ in annotator_id: 'toy 1 abc' and 'other'"),
        (
            {"dictionaries": (dictionary_of(["a"]), dictionary_of(["b"]))},
            r"differ in dict\.en\.txt",
        ),
    ],
)
def test_shards_prepared_otherwise(folder, tmp_path, options, message):
    other = prepare(tmp_path / "two", {"train": PAIRS}, **options)
    with pytest.raises(InputError, match=message):
        make_task(f"{folder}:{other}")


def test_options_that_cannot_work(folder):
    with pytest.raises(InputError, match="--num-batch-buckets does not work"):
        make_task(folder, num_batch_buckets=4)
    with pytest.raises(InputError, match="--dataset-impl is raw"):
        make_task(folder, dataset_impl="raw")
    with pytest.raises(InputError, match="no data folder"):
        make_task("")


def test_streams_are_checked_before_training(folder):
    for extension in ("bin", "idx"):
        source = folder / f"valid.en-de.en.case.{extension}"
        source.rename(folder / f"train.en-de.en.case.{extension}")
    task = make_task(folder)
    with pytest.raises(InputError, match=r"en\.case has 5 rows instead of 9"):
        task.load_dataset("train")
    edit_manifest(folder, splits={"train": {"lines": 8, "tokens": {}}})
    with pytest.raises(InputError, match="the manifest says 8"):
        task.load_dataset("train")


def test_stock_architectures_are_refused(folder):
    task = make_task(folder)
    cfg = OmegaConf.create({"_name": "transformer_tiny"})
    with pytest.raises(InputError, match="does not take --arch transformer_tiny; choices: syntax_"):
        task.build_model(cfg)


def test_models_that_evaluate_text_are_refused_unbuilt(folder, tmp_path):
    marker = tmp_path / "ran"
    cfg = OmegaConf.create(
        {
            "_name": "transformer_lm",
            "character_embeddings": True,
            "character_filters": f"__import__('pathlib').Path({str(marker)!r}).touch()",
        }
    )
    for from_checkpoint in (False, True):
        with pytest.raises(InputError, match="does not take --arch transformer_lm"):
            make_task(folder).build_model(cfg, from_checkpoint)
    with pytest.raises(InputError, match="does not take --arch None"):
        make_task(folder).build_model(OmegaConf.create({"transformer_lm": cfg}), True)
    assert not marker.exists()


def test_training_writes_features_and_annotator_into_the_options(folder):
    cfg = OmegaConf.create({"_name": "syntax_transformer_tiny", "features": None})
    make_task(folder).build_model(cfg)
    assert (cfg.features, cfg.annotator) == ("pos,case,subword", "toy 1 abc")
    assert (cfg.encoder_embed_dim, cfg.decoder_layers, cfg.dropout) == (64, 2, 0.1)
    cfg = OmegaConf.create({"_name": "syntax_transformer_tiny", "features": "none"})
    make_task(folder).build_model(cfg)
    assert (cfg.features, cfg.annotator) == ("none", None)


def test_folders_of_other_words_or_languages_are_refused(tmp_path):
    """Dictionaries of one size whose ids mean other words fit a model's tables all the same."""
    pairs = {"train": random_pairs(30)}
    folder = prepare(tmp_path / "folder", pairs, joined=True)
    cfg = OmegaConf.create({"_name": "syntax_transformer_tiny", "features": "none"})
    make_task(folder).build_model(cfg)
    make_task(folder).build_model(cfg.copy(), from_checkpoint=True)
    lines = (folder / "dict.de.txt").read_text().splitlines()
    counted = [f"{line.rpartition(' ')[0]} 7" for line in lines]  # the same words, more often
    (folder / "dict.de.txt").write_text("\n".join(counted) + "\n")
    make_task(folder).build_model(cfg.copy(), from_checkpoint=True)
    (folder / "dict.de.txt").write_text("\n".join(reversed(lines)) + "\n")
    with pytest.raises(InputError, match="folder has other subwords of de than .* with --like"):
        make_task(folder).build_model(cfg.copy(), from_checkpoint=True)
    older = OmegaConf.create({**cfg, "words": None})  # says nothing of words
    make_task(folder).build_model(older, from_checkpoint=True)
    swapped = ",".join(reversed(cfg.words.split(",")))
    with pytest.raises(InputError, match="the model translates en-de, but data holds de-en"):
        agreement.check_words(cfg, swapped, "data")
    joined = OmegaConf.create({"words": "en=1,fr=1"})  # a parent's, with the child's dictionary
    agreement.check_words(joined, "en=1,de=1", "data", start=True)
    with pytest.raises(InputError, match="data has other subwords of de"):
        agreement.check_words(joined, "en=1,de=2", "data", start=True)


@pytest.mark.parametrize(
    ("features", "annotator", "warned"),
    [
        ("pos", "toy 1 abc", False),
        ("pos", "toy 2 def", True),
        ("pos", None, True),
        ("none", None, False),
    ],
)
def test_other_annotator_is_warned_of(folder, caplog, features, annotator, warned):
    task = make_task(folder)
    cfg = {"_name": "syntax_transformer_tiny", "features": features, "annotator": annotator}
    for _ in range(2):
        task.build_model(OmegaConf.create(cfg), from_checkpoint=True)
    found = [r.getMessage() for r in caplog.records if "ANOTHER ANNOTATOR" in r.getMessage()]
    assert len(found) == warned
    if warned:
        assert f"[{annotator or 'no pipeline: given with the data'}]" in found[0]
        assert "[toy 1 abc]" in found[0]


def test_other_annotator_of_raw_text_is_warned_of(folder, caplog):
    task = make_task(folder)
    cfg = {"_name": "syntax_transformer_tiny", "features": "pos", "annotator": "toy 1 abc"}
    task.build_model(OmegaConf.create(cfg), from_checkpoint=True)
    assert task.source_encoder.annotator_id == "toy 1 abc"
    assert not [r for r in caplog.records if r.levelname == "WARNING"]
    del task.source_encoder
    task.models = replace(task.models, trained_with=("toy 2 def",))
    assert task.source_encoder
    assert "annotated by [toy 2 def], but the input is annotated by [toy 1 abc]" in caplog.text


def test_ablation_of_unknown_or_unread_features(folder, caplog):
    with pytest.raises(InputError, match="unknown layer 'colour'"):
        make_task(folder, ablate_features="colour")
    edit_manifest(folder, features=["case"])
    with pytest.raises(InputError, match="'pos', which the data folder lacks; choices: case"):
        make_task(folder, ablate_features="pos")
    make_model(make_task(folder, ablate_features="case"), features="none")
    assert "--ablate-features case: the model does not read that feature" in caplog.text


def test_no_ablation_may_be_said_as_elsewhere(folder, caplog):
    caplog.set_level(logging.INFO)
    task = make_task(folder, ablate_features="none")
    make_model(task, features="case")
    assert task.ablation is make_task(folder).ablation is None
    assert "ablat" not in caplog.text
    assert make_task(folder, ablate_features="pos").ablation is not None
    with pytest.raises(InputError, match="unknown layer 'none'"):
        make_task(folder, ablate_features="pos,none")


@pytest.mark.parametrize("mode", ["drop", "shuffle"])
def test_ablation_spares_training(folder, mode):
    found = {}
    for name, options in [("plain", {}), ("ablated", {"ablate_features": "pos"})]:
        task = make_task(folder, ablation_mode=mode, **options)
        for split in ("train", "valid"):
            task.load_dataset(split)
            found[name, split] = factors_of(task, split)
        task.load_dataset("train", task_cfg={})  # as fairseq-generate does
        found[name, "generate"] = factors_of(task, "train")
    assert torch.equal(found["plain", "train"], found["ablated", "train"])
    for split in ("valid", "generate"):
        pos, *others = found["ablated", split].unbind(-1)
        assert not torch.equal(pos, found["plain", split][..., 0])
        assert torch.equal(torch.stack(others, -1), found["plain", split][..., 1:])


def factors_of(task, split):
    (batch,) = batches(task, split, max_sentences=99)
    return batch["net_input"]["src_factors"]


def test_epoch_numbers_do_not_matter_to_ablation_in_an_ensemble(folder, caplog):
    caplog.set_level(logging.INFO)
    task = make_task(folder, ablate_features="pos")
    make_model(task, features="pos")
    make_model(task, features="case")
    assert caplog.text.count("--ablate-features pos") == 1
