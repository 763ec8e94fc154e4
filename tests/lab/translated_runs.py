"""Finished runs of translation as they lie on disk, without any training."""

from __future__ import annotations

import json

SENTENCES = [f"das ist der Satz Nummer {number} von vielen ." for number in range(40)]


def translated(root, system, bleu, *, seed=1, fraction=1.0, loss=4.0, wrong=None, **options):
    """Write what a finished run of translation leaves.

    Args:
        root: folder of the runs.
        system: its name; with `features` among the options.
        bleu: of the test set.
        seed, fraction, loss: which run, and its validation loss.
        wrong: how many of its translations are wrong; None for no translations.
        options: of its training; `choice` is what was chosen of them.
    """
    choice = options.pop("choice", {})
    share = [] if fraction == 1 else [f"fraction{fraction:g}"]
    parts = ["lr0.001", "updates100", *share, *(f"{key}{v}" for key, v in choice.items())]
    folder = root / system / "-".join(parts) / f"seed{seed}"
    folder.mkdir(parents=True)
    spelt = {key.replace("_", "-"): value for key, value in options.items()}
    result = {
        "system": system,
        "learning_rate": 0.001,
        "seed": seed,
        "dataset": "translation",
        "target": "translation",
        "metric": "loss",
        "validation": "valid",
        "data": "abc",
        "positive": "",
        "updates": 100,
        "parameters": 1_500_000,
        "options": {"arch": "syntax_transformer_tiny", "features": "none", **spelt, **choice},
        "best": {"loss": loss},
        "last": {"loss": loss + 0.1},
    }
    result |= {"choice": choice} if choice else {}
    result |= {"fraction": fraction} if fraction != 1 else {}
    (folder / "result.json").write_text(json.dumps(result))
    tried = {"of": "test", "metrics": {"bleu": bleu, "chrf": bleu + 20}}
    (folder / "evaluation.json").write_text(json.dumps(tried))
    if wrong is not None:
        _translate(folder, wrong)
    return folder


def _translate(folder, wrong):
    """Write the log of a generation whose first translations are wrong."""
    lines = []
    for number, text in enumerate(SENTENCES):
        said = "etwas ganz anderes als gefragt" if number < wrong else text
        lines += [f"S-{number}\tx", f"T-{number}\t{text}", f"H-{number}\t-0.1\t{said}"]
        lines += [f"D-{number}\t-0.1\t{said}"]
    lines.append(f"Translated {len(SENTENCES):,} sentences")
    (folder / "generate.log").write_text("".join(f"{line}\n" for line in lines))
    score = {"language": "de", "reference": f"T- lines of {folder / 'generate.log'}"}
    (folder / "score.json").write_text(json.dumps(score))
