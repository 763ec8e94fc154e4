"""Finding entities by questions: options, refusals, training, and that the question decides."""

from __future__ import annotations

import shutil

import pytest
import torch
from asked_entities import (
    QUESTIONS,
    entities_of,
    examples,
    flat_folder,
    nested_folder,
    questions_file,
)
from cli.commands import differences, state_of, training_state
from entity_tasks import make_task, train
from omegaconf import OmegaConf
from prepared_text import examples as text_examples
from prepared_text import make_model, prepare

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.models._matching_config import MatchingConfig
from fairseq_plugins.targets.entity_spans import spans_of
from fairseq_plugins.targets.table import TARGETS

LAST = "checkpoint_last.pt"
LEARNING = "--arch bert_mrc_released_tiny --max-update 700 --hidden-size 32 --lr 0.004 "
LEARNING += "--num-attention-heads 4 --lr-scheduler linear_warmup --warmup-ratio 0.1 "
LEARNING += "--optimizer bert_adamw --clip-norm 1.0 --no-epoch-checkpoints"


@pytest.fixture(scope="module")
def parts():
    return {"train": examples(600, 1), "valid": examples(60, 2)}


@pytest.fixture(scope="module")
def folder(parts, tmp_path_factory):
    return nested_folder(tmp_path_factory.mktemp("bin") / "nested", parts)


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    return questions_file(tmp_path_factory.mktemp("questions") / "q.tsv")


@pytest.fixture(scope="module")
def learnt(folder, questions, tmp_path_factory):
    return train(folder, tmp_path_factory.mktemp("run"), questions, *LEARNING.split())


def f1(folder, parts, run):
    found = [one.answer for one in load(run, folder, cpu=True).predict_split("valid")]
    gold = [entities_of(one) for one in parts["valid"]]
    return TARGETS["entities"].score(gold, found, ["B-LOC"])["entity_f1"]


@pytest.mark.slow
def test_entities_within_others_are_learnt(learnt, folder, parts):
    assert state_of(learnt / "checkpoint_best.pt")["extra_state"]["best"] > 0.9
    assert f1(folder, parts, learnt) > 0.9  # persons alone give 0.71
    inside = [
        (a, b)
        for one in load(learnt, folder, cpu=True).predict_split("valid")
        for a in one.answer
        for b in one.answer
        if a.first <= b.first and b.last <= a.last and a != b
    ]
    assert len(inside) > 5


@pytest.mark.slow
def test_swapped_questions_swap_the_labels(learnt, folder, parts):
    """The same weights, asked for persons where places are meant, and the other way round."""
    model = load(learnt, folder, cpu=True)
    plain = [one.answer for one in model.predict_split("valid")]
    asked = model.inputs.questions
    swapped = dict(zip(asked.questions, reversed(asked.questions.values())))
    encode = asked.encode
    model.inputs.ask(type(asked)(swapped, lambda names: encode(names)[::-1], asked.read))
    other = {"LOC": "PER", "PER": "LOC"}
    found = [
        sorted((other[one.label], one.first, one.last) for one in row.answer)
        for row in model.predict_split("valid")
    ]
    assert found == [sorted(one[:3] for one in row) for row in plain]
    assert any(found)


@pytest.mark.slow
def test_flat_answers_share_no_word(learnt, folder):
    rows = load(learnt, folder, cpu=True, entities="flat").predict_split("valid")
    for row in rows:
        words = [w for one in row.answer for w in range(one.first, one.last + 1)]
        assert len(words) == len(set(words))


def test_checkpoint_knows_its_questions(folder, questions, tmp_path):
    run = train(folder, tmp_path / "run", questions, "--max-update", "1")
    state = state_of(run / LAST)
    assert not torch.serialization.get_unsafe_globals_in_checkpoint(run / LAST)
    assert state["cfg"]["model"]["target"] == "entities"
    questions.rename(tmp_path / "elsewhere.tsv")
    try:
        model = load(run / LAST, folder, cpu=True)
    finally:
        (tmp_path / "elsewhere.tsv").rename(questions)
    assert model.inputs.questions.questions == QUESTIONS
    assert model.inputs.overlap == "nested"
    raw = model.predict([list(one.words) for one in examples(9, 4)])
    assert len(raw) == 9


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["bert_mrc_tiny", "bert_mrc_released_tiny"])
def test_resumed_run_equals_the_straight_one(folder, questions, tmp_path, arch):
    options = f"--arch {arch} --max-update 6 --save-interval-updates 3 --disable-validation "
    options += "--dropout 0.1 --attention-dropout 0.1 --max-positions 20 --batch-size 8"
    straight = train(folder, tmp_path / "straight", questions, *options.split())
    (tmp_path / "resumed").mkdir()
    shutil.copy(straight / "checkpoint_1_3.pt", tmp_path / "resumed" / LAST)
    resumed = train(folder, tmp_path / "resumed", questions, *options.split())
    one, other = (training_state(path / LAST) for path in (straight, resumed))
    assert differences(one, other) == []


