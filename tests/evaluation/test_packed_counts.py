"""Counts of examples that a row keeps: what is packed comes back, and what is none is refused."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation.example_answers import (
    Answers,
    ExampleCounts,
    example_counts,
    translation_counts,
)
from fairseq_plugins.evaluation.example_bootstrap import bootstrap, bootstrap_counts
from fairseq_plugins.evaluation.metrics import COLUMNS, Counts
from fairseq_plugins.evaluation.packed_counts import packed, unpacked
from fairseq_plugins.evaluation.sentence_counts import SENTENCE_METRICS

IDS = list("0123")
RUNS = {  # metric -> two runs
    "mcc": [Answers("a", "classes", IDS, list("abba"), list(said)) for said in ("abaa", "bbba")],
    "f1": [
        Answers("a", "spans", IDS, [[], ["x y"], ["z"], []], s) for s in (["", "x", "z", "q"],) * 2
    ],
    "pearson": [
        Answers("a", "score", IDS, [0.1, 2.0, 3.5, 5.0], s) for s in ([1, 2, 3, 4.7], [0, 3, 1, 2])
    ],
    "entity_f1": [
        Answers("a", "word_labels", IDS, [["B-X", "O"]] * 4, [[one, "O"]] * 4)
        for one in ("O", "B-X")
    ],
    "detection_false_positive_rate": [
        Answers("a", "word_labels", IDS, [["i"], ["c"]] * 2, [["c"], [one]] * 2) for one in "ic"
    ],
}


def text_counts(metric: str, lines: list[str]) -> ExampleCounts:
    return translation_counts("x", lines, ["the cat sat down here", "a dog ran off"], metric, "en")


def both(metric: str) -> list[ExampleCounts]:
    if metric in SENTENCE_METRICS:
        lines = (["the cat sat down", "a dog off"], ["the cat sat down here", "dogs ran"])
        return [text_counts(metric, one) for one in lines]
    return [
        example_counts(run, metric, "i" if "detection" in metric else "") for run in RUNS[metric]
    ]


@pytest.mark.parametrize("metric", [*RUNS, *SENTENCE_METRICS])
def test_what_is_kept_tells_what_the_answers_tell(metric):
    runs = both(metric)
    kept = [json.loads(json.dumps(packed(run, "valid"))) for run in runs]
    assert [set(one) for one in kept] == [set(kept[0])] * 2
    back = [unpacked(one, metric, "valid", "row") for one in kept]
    found, expected = (bootstrap_counts(side[:1], side[1:], samples=40) for side in (back, runs))
    assert vars(found) == pytest.approx(vars(expected), abs=2e-4, nan_ok=True)
    assert unpacked(kept[0], metric, "test", "row") is None
    assert unpacked(kept[0], "other", "valid", "row") is None
    assert unpacked(None, metric, "valid", "row") is None
    assert back[0].counts.table.shape[1] == COLUMNS[back[0].counts.kind]


@pytest.mark.parametrize("metric", SENTENCE_METRICS)
def test_sums_of_sentences_make_sacrebleus_score(metric):
    from sacrebleu.metrics import BLEU, CHRF

    lines = ["the cat sat down", "a dog off"]
    (run,) = [text_counts(metric, lines)]
    whole = {"bleu": BLEU(), "chrf": CHRF()}[metric]
    gold = ["the cat sat down here", "a dog ran off"]
    for weights in ([1, 1], [2, 1], [0, 3]):
        texts = (
            [one for one, n in zip(column, weights) for _ in range(n)] for column in (lines, gold)
        )
        hypotheses, references = texts
        expected = whole.corpus_score(hypotheses, [references]).score
        assert run.score(np.array(weights)) == pytest.approx(expected)


@given(
    st.lists(
        st.floats(-3e4, 3e4).map(lambda one: round(one, 4)) | st.integers(-100_000, 100_000),
        min_size=1,
        max_size=40,
    )
)
def test_numbers_come_back(values):
    table = np.array([values, values[::-1]], dtype=float).T
    one = ExampleCounts("x", "mse", "d", Counts("score", table))
    back = unpacked(packed(one, "valid"), "mse", "valid", "row")
    np.testing.assert_allclose(back.counts.table, table, atol=5.1e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e12])
def test_numbers_that_cannot_be_kept_are_refused(value):
    one = ExampleCounts("run", "mse", "d", Counts("score", np.array([[1.0, value]])))
    with pytest.raises(ValueError, match="run: a (score is no number|number as large as 1e\\+12)"):
        packed(one, "valid")


def _bomb(size: int) -> str:
    return base64.b64encode(zlib.compress(bytes(size))).decode()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "pickle"},
        {"shape": [4]},
        {"shape": [10**9, 10**9]},
        {"shape": [-4, -1]},
        {"shape": [5, 1]},
        {"shape": [2, 2]},
        {"type": "O"},
        {"type": ["|u1"]},
        {"scale": 0},
        {"data": "x"},
        {"data": 5},
        {"data": _bomb(10**7)},
        {"data": base64.b64encode(b"no zlib").decode()},
        {"classes": 1},
        {"classes": 10**9},
        {"positive": 7},
        {"positive": "a"},
        {"kind": "spans"},
    ],
)
def test_what_is_no_table_is_refused_by_name(change):
    kept = {**packed(both("mcc")[0], "valid"), **change}
    with pytest.raises(ValueError, match="row: key 'counts': "):
        unpacked(kept, "mcc", "valid", "row")
    for broken in ([], "x", {"metric": "mcc"}, {**kept, "examples": None, "data": None}):
        with pytest.raises(ValueError, match="row: key 'counts': "):
            unpacked(broken, "mcc", "valid", "row")


def test_words_and_entities_of_the_same_examples_go_together():
    """And other examples do not."""
    words = RUNS["entity_f1"][1]
    spans = Answers("b", "entities", IDS, [[("X", 0, 0)]] * 4, [[("X", 0, 0)]] * 4)
    assert bootstrap([words], [spans], "entity_f1", samples=5).difference == 0
    other = Answers("b", "entities", IDS, [[("Y", 0, 0)]] * 4, [[]] * 4)
    with pytest.raises(ValueError, match="other examples"):
        bootstrap([words], [other], "entity_f1", samples=5)
    with pytest.raises(ValueError, match="other examples"):
        bootstrap_counts(both("bleu")[:1], both("chrf")[:1], samples=5)
