"""Losses against their definition; metrics of any batches and workers against the whole split's."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from fairseq.logging import metrics
from fairseq.logging.meters import MetersDict
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from fairseq_plugins.criterions import SequenceLabelingCriterion, TextClassificationCriterion
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.table import TARGETS

LABELS = {
    "classes": ["no", "yes", "maybe"],
    "score": [],
    "entities": ["B-LOC", "I-LOC", "B-PER", "O"],
    "errors": ["c", "i"],
}
POSITIVE = {"classes": "yes", "errors": "i"}
EXPECTED = {
    "classes": {"accuracy", "macro_f1", "mcc", "f1", "weighted_f1"},
    "score": {"pearson", "spearman", "mse"},
    "entities": {"accuracy", "entity_precision", "entity_recall", "entity_f1"},
    "errors": {
        *("accuracy", "token_precision", "token_recall", "token_f0.5", "detection_precision"),
        *("detection_recall", "detection_f1", "detection_false_positive_rate"),
    },
}


class Echo(torch.nn.Module):
    """Returns the logits it is given, a loss of its own, and gates of its attention."""

    def __init__(self, losses=None, gates=None, fusion=None):
        super().__init__()
        self.losses = losses or {}
        self.gates = gates or {}
        self.fusion = fusion or {}

    def forward(self, logits):
        return logits, {"losses": self.losses, "gates": self.gates, "fusion": self.fusion}


def criterion_of(kind, autocast="none", **how):
    target = kind if kind in ("classes", "score") else "word_labels"
    cls = SequenceLabelingCriterion if target == "word_labels" else TextClassificationCriterion
    manifest = SimpleNamespace(target=target, labels=LABELS[kind])
    scoring = {"positive": POSITIVE.get(kind, ""), **how}
    about = {"manifest": manifest, "target": TARGETS[target], "scoring": scoring}
    cfg = SimpleNamespace(autocast=autocast)
    return cls(SimpleNamespace(NAME=cls.NAME, cfg=cfg, **about))


def data_of(kind, count, seed):
    """Make gold labels and logits of a split: one tensor pair an example."""
    generator = torch.Generator().manual_seed(seed)
    golds, logits = [], []
    for _ in range(count):
        words = int(torch.randint(1, 6, (), generator=generator)) if kind[0] == "e" else 1
        classes = max(1, len(LABELS[kind]))
        logits.append(torch.randn(words, classes, generator=generator))
        if kind == "score":
            golds.append(torch.randn(1, generator=generator))
        else:
            golds.append(torch.randint(0, classes, (words,), generator=generator))
    return golds, logits


def sample_of(kind, golds, logits, ids):
    return {
        "id": torch.tensor(ids),
        "nsentences": len(ids),
        "ntokens": 7,
        "total": len(golds),
        "net_input": {"logits": torch.cat([logits[i] for i in ids])},
        "target": torch.cat([golds[i] for i in ids]),
        "words_per_example": torch.tensor([len(golds[i]) for i in ids]),
    }


def outputs_of(kind, golds, logits, batches, *, training=False, losses=None):
    """Return the logging outputs of batches of example numbers."""
    criterion, model = criterion_of(kind), Echo(losses).train(training)
    return [criterion(model, sample_of(kind, golds, logits, ids))[2] for ids in batches]


def logged(kind, outputs):
    """Log as fairseq's trainer does: batch after batch, every one read off as it comes."""
    criterion = criterion_of(kind)
    with metrics.aggregate(new_root=True) as found:
        for output in outputs:
            with metrics.aggregate() as one:
                criterion.reduce_metrics([output])
                criterion.log_metrics([output])
            for value in one.get_smoothed_values().values():
                assert type(value) is float
                assert math.isfinite(value)
    return found


def names_of(kind, golds):
    """Return gold or predicted labels as `evaluation.metrics.score` takes them."""
    if kind == "score":
        return [float(gold) for gold in golds]
    rows = [[LABELS[kind][i] for i in gold.tolist()] for gold in golds]
    return [row[0] for row in rows] if kind == "classes" else rows


