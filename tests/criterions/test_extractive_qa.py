"""Losses of spans against their definition; metrics of any batches against the official ones."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.logging import metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from prepared_questions import make_task, passages, prepare
from prepared_text import make_model
from torch.nn import functional

from fairseq_plugins.criterions import ExtractiveQACriterion
from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.span_search import best_spans
from fairseq_plugins.targets import squad
from fairseq_plugins.targets.answers import decode
from fairseq_plugins.targets.spans import SPANS

THRESHOLD, LONGEST = -0.5, 7
NOWHERE = (-100, -100)


class Echo(torch.nn.Module):
    """Returns the logits it is given, and judges whether there is an answer."""

    def __init__(self, answerability=None, weight=0.0, losses=None):
        super().__init__()
        self.extra = {"losses": losses or {}}
        self.extra |= {} if answerability is None else {"answerability": answerability}
        self.loss_weights = {"answerability": weight}

    def forward(self, logits):
        return logits, self.extra


def criterion(threshold=THRESHOLD):
    sizes = {"null_threshold": threshold, "max_answer_length": LONGEST}
    cfg = SimpleNamespace(autocast="none", **sizes)
    manifest = SimpleNamespace(target="spans", labels=[])
    scoring = {"threshold": cfg.null_threshold, "longest": cfg.max_answer_length}
    about = {"manifest": manifest, "target": SPANS, "scoring": scoring, "cfg": cfg}
    task = SimpleNamespace(NAME="extractive_qa", **about)
    return ExtractiveQACriterion(task)


def sample_of(logits, target):
    sample = {"net_input": {"logits": logits}, "target": torch.tensor(target)}
    sample["counted"] = (sample["target"][:, 0] >= 0).nonzero().squeeze(1)
    return sample | {"nsentences": len(target), "ntokens": logits[..., 0].numel()}


def losses_of(logits, target, **model):
    """Return loss, size and what is logged in training."""
    return criterion()(Echo(**model).train(), sample_of(logits, target))


POSITIONS = st.tuples(st.integers(0, 5), st.integers(0, 5)) | st.just(NOWHERE)


@settings(max_examples=60, deadline=None)
@given(st.lists(POSITIONS, min_size=1, max_size=5), st.integers(0, 99), st.integers(0, 4))
def test_loss_is_the_mean_cross_entropy_of_both_ends_whatever_the_padding(target, seed, padding):
    logits = torch.randn(len(target), 6, 2, generator=torch.Generator().manual_seed(seed))
    padded = functional.pad(logits, (0, 0, 0, padding), value=-math.inf).requires_grad_()
    loss, size, _ = losses_of(padded, target)
    chances = logits.log_softmax(1)
    rows = [(chances[b, i, 0], chances[b, j, 1]) for b, (i, j) in enumerate(target) if i >= 0]
    assert size == len(rows)
    assert float(loss.detach()) == pytest.approx(-sum(float(a + b) / 2 for a, b in rows), abs=1e-4)
    loss.backward()
    assert torch.isfinite(padded.grad).all()
    assert not padded.grad[:, 6:].any()


def test_rows_of_answers_that_no_row_shows_count_nowhere():
    logits = torch.randn(3, 6, 2)
    with_it = losses_of(logits, [(1, 2), NOWHERE, (0, 0)])
    without = losses_of(logits[[0, 2]], [(1, 2), (0, 0)])
    torch.testing.assert_close(with_it[0], without[0])
    assert with_it[1] == without[1] == 2
    assert with_it[2]["right_exact_span"] == without[2]["right_exact_span"]
    assert losses_of(logits, [NOWHERE] * 3)[:2] == (0.0, 0)


def test_answerability_is_learnt_of_rows_that_count():
    logits, judged = torch.randn(4, 6, 2), torch.randn(4)
    target, shown = [(1, 2), NOWHERE, (0, 0), (3, 3)], torch.tensor([1.0, 0.0, 1.0])
    plain = losses_of(logits, target)[0]
    loss, size, output = losses_of(logits, target, answerability=judged, weight=0.3)
    expected = functional.binary_cross_entropy_with_logits(judged[[0, 2, 3]], shown)
    torch.testing.assert_close(loss, plain + 0.3 * size * expected)
    torch.testing.assert_close(output["loss_answerability"], 0.3 * size * expected)


def test_auxiliary_losses_count_once_a_row():
    logits, target = torch.randn(3, 6, 2), [(1, 2), NOWHERE, (0, 0)]
    plain, found = (
        losses_of(logits, target, losses=losses)[0]
        for losses in ({}, {"parent": torch.tensor(0.5)})
    )
    torch.testing.assert_close(found, plain + 2 * 0.5)


def test_training_logs_how_many_spans_are_exact():
    logits = torch.zeros(4, 6, 2)
    target = [(1, 2), (3, 4), (0, 0), NOWHERE]
    for row, (start, end) in enumerate([(1, 2), (3, 5), (0, 0), (2, 2)]):
        logits[row, start, 0] = logits[row, end, 1] = 5.0
    with metrics.aggregate(new_root=True) as found:
        made = criterion()
        made.reduce_metrics([losses_of(logits, target)[2]])
    values = found.get_smoothed_values()
    assert values.keys() == {"loss", "exact_span"}
    assert values["exact_span"] == pytest.approx(2 / 3, abs=1e-3)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Questions in up to several windows, answered or not."""
    folder = prepare(tmp_path_factory.mktemp("questions"), {"valid": passages(20, longest=30)})
    task = make_task(folder, max_positions=20, doc_stride=6, max_query_length=5)
    make_model(task)
    task.load_dataset("valid")
    return task.dataset("valid")


