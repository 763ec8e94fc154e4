"""Datasets of the text tasks: what a model asks for, in which order, and what is refused."""

from __future__ import annotations

import logging

import pytest
import torch
from prepared_text import LABELS, batches, encode, examples, make_model, make_task, prepare
from worker_processes import none_is_left

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import PAD_ID, SPECIAL_ID
from fairseq_plugins.syntax.layers import LAYERS


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    splits = {"train": examples("classes", 20, pairs=True)}
    return prepare(folder, "classes", splits)


def test_model_takes_the_batches_of_its_folder(folders, kind):
    task = make_task(folders[kind])
    model = make_model(task)
    for split, rows in (("train", 30), ("valid", 13)):
        task.load_dataset(split)
        seen = 0
        for batch in batches(task, split, max_sentences=7, required_batch_size_multiple=8):
            logits, _ = model(**batch["net_input"])
            assert len(logits) == len(batch["target"])
            assert logits.size(1) == max(1, len(LABELS[kind]))
            seen += batch["nsentences"]
        assert seen == rows


def test_worker_processes_end_with_their_epoch(pairs):
    task = make_task(pairs)
    task.load_dataset("train")
    with none_is_left():
        found = batches(task, "train", max_sentences=7, num_workers=1, data_buffer_size=2)
    assert sum(batch["nsentences"] for batch in found) == 20


def test_pairs_are_told_apart_by_their_segments(pairs):
    task = make_task(pairs)
    model = make_model(task)
    task.load_dataset("train")
    (batch,) = batches(task, "train", max_sentences=99)
    inputs = batch["net_input"]
    assert set(inputs["segments"].unique().tolist()) == {0, 1}
    assert (inputs["src_tokens"] == task.source_dictionary.eos()).sum() == 40
    other = model(**{**inputs, "segments": torch.zeros_like(inputs["segments"])})[0]
    assert not torch.allclose(other, model(**inputs)[0])


def test_features_are_those_the_model_asks_for(folders):
    for names in ("none", "pos", "case,pos", "subword,case,pos"):
        task = make_task(folders["classes"])
        model = make_model(task, "bert_pos_tiny", features=names)
        task.load_dataset("train")
        (batch,) = batches(task, "train", max_sentences=99)
        wanted = [] if names == "none" else names.split(",")
        assert list(model.needs.features) == wanted
        if not wanted:
            assert "src_factors" not in batch["net_input"]
            continue
        assert batch["net_input"]["src_factors"].size(2) == len(wanted)
        assert pos_by_hand(task, batch, wanted.index("pos")) == 30


def pos_by_hand(task, batch, column):
    """Check the tags of a batch against those of the sentences; return how many rows there are."""
    given = examples("classes", 30)
    for i, tokens, factors in zip(
        batch["id"].tolist(), batch["net_input"]["src_tokens"], batch["net_input"]["src_factors"]
    ):
        side = encode(given[i].texts[0].split())
        tags = [side.layers["pos"][word] for word in side.word_of]
        row = [SPECIAL_ID, *tags, SPECIAL_ID]
        row += [PAD_ID] * (len(tokens) - len(row))
        assert factors[:, column].tolist() == row
    return len(batch["id"])


def test_feature_changes_the_answer(folders):
    task = make_task(folders["classes"])
    model = make_model(task, "bert_pos_tiny")
    task.load_dataset("train")
    (batch,) = batches(task, "train", max_sentences=99)
    inputs = batch["net_input"]
    blank = torch.where(
        inputs["src_factors"] > SPECIAL_ID, LAYERS["pos"].inventory.ids(["X"])[0], 1
    )
    assert not torch.allclose(model(**inputs)[0], model(**{**inputs, "src_factors": blank})[0])


def test_folder_without_tags_says_how_to_get_them(tmp_path):
    folder = prepare(tmp_path, "classes", {"train": examples("classes", 3)}, annotations=())
    with pytest.raises(InputError, match="--layers pos"):
        make_model(make_task(folder), "bert_pos_tiny")


def test_raw_text_is_read_as_the_prepared_split(folders, kind):
    task = make_task(folders[kind])
    model = make_model(task, "bert_pos_tiny", features="pos,case,subword")
    task.load_dataset("valid")
    (prepared,) = batches(task, "valid", max_sentences=99)
    raw = [[encode(text.split()) for text in e.texts] for e in examples(kind, 13, 1)]
    dataset = task.inputs.take(raw, [f"x{i}" for i in range(13)])
    batch = dataset.collater([dataset[i] for i in range(13)])
    for name in prepared["net_input"].keys() - {"known"}:
        assert torch.equal(batch["net_input"][name], prepared["net_input"][name]), name
    assert "target" not in batch
    assert torch.equal(model(**batch["net_input"])[0], model(**prepared["net_input"])[0])