def predictions_of(kind, logits):
    return [row[0, 0] if kind == "score" else row.argmax(-1) for row in logits]


def whole(kind, golds, logits):
    target = kind if kind in ("classes", "score") else "word_labels"
    pairs = names_of(kind, golds), names_of(kind, predictions_of(kind, logits))
    return TARGETS[target].score(*pairs, LABELS[kind], POSITIVE.get(kind, ""))


CASES = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.permutations(range(n)),
        st.lists(st.integers(1, n), max_size=5).map(lambda cuts: sorted({0, *cuts, n})),
    )
)


@pytest.mark.parametrize("kind", LABELS)
@settings(max_examples=25, deadline=None)
@given(case=CASES, seed=st.integers(0, 10**6))
def test_metrics_are_those_of_the_whole_split_whatever_the_batches(kind, case, seed):
    count, order, cuts = case
    golds, logits = data_of(kind, count, seed)
    batches = [order[a:b] for a, b in zip(cuts, cuts[1:])]
    outputs = outputs_of(kind, golds, logits, batches)
    found = logged(kind, outputs).get_smoothed_values()
    expected = whole(kind, golds, logits)
    assert set(expected) == EXPECTED[kind]
    assert {name: found[name] for name in expected} == expected
    assert expected.keys() | {"loss"} == found.keys()


@pytest.mark.parametrize("kind", LABELS)
def test_metrics_of_two_workers_are_those_of_one(kind):
    """What `Trainer._fast_stat_sync_sum` does: double tensors of the same names, summed."""
    golds, logits = data_of(kind, 11, 3)
    outputs = outputs_of(kind, golds, logits, [[0, 3, 4], [1, 2], [5, 6, 7], [8, 9, 10]])
    pairs = [outputs[:2], outputs[2:]]
    assert all(first.keys() == second.keys() for first, second in pairs)
    sums = [
        {k: torch.as_tensor(a[k]).double() + torch.as_tensor(b[k]).double() for k in a}
        for a, b in pairs
    ]
    one, two = (logged(kind, o).get_smoothed_values() for o in (outputs, sums))
    assert {name: two[name] for name in EXPECTED[kind]} == whole(kind, golds, logits)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-6)


@pytest.mark.parametrize("kind", ["classes", "entities", "errors"])
def test_scores_of_labels_are_those_of_the_whole_split(kind):
    golds, logits = data_of(kind, 11, 3)
    criterion = criterion_of(kind, each=True)
    batches = ([0, 3, 4], [1, 2], [5, 6, 7, 8, 9, 10])
    samples = [sample_of(kind, golds, logits, ids) for ids in batches]
    with metrics.aggregate(new_root=True) as found:
        criterion.log_metrics([criterion(Echo().eval(), sample)[2] for sample in samples])
    target = TARGETS["classes" if kind == "classes" else "word_labels"]
    pairs = names_of(kind, golds), names_of(kind, predictions_of(kind, logits))
    expected = target.by_label(*pairs, LABELS[kind])
    logged = found.get_smoothed_values()
    assert {name: logged[name] for name in expected} == expected
    assert {*expected} < {*criterion.metrics}
    types = {"classes": "yes", "entities": "PER", "errors": "i"}
    assert expected[f"support_{types[kind]}"] > 0


def test_scores_that_are_seen_twice_count_once():
    """What fills up the batches of a worker may be there already."""
    golds, logits = data_of("score", 6, 2)
    found = logged("score", outputs_of("score", golds, logits, [range(6), range(3)]))
    expected = whole("score", golds, logits)
    assert {name: found.get_smoothed_values()[name] for name in expected} == expected


@pytest.mark.parametrize("kind", LABELS)
def test_meters_go_through_a_checkpoint(kind):
    """A resumed run goes on with meters that were saved; nothing in them needs code to load."""
    golds, logits = data_of(kind, 6, 1)
    meters = logged(kind, outputs_of(kind, golds, logits, [range(3), range(3, 6)]))
    state = meters.state_dict()
    plain = (int, float, str, type(None))
    for _, _, _, values in state:
        assert all(type(v) in plain or type(v) is torch.Tensor for v in values.values())
    again = MetersDict()
    again.load_state_dict(state)
    assert not again.get_smoothed_values().keys() & EXPECTED[kind]