def logits_of(item, width):
    """Make up the logits of a question's rows, the same in any batch."""
    generator = torch.Generator().manual_seed(item["id"])
    rows = [torch.randn(length, 2, generator=generator) for length in item["lengths"]]
    return [functional.pad(row, (0, 0, 0, width - len(row)), value=-math.inf) for row in rows]


def batch_of(dataset, indices):
    items = {item["id"]: item for item in (dataset[int(i)] for i in indices)}
    batch = dataset.collater(list(items.values()))
    width = batch["net_input"]["src_tokens"].size(1)
    rows = [row for i in batch["id"].tolist() for row in logits_of(items[i], width)]
    batch["net_input"] = {"logits": torch.stack(rows)}
    return batch


def validated(dataset, batches, threshold=THRESHOLD, model=None):
    """Log validation batch by batch; return the metrics."""
    made = criterion(threshold)
    with metrics.aggregate(new_root=True) as found:
        for indices in batches:
            output = made((model or Echo()).eval(), batch_of(dataset, indices))[2]
            with metrics.aggregate() as one:
                made.reduce_metrics([output])
                made.log_metrics([output])
            assert all(type(value) is float for value in one.get_smoothed_values().values())
    return found.get_smoothed_values()


def official(dataset, threshold):
    """Decode each question alone and let `squad.evaluate` score it."""
    gold, predictions, odds = {}, {}, {}
    for index in range(len(dataset)):
        batch = batch_of(dataset, [index])
        (passage,), logits = batch["passages"], batch["net_input"]["logits"]
        places = (torch.from_numpy(where) for where in (passage.ranges, passage.starts))
        spans = best_spans(logits, *places, longest=LONGEST)
        answered = decode(passage, *(s.numpy() for s in spans), logits[:, 0].sum(-1).numpy())
        gold[passage.id] = passage.answers
        predictions[passage.id] = answered.best_text
        odds[passage.id] = answered.null_odds
    return squad.evaluate(gold, predictions, odds, threshold)


NAMES = {
    "exact": "exact",
    "f1": "f1",
    "has_answer_exact": "HasAns_exact",
    "has_answer_f1": "HasAns_f1",
    "no_answer_exact": "NoAns_exact",
    "no_answer_f1": "NoAns_f1",
    "tuned_exact": "best_exact",
    "tuned_f1": "best_f1",
}


