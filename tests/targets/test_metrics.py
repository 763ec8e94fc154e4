"""All metrics of a prediction by their names."""

from __future__ import annotations

import pytest

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.labeling import counted, entity_counts, precision_recall_f
from fairseq_plugins.targets.table import TARGETS, target_of

LABELS = ("no", "yes")


def test_score_of_classes_has_f1_only_with_a_positive_class():
    gold, predicted = ["yes", "no", "yes"], ["yes", "yes", "no"]
    plain = TARGETS["classes"].score(gold, predicted, LABELS)
    assert set(plain) == {"accuracy", "macro_f1", "mcc", "weighted_f1"}
    about_yes = TARGETS["classes"].score(gold, predicted, LABELS, "yes")
    about_no = TARGETS["classes"].score(gold, predicted, LABELS, "no")
    assert about_yes == {**plain, "f1": 0.5}
    assert about_no["f1"] == 0.0


def test_score_passes_over_examples_without_gold():
    gold, predicted = ["yes", None, "no"], ["yes", "yes", "yes"]
    assert TARGETS["classes"].score(gold, predicted, LABELS)["accuracy"] == 0.5
    with pytest.raises(InputError, match="nothing to score"):
        TARGETS["classes"].score([None], ["yes"], LABELS)


def test_score_of_numbers_names_both_correlations():
    scores = TARGETS["score"].score([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert scores == pytest.approx({"pearson": 1.0, "spearman": 1.0, "mse": 1.0})


def test_score_of_entities_takes_all_types_together():
    gold = [["B-A", "I-A", "O"], ["B-B", "O"]]
    predicted = [["B-A", "I-A", "B-B"], ["B-B", "B-A"]]
    scores = TARGETS["word_labels"].score(gold, predicted, ["O", "B-A", "I-A", "B-B"])
    assert set(scores) == {"accuracy", "entity_precision", "entity_recall", "entity_f1"}
    assert scores["accuracy"] == 0.6
    counts = tuple(counted(entity_counts, gold, predicted).sum(0).tolist())
    assert (scores["entity_precision"], scores["entity_recall"], scores["entity_f1"]) == (
        precision_recall_f(*counts)
    )
    assert counts == (2, 4, 2)
    assert TARGETS["word_labels"].score([["O"]], [["O"]], ["O", "B-A"])["entity_f1"] == 0.0


def test_spans_of_edits_have_f_of_a_half():
    """By the formula of SLA's program; types and borders have to be right."""
    gold = [["B-R", "I-R", "O", "B-M"], ["B-U", "O", "O"]]
    predicted = [["B-R", "I-R", "O", "O"], ["B-R", "B-M", "O"]]
    scores = TARGETS["word_labels"].score(gold, predicted, DATASETS["fce_typed"].labels)
    entities = {"entity_precision", "entity_recall", "entity_f1", "entity_f0.5"}
    assert set(scores) == {"accuracy", *entities}
    precision, recall = scores["entity_precision"], scores["entity_recall"]
    assert (precision, recall) == (1 / 3, 1 / 3)
    predicted[1] = ["O", "O", "O"]
    scores = TARGETS["word_labels"].score(gold, predicted, DATASETS["fce_typed"].labels)
    precision, recall = scores["entity_precision"], scores["entity_recall"]
    assert (precision, recall) == (1.0, 1 / 3)
    half = 1.25 * precision * recall / (recall + 0.25 * precision)
    assert scores["entity_f0.5"] == pytest.approx(half)
    assert half > scores["entity_f1"]
    assert DATASETS["fce_typed"].metric in scores


def test_score_of_error_labels_has_tokens_and_sentences():
    gold = [["c", "i"], ["c", "c"]]
    scores = TARGETS["word_labels"].score(gold, [["i", "i"], ["i", "c"]], ["c", "i"], "i")
    assert not any(name.startswith("entity") for name in scores)
    assert scores["token_precision"] == pytest.approx(1 / 3)
    assert scores["token_recall"] == 1.0
    assert scores["token_f0.5"] == pytest.approx(1.25 * 1 / (3 + 0.25))
    assert scores["detection_precision"] == 0.5
    assert scores["detection_recall"] == 1.0
    assert scores["detection_false_positive_rate"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sums", [], []), "target 'sums' is not one of classes, score, word_labels"),
        (("classes", ["no"], ["no"], LABELS, "maybe"), "'maybe' is not one of no, yes"),
        (("classes", ["no"], ["maybe"], LABELS), "'maybe' is not one of no, yes"),
        (("classes", ["no"], [], LABELS), "1 gold values against 0"),
        (("word_labels", [["c"]], [["c", "c"]], ["c"]), "sentence 0 has 1 gold"),
    ],
)
def test_score_names_what_is_wrong(arguments, message):
    with pytest.raises(InputError, match=message):
        target_of(arguments[0]).score(*arguments[1:])