def test_splits_of_several_lengths_share_their_meters():
    """fairseq keeps one set of "valid" meters for all validation splits."""
    with metrics.aggregate("shared"):
        for count in (5, 9):
            golds, logits = data_of("score", count, count)
            found = logged("score", outputs_of("score", golds, logits, [range(count)]))
            expected = whole("score", golds, logits)
            assert {name: found.get_smoothed_values()[name] for name in expected} == expected
    metrics.reset()


@pytest.mark.parametrize("kind", LABELS)
def test_loss_is_the_mean_over_targets_in_nats(kind):
    golds, logits = data_of(kind, 8, 5)
    rows, target = torch.cat(logits), torch.cat(golds)
    expected = functional.cross_entropy(rows, target) if kind != "score" else None
    if kind == "score":
        expected = functional.mse_loss(rows[:, 0], target)
    for batches in ([range(8)], [range(5), range(5, 8)]):
        outputs = outputs_of(kind, golds, logits, batches)
        found = logged(kind, outputs).get_smoothed_values()["loss"]
        assert found == pytest.approx(float(expected), rel=1e-6)
        assert sum(output["sample_size"] for output in outputs) == len(target)


@pytest.mark.parametrize("kind", LABELS)
def test_loss_of_a_batch_has_the_gradient_of_a_sum(kind):
    golds, logits = data_of(kind, 4, 5)
    sample = sample_of(kind, golds, logits, range(4))
    rows = sample["net_input"]["logits"].requires_grad_()
    loss, size, _ = criterion_of(kind)(Echo().train(), sample)
    loss.backward()
    if kind == "score":
        expected = 2 * (rows - sample["target"][:, None])
    else:
        expected = rows.softmax(-1) - functional.one_hot(sample["target"], rows.size(1))
    torch.testing.assert_close(rows.grad, expected.detach())
    assert size == len(rows)


def test_auxiliary_losses_are_added_as_means_and_logged():
    golds, logits = data_of("classes", 6, 2)
    extra = torch.tensor(0.25, requires_grad=True)
    sample = sample_of("classes", golds, logits, range(6))
    criterion = criterion_of("classes")
    plain = criterion(Echo(), sample)[0]
    loss, size, output = criterion(Echo({"heads": extra}), sample)
    assert float(loss - plain) == pytest.approx(6 * 0.25)
    loss.backward()
    assert float(extra.grad) == size == 6
    found = logged("classes", [output]).get_smoothed_values()
    assert found["loss_heads"] == pytest.approx(0.25)
    assert found["loss"] == pytest.approx(float(loss) / 6)


@pytest.mark.parametrize("training", [True, False])
def test_gates_are_logged_as_means_over_tokens(training):
    """Batches of other sizes count by their tokens; several local attentions add up."""
    golds, logits = data_of("classes", 4, 2)
    outputs, shares = [], [torch.rand(3, 2), torch.rand(9, 2)]
    for found in shares:
        sample = {**sample_of("classes", golds, logits, range(4)), "ntokens": len(found)}
        gates = {0: found / 2, 5: found[:, :1]}
        model = Echo(gates=gates, fusion={3: found}).train(training)
        outputs.append(criterion_of("classes")(model, sample)[2])
    whole = torch.cat(shares)
    values = logged("classes", outputs).get_smoothed_values()
    assert values["gate_0"] == pytest.approx(float(whole.sum(1).mean()) / 2, abs=1e-3)
    assert values["gate_5"] == pytest.approx(float(whole[:, 0].mean()), abs=1e-3)
    assert values["fusion_gate_3"] == pytest.approx(float(whole[:, 0].mean()), abs=1e-3)
    assert values["filter_gate_3"] == pytest.approx(float(whole[:, 1].mean()), abs=1e-3)