def test_raw_example_with_another_number_of_texts_is_refused(pairs):
    task = make_task(pairs)
    make_model(task)
    with pytest.raises(InputError, match="example x has 1 texts; this task takes 2"):
        task.inputs.take([[encode(["by"])]], ["x"])


def test_split_without_labels_is_for_prediction_alone(folders, kind):
    task = make_task(folders[kind])
    make_model(task)
    message = (
        "split 'test' of .* has no labels: .*need gold labels; splits with labels: train, valid"
    )
    with pytest.raises(InputError, match=message):
        task.load_dataset("test")
    dataset = task.inputs.read("test", learning=False)
    assert not dataset.labelled
    assert "target" not in dataset.collater([dataset[0]])


def test_split_with_a_label_missing_names_it(tmp_path, kind):
    given = examples(kind, 5)
    given[3] = examples(kind, 5, gold=False)[3]
    task = make_task(prepare(tmp_path, kind, {"train": given, "valid": given[:3]}))
    make_model(task)
    with pytest.raises(InputError, match="example 4 .id 's0-3'. has no label: .*: valid"):
        task.load_dataset("train")
    gold = task.inputs.read("train", learning=False).gold
    assert [gold[i] is None for i in range(5)] == [False, False, False, True, False]


def test_unknown_split_is_refused(folders):
    task = make_task(folders["classes"])
    with pytest.raises(FileNotFoundError, match="no split 'dev'; splits: train, valid, test"):
        task.load_dataset("dev")


def test_long_examples_by_option(folders):
    task = make_task(folders["classes"], max_positions=6)
    make_model(task)
    with pytest.raises(InputError, match=r"split 'train' of .*: example \d+ \(id 's0-\d+'\) has"):
        task.load_dataset("train")
    task = make_task(folders["classes"], max_positions=6, long_examples="truncate")
    make_model(task)
    task.load_dataset("train")
    assert task.dataset("train").sizes.max() == 6
    assert task.max_positions() == 6


def test_long_sentences_are_split_for_word_labels(folders, caplog):
    full, cut = (make_task(folders["errors"], **given) for given in ({}, {"max_positions": 6}))
    for task in (full, cut):
        make_model(task)
        with caplog.at_level(logging.INFO):
            task.load_dataset("valid")
    assert "examples are longer than 6 tokens; --long-examples split" in caplog.text
    one, other = (batches(task, "valid", max_sentences=99)[0] for task in (full, cut))
    assert targets_of(one) == targets_of(other)
    assert len(other["net_input"]["src_tokens"]) > 13
    task = make_task(folders["errors"], max_positions=6, long_examples="error")
    make_model(task)
    with pytest.raises(InputError, match="choices: --long-examples split"):
        task.load_dataset("valid")


def targets_of(batch):
    parts = batch["target"].split(batch["words_per_example"].tolist())
    return {i: part.tolist() for i, part in zip(batch["id"].tolist(), parts)}


def test_limit_is_that_of_the_model_by_default(folders):
    task = make_task(folders["classes"])
    make_model(task, max_position_embeddings=6)
    assert task.max_positions() == 6
    with pytest.raises(InputError, match="the limit is 6"):
        task.load_dataset("train")
    with pytest.raises(InputError, match="--max-positions 7: the model has only 6"):
        make_model(make_task(folders["classes"], max_positions=7), max_position_embeddings=6)
    with pytest.raises(InputError, match="--max-positions 2: must be at least 3"):
        make_task(folders["classes"], max_positions=2)


def test_order_is_shuffled_in_training_alone(folders):
    task = make_task(folders["classes"])
    make_model(task)
    orders = {}
    for name, options in {
        "train": {},
        "valid": {},
        "validation": {"task_cfg": task.cfg},
    }.items():
        split = "valid" if name == "valid" else "train"
        task.load_dataset(split, **options)
        found = batches(task, split, max_sentences=1)
        orders[name] = [i for b in found for i in b["id"].tolist()]
    assert orders["train"] != list(range(30))
    assert orders["valid"] == list(range(13))
    assert orders["validation"] == sorted(orders["train"]) == list(range(30))


def test_each_epoch_has_its_own_order(folders):
    task = make_task(folders["classes"])
    make_model(task)
    task.load_dataset("train")
    first, again, second = (
        [b["id"].tolist() for b in batches(task, "train", max_sentences=4, epoch=epoch)]
        for epoch in (1, 1, 2)
    )
    assert first == again != second
    assert not task.dataset_to_epoch_iter


def test_length_order_puts_like_lengths_together(folders):
    task = make_task(folders["classes"], batch_order="length")
    make_model(task)
    task.load_dataset("train")
    found = batches(task, "train", max_tokens=60)
    assert sum(b["nsentences"] for b in found) == 30
    bounds = [
        (b["net_input"]["src_lengths"].min(), b["net_input"]["src_lengths"].max()) for b in found
    ]
    assert all(a[1] <= b[0] for a, b in zip(bounds, bounds[1:]))