def test_flat_folders_are_read_by_both_tasks(parts, questions, tmp_path):
    folder = flat_folder(tmp_path / "flat", parts)
    task = make_task(folder, questions)
    make_model(task, "bert_mrc_tiny")
    assert (task.inputs.overlap, task.manifest.target) == ("flat", "entities")
    task.load_dataset("valid")
    first = parts["valid"][0]
    outer = sorted(spans_of(first.word_labels, len(first.words)))
    assert task.dataset("valid")[0]["target"] == outer


@pytest.mark.parametrize(
    ("arch", "given", "message"),
    [
        ("bert_plain_tiny", {}, "--entity-match none: this task finds entities by questions"),
        ("bertqa_tiny", {"entity_match": "linear"}, "--coattention-blocks"),
        (
            "bert_uer_tiny",
            {"entity_match": "linear"},
            "does not take models that read the similarity",
        ),
        ("bert_mrc_tiny", {"classifier_dropout": 0.1}, "--classifier-dropout 0.1"),
    ],
)
def test_models_that_do_not_fit_are_refused_by_name(folder, questions, arch, given, message):
    task = make_task(folder, questions)
    with pytest.raises(InputError, match=message):
        make_model(task, arch, **given)


def test_models_of_pairs_alone_are_refused(folder, questions):
    cfg = OmegaConf.structured(MatchingConfig())
    cfg._name = "esim_tiny"
    task = make_task(folder, questions)
    with pytest.raises(InputError, match="models that match pairs"):
        task.build_model(cfg)


def test_other_tasks_refuse_its_models(tmp_path):
    folder = prepare(tmp_path / "data", "entities", {"train": text_examples("entities", 9)})
    from prepared_text import make_task as make_other

    with pytest.raises(InputError, match="--entity-match linear: .* take --task mrc_ner"):
        make_model(make_other(folder), "bert_mrc_tiny")


def test_several_labels_a_word_are_refused_elsewhere(folder):
    from prepared_text import make_task as make_other

    with pytest.raises(InputError, match="has 2 labels a word: --task mrc_ner takes all"):
        make_other(folder)


def test_labels_without_entities_and_missing_questions_are_refused(folder, questions, tmp_path):
    errors = prepare(tmp_path / "errors", "errors", {"train": text_examples("errors", 9)})
    with pytest.raises(InputError, match="its labels name no entities"):
        make_model(make_task(errors, questions), "bert_mrc_tiny")
    with pytest.raises(InputError, match="--label-questions FILE is missing"):
        make_model(make_task(folder, None), "bert_mrc_tiny")
    task = make_task(folder, questions, max_positions=8)
    make_model(task, "bert_mrc_tiny")
    with pytest.raises(InputError, match="the question leaves no room"):
        task.load_dataset("train")


def test_sharing_the_work_of_a_split_gives_the_same_counts(folder, questions):
    """As two workers do: each counts its half, and the counts are summed."""
    from prepared_text import batches

    from fairseq_plugins.criterions import MrcNerCriterion

    task = make_task(folder, questions)
    model = make_model(task, "bert_mrc_tiny")
    for parameter in model.head.parameters():
        torch.nn.init.normal_(parameter)
    task.load_dataset("valid")
    tally = MrcNerCriterion(task)

    def counts(**limits):
        with torch.no_grad():
            found = [tally(model, one)[2] for one in batches(task, "valid", **limits) if one]
        return [sum(one[f"_entity_{k}"] for one in found) for k in range(3)]

    halves = [counts(max_sentences=7, num_shards=2, shard_id=k) for k in range(2)]
    assert [a + b for a, b in zip(*halves)] == counts(max_sentences=60)
    assert min(counts(max_sentences=60)[1:]) > 0
