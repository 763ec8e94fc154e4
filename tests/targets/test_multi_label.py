"""Sets of labels: as text, on disk, their loss, counts and metrics, predictions, thresholds."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.gold import IdSets
from fairseq_plugins.targets.label_sets import LabelSet, joined, parted
from fairseq_plugins.targets.multi_label import MULTI_LABEL, best_threshold
from fairseq_plugins.targets.target import About

LABELS = ("anger", "joy", "a|b")
ODD = ["a", "|", "\\", "\\|", "a|", "|a", "a\\", "\\\\|", "a\\|b\\", "C:\\x", "||", "\\\\", "ä b"]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_odd_labels_come_back_from_their_text(count):
    for labels in combinations(ODD, count):
        assert parted(joined(labels)) == [*labels]


@given(st.lists(st.text("a|\\", min_size=1, max_size=5), max_size=4))
def test_lists_of_labels_come_back_from_their_text(labels):
    assert parted(joined(labels)) == labels


def test_sets_are_equal_in_any_order():
    record = {"id": "1", "probabilities": {"joy": 0.6, "fear": 0.7, "calm": 0.1}}
    texts = [("joy", "fear"), ("fear", "joy")]
    read = [
        MULTI_LABEL.read({**record, "label_set": [*one], "gold": [*one]}, "x", 1) for one in texts
    ]
    assert read[0].answer == read[1].answer == read[0].gold == read[1].gold
    assert repr(read[0].gold) == repr(MULTI_LABEL.value("joy|fear"))


def test_text_is_read_as_people_write_it():
    texts = {
        "|": [],
        " | ": [],
        "a": ["a"],
        "a | b": ["a", "b"],
        r"a\|b": ["a|b"],
        r"\a\n": [r"\a\n"],
    }
    assert {text: parted(text) for text in texts} == texts
    assert (joined([]), joined(["a|b", "c"]), joined(["C:\\", "c"])) == ("|", r"a\|b|c", r"C:\\|c")


@pytest.mark.parametrize("text", ["a||b", "|a", "a|", "a|b|a", "a|A"])
def test_empty_and_repeated_labels_are_refused(text):
    with pytest.raises(InputError, match="has an empty label|has label 'a' twice"):
        MULTI_LABEL.spelt(text, str.lower)


ROWS = [["joy", "anger"], [], None, ["a|b"]]


def read(folder, rows):
    ids = {label: number for number, label in enumerate(LABELS)}
    streams, lines = IdSets.written(rows, ids)
    assert not lines
    write_stream(folder / "x.label", [*streams["label"]], IdSets.sizes(len(LABELS))["label"])
    return IdSets.read(folder, "x", len(LABELS))


def test_missing_gold_and_the_empty_set_are_two(tmp_path):
    gold = read(tmp_path, ROWS)
    assert [gold[n] for n in range(4)] == [[0, 1], [], None, [2]]
    assert gold.present.tolist() == [True, True, False, True]
    assert not gold.complete
    table = gold.tensor([gold.values[n] for n in (0, 1, 3)])
    assert table.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("row", [[0, 0], [0, 3], [4]])
def test_rows_that_are_no_sets_are_refused(row, tmp_path):
    write_stream(tmp_path / "x.label", [[0], row], 9)
    with pytest.raises(InputError, match="x.label: example 2 has a label twice|line 2: id 4"):
        IdSets.read(tmp_path, "x", 3)


@st.composite
def tables(draw):
    """Draw gold and predicted sets, (n, C) each."""
    rows, columns = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    bits = st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns)
    return tuple(np.array(draw(bits), dtype=int).reshape(rows, columns) for _ in range(2))


def names(table):
    return [[f"l{column}" for column in np.flatnonzero(row)] for row in table]


@given(tables())
def test_metrics_equal_scikit_learn(pair):
    labels = [f"l{column}" for column in range(pair[0].shape[1])]
    found = MULTI_LABEL.score(*map(names, pair), labels, "l1")
    kinds = {"micro_f1": "micro", "macro_f1": "macro", "weighted_f1": "weighted"}
    expected = {k: metrics.f1_score(*pair, average=v, zero_division=0.0) for k, v in kinds.items()}
    expected["subset_accuracy"] = metrics.accuracy_score(*pair)
    each = metrics.f1_score(*pair, average=None, zero_division=0.0)
    expected["f1"] = each[1]
    assert found == pytest.approx(expected)


@given(tables(), st.integers(0, 12))
def test_counts_of_parts_add_up_to_the_metrics_of_the_whole(pair, cut):
    gold, said = (torch.tensor(one) for one in pair)
    labels = [f"l{column}" for column in range(gold.shape[1])]
    tally, logits = MULTI_LABEL.tally(labels, positive="l0"), said * 2.0 - 1
    parts = [
        tally.count(logits[s], {}, {"target": gold[s].float()})
        for s in (slice(cut), slice(cut, None))
    ]
    found = tally.score({name: parts[0][name] + parts[1][name] for name in parts[0]})
    assert tuple(found) == tally.metrics
    whole = MULTI_LABEL.score(*map(names, pair), labels, "l0")
    assert found == pytest.approx({name: whole[name] for name in found})


def test_loss_and_gradient_are_those_of_each_label():
    torch.manual_seed(1)
    logits = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    target = torch.randint(2, (5, 3))
    loss, more = MULTI_LABEL.losses(logits, {}, {"target": target.float()}, {})
    share = logits.detach().sigmoid()
    each = [
        -(share[n, c] if target[n, c] else 1 - share[n, c]).log() / 3
        for n in range(5)
        for c in range(3)
    ]
    assert not more
    assert loss.item() == pytest.approx(sum(each).item(), rel=1e-12)
    loss.backward()
    torch.testing.assert_close(logits.grad, (share - target) / 3)
    assert MULTI_LABEL.right(torch.where(target > 0, 1.0, -1.0), target) == 5


def predicted(logits, thresholds, gold=None):
    rows = MULTI_LABEL.join([torch.tensor([one]) for one in logits])
    return MULTI_LABEL.predict(rows, About("7", LABELS, gold=gold, thresholds=thresholds))


def test_predictions_tell_all_labels_and_the_empty_set():
    one = predicted([[0.0, -1.0, 3.0]], (0.5, 0.2, 0.99), LabelSet(("joy",)))
    assert one.answer == ("anger", "joy")
    assert one.probabilities["a|b"] == pytest.approx(0.9525741268)
    assert one.tsv() == "7\tanger|joy\tjoy\n"
    none = predicted([[-1.0, -1.0, -1.0]], (0.5,) * 3, LabelSet())
    record = json.loads(none.json())
    assert (record["label_set"], record["gold"], none.tsv()) == ([], [], "7\t|\t|\n")
    assert none.text == "no label"
    assert "gold" not in predicted([[0.0] * 3], (0.5,) * 3).record()
    for made in (one, none):
        again = MULTI_LABEL.read(json.loads(made.json()), "x", 3)
        assert (again.answer, again.gold, again.record()) == (made.answer, made.gold, made.record())
        assert MULTI_LABEL.sides(json.loads(made.json())) == (made.gold, made.answer)


def test_an_ensemble_is_the_mean_of_probabilities():
    both = [[0.0, 2.0, -3.0], [1.0, -1.0, 0.5]]
    mean = torch.tensor(both, dtype=torch.float64).sigmoid().mean(0).tolist()
    assert [*predicted(both, (0.5,) * 3).probabilities.values()] == pytest.approx(mean)


def test_how_good_a_prediction_is():
    one = predicted([[2.0, -2.0, 0.0]], (0.5,) * 3, LabelSet(("anger",)))
    assert MULTI_LABEL.rate(one) == pytest.approx(100 * (2 * 0.880797078 + 0.5) / 3)
    assert MULTI_LABEL.shown(one) == ([("anger", True), ("a|b", False)], "2 of 3 right")
    none = predicted([[-2.0, -2.0, -2.0]], (0.5,) * 3)
    assert MULTI_LABEL.shown(none) == ([("no label", True)], "no gold")


@pytest.mark.parametrize(
    "more",
    [{"label_set": ["x"]}, {"label_set": "joy"}, {"gold": [1]}, {"gold": ["x"]},
     {"label_set": ["joy", "joy"]}, {"probabilities": {"a": "b"}},
     {"probabilities": {"joy": -5}}],
)  # fmt: skip
def test_lines_that_are_no_predictions_are_refused(more):
    record = {"id": "1", "label_set": [], "probabilities": {"joy": 0.1}, **more}
    with pytest.raises(InputError, match="^here: "):
        MULTI_LABEL.read(record, "here", 1)


@pytest.mark.parametrize("text", ["", "a", "1.1", "-0.1", "nan", "0.1,0.2", "0.1;0.2;0.3", ","])
def test_thresholds_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="--label-thresholds .*expected a number from 0 to 1, or"):
        MULTI_LABEL.thresholds(text, LABELS)


@pytest.mark.parametrize(
    ("text", "found"), [(None, [0.5] * 3), ("0.25", [0.25] * 3), ("0,0.5,1", [0.0, 0.5, 1.0])]
)
def test_a_threshold_is_that_of_all_labels_or_of_each(text, found):
    assert [*MULTI_LABEL.thresholds(text, LABELS)] == found


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.4, 0.5, 0.7, 0.9]), st.booleans()), min_size=1)
)
def test_no_threshold_is_better_than_the_tuned_one(rows):
    shares, gold = (np.array(column) for column in zip(*rows))

    def f1(least):
        return metrics.f1_score(gold, shares >= least, zero_division=0.0)

    found = best_threshold(shares, gold)
    assert f1(found) == pytest.approx(max(map(f1, np.linspace(0, 1, 21))))
    if not gold.any():
        assert found == 0.5


def test_thresholds_are_kept_as_text_that_says_the_same():
    made = [
        predicted([[n / 3, -n / 7, 0.1]], (0.5,) * 3, LabelSet(LABELS[: n % 3])) for n in range(9)
    ]
    text = MULTI_LABEL.tuned(made, LABELS)
    assert text.split(",")[2] == "0.5"  # which is never true
    assert MULTI_LABEL.thresholds(text, LABELS)[2] == 0.5
