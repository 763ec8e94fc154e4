"""Setting the task up, and what its datasets hold: splits, raw text, refusals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from omegaconf import OmegaConf
from prepared_questions import WINDOWS, make_task, offsets_of, passages, prepare
from prepared_text import SIZES, arguments, batches, config, encode, examples, make_model
from prepared_text import make_task as make
from prepared_text import prepare as prepare_labels

from fairseq_plugins.errors import InputError
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.syntax.needs import Needs

PARTS = {"train": passages(12), "valid": passages(6, 1), "test": passages(3, 2, gold=False)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("qa") / "bin", PARTS, annotations=("pos", "heads"))


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    root = tmp_path_factory.mktemp("labels")
    return prepare_labels(root, "classes", {"train": examples("classes", 3, pairs=True)})


def loaded(folder, split, arch="bert_plain_tiny", *, prediction=False, **given):
    task = make_task(folder, **given)
    make_model(task, arch)
    if prediction:
        return task, task.inputs.read(split, learning=False)
    task.load_dataset(split)
    return task, task.dataset(split)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("doc_stride", 0, "--doc-stride 0: must be at least 1"),
        ("max_query_length", -1, "--max-query-length -1: must be at least 1"),
        ("max_answer_length", 0, "--max-answer-length 0: must be at least 1"),
        ("n_best", 0, "--n-best 0: must be at least 1"),
        ("max_positions", 4, "--max-positions 4: must be at least 5"),
        ("null_threshold", float("nan"), "--null-threshold nan: must be a number"),
    ],
)
def test_options_out_of_range_are_refused(folder, option, value, message):
    with pytest.raises(InputError, match=message):
        make_task(folder, **{option: value})


def test_folders_and_checkpoints_of_other_tasks_are_refused(folder, labels):
    with pytest.raises(InputError, match="was prepared for --task text_classification, not for"):
        make_task(labels, _name="extractive_qa")
    with pytest.raises(InputError, match="was prepared for --task extractive_qa, not for --task t"):
        make(folder, _name="text_classification")
    saved = saved_config(labels)
    with pytest.raises(InputError, match=r"trained for classes \(no, yes\), but .* has spans"):
        make_task(folder).build_model(saved, from_checkpoint=True)
    ours = saved_config(folder)
    assert (ours.target, ours.labels) == ("spans", "[]")
    make_task(folder).build_model(ours, from_checkpoint=True)
    with pytest.raises(InputError, match="trained for spans, but .* has classes"):
        make(labels).build_model(ours, from_checkpoint=True)


def saved_config(folder, arch="bert_plain_tiny", **given):
    """Return a model's options as a checkpoint holds them."""
    cfg = OmegaConf.structured(BertConfig(**{**SIZES, **given}))
    cfg._name = arch
    make(folder).build_model(cfg)
    return OmegaConf.create(OmegaConf.to_container(cfg, enum_to_str=True))


def test_models_that_compare_words_are_refused(folder):
    task = make_task(folder)
    with pytest.raises(InputError, match="similarity"):
        make_model(task, "bert_uer_tiny")
    reader = Needs(layers=("similarity",))
    with pytest.raises(InputError, match="--task extractive_qa does not take models that read the"):
        task.inputs.check(reader, training=False)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("f2", "f2 is not computed .* choices: loss, exact, f1"),
        ("tuned_threshold", "tuned_threshold is not computed"),
        ("f1", "f1 goes with --maximize-best-checkpoint-metric"),
    ],
)
def test_metrics_to_choose_by_are_checked(folder, metric, message):
    task = make_task(folder, best_checkpoint_metric=metric)
    with pytest.raises(InputError, match=message):
        task.build_criterion(OmegaConf.create({"_name": "extractive_qa"}))
    other = OmegaConf.create({"_name": "text_classification"})
    with pytest.raises(InputError, match="needs --criterion extractive_qa, not"):
        task.build_criterion(other)


def test_windows_are_the_folders_unless_told_otherwise(folder):
    _, own = loaded(folder, "train")
    reading = own.form
    assert (reading.limit, reading.stride, reading.longest_question) == tuple(WINDOWS.values())
    other = {"max_positions": 20, "doc_stride": 3, "max_query_length": 4}
    _, told = loaded(folder, "train", **other)
    reading = told.form
    assert (reading.limit, reading.stride, reading.longest_question) == tuple(other.values())
    assert sum(told.sizes) > sum(own.sizes)


def test_a_model_with_few_positions_limits_the_windows(folder):
    task = make_task(folder)
    make_model(task, max_position_embeddings=16)
    assert task.max_positions() == 16
    with pytest.raises(InputError, match="--max-positions 20: the model has only 16"):
        make_model(make_task(folder, max_positions=20), max_position_embeddings=16)


def test_a_question_that_leaves_its_passage_no_room_is_named(folder):
    with pytest.raises(InputError, match="split 'train' .*id 'q0-.* has a question of"):
        loaded(folder, "train", max_positions=5)


