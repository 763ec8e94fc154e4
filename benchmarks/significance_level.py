#!/usr/bin/env python
"""How often do our tests see a difference where there is none? At most as often as they say.

python benchmarks/significance_level.py --comparisons 1000 --samples 1000 --seed 1

Two systems that do not differ are made anew for every comparison: both spoil words of the same
random sentences (or are wrong on the same share of examples) by dice of their own. Each row is the
share of comparisons in which a test says p <= 0.05, and the 95 % interval of that share.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy import stats

from fairseq_plugins.evaluation.example_answers import Answers, example_counts
from fairseq_plugins.evaluation.example_bootstrap import bootstrap
from fairseq_plugins.evaluation.significance import paired_bootstrap
from fairseq_plugins.evaluation.translation import Corpus
from fairseq_plugins.targets.table import TARGETS

LEVEL = 0.05
WORDS = 500
LENGTHS = (5, 25)
SPOILT = 0.3  # share of words, or of examples
SEEDS = (3, 5, 10)  # runs of a system
SHIFT = 0.03  # deviation of the share of wrong examples between seeds
LARGE, SMALL_SHIFT = 3000, 0.02  # examples and deviation where almost all luck is that of the seeds

Found = dict[str, float]  # test -> p-value


def translations(dice: np.random.Generator, count: int, samples: int) -> Found:
    """Compare two systems of translation that do not differ."""
    words = np.array([f"w{number}" for number in range(WORDS)])
    sentences = [dice.choice(words, dice.integers(*LENGTHS)) for _ in range(count)]
    systems = [Corpus(name, [_spoilt(dice, line, words) for line in sentences]) for name in "ab"]
    gold = Corpus("gold", [" ".join(line) for line in sentences])
    seed = int(dice.integers(1, 2**31))
    compared = paired_bootstrap(systems, gold, lang="en", samples=samples, seed=seed)
    return {f"sentences, {one.metric}": one.p_value for one in compared}


def _spoilt(dice: np.random.Generator, line: np.ndarray, words: np.ndarray) -> str:
    """Replace words; some sentences lose many, others none."""
    share = dice.beta(1, 1 / SPOILT - 1)
    return " ".join(np.where(dice.random(len(line)) < share, dice.choice(words, len(line)), line))


def classes(dice: np.random.Generator, count: int, samples: int) -> Found:
    """Compare two classifiers that do not differ."""
    ids = [str(number) for number in range(count)]
    gold = dice.choice(["0", "1"], count)
    runs = []
    for name in "ab":
        wrong = dice.random(count) < SPOILT
        said = np.where(wrong, np.where(gold == "0", "1", "0"), gold)
        runs.append(Answers(name, TARGETS["classes"], ids, gold.tolist(), said.tolist()))
    seed = int(dice.integers(1, 2**31))
    found = {}
    for metric in ("accuracy", "mcc"):
        pair = ([example_counts(run, metric)] for run in runs)
        found[f"examples, {metric}"] = bootstrap(*pair, samples=samples, seed=seed).p_value
    return found


def seeds(
    dice: np.random.Generator, count: int, samples: int, shift: float = SHIFT, about: str = ""
) -> Found:
    """Compare systems of several runs that do not differ: of each run the seed shifts its skill."""
    found = {}
    for runs in SEEDS:
        systems = [[_run(dice, count, dice.normal(0, shift)) for _ in range(runs)] for _ in "ab"]
        seed = int(dice.integers(1, 2**31))
        for name, both in (("examples alone", False), ("seeds and examples", True)):
            sides = ([example_counts(run, "accuracy") for run in side] for side in systems)
            one = bootstrap(*sides, samples=samples, seed=seed, over_seeds=both)
            found[f"{runs} seeds, {name}"] = one.p_value
        scores = [[np.mean(np.equal(run.gold, run.predicted)) for run in side] for side in systems]
        test = found[f"{runs} seeds, paired t-test"] = float(stats.ttest_rel(*scores).pvalue)
        found[f"{runs} seeds, both (what decides)"] = max(test, one.p_value)
    return {f"{about}{name}": p_value for name, p_value in found.items()}


def seeds_of_many(dice: np.random.Generator, count: int, samples: int) -> Found:
    """Compare them on a test set so large that the seeds alone decide; ``count`` is not used."""
    return seeds(dice, LARGE, samples, SMALL_SHIFT, f"{LARGE:,} examples: ")


def _run(dice: np.random.Generator, count: int, shift: float) -> Answers:
    """Make a run on the same test set as all others; some of its examples are harder."""
    ids = [str(number) for number in range(count)]
    gold = np.array(["0", "1"] * count)[:count]
    hard = np.linspace(0.0, 2 * SPOILT, count)
    said = np.where(dice.random(count) < hard + shift, np.where(gold == "0", "1", "0"), gold)
    return Answers("run", TARGETS["classes"], ids, gold.tolist(), said.tolist())


KINDS: dict[str, Callable[..., Found]] = {
    "translations": translations,
    "classes": classes,
    "seeds": seeds,
    "seeds_of_many": seeds_of_many,
}


def main() -> None:
    """Compare, count, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--comparisons", type=int, default=1000, help="of each kind")
    add("--sentences", type=int, default=200, help="of a test set, or examples")
    add("--samples", type=int, default=1000, help="resamples of a comparison")
    add("--seed", type=int, default=1)
    add("--kinds", nargs="+", default=[*KINDS], choices=[*KINDS])
    args = parser.parse_args()
    print(
        f"`--comparisons {args.comparisons} --sentences {args.sentences} --samples {args.samples} "
        f"--seed {args.seed}`\n\n| test | p <= {LEVEL} | 95 % interval |\n|---|---:|---|"
    )
    for number, (kind, make) in enumerate(KINDS.items()):
        if kind not in args.kinds:
            continue
        dice = np.random.default_rng([args.seed, number])
        found = [make(dice, args.sentences, args.samples) for _ in range(args.comparisons)]
        for test in found[0]:
            seen = sum(one[test] <= LEVEL for one in found)
            interval = stats.binomtest(seen, len(found)).proportion_ci(method="wilson")
            low, high = 100 * interval.low, 100 * interval.high
            print(f"| {test} | {100 * seen / len(found):.1f} % | {low:.1f} to {high:.1f} % |")


if __name__ == "__main__":
    main()