@pytest.mark.parametrize("threshold", [THRESHOLD, 0.0, 2.5])
def test_metrics_are_the_official_ones_of_the_decoded_answers(dataset, threshold):
    assert max(dataset[i]["target"].shape[0] for i in range(len(dataset))) > 2
    found = validated(dataset, np.array_split(np.arange(len(dataset)), 5), threshold)
    expected = official(dataset, threshold)
    for ours, theirs in NAMES.items():
        assert found[ours] == pytest.approx(expected[theirs] / 100)
    assert found["tuned_threshold"] == pytest.approx(expected["best_f1_thresh"])
    assert 0 < found["f1"] < 1


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_metrics_do_not_depend_on_order_and_batches(dataset, rng, size):
    whole = validated(dataset, [range(len(dataset))])
    order = list(range(len(dataset)))
    rng.shuffle(order)
    found = validated(dataset, [order[i : i + size] for i in range(0, len(order), size)])
    assert {n: v for n, v in found.items() if n != "loss"} == {
        n: v for n, v in whole.items() if n != "loss"
    }
    assert found["loss"] == pytest.approx(whole["loss"], rel=1e-4)


def test_counts_of_two_workers_add_up(dataset):
    """fairseq sums what workers count."""
    made, outputs = criterion(), []
    for indices in (range(9), range(9, len(dataset))):
        outputs.append(made(Echo().eval(), batch_of(dataset, indices))[2])
    summed = {name: sum(output[name] for output in outputs) for name in outputs[0]}
    with metrics.aggregate(new_root=True) as found:
        made.reduce_metrics([summed])
        made.log_metrics([summed])
    assert made.logging_outputs_can_be_summed()
    values = found.get_smoothed_values()
    whole = validated(dataset, [range(len(dataset))])
    assert {n: values[n] for n in NAMES} == {n: whole[n] for n in NAMES}


def test_gold_spans_score_all_there_is(dataset):
    """Logits that say the target find every answer, and nothing where there is none."""
    batch = batch_of(dataset, range(len(dataset)))
    for logits, (start, end) in zip(batch["net_input"]["logits"], batch["target"].tolist()):
        logits[max(start, 0), 0] = logits[max(end, 0), 1] = 50.0
        logits[0] -= 100.0 * (start > 0)
    made = criterion(0.0)
    assert made.tally.score(made.tally.count(batch["net_input"]["logits"], {}, batch))["f1"] == 1.0


def test_diverged_models_score_without_a_stumble(dataset):
    batch = batch_of(dataset, range(len(dataset)))
    made = criterion()
    counts = made.tally.count(batch["net_input"]["logits"] * math.nan, {}, batch)
    scores = made.tally.score(counts)
    assert not any(math.isnan(value) for value in scores.values())
    assert scores["has_answer_f1"] == 0.0


def test_half_precision_logits_give_a_loss_in_full_precision(dataset):
    batch = batch_of(dataset, range(4))
    batch["net_input"]["logits"] = batch["net_input"]["logits"].half()
    assert criterion()(Echo().eval(), batch)[0].dtype == torch.float32


def test_validation_without_texts_is_refused(dataset):
    batch = batch_of(dataset, range(4))
    del batch["passages"]
    criterion()(Echo().train(), batch)
    with pytest.raises(InputError, match="it can be validated if --valid-subset names it"):
        criterion()(Echo().eval(), batch)


def test_best_threshold_is_no_metric_to_choose_by():
    found = criterion()
    assert "tuned_threshold" in found.tally.metrics
    assert {"f1", "tuned_f1"} <= set(found.metrics)
    assert "tuned_threshold" not in found.metrics


def test_criterion_is_built_by_its_task(tmp_path):
    task = make_task(prepare(tmp_path, {"valid": passages(2)}), null_threshold=1.5, n_best=3)
    found = task.build_criterion(OmegaConf.create({"_name": "extractive_qa"}))
    assert (found.tally.threshold, found.tally.longest) == (1.5, 30)
