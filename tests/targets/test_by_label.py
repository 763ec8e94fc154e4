"""Scores of labels against scikit-learn's report; calibration against its curve and the formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import classification_report

from fairseq_plugins.targets.by_label import SCORES
from fairseq_plugins.targets.calibration import BINS, calibration_error, filled_bins
from fairseq_plugins.targets.classes import CLASSES, ClassPrediction
from fairseq_plugins.targets.entities import ENTITIES
from fairseq_plugins.targets.entity_spans import EntitySpan, spans_of
from fairseq_plugins.targets.labeling import entity_counts, precision_recall_f
from fairseq_plugins.targets.multi_label import MULTI_LABEL
from fairseq_plugins.targets.score import SCORE
from fairseq_plugins.targets.word_labels import WORD_LABELS, WordPrediction

LABELS = ["no", "yes", "may be", "never"]
PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20)
BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def report(*given, **how):
    """Return scikit-learn's report under our names."""
    found = classification_report(*given, output_dict=True, zero_division=0.0, **how)
    own = {"f1": "f1-score"}
    return {
        f"{name}_{label}": found[label][own.get(name, name)] for label in LABELS for name in SCORES
    }


@given(PAIRS)
def test_scores_of_classes_and_of_words_are_those_of_scikit_learn(pairs):
    gold, said = ([LABELS[i] for i in column] for column in zip(*pairs))
    expected = pytest.approx(report(gold, said, labels=LABELS))
    assert CLASSES.by_label([*gold, None], [*said, "no"], LABELS) == expected
    assert WORD_LABELS.by_label([gold, gold[:1]], [said, said[:1]], LABELS) == pytest.approx(
        report([*gold, gold[0]], [*said, said[0]], labels=LABELS)
    )


@given(st.lists(st.tuples(*[st.tuples(*[st.booleans()] * 4)] * 2), min_size=1, max_size=9))
def test_scores_of_sets_are_those_of_scikit_learn(pairs):
    tables = [np.array(column, dtype=int) for column in zip(*pairs)]
    gold, said = ([[LABELS[i] for i in np.flatnonzero(row)] for row in one] for one in tables)
    expected = report(*tables, target_names=LABELS)
    assert MULTI_LABEL.by_label(gold, said, LABELS) == pytest.approx(expected)


ROWS = st.lists(st.sampled_from(BIO), min_size=1, max_size=8)


@given(st.lists(ROWS.flatmap(lambda row: st.tuples(st.just(row), st.permutations(row)))))
def test_scores_of_types_are_those_of_rows_with_this_type_alone(pairs):
    gold, said = [one for one, _ in pairs], [[*other] for _, other in pairs]
    found = WORD_LABELS.by_label(gold, said, BIO)
    spans = [[EntitySpan(*one) for one in spans_of(row, len(row))] for row in said]
    entities = ENTITIES.by_label([[*spans_of(row, len(row))] for row in gold], spans, BIO)
    assert found == entities
    for kind in ("PER", "LOC") if pairs else ():
        alone = [
            [[label if label.endswith(kind) else "O" for label in row] for row in side]
            for side in (gold, said)
        ]
        right, guessed, true = np.sum([entity_counts(*pair) for pair in zip(*alone)], axis=0)
        expected = (*precision_recall_f(right, guessed, true), true)
        assert [found[f"{name}_{kind}"] for name in SCORES] == pytest.approx(expected)


def test_types_without_a_name_and_scores_have_none_of_their_own():
    assert WORD_LABELS.by_label([["B", "O"]], [["B", "O"]], ["B", "I", "O"]) == {}
    assert SCORE.by_label([1.0], [2.0], []) == CLASSES.by_label([None], ["no"], LABELS) == {}


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_bins_are_those_of_scikit_learn_and_the_error_is_the_formula(answers):
    shares, right = map(np.array, zip(*answers))
    found = filled_bins(answers)
    accuracy, confidence = calibration_curve(right, shares, n_bins=BINS)
    assert [one.accuracy for one in found] == pytest.approx([*accuracy])
    assert [one.confidence for one in found] == pytest.approx([*confidence])
    error = 0.0
    for k in range(BINS):
        low = -1 if k == 0 else np.linspace(0, 1, BINS + 1)[k]
        inside = (shares > low) & (shares <= np.linspace(0, 1, BINS + 1)[k + 1])
        if inside.any():
            error += inside.mean() * abs(shares[inside].mean() - right[inside].mean())
    assert calibration_error(found) == pytest.approx(error)


def test_bare_predictions_keep_what_calibration_needs():
    one = ClassPrediction("a", "yes", "no", ("text",), {"no": 0.2, "yes": 0.8})
    words = WordPrediction("b", ("O", "B"), ("O", "O"), (), ({"O": 0.7, "B": 0.3}, {"B": 0.6}))
    for made, judged in ((one, [(0.8, False)]), (words, [(0.7, True), (0.6, False)])):
        assert made.judged == made.bare().judged == judged
    assert ClassPrediction("a", "yes", None, (), {"yes": 0.8}).judged == []
    assert SCORE.predict(np.array([0.5]), type("About", (), {"id": "c", "gold": 1})).judged == []
