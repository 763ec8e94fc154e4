"""SQuAD's metrics: hand-computed cases, the paper's identities, the search of thresholds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.targets import squad

# BERTQA, Tables 2 and 3: overall F1, of questions with and without an answer
PAPER_F1 = [
    *((74.15, 80.62, 68.21), (74.34, 76.30, 72.54), (74.81, 76.13, 73.01)),
    *((74.95, 76.35, 73.66), (77.03, 78.47, 73.83), (80.58, 84.39, 77.08)),
    *((82.08, 84.36, 79.98), (81.51, 83.53, 79.68), (81.31, 84.38, 78.49)),
    (83.42, 81.09, 85.56),
]
HAS_ANSWER, NO_ANSWER = 2910, 3168


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The  Old\tMill.", "old mill"),
        ("U.S.", "us"),
        ("a-an-the", "aanthe"),  # punctuation goes first, so that articles grow together
        ("the an a", ""),
        ("An apple a day", "apple day"),
        ("théâtre «the»", "théâtre « »"),  # only ASCII punctuation; words as Unicode knows them
        ("ATHENS\u00a0the\u2003Great", "athens great"),
        ("theatre of a'n", "theatre of"),
        ("...", ""),
    ],
)
def test_texts_are_normalized_as_officially(text, kept):
    assert squad.normalized(text) == kept


@pytest.mark.parametrize(
    ("gold", "predicted", "exact", "f1"),
    [
        ("the old mill", "Old mill!", 1.0, 1.0),
        ("old mill", "old red mill", 0.0, 0.8),
        ("old old mill", "old mill mill", 0.0, 2 / 3),  # words count as often as they stand there
        ("Lund", "Riga", 0.0, 0.0),
        ("Lund", "", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("", "the", 1.0, 1.0),
    ],
)
def test_answers_are_compared_by_words(gold, predicted, exact, f1):
    assert squad.exact_match(gold, predicted) == exact
    assert squad.token_f1(gold, predicted) == pytest.approx(f1)


def test_the_best_gold_answer_counts_for_each_metric():
    assert squad.scores_of(["in 1912", "1912"], "1912") == (1.0, 1.0)
    assert squad.scores_of(["the", "old mill"], "") == (0.0, 0.0)  # empty golds drop out
    assert squad.scores_of(["the", "."], "") == (1.0, 1.0)  # unless there are no others
    assert squad.scores_of([], "") == (1.0, 1.0)
    assert squad.scores_of([], "mill") == (0.0, 0.0)


GOLD = {"a": ("old mill",), "b": ("Lund", "in Lund"), "c": (), "d": (), "e": ("1912",)}
TEXTS = {"a": "mill", "b": "Lund", "c": "", "d": "Riga", "e": ""}


def test_totals_are_percentages_of_questions():
    found = squad.evaluate(GOLD, TEXTS)
    assert found == {
        **{"exact": 40.0, "f1": pytest.approx(100 * (2 / 3 + 1 + 1) / 5), "total": 5},
        **{"HasAns_exact": 100 / 3, "HasAns_f1": pytest.approx(100 * (5 / 3) / 3)},
        **{"HasAns_total": 3, "NoAns_exact": 50.0, "NoAns_f1": 50.0, "NoAns_total": 2},
    }
    assert list(found)[:3] == ["exact", "f1", "total"]


def test_odds_above_the_threshold_silence():
    odds = {"a": 0.5, "b": 2.0, "c": 3.0, "d": 1.0, "e": -1.0}
    found = squad.evaluate(GOLD, TEXTS, odds)
    assert found["HasAns_f1"] == pytest.approx(100 * (2 / 3) / 3)  # b is silenced, d is not
    assert found["NoAns_f1"] == 50.0
    assert squad.evaluate(GOLD, TEXTS, odds, 0.9)["NoAns_f1"] == 100.0
    assert squad.evaluate(GOLD, TEXTS, odds, 2.0)["HasAns_exact"] == pytest.approx(100 / 3)


def test_the_best_threshold_by_hand():
    """Never to answer scores 2; e + 0, a + 2/3, d - 1, b + 1, c + 0."""
    odds = {"b": 2.0, "c": 3.0, "a": 0.5, "d": 1.0, "e": -1.0}
    found = squad.evaluate(GOLD, TEXTS, odds)
    assert found["best_f1"] == pytest.approx(100 * (2 + 2 / 3) / 5)
    assert found["best_f1_thresh"] == 0.5
    assert (found["best_exact"], found["best_exact_thresh"]) == (40.0, 0.0)  # b and d: no better
    assert list(found)[-4:] == ["best_exact", "best_exact_thresh", "best_f1", "best_f1_thresh"]


def test_equal_odds_are_tried_in_the_order_of_their_file():
    """As officially: between two equal odds the search may stop where no threshold can."""
    gold, texts = {"x": ("mill",), "y": ()}, {"x": "mill", "y": "mill"}
    first = squad.evaluate(gold, texts, {"x": 1.0, "y": 1.0})
    last = squad.evaluate(gold, texts, {"y": 1.0, "x": 1.0})
    assert (first["best_f1"], last["best_f1"]) == (100.0, 50.0)


def test_kinds_of_questions_that_are_not_there_are_not_told():
    version_one = squad.evaluate({"a": ("mill",)}, {"a": "mill"})
    assert version_one["HasAns_f1"] == 100.0
    assert not any(name.startswith("NoAns") for name in version_one)
    assert not any(name.startswith("HasAns") for name in squad.evaluate({"a": ()}, {"a": ""}))
    with pytest.raises(InputError, match="no questions"):
        squad.evaluate({}, {})


@pytest.mark.parametrize(("overall", "has_answer", "no_answer"), PAPER_F1)
def test_overall_is_the_weighted_mean_of_the_papers_figures(overall, has_answer, no_answer):
    """Two of ten columns (simple skip, inside conv) do not add up in the paper itself."""
    mean = (HAS_ANSWER * has_answer + NO_ANSWER * no_answer) / (HAS_ANSWER + NO_ANSWER)
    inconsistent = (overall, has_answer) in [(74.81, 76.13), (77.03, 78.47)]
    assert (abs(mean - overall) < 0.02) is not inconsistent


words = st.lists(st.sampled_from("mill Lund old 1912 the a .".split()), max_size=4).map(" ".join)
number = st.floats(-3, 3, allow_nan=False)


@st.composite
def predicted_sets(draw, texts=words):
    """Gold, predictions and distinct odds of a few questions."""
    names = [str(i) for i in range(draw(st.integers(1, 8)))]
    gold = {name: tuple(draw(st.lists(words, max_size=3))) for name in names}
    odds = draw(st.lists(number, min_size=len(names), max_size=len(names), unique=True))
    return gold, {name: draw(texts) for name in names}, dict(zip(names, odds))


@settings(max_examples=50, deadline=None)
@given(predicted_sets(), number)
def test_overall_is_the_weighted_mean(found, threshold):
    scores = squad.evaluate(*found, threshold)
    for metric in ("exact", "f1"):
        parts = [
            (scores[f"{kind}_total"], scores[f"{kind}_{metric}"])
            for kind in ("HasAns", "NoAns")
            if f"{kind}_total" in scores
        ]
        assert sum(count for count, _ in parts) == scores["total"]
        mean = sum(count * score for count, score in parts) / scores["total"]
        assert scores[metric] == pytest.approx(mean)
        assert scores["exact"] <= scores["f1"] + 1e-9


clear = st.sampled_from(["mill", "old mill", "Lund", "1912 1912"])


@settings(max_examples=50, deadline=None)
@given(predicted_sets(clear))
def test_the_best_threshold_is_the_best_of_all_thresholds(found):
    gold, texts, odds = found
    scores = squad.evaluate(*found)
    for metric in ("exact", "f1"):
        tried = {t: squad.evaluate(*found, t)[metric] for t in (-9.0, *odds.values())}
        assert scores[f"best_{metric}"] == pytest.approx(max(tried.values()))
        best = scores[f"best_{metric}_thresh"]
        if best:  # 0.0 may stand for never answering
            assert tried[best] == pytest.approx(max(tried.values()))


@settings(max_examples=50, deadline=None)
@given(predicted_sets(clear), number)
def test_logs_agree_with_the_official_names(found, threshold):
    """Fractions of a split as validation logs them: the text where odds allow, else nothing."""
    gold, texts, odds = found
    logged = squad.log_metrics([squad.judge(gold[n], texts[n], odds[n]) for n in gold], threshold)
    assert tuple(logged) == squad.LOGGED
    given_ = {name: "" if odds[name] > threshold else text for name, text in texts.items()}
    official = squad.evaluate(gold, given_) | {
        name: value for name, value in squad.evaluate(*found).items() if name.startswith("best_")
    }
    for ours, theirs in zip(squad.LOGGED, OFFICIAL_NAMES):
        scale = 1 if theirs.endswith("thresh") else 100
        assert scale * logged[ours] == pytest.approx(official.get(theirs, 0.0)), ours


OFFICIAL_NAMES = (
    *("exact", "f1", "HasAns_exact", "HasAns_f1", "NoAns_exact", "NoAns_f1"),
    *("best_exact", "best_f1", "best_f1_thresh"),
)


def test_logs_of_nothing_are_zero():
    assert set(squad.log_metrics([]).values()) == {0.0}
    silent = squad.log_metrics([squad.judge((), "", math.inf)])
    assert (silent["exact"], silent["tuned_f1"]) == (1.0, 1.0)
