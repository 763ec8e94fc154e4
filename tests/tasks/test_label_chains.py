"""Labels of a sentence scored together (--crf): training, predictions, bundles, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from cli.commands import state_of
from prepared_text import LABELS, examples, make_model, make_task, prepare, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.bundle_export import export_bundle
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.methods.label_chain import LabelChain
from fairseq_plugins.syntax.entity_labels import allowed_steps
from fairseq_plugins.targets.table import TARGETS

LAST = "checkpoint_last.pt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": examples("entities", 150, 0), "valid": examples("entities", 40, 1)}
    return prepare(tmp_path_factory.mktemp("bin") / "entities", "entities", splits)


def trained(folder, save_dir, *more: str):
    options = "--max-update 60 --validate-after-updates 60 --no-epoch-checkpoints --lr 0.01 "
    options += "--num-attention-heads 2 --crf scheme --best-checkpoint-metric entity_f1 "
    options += "--maximize-best-checkpoint-metric"
    return train(folder, save_dir, *options.split(), *more)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    return trained(folder, tmp_path_factory.mktemp("run") / "chain")


def steps_of(rows, labels=LABELS["entities"]):
    """Return the numbers of all steps in rows of labels, edges included."""
    ids = {label: number for number, label in enumerate(labels)}
    edge = len(labels)
    for row in rows:
        numbers = [edge, *(ids[label] for label in row), edge]
        yield from zip(numbers, numbers[1:])


@pytest.mark.parametrize(
    ("labels", "forbidden"),
    [
        (["O", "B-X", "I-X"], {("O", "I-X"), ("", "I-X")}),
        (["O", "B", "I"], {("O", "I"), ("", "I")}),
        (["NN", "VB", "IN"], set()),
        (["O", "I-X"], set()),  # no label begins X
        (
            ["O", "B-X", "E-X", "S-X"],
            {(a, "E-X") for a in ("O", "E-X", "S-X", "")}
            | {("B-X", a) for a in ("O", "B-X", "S-X", "")},
        ),
        (
            ["B-X", "B-Y", "I-Y"],
            {("B-X", "I-Y"), ("", "I-Y")},
        ),
    ],
)
def test_schemes_forbid_what_continues_nothing(labels, forbidden):
    found = allowed_steps(labels)
    named = [*labels, ""]
    lacking = {
        (one, other)
        for one, row in zip(named, found)
        for other, allowed in zip(named, row)
        if not allowed
    }
    assert lacking == forbidden


def test_untrained_models_keep_to_the_scheme_only_where_it_is_asked_for(folder):
    """The scheme alone decides: weights are drawn alike."""
    allowed, broken = allowed_steps(LABELS["entities"]), {}
    for crf in ("none", "free", "scheme"):
        torch.manual_seed(1)
        task = make_task(folder)
        model = make_model(task, crf=crf, num_attention_heads=2)
        task.load_dataset("valid")
        sample = task.dataset("valid").collater([task.dataset("valid")[i] for i in range(40)])
        rows = task.target.answers([model(**sample["net_input"])], sample)
        labels = LABELS["entities"]
        found = [row[1] if isinstance(row, tuple) else row.argmax(-1).tolist() for row in rows]
        steps = steps_of([[labels[i] for i in row] for row in found])
        broken[crf] = sum(not allowed[one][other] for one, other in steps)
    assert broken["none"] == broken["free"] > 0
    assert broken["scheme"] == 0


def test_chain_is_learnt_and_predicts_what_validation_counted(folder, run):
    state = state_of(run / LAST)
    assert state["model"]["chain.steps"].abs().max() > 0.01
    predictor = load(run, cpu=True)
    made = [*predictor.predict_split("valid")]
    gold, found = [one.gold for one in made], [one.answer for one in made]
    scores = TARGETS["word_labels"].score(gold, found, LABELS["entities"])
    assert scores["entity_f1"] > 0.9
    assert state["extra_state"]["best"] == pytest.approx(scores["entity_f1"])
    allowed = allowed_steps(LABELS["entities"])
    assert all(allowed[one][other] for one, other in steps_of(found))
    texts = [one.words for one in examples("entities", 40, 1)]
    raw = predictor.predict(texts)
    alone = [predictor.predict([text])[0] for text in texts[:3]]
    assert [one.answer for one in raw] == found
    for one, other in zip(alone, raw):
        assert one.answer == other.answer
        assert one.probability == pytest.approx(other.probability, abs=1e-6)
        assert all(abs(sum(each.values()) - 1) < 1e-6 for each in one.probabilities)
    twice = load([run, run], cpu=True).predict(texts)
    assert [one.answer for one in twice] == found


def test_bundles_have_the_chain_and_other_formats_refuse_it(run, tmp_path):
    texts = [one.words for one in examples("entities", 12, 2)]
    export_bundle(run / LAST, tmp_path / "bundle")
    expected = load(run, cpu=True).predict(texts)
    found = load(tmp_path / "bundle").predict(texts)
    assert [one.answer for one in found] == [one.answer for one in expected]
    with pytest.raises(InputError, match=r"\(--crf\), which formats of others do not know"):
        export_checkpoint(str(run / LAST), tmp_path / "other", form="huggingface")


def test_stopped_training_goes_on_as_if_it_had_not_stopped(folder, run, tmp_path):
    stopped = trained(folder, tmp_path / "run", "--max-update", "25")
    trained(folder, stopped)
    one, other = (state_of(place / LAST)["model"] for place in (run, stopped))
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def test_what_cannot_be_chained_is_refused(folder, tmp_path):
    classes = prepare(tmp_path / "classes", "classes", {"train": examples("classes", 8)})
    with pytest.raises(InputError, match="--crf free: it is for labels of words"):
        make_model(make_task(classes), crf="free")
    with pytest.raises(InputError, match="not with --crf"):
        trained(folder, tmp_path / "weighed", "--label-smoothing", "0.1")
    with pytest.raises(InputError, match="of B-X, E-X none can be the label of a sentence of one"):
        LabelChain(crf="scheme").chain(["B-X", "E-X"])
    made = examples("entities", 9, 0)
    changed = replace(made[4], word_labels=("I-LOC", *made[4].word_labels[1:]))
    splits = {"train": [*made[:4], changed, *made[5:]]}
    wrong = prepare(tmp_path / "wrong", "entities", splits)
    task = make_task(wrong)
    make_model(task, crf="scheme")
    message = r"example 5 \(id 's0-4'\) has I-LOC behind the beginning, which --crf scheme never"
    with pytest.raises(InputError, match=message):
        task.load_dataset("train")
    task = make_task(wrong)
    make_model(task, crf="free")
    task.load_dataset("train")
