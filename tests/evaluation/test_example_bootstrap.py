"""Paired bootstrap over examples."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.example_answers import (
    Answers,
    example_counts,
    read_answers,
    translation_counts,
)
from fairseq_plugins.evaluation.example_bootstrap import bootstrap as resample
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.evaluation.seed_statistics import Noise, detectable
from fairseq_plugins.targets.classes import CLASSES
from fairseq_plugins.targets.entities import ENTITIES
from fairseq_plugins.targets.entity_spans import spans_of
from fairseq_plugins.targets.table import TARGETS
from fairseq_plugins.targets.word_labels import WORD_LABELS

COUNT = 200
TAGS = ("O", "B-R", "I-R", "i")  # which all metrics of words know
GOLDS = ([], ["a red mill", "mill"], ["Lund"])  # of questions; none has an answer without any


def bootstrap(baseline, system, metric, positive="", **options):
    sides = [[example_counts(run, metric, positive) for run in one] for one in (baseline, system)]
    return resample(*sides, **options)


def answers(target: str, right: float, seed: int = 0) -> Answers:
    """Make a run that is right with a given chance; the gold is always the same."""
    dice, truth = random.Random(seed), random.Random("gold")
    if target == "score":
        gold = [truth.random() for _ in range(COUNT)]
        predicted = [g + (1 - right) * dice.gauss(0, 1) for g in gold]
    elif target == "classes":
        gold = [truth.choice("ab") for _ in range(COUNT)]
        predicted = [g if dice.random() < right else dice.choice("ab") for g in gold]
    elif target == "spans":
        gold = [truth.choice(GOLDS) for _ in range(COUNT)]
        predicted = [
            (g or [""])[0] if dice.random() < right else dice.choice(["", "red barn"]) for g in gold
        ]
    elif target == "multi_label":
        gold = [tuple(one for one in "ab" if truth.random() < 0.5) for _ in range(COUNT)]
        predicted = [g if dice.random() < right else ("a",) for g in gold]
    else:
        gold = [[truth.choice(TAGS) for _ in range(4)] for _ in range(COUNT)]
        predicted = [[t if dice.random() < right else "O" for t in row] for row in gold]
    if target == "entities":
        gold, predicted = ([sorted(spans_of(r, 4)) for r in rows] for rows in (gold, predicted))
    return Answers(f"run{seed}", TARGETS[target], [str(i) for i in range(COUNT)], gold, predicted)


CASES = [(target, metric) for target, names in NAMES.items() for metric in names]
POSITIVE = dict.fromkeys(NAMES, "") | {"classes": "b", "multi_label": "b", "word_labels": "i"}
LABELS = {"classes": "ab", "multi_label": "ab", "word_labels": TAGS, "entities": TAGS[:3]}
CHIEF = {"classes": "mcc", "multi_label": "macro_f1", "score": "pearson", "spans": "f1"}


def about(target: str) -> dict[str, str]:
    return {"positive": POSITIVE[target]}


@pytest.mark.parametrize(("target", "metric"), CASES)
def test_weighted_metric_is_that_of_the_drawn_examples(target, metric):
    run = answers(target, 0.6)
    labels = LABELS.get(target, ())
    found = TARGETS[target].counts(run.gold, run.predicted, labels, POSITIVE[target])
    (counts,) = (one for prefix, one in found.items() if metric.startswith(prefix))
    drawn = np.random.default_rng(3).integers(COUNT, size=COUNT)
    columns = [[column[i] for i in drawn] for column in (run.gold, run.predicted)]
    expected = TARGETS[target].score(*columns, labels, POSITIVE[target])[metric]
    assert counts.metrics(np.bincount(drawn, minlength=COUNT))[metric] == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("target", NAMES)
def test_clear_difference_is_significant_and_chance_is_not(target):
    metric = CHIEF.get(target, "entity_f1")
    better = [answers(target, 0.95, seed) for seed in (1, 2)]
    worse = [answers(target, 0.4, seed) for seed in (3, 4)]
    clear = bootstrap(worse, better, metric, samples=200)
    assert clear.difference > 0.05
    assert clear.low > 0
    assert clear.p_value < 0.02
    assert (clear.examples, clear.samples) == (COUNT, 200)
    back = bootstrap(better, worse, metric, samples=200)
    assert back.difference == pytest.approx(-clear.difference)
    assert back.high < 0
    same = bootstrap(better, better, metric, samples=50)
    assert (same.difference, same.p_value, same.low, same.high) == (0.0, 1.0, 0.0, 0.0)


def test_chance_differences_have_even_p_values():
    """Equal systems: p-values must not pile up at zero."""
    found = [
        bootstrap(
            [answers("classes", 0.7, seed)],
            [answers("classes", 0.7, seed + 99)],
            "accuracy",
            samples=200,
        ).p_value
        for seed in range(40)
    ]
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_what_tells_nothing_of_other_examples_is_not_tested():
    """One example, which is drawn again and again; a diverged model; equal systems."""
    wrong = Answers("a", CLASSES, ["0"], ["1"], ["0"])
    found = bootstrap([wrong], [Answers("b", CLASSES, ["0"], ["1"], ["1"])], "accuracy")
    assert (found.difference, found.p_value < 1) == (1, False)
    for broken in (float("nan"), float("inf")):
        run, other = answers("score", 0.9, 1), answers("score", 0.5, 2)
        other.predicted[0] = broken
        with np.errstate(invalid="ignore"):
            assert not bootstrap([run], [other], "mse", samples=20).p_value < 1
    for count in (2, 9):
        ids = [str(number) for number in range(count)]
        run = Answers("run", CLASSES, ids, ["0"] * count, ["1"] + ["0"] * (count - 1))
        assert bootstrap([run], [run], "accuracy", samples=10).p_value == 1.0


@pytest.mark.parametrize(
    ("row", "target", "gold", "predicted"),
    [
        ({"label": "a", "probabilities": {"a": 1.0}, "gold": "b"}, "classes", "b", "a"),
        ({"words": ["x"], "labels": ["O"], "gold": ["B-A"]}, "word_labels", ("B-A",), ("O",)),
        ({"score": 1.5, "gold": 2.0}, "score", 2.0, 1.5),
        ({"label_set": [], "gold": ["a"], "probabilities": {"a": 0.1}}, "multi_label", ("a",), ()),
    ],
)
def test_answers_are_read_from_prediction_files(tmp_path, row, target, gold, predicted):
    path = tmp_path / "p.jsonl"
    rows = [{"id": 7, **row}, {"id": 8, **row, "gold": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_answers(path)
    assert (read.target.name, read.ids, read.gold, read.predicted) == (
        target,
        ["7"],
        [gold],
        [predicted],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "1", "label": "a"}\n', "no example has a gold"),
        ('{"id": "1", "score": 1, "gold": 1}\n{"id": "2"}\n', "line 2: no prediction"),
        (
            '{"id": "0", "label": "a", "gold": "a"}\n{"id": "1", "score": 1, "gold": 2}\n',
            "one kind",
        ),
        ("x\n", "line 1: no JSON"),
        ('{"id": "1", "label": "a", "gold": ["a"]}\n', "1: example 1: label 'a' and gold"),
        ('{"id": "1", "answer": 3, "gold": ["a"]}\n', "line 1: no prediction"),
        (
            '{"id": "1", "labels": "ab", "gold": ["a", "b"]}\n',
            "line 1: example 1: 'labels' are 'ab'",
        ),
        (
            '{"id": "1", "score": 1%s, "gold": 1}\n' % ("0" * 400),
            "line 1: example 1: .* is no number",
        ),
        ('{"id": "1", "entities": [{"label": 1, "first": "x"}], "gold": []}\n', "line 1: no pred"),
        ("[1]\n", "line 1: no prediction"),
        ('{"id": "1", "label_set": "a"}\n', "line 1: example 1: 'label_set' are 'a'"),
        ('{"id": "1", "labels": ["O"], "gold": []}\n', "line 1: example 1: 1 labels and 0 gold"),
        ('{"id": "1", "entities": [{"label": 1, "first": 1e999}]}\n', "line 1: no pred"),
        ("", "no example has a gold"),
    ],
)
def test_files_that_hold_no_predictions_are_refused(tmp_path, text, message):
    (tmp_path / "p").write_text(text)
    with pytest.raises(InputError, match=message):
        read_answers(tmp_path / "p")


def test_one_sentence_tells_no_p_value():
    one, other = (translation_counts("x", [said], [["A b c d e"]], "bleu", "en") for said in
                  ("A b c d e", "A b c d x"))  # fmt: skip
    found = resample([one], [other], samples=20)
    assert found.difference < 0
    assert math.isnan(found.p_value)


RUN = answers("classes", 0.5)
OTHER = Answers("else", CLASSES, RUN.ids[:-1], RUN.gold[:-1], RUN.predicted[:-1])


@pytest.mark.parametrize(
    ("baseline", "system", "metric", "options", "message"),
    [
        ([RUN], [OTHER], "mcc", {}, "else and run0 are predictions of other examples"),
        ([RUN], [RUN], "pearson", {}, "'pearson' is not one of accuracy"),
        ([RUN], [RUN], "f1", {}, "needs the positive label, '' is none of a, b"),
        ([RUN], [RUN], "f1", {"positive": "c"}, "needs the positive label, 'c' is none of a, b"),
        *(
            ([answers("word_labels", 0.5)],) * 2 + (metric, {"positive": "x"}, "'x' is none of")
            for metric in ("token_f0.5", "detection_f1")
        ),
        ([RUN], [RUN], "mcc", {"samples": 0}, "at least one sample"),
        ([RUN] * 2, [RUN] * 3, "mcc", {"over_seeds": True}, "2 and 3 runs are no pairs"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(baseline, system, metric, options, message):
    with pytest.raises(InputError, match=message):
        bootstrap(baseline, system, metric, **options)


@pytest.mark.parametrize("metric", NAMES["entities"])
@pytest.mark.parametrize("kind", ["R", "PER"])
def test_every_metric_of_entities_is_compared_whatever_their_types(metric, kind):
    gold = [[f"B-{kind}", f"B-{kind}"], ["O", f"B-{kind}"]]
    said = [[f"B-{kind}", "O"], ["O", "O"]]
    runs = [Answers("run", WORD_LABELS, ["0", "1"], gold, row) for row in (said, gold)]
    found = bootstrap(runs[:1], runs[1:], metric, samples=5)
    expected = (
        0.0
        if metric == "entity_precision"
        else 1
        - ENTITIES.score(
            *([sorted(spans_of(r, 2)) for r in rows] for rows in (gold, said)), ["B-R"]
        )[metric]
    )
    assert found.difference == pytest.approx(expected)


@pytest.mark.parametrize("target", ["classes", "score"])
def test_seeds_and_examples_are_drawn_as_a_loop_draws_them(target):
    """Every resample: the drawn runs of both systems, in pairs, on the drawn examples."""
    metric, count, runs, seed = CHIEF[target], 40, 3, 5
    sides = [
        [answers(target, right, 10 * k + s) for s in range(runs)]
        for k, right in enumerate((0.5, 0.7))
    ]
    sides = [
        [replace(r, ids=r.ids[:40], gold=r.gold[:40], predicted=r.predicted[:40]) for r in side]
        for side in sides
    ]
    found = bootstrap(*sides, metric, samples=30, seed=seed, over_seeds=True, **about(target))
    dice = np.random.default_rng(seed)
    examples = dice.multinomial(count, np.full(count, 1 / count), size=30)
    drawn = dice.multinomial(runs, np.full(runs, 1 / runs), size=30)
    differences = []
    for each, weights in zip(examples, drawn):
        rows = np.repeat(np.arange(count), each)
        means = []
        for side in sides:
            scores = []
            for run in (side[i] for i in np.repeat(np.arange(runs), weights)):
                columns = [[column[i] for i in rows] for column in (run.gold, run.predicted)]
                scores.append(
                    TARGETS[target].score(*columns, LABELS.get(target, ()), POSITIVE[target])
                )
            means.append(np.mean([one[metric] for one in scores]))
        differences.append(means[1] - means[0])
    assert [found.low, found.high] == pytest.approx(np.percentile(differences, [2.5, 97.5]))
    alone = bootstrap(*sides, metric, samples=30, seed=seed, **about(target))
    assert alone.difference == pytest.approx(found.difference)
    assert (alone.low, alone.high) != (found.low, found.high)


def pairs(dice, runs, *, gain=0.0, shared=0.0, seeds=0.0, count=200):
    """Make runs of two systems that agree on examples at random.

    Args:
        dice: decides everything.
        runs: of each system.
        gain: what the second has more of right examples, on the whole.
        shared: how much more or less it is, example by example, for all its runs.
        seeds: deviation of a run's share of right examples.
    """
    ids, gold, right = [str(i) for i in range(count)], ["1"] * count, dice.uniform(0.4, 0.8, count)
    better = right + gain + shared * dice.choice([-1, 1], count)
    return [
        [
            Answers(
                "run",
                CLASSES,
                ids,
                gold,
                np.where(dice.random(count) < p, "1", "0").tolist(),
            )
            for p in (side + dice.normal(0, seeds) for _ in range(runs))
        ]
        for side in (right, better)
    ]


def noise_of(sides, **options):
    """Return a multi-bootstrap and what it says of the noise."""
    found = bootstrap(*sides, "accuracy", over_seeds=True, **options)
    gaps = [
        np.mean(np.equal(b.predicted, "1")) - np.mean(np.equal(a.predicted, "1"))
        for a, b in zip(*sides)
    ]
    return found, Noise(float(np.std(gaps, ddof=1)), found.run_error, found.shared_error), gaps


@pytest.mark.parametrize(
    ("runs", "shared", "seeds"), [(5, 0.0, 0.0), (5, 0.2, 0.0), (10, 0.2, 0.05)]
)
def test_noise_adds_up_to_what_the_multi_bootstrap_finds(runs, shared, seeds):
    sides = pairs(np.random.default_rng(runs), runs, shared=shared, seeds=seeds, count=400)
    found, noise, _ = noise_of(sides, samples=2000)
    assert noise.over_both(runs) == pytest.approx((found.high - found.low) / (2 * 1.96), rel=0.08)


@pytest.mark.long
@pytest.mark.parametrize(
    ("runs", "shared", "seeds"), [(3, 0.2, 0.01), (5, 0.0, 0.0), (5, 0.15, 0.05)]
)
def test_what_is_said_to_be_seen_four_times_in_five_is(runs, shared, seeds):
    """Both tests reject a difference of that size, with noise as a large study knows it."""
    dice = np.random.default_rng(runs)
    many = [
        noise_of(pairs(dice, 20, shared=shared, seeds=seeds), samples=100)[1] for _ in range(10)
    ]
    known = Noise(
        *(np.mean([getattr(one, name) for one in many]) for name in ("seeds", "run", "shared"))
    )
    gain, seen = detectable(known, runs), []
    for _ in range(200):
        sides = pairs(dice, runs, gain=gain, shared=shared, seeds=seeds)
        found, _, gaps = noise_of(sides, samples=200)
        seen.append(max(found.p_value, stats.ttest_1samp(gaps, 0).pvalue) < 0.05)
    assert 0.72 < np.mean(seen) < 0.97


def test_equal_scores_of_resamples_are_no_evidence_whatever_their_rounding():
    """Three runs of twenty examples often tie; a twin counts the ties in whole numbers."""
    dice, count, samples, ties = np.random.default_rng(5), 20, 400, 0
    for seed in range(10):
        right = dice.random((2, 3, count)) < 0.6
        sides = [
            [
                Answers(
                    "run",
                    CLASSES,
                    [*map(str, range(count))],
                    ["1"] * count,
                    one.tolist(),
                )
                for one in np.where(side, "1", "0")
            ]
            for side in right
        ]
        found = bootstrap(*sides, "accuracy", samples=samples, seed=seed)
        random = np.random.default_rng(seed)
        drawn = [random.multinomial(count, [1 / count] * count) for _ in range(samples)]
        gains = right[1].sum(axis=0).astype(int) - right[0].sum(axis=0)
        gaps = [int(gains @ one) for one in drawn]
        ties += gaps.count(0)
        contrary = sum(gap * int(np.sign(gains.sum())) <= 0 for gap in gaps)
        assert found.p_value == min(1.0, 2 * (contrary + 1) / (samples + 1))
    assert ties > 100
