"""Finished runs of translation as they lie on disk, without any training."""

from __future__ import annotations

import json

from lab.finished_runs import add_row
from sacrebleu.metrics import BLEU

SENTENCES = [f"das ist der Satz Nummer {number} von vielen ." for number in range(40)]


def translated(
    root, system, bleu, *, seed=1, fraction=1.0, loss=4.0, wrong=None, more=None, **options
):
    """Write what a finished run of translation leaves.

    Args:
        root: folder of the runs.
        system: its name; with `features` among the options.
        bleu: of the test set, where there are no translations.
        seed, fraction, loss: which run, and its validation loss.
        wrong: how many of its translations are wrong; None for no translations.
        more: other entries of the row.
        options: of its training; `choice` is what was chosen of them.
    """
    choice = options.pop("choice", {})
    share = [] if fraction == 1 else [f"fraction{fraction:g}"]
    parts = ["lr0.001", "updates100", *share, *(f"{key}{v}" for key, v in choice.items())]
    folder = root / system / "-".join(parts) / f"seed{seed}"
    folder.mkdir(parents=True)
    spelt = {key.replace("_", "-"): value for key, value in options.items()}
    arch = "syntax_transformer_tiny"
    if wrong is not None:
        bleu = BLEU(trg_lang="de").corpus_score(_said(wrong), [SENTENCES]).score
    add_row(
        root,
        folder,
        system=system,
        arch=arch,
        learning_rate=0.001,
        updates=100,
        seed=seed,
        share=fraction,
        choice=choice,
        dataset="translation",
        status="finished",
        metric="loss",
        data="abc",
        parameters=1_500_000,
        options={"arch": arch, "features": "none", **spelt, **choice},
        metrics={"valid": {"loss": loss}, "test": {"bleu": bleu, "chrf": bleu + 20}},
        last={"loss": loss + 0.1},
        **(more or {}),
    )
    if wrong is not None:
        _translate(folder, wrong)
    return folder


def _said(wrong):
    """Return translations, of which the first are wrong."""
    return ["etwas ganz anderes als gefragt"] * wrong + SENTENCES[wrong:]


def _translate(folder, wrong):
    """Write the log of a generation whose first translations are wrong."""
    lines = []
    for number, (text, said) in enumerate(zip(SENTENCES, _said(wrong))):
        lines += [f"S-{number}\tx", f"T-{number}\t{text}", f"H-{number}\t-0.1\t{said}"]
        lines += [f"D-{number}\t-0.1\t{said}"]
    lines.append(f"Translated {len(SENTENCES):,} sentences")
    (folder / "generate.test.log").write_text("".join(f"{line}\n" for line in lines))
    score = {"language": "de", "reference": f"T- lines of {folder / 'generate.test.log'}"}
    (folder / "score.test.json").write_text(json.dumps(score))