def test_gates_in_half_precision_do_not_overflow():
    golds, logits = data_of("classes", 4, 2)
    shares = torch.full((70_000, 1), 0.999).half()
    sample = {**sample_of("classes", golds, logits, range(4)), "ntokens": len(shares)}
    output = criterion_of("classes")(Echo(gates={0: shares}), sample)[2]
    values = logged("classes", [output]).get_smoothed_values()
    assert values["gate_0"] == pytest.approx(0.999, abs=1e-3)


@pytest.mark.parametrize("kind", LABELS)
def test_training_logs_loss_and_accuracy_alone(kind):
    golds, logits = data_of(kind, 9, 4)
    outputs = outputs_of(kind, golds, logits, [range(4), range(4, 9)], training=True)
    found = logged(kind, outputs).get_smoothed_values()
    assert found.keys() == {"loss"} | ({"accuracy"} if kind != "score" else set())
    if kind != "score":
        assert found["accuracy"] == pytest.approx(whole(kind, golds, logits)["accuracy"], abs=1e-4)


def test_half_precision_logits_give_a_loss_in_full_precision():
    golds, logits = data_of("classes", 3, 0)
    loss = criterion_of("classes")(
        Echo(), sample_of("classes", golds, [x.half() for x in logits], range(3))
    )
    assert loss[0].dtype == torch.float32


def test_split_without_labels_is_refused():
    golds, logits = data_of("classes", 3, 0)
    sample = sample_of("classes", golds, logits, range(3))
    del sample["target"]
    with pytest.raises(InputError, match="has no labels: training and metrics need gold labels"):
        criterion_of("classes")(Echo(), sample)


def test_another_task_is_refused():
    task = SimpleNamespace(NAME="translation")
    with pytest.raises(InputError, match="--criterion sequence_labeling needs --task sequence"):
        SequenceLabelingCriterion(task)


def test_progress_bar_shows_no_vectors():
    from fairseq.logging.progress_bar import format_stat

    golds, logits = data_of("score", 30, 0)
    (output,) = outputs_of("score", golds, logits, [range(30)])
    shown = [str(format_stat(value)) for value in output.values()]
    assert max(map(len, shown)) < 25


class Linear(torch.nn.Module):
    """Logits of one linear map, and the type that it computed in."""

    def __init__(self):
        super().__init__()
        self.map = torch.nn.Linear(3, 3)

    def forward(self, logits):
        found = self.map(logits)
        self.type = found.dtype
        return found, {"losses": {}}


@pytest.mark.parametrize("training", [True, False])
def test_products_of_training_alone_are_bfloat16_when_wanted(training):
    golds, logits = data_of("classes", 4, seed=1)
    sample, model = sample_of("classes", golds, logits, range(4)), Linear().train(training)
    wanted, _, _ = criterion_of("classes")(model, sample)
    assert model.type is torch.float32
    loss, _, _ = criterion_of("classes", "bfloat16")(model, sample)
    assert model.type is (torch.bfloat16 if training else torch.float32)
    assert torch.equal(loss, wanted) is not training
    torch.testing.assert_close(loss, wanted, rtol=0.02, atol=0.0)
    loss.backward()
    assert model.map.weight.grad.dtype is torch.float32


def test_an_autocast_around_the_criterion_stays():
    """That of ``--amp``, which is fairseq's own."""
    golds, logits = data_of("classes", 4, seed=1)
    sample, model = sample_of("classes", golds, logits, range(4)), Linear().train()
    with torch.autocast("cpu", torch.bfloat16):
        loss, _, _ = criterion_of("classes")(model, sample)
    assert model.type is torch.bfloat16
    assert loss.dtype is torch.float32


def test_sums_of_workers_are_read_as_numbers_beside_the_columns_of_counts():
    """fairseq sums all that workers log in one tensor, of the kind of the columns."""
    from fairseq_plugins.criterions import _tallies

    column = _tallies._column(torch.arange(3))
    buffer = torch.cat([torch.tensor([2.5, 7.0]).double(), column])
    assert type(buffer) is type(column)
    outputs = [{"loss": buffer[:1].view(()), "ntokens": buffer[1:2].view(()), "right": 3}]
    assert _tallies.sums(outputs, ("loss", "ntokens", "right")) == {
        "loss": 2.5,
        "ntokens": 7.0,
        "right": 3.0,
    }
