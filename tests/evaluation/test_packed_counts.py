"""Counts of examples that a row keeps: what is packed comes back, and what is none is refused."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.choices import SENTENCE_METRICS
from fairseq_plugins.evaluation.example_answers import (
    Answers,
    ExampleCounts,
    example_counts,
    translation_counts,
)
from fairseq_plugins.evaluation.example_bootstrap import bootstrap
from fairseq_plugins.evaluation.packed_counts import KINDS, packed, unpacked
from fairseq_plugins.targets.classes import CLASSES
from fairseq_plugins.targets.counts import Counts
from fairseq_plugins.targets.entities import ENTITIES
from fairseq_plugins.targets.multi_label import MULTI_LABEL
from fairseq_plugins.targets.score import SCORE
from fairseq_plugins.targets.spans import SPANS
from fairseq_plugins.targets.word_labels import WORD_LABELS

IDS = list("0123")
RUNS = {  # metric -> two runs
    "mcc": [Answers("a", CLASSES, IDS, list("abba"), list(said)) for said in ("abaa", "bbba")],
    "f1": [
        Answers("a", SPANS, IDS, [[], ["x y"], ["z"], []], s) for s in (["", "x", "z", "q"],) * 2
    ],
    "pearson": [
        Answers("a", SCORE, IDS, [0.1, 2.0, 3.5, 5.0], s) for s in ([1, 2, 3, 4.7], [0, 3, 1, 2])
    ],
    "macro_f1": [
        Answers("a", MULTI_LABEL, IDS, [("x", "y"), (), ("y",), ("x",)], s)
        for s in ([("x",), ("y",), (), ()], [("x", "y"), (), (), ("y",)])
    ],
    "entity_f1": [
        Answers("a", WORD_LABELS, IDS, [["B-X", "O"]] * 4, [[one, "O"]] * 4) for one in ("O", "B-X")
    ],
    "detection_false_positive_rate": [
        Answers("a", WORD_LABELS, IDS, [["i"], ["c"]] * 2, [["c"], [one]] * 2) for one in "ic"
    ],
}


def text_counts(metric: str, lines: list[str]) -> ExampleCounts:
    return translation_counts(
        "x", lines, [["the cat sat down here", "a dog ran off"]], metric, "en"
    )


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
    back = [unpacked(one, "row") for one in kept]
    found, expected = (bootstrap(side[:1], side[1:], samples=40) for side in (back, runs))
    assert vars(found) == pytest.approx(vars(expected), abs=2e-4, nan_ok=True)
    assert {(one.metric, one.split, one.source) for one in back} == {(metric, "valid", "row")}


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


@st.composite
def counts_of_a_kind(draw, name: str) -> Counts:
    """Draw counts that examples may have."""
    kind = KINDS[name]
    classes = draw(st.integers(1, 256)) if name == "classes" else 0 if kind.columns else 3
    most = min(
        kind.most, classes**2 - 1 if name == "classes" else draw(st.sampled_from([200, 4e4, 2e5]))
    )
    numbers = st.integers(0, int(most))
    if kind.fractions:
        numbers = st.floats(-3e4 if kind.signed else 0, min(most, 3e4)) | numbers
    columns = kind.columns or classes
    rows = st.lists(numbers, min_size=columns, max_size=columns)
    table = np.array(draw(st.lists(rows, min_size=1, max_size=12)), dtype=float)
    for part, whole in kind.parts:
        table[:, part] = table[:, [part, whole]].min(axis=1)
    positive = draw(st.none() | st.integers(0, classes - 1)) if classes else None
    return Counts(kind, table, classes, positive)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=40)  # of the first call, which imports
@given(data=st.data())
def test_what_is_packed_comes_back(kind, data):
    counts = data.draw(counts_of_a_kind(kind))
    metric = next(iter(counts.metrics(np.ones(len(counts.table), dtype=int))))
    kept = json.loads(json.dumps(packed(ExampleCounts("x", metric, "d", counts), "valid")))
    back = unpacked(kept, "x")
    whole = (counts.table == np.round(counts.table)).all()
    np.testing.assert_allclose(back.counts.table, counts.table, atol=0 if whole else 5.1e-5, rtol=0)
    assert back.counts[0::2] == (KINDS[kind], counts.classes)
    assert replace(back, counts=counts) == ExampleCounts("x", metric, "d", counts, "valid")
    assert packed(back, "valid") == kept


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e12])
def test_numbers_that_cannot_be_kept_are_refused(value):
    one = ExampleCounts("run", "mse", "d", Counts(KINDS["score"], np.array([[1.0, value]])))
    with pytest.raises(InputError, match="run: a (score is no number|number as large as 1e\\+12)"):
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
        {"shape": [0, 1]},
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
        {"scale": 10_000, "data": base64.b64encode(zlib.compress(b"\0\1\2\3")).decode()},
        *({key: 5} for key in ("metric", "split", "examples")),
        {"metric": "bleu"},
    ],
)
def test_what_is_no_table_is_refused_by_name(change):
    kept = packed(both("mcc")[0], "valid")
    assert unpacked(kept, "row").count == 4
    with pytest.raises(InputError, match="row: key 'counts': "):
        unpacked(kept | change, "row")
    for broken in (None, [], "x", 5, {"metric": "mcc"}):
        with pytest.raises(InputError, match="row: key 'counts': no counts"):
            unpacked(broken, "row")


def _kept(table: np.ndarray, metric: str, kind: str, classes: int = 0) -> dict:
    """Return numbers as they are kept, whatever they are."""
    return {
        **{"metric": metric, "split": "valid", "examples": "d", "kind": kind, "classes": classes},
        **{"positive": None, "shape": list(table.shape), "scale": 1, "type": "<i4"},
        "data": base64.b64encode(zlib.compress(table.T.astype("<i4").tobytes())).decode(),
    }


@pytest.mark.parametrize(
    ("kind", "metric", "row", "column", "value"),
    [
        ("classes", "mcc", [1], 0, -1),
        ("classes", "mcc", [1], 0, 4),
        ("accuracy", "accuracy", [2, 3], 0, 4),
        ("accuracy", "accuracy", [2, 3], 0, -1),
        *(
            (kind, "entity_f1", [2, 3, 3], column, 1)
            for kind in ("entity", "edits")
            for column in (1, 2)
        ),
        ("token", "token_f0.5", [2, 3, 3], 0, 4),
        ("token", "token_f0.5", [2, 3, 3], 2, -3),
        ("detection", "detection_f1", [1, 0, 0, 0], 0, 2),
        ("spans", "f1", [0, 1, 1], 1, 2),
        ("spans", "f1", [1, 1, 1], 1, 0),
        *(("bleu", "bleu", [9, 9, *[3] * 4, *[5] * 4], 2 + n, 6) for n in range(4)),
        ("bleu", "bleu", [9, 9, *[3] * 4, *[5] * 4], 1, -9),
        *(("chrf", "chrf", [5, 5, 3] * 6, column, 2) for column in (0, 1, 15, 16)),
        ("chrf", "chrf", [5, 5, 3] * 6, 2, -3),
    ],
)
def test_numbers_that_no_example_has_are_refused(kind, metric, row, column, value):
    table = np.array([row] * 3)
    classes = 2 * (kind == "classes")
    assert unpacked(_kept(table, metric, kind, classes), "row").count == 3
    table[1, column] = value
    with pytest.raises(InputError, match="row: key 'counts': (numbers from|example 2: )"):
        unpacked(_kept(table, metric, kind, classes), "row")


@pytest.mark.parametrize(
    ("fits", "beyond", "said"),
    [((2**18, 2), (2**18 + 1, 2), "examples"), ((3, 2**8), (3, 2**8 + 1), "classes")],
)
def test_tables_beyond_a_size_are_neither_read_nor_written(fits, beyond, said):
    within, over = (
        Counts(KINDS["classes"], np.zeros((count, 1)), of) for count, of in (fits, beyond)
    )
    assert (
        unpacked(packed(ExampleCounts("run", "mcc", "d", within), "valid"), "row").count == fits[0]
    )
    with pytest.raises(InputError, match=f"row: key 'counts': .* {said}, not 1 to"):
        unpacked(_kept(over.table, "mcc", "classes", over.classes), "row")
    with pytest.raises(InputError, match=f"run: .* {said}, not 1 to"):
        packed(ExampleCounts("run", "mcc", "d", over), "valid")


def test_words_and_entities_of_the_same_examples_go_together():
    """And other examples do not."""
    words = [example_counts(RUNS["entity_f1"][1], "entity_f1")]
    spans = Answers("b", ENTITIES, IDS, [[("X", 0, 0)]] * 4, [[("X", 0, 0)]] * 4)
    assert bootstrap(words, [example_counts(spans, "entity_f1")], samples=5).difference == 0
    other = Answers("b", ENTITIES, IDS, [[("Y", 0, 0)]] * 4, [[]] * 4)
    with pytest.raises(InputError, match="other examples"):
        bootstrap(words, [example_counts(other, "entity_f1")], samples=5)
    with pytest.raises(InputError, match="other examples"):
        bootstrap(both("bleu")[:1], both("chrf")[:1], samples=5)
