"""Weights of labels: against the formula in float64, torch's mean and scikit-learn; bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch.nn import functional

from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.classes import CLASSES
from fairseq_plugins.targets.label_weights import balanced_weights, given_weights, label_weights
from fairseq_plugins.targets.target import LABEL_WEIGHTS, SMOOTHING
from fairseq_plugins.targets.word_labels import WORD_LABELS

LABELS = ["no", "may be", "yes"]


def batch(count=7):
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(count, 3, generator=generator, dtype=torch.float64)
    return logits.requires_grad_(), torch.arange(count) % 3


def loss_of(target, logits, gold, **weights):
    return target.losses(logits, {}, {"target": gold}, weights)[0]


@pytest.mark.parametrize("target", [CLASSES, WORD_LABELS])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weights", [None, (0.5, 0.0, 3.0)])
def test_loss_equals_the_formula(target, smoothing, weights):
    logits, gold = batch()
    each = [1.0] * 3 if weights is None else weights
    expected = torch.zeros((), dtype=torch.float64)
    for row, label in zip(-logits.log_softmax(-1), gold.tolist()):
        expected = expected + (1 - smoothing) * each[label] * row[label]
        for one, weight in zip(row, each):
            expected = expected + smoothing / 3 * weight * one
    table = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    given = {LABEL_WEIGHTS: table, SMOOTHING: smoothing}
    found = loss_of(target, logits, gold, **given)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(one, logits)[0] for one in (found, expected)]
    torch.testing.assert_close(*gradients)
    mean = functional.cross_entropy(logits, gold, table, label_smoothing=smoothing)
    torch.testing.assert_close(found / sum(each[i] for i in gold.tolist()), mean)


def test_without_weights_the_loss_is_the_plain_one_bit_for_bit():
    logits, gold = batch()
    plain = functional.cross_entropy(logits, gold, reduction="sum")
    assert torch.equal(loss_of(CLASSES, logits, gold), plain)


def test_balanced_weights_are_those_of_scikit_learn_and_sum_to_the_targets():
    gold = np.array([0] * 50 + [2, 1, 1])
    found = balanced_weights(gold, 3)
    expected = compute_class_weight("balanced", classes=np.arange(3), y=gold)
    assert found == pytest.approx(expected.tolist())
    assert sum(found[i] for i in gold) == pytest.approx(len(gold))


def test_a_label_without_targets_counts_as_seen_once():
    assert (
        balanced_weights(np.array([0, 0, 1]), 3)[2] == balanced_weights(np.array([0, 0, 1]), 3)[1]
    )


def test_options_name_weights_in_any_form(tmp_path):
    path = tmp_path / "weights"
    path.write_text("yes\t3\n\nmay be 0.5\nno 1e0\n")
    assert label_weights(str(path), LABELS, np.array) == (1.0, 0.5, 3.0)
    assert label_weights("1,0.5,3", LABELS, np.array) == (1.0, 0.5, 3.0)
    gold = np.array([0, 0, 1, 2])
    assert label_weights("balanced", LABELS, lambda: gold) == balanced_weights(gold, 3)


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("no 1\nyes 2\n", "weights: no weight of label 'may be'"),
        ("no 1\nperhaps 2\n", "weights:2: label 'perhaps' is not one of no, may be, yes"),
        ("no 1\nno 2\n", "weights:2: label 'no' is there twice"),
        ("no\n", "weights:1: 'no': expected a label and a number"),
        ("no x\n", "weights:1: 'no x': expected a label and a number"),
        ("no -1\n", "weights:1: weight -1 is not a number from 0 on"),
        ("no 1,5\n", "weights:1: 'no 1,5': expected a label and a number"),
        ("no 0\nyes 0\nmay be 0\n", "weights: all weights are 0"),
        ("no nan\n", "weights:1: weight nan is not a number from 0 on"),
    ],
)
def test_files_of_weights_that_say_too_little_are_refused(tmp_path, lines, error):
    path = tmp_path / "weights"
    path.write_text(lines)
    with pytest.raises(InputError) as caught:
        label_weights(str(path), LABELS, np.array)
    assert error in str(caught.value)


@pytest.mark.parametrize("text", ["1,2", "balanced", "/etc/passwd", "1,2,x", "1,2,-1", "0,0,0"])
def test_a_checkpoint_holds_numbers_alone(text):
    with pytest.raises(InputError, match="--class-weights '"):
        given_weights(text, LABELS)


def test_another_word_is_refused_with_the_choices():
    with pytest.raises(FileNotFoundError, match="balnced: no such file; choices: balanced"):
        label_weights("balnced", LABELS, np.array)
