"""Accuracy, F1, Matthews correlation, Pearson, Spearman: against scikit-learn and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.classes import cells, class_metrics, confusion
from fairseq_plugins.targets.score import SCORE_METRICS, score_metrics

CLASSES = 4


def matrix_of(gold, predicted, labels):
    return confusion(cells(gold, predicted, labels), np.ones(len(gold)), len(labels))


def columns(elements, least=1):
    return st.integers(least, 30).flatmap(
        lambda n: st.tuples(*(st.lists(elements, min_size=n, max_size=n) for _ in range(2)))
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A single label")
@given(columns(st.integers(0, CLASSES - 1)))
def test_scores_of_classes_equal_scikit_learn(pair):
    gold, predicted = pair
    matrix = matrix_of(gold, predicted, range(CLASSES))
    quiet = {"zero_division": 0.0}
    assert matrix == metrics.confusion_matrix(gold, predicted, labels=range(CLASSES)).tolist()
    assert class_metrics(matrix) == {
        "accuracy": pytest.approx(metrics.accuracy_score(gold, predicted)),
        "macro_f1": pytest.approx(metrics.f1_score(gold, predicted, average="macro", **quiet)),
        "mcc": pytest.approx(metrics.matthews_corrcoef(gold, predicted), abs=1e-12),
        "weighted_f1": pytest.approx(
            metrics.f1_score(gold, predicted, average="weighted", **quiet)
        ),
    }
    each = metrics.f1_score(gold, predicted, labels=range(CLASSES), average=None, **quiet)
    assert [class_metrics(matrix, i)["f1"] for i in range(CLASSES)] == pytest.approx(each.tolist())


@given(columns(st.integers(0, 2), least=4), st.integers(1, 3))
def test_matrices_of_parts_add_up_to_that_of_the_whole(pair, cut):
    gold, predicted = pair
    parts = [
        matrix_of(gold[s], predicted[s], range(3)) for s in (slice(None, cut), slice(cut, None))
    ]
    added = [[a + b for a, b in zip(*rows)] for rows in zip(*parts)]
    assert added == matrix_of(gold, predicted, range(3))


@given(columns(st.floats(-5, 5).map(lambda x: round(x, 3)), least=2))
def test_correlations_equal_scipy_and_are_zero_where_undefined(pair):
    gold, predicted = pair
    varied = min(map(len, map(set, pair))) > 1
    found = score_metrics(gold, predicted)
    for name, expected in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        value = float(expected(gold, predicted)[0]) if varied else 0.0
        assert found[name] == pytest.approx(value)


def test_spearman_looks_at_ranks_and_pearson_at_values():
    found = score_metrics([1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 9.0, 100.0])
    assert found["spearman"] == pytest.approx(1.0)
    assert found["pearson"] < 0.99
    assert score_metrics([1.0, 2.0], [3.0, 2.0])["mse"] == 2.0


@pytest.mark.parametrize(
    "value",
    [
        *class_metrics(matrix_of([], [], range(2)), 1).values(),
        class_metrics(matrix_of([0, 1], [1, 1], range(2)))["mcc"],  # one class predicted only
        class_metrics(matrix_of([0], [0], range(2)), 1)["f1"],
        *score_metrics([], []).values(),
        score_metrics([1.0], [2.0])["spearman"],
        score_metrics([1, 1, 1], [1, 2, 3])["pearson"],
        score_metrics([1, 2, math.nan], [1, 2, 3])["spearman"],
    ],
)
def test_undefined_scores_are_a_plain_zero(value):
    assert type(value) is float
    assert value == 0.0


def test_scores_are_python_floats():
    matrix = matrix_of([0, 1, 1], [0, 1, 0], range(2))
    pair = [1.0, 2.0, 4.0], [2.0, 1.0, 5.0]
    values = [*class_metrics(matrix, 1).values(), *score_metrics(*pair).values()]
    assert {type(value) for value in values} == {float}
    assert all(values)


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="2 gold values against 1"):
        matrix_of([0, 1], [0], range(2))
    with pytest.raises(InputError, match="class 2 is not one of 0, 1"):
        matrix_of([0], [2], range(2))
    with pytest.raises(InputError, match="1 gold values against 2"):
        SCORE_METRICS["pearson"]([1.0], [1.0, 2.0])
