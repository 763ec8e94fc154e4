"""Folders of question answering runs as they are when training is over."""

from __future__ import annotations

from lab.finished_runs import finish

SCORES = {"has_answer_f1": 0.7, "no_answer_f1": 0.6, "exact": 0.5, "tuned_exact": 0.55}


def answered(root, system, values, arch, home=None, **lacking):
    """Write runs of question answering."""
    for seed, value in enumerate(values, start=1):
        best = {**SCORES, "f1": value, "tuned_f1": value + 0.02}
        best = {name: v for name, v in best.items() if name not in lacking}
        own = {"dataset": "squad", "options": {"arch": arch}, "best": best, "data": "v"}
        own |= {"last": best, "home": home or root}
        finish(root, system, 3e-5, seed, value, metric="f1", **own)
