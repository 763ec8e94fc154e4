"""The text tasks give word similarities to models that read them, and no others."""

from __future__ import annotations

import pytest
import torch
from omegaconf import OmegaConf
from prepared_text import SIZES, batches, encode_texts, examples, make_model, make_task, prepare

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.needed_annotations import read_part
from fairseq_plugins.models._bert_config import BertConfig

COMPARED = {"annotations": ("pos", "similarity")}
KIND = "bert_uer_tiny"


def folder_of(tmp_path_factory, name, **given):
    splits = {"train": examples("classes", 12, pairs=True)}
    return prepare(tmp_path_factory.mktemp(name), "classes", splits, **given)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    return folder_of(tmp_path_factory, "compared", **COMPARED)


@pytest.fixture(scope="module")
def uncompared(tmp_path_factory):
    return folder_of(tmp_path_factory, "uncompared")


def only_batch(task):
    task.load_dataset("train")
    (batch,) = batches(task, "train", max_sentences=99)
    return batch["net_input"]


def test_models_get_what_they_read(compared):
    for kind, expected in ((KIND, {"word_of", "similarity"}), ("bert_plain_tiny", set())):
        task = make_task(compared)
        model = make_model(task, kind)
        inputs = only_batch(task)
        assert {*inputs} & {"word_of", "heads", "similarity"} == expected
        assert len(model(**inputs)[0]) == 12


def test_similarities_reach_the_answer(compared):
    task = make_task(compared)
    model = make_model(task, KIND)
    for weight in model.parameters():
        weight.data *= 5  # attention that tells keys apart
    inputs = only_batch(task)
    assert inputs["similarity"].min() < 1
    even = {**inputs, "similarity": torch.ones_like(inputs["similarity"])}
    assert not torch.allclose(model(**inputs)[0], model(**even)[0])


@pytest.mark.parametrize("order", [(KIND, "bert_plain_tiny"), ("bert_plain_tiny", KIND)])
def test_ensemble_gets_what_any_of_it_reads(compared, order):
    task = make_task(compared)
    models = [make_model(task, kind) for kind in order]
    inputs = only_batch(task)
    assert "similarity" in inputs
    assert all(len(model(**inputs)[0]) == 12 for model in models)


def test_raw_text_is_read_as_the_prepared_split(compared):
    """Long pairs included, which are shortened."""
    task = make_task(compared, max_positions=9, long_examples="truncate")
    model = make_model(task, KIND)
    prepared = only_batch(task)
    raw = [encode_texts(e.texts) for e in examples("classes", 12, pairs=True)]
    dataset = task.inputs.take(raw)
    assert dataset.items.refitted
    order = sorted(range(12), key=lambda i: -dataset.sizes[i])
    found = dataset.collater([dataset[i] for i in order])["net_input"]
    assert torch.equal(found["similarity"].sum((1, 2)).sort()[0],
                       prepared["similarity"].sum((1, 2)).sort()[0])  # fmt: skip
    torch.testing.assert_close(model(**found)[0].sort(0)[0], model(**prepared)[0].sort(0)[0])


def test_raw_text_whose_words_were_not_compared_is_refused(compared):
    task = make_task(compared)
    make_model(task, KIND)
    sides = encode_texts(["by night", "the cat"])
    del sides[1].layers["similarity"]
    message = "example line 7 was not compared, .*--layers similarity"
    with pytest.raises(InputError, match=message):
        task.inputs.take([sides], ["line 7"])
    sides[1].layers["similarity"] = [1]
    with pytest.raises(InputError, match="similarity of raw text: example 1 has 1 entries"):
        task.inputs.take([sides], ["line 7"])


def test_folder_without_similarities_says_how_to_prepare_it(compared, uncompared):
    with pytest.raises(InputError, match="--layers pos,similarity(?!.*conllu)"):
        make_model(make_task(uncompared), KIND)
    cfg = OmegaConf.structured(BertConfig(**SIZES))
    cfg._name = KIND
    make_task(compared).build_model(cfg)
    saved = OmegaConf.create(OmegaConf.to_container(cfg, enum_to_str=True))
    message = f"{uncompared} was prepared without: prepare it with --layers pos,similarity"
    with pytest.raises(InputError, match=message):
        make_task(uncompared).build_model(saved.copy(), from_checkpoint=True)


def test_only_models_that_read_similarities_wait_for_wordnet(compared):
    for kind, expected in ((KIND, ["similarity"]), ("bert_plain_tiny", [])):
        task = make_task(compared)
        make_model(task, kind)
        assert read_part(task.manifest, task.inputs.needs).annotations == expected