def test_training_reads_no_texts_and_validation_does(folder):
    task, train = loaded(folder, "train")
    assert train.texts is None
    task.load_dataset("valid")
    sample = batches(task, "valid", max_sentences=50)[0]
    assert [p.id for p in sample["passages"]] == [
        [q.id for told in PARTS["valid"] for q in told.questions][i] for i in sample["id"]
    ]
    _, both = loaded(folder, "train", valid_subset="valid,train")
    assert both.texts is not None
    _, predicted = loaded(folder, "train", prediction=True)
    assert predicted.texts is not None


def test_training_is_shuffled_and_validation_is_not(folder):
    task, train = loaded(folder, "train", batch_order="length")
    task.load_dataset("valid")
    assert (train.order, task.dataset("valid").order) == ("length", "file")


def test_questions_without_gold_are_for_prediction_alone(folder):
    with pytest.raises(InputError, match="has no labels: .* splits with labels: train, valid"):
        loaded(folder, "test")
    task, test = loaded(folder, "test", prediction=True)
    sample = test.collater([test[0]])
    assert "target" not in sample
    assert sample["passages"][0].answers is None


def test_other_counts_than_the_manifests_are_refused(tmp_path):
    folder = prepare(tmp_path, {"train": passages(3)})
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"paragraphs": 3', '"paragraphs": 4'))
    with pytest.raises(InputError, match="'train' has 3 paragraphs, but the manifest says 4"):
        loaded(folder, "train")
    with pytest.raises(FileNotFoundError, match="no split 'dev'; splits: train"):
        loaded(folder, "dev")


@pytest.mark.parametrize("arch", ["bert_plain_tiny", "bert_sla_tiny", "bert_pos_tiny"])
def test_raw_text_is_read_as_the_prepared_split(folder, arch):
    """In windows, with features, words and heads where the model reads them."""
    limits = {"max_positions": 16, "doc_stride": 5, "max_query_length": 4}
    task, split = loaded(folder, "valid", arch, **limits)
    encoded, paragraphs = raw(PARTS["valid"])
    dataset = task.inputs.take_questions(encoded, paragraphs)
    assert dataset.items.refitted == split.items.refitted != []
    for index in range(len(split)):
        ours, theirs = dataset.collater([dataset[index]]), split.collater([split[index]])
        assert ours["net_input"].keys() == theirs["net_input"].keys()
        for name in ours["net_input"].keys() - {"known"}:
            assert (ours["net_input"][name] == theirs["net_input"][name]).all(), name
        (one,), (other,) = ours["passages"], theirs["passages"]
        assert (one.id, one.question, one.context, one.answers) == (
            *(other.id, other.question, other.context, other.answers),
        )
        assert np.array_equal(one.windows, other.windows)
        assert np.array_equal(one.offsets, other.offsets)


def raw(parts):
    """Encode passages as `text.squad_encoder` does; return them with what they come from."""
    encoded = [
        SimpleNamespace(
            context=encode(told.context.split()),
            offsets=np.array(offsets_of(told.context)),
            questions=[encode(q.text.split()) for q in told.questions],
        )
        for told in parts
    ]
    paragraphs = []
    for told in parts:
        questions = []
        for q in told.questions:
            answers = q.answers
            if answers is not None:
                answers = tuple(SimpleNamespace(text=text, start=start) for text, start in answers)
            questions.append(SimpleNamespace(id=q.id, text=q.text, answers=answers))
        paragraphs.append(SimpleNamespace(context=told.context, questions=tuple(questions)))
    return encoded, paragraphs


def test_raw_questions_without_gold_have_none(folder):
    task, _ = loaded(folder, "valid")
    dataset = task.inputs.take_questions(*raw(PARTS["test"]))
    assert {dataset.passage(i).answers for i in range(len(dataset))} == {None}
    assert not dataset.labelled


def test_raw_text_that_was_not_parsed_is_named(folder):
    task, _ = loaded(folder, "valid", "bert_sla_tiny")
    encoded, paragraphs = raw(PARTS["valid"])
    del encoded[1].context.layers["heads"]
    name = PARTS["valid"][1].questions[0].id
    with pytest.raises(InputError, match=f"the passage of question '{name}' was not parsed"):
        task.inputs.take_questions(encoded, paragraphs)


def test_command_line_reaches_the_options(folder, tmp_path):
    words = "--max-positions 30 --doc-stride 7 --max-query-length 9 --max-answer-length 5 "
    words += "--n-best 3 --null-threshold -1.5 --batch-order length --valid-subset valid,test"
    cfg = config(*arguments(folder, tmp_path, *words.split())).task
    assert (cfg.max_positions, cfg.doc_stride, cfg.max_query_length) == (30, 7, 9)
    assert (cfg.max_answer_length, cfg.n_best, cfg.null_threshold) == (5, 3, -1.5)
    assert (cfg.batch_order, cfg.valid_subset) == ("length", "valid,test")
    cfg = config(*arguments(folder, tmp_path)).task
    assert (cfg.max_positions, cfg.doc_stride, cfg.max_query_length) == (None,) * 3
    assert (cfg.max_answer_length, cfg.n_best, cfg.null_threshold) == (30, 20, 0.0)
