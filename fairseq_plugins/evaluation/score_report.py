"""Report of scores from files: every figure of every system, with signatures and counts."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ..errors import InputError
from .generate_log import Inputs, load, read_sentences
from .sentence_counts import remark_on
from .shown_text import align
from .significance import SystemComparison, paired_bootstrap
from .translation import TEST_SETS, SystemScores, TextForm, check_equal_counts, score

HEADINGS = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
    "tokenized_bleu": "tokenised BLEU",
    "compound_split_bleu": "compound-split BLEU",
    "comet": "COMET",
}


@dataclass(frozen=True)
class ScoreReport:
    """The result of scoring."""

    language: str
    reference: str  # sources of the references, separated by commas
    sentences: int  # number of references, and of scored sentences per system
    test_set: str | None  # the newstest2014 variant of this size, or None
    systems: list[SystemScores]  # figures, in the given order
    paired: list[SystemComparison]  # each further system against the first; may be empty
    notes: list[str]  # remarks about the text behind the figures

    def as_json(self) -> str:
        """Return the report as JSON; its keys are the attributes'."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def score_files(
    systems: Sequence[str | Path],
    references: Sequence[str | Path],
    form: TextForm,
    *,
    paired: bool = False,
    samples: int = 1000,
    seed: int = 12345,
    source: str | Path | None = None,
    comet: Any = None,
) -> ScoreReport:
    """Score systems against references.

    Args:
        systems: generation logs or plain files, one per system.
        references: plain files, or none for the T- lines of the logs.
        paired: add a paired bootstrap of each further system against the first.
        source: file of the source sentences, for ``comet``.
        comet: adds the scores of a `inference.comet_scores.CometScorer`.
    """
    inputs = load(systems, references, form)
    rows = _comet_rows(inputs, source, comet) if source else []
    scores = [score(system, inputs.reference, lang=form.lang) for system in inputs.systems]
    for place, (one, row) in enumerate(zip(scores, rows)):
        figures = one.figures | {"comet": 100 * fmean(row)}
        signatures = one.signatures | {"comet": comet.signature}
        scores[place] = replace(one, figures=figures, signatures=signatures)
    how = {"lang": form.lang, "samples": samples, "seed": seed, "comet": rows}
    comparisons = paired_bootstrap(inputs.systems, inputs.reference, **how) if paired else []
    count = len(inputs.reference.text)
    return ScoreReport(
        language=form.lang,
        reference=", ".join(one.name for one in inputs.reference.versions),
        sentences=count,
        test_set=TEST_SETS.get(count),
        systems=scores,
        paired=comparisons,
        notes=[*inputs.notes, *filter(None, [remark_on(form.lang)])],
    )


def _comet_rows(inputs: Inputs, source: str | Path, comet: Any) -> list[list[float]]:
    """Return the score of each sentence of each system."""
    gold, lines = inputs.reference, read_sentences(source)
    if gold.others:
        raise InputError(f"COMET reads one reference, not {len(gold.versions)}: give one --ref")
    check_equal_counts((str(source), lines), (gold.name, gold.text))
    return comet.score(lines, [system.text for system in inputs.systems], gold.text)


def format_report(report: ScoreReport) -> str:
    """Return the report for a terminal."""
    lines = [f"reference: {report.reference} ({report.sentences:,} sentences)"]
    if report.test_set:
        lines.append(f"test set:  the size of {report.test_set}")
    lines += ["", *_table(report), ""]
    lines += [f"{HEADINGS[key]}: {text}" for key, text in report.systems[0].signatures.items()]
    for origin in sorted({scores.tokens for scores in report.systems}):
        names = ", ".join(scores.name for scores in report.systems if scores.tokens == origin)
        lines.append(f"tokens of the tokenised figures: {origin} ({names})")
    lines += [f"note: {note}" for note in report.notes]
    if report.paired:
        lines += ["", *_paired_lines(report)]
    return "\n".join(lines) + "\n"


def _table(report: ScoreReport) -> list[str]:
    shown = report.systems[0].figures
    rows = [["system", *(HEADINGS[key] for key in shown), "n"]]
    for scores in report.systems:
        figures = [f"{scores.figures[key]:.2f}" for key in shown]
        rows.append([scores.name, *figures, f"{scores.sentences:,}"])
    return align(rows)


def _paired_lines(report: ScoreReport) -> list[str]:
    rows = [["system", "metric", "score", "difference", "95 % interval", "p"]]
    for item in report.paired:
        values = [f"{item.score:.2f}", f"{item.difference:+.2f}"]
        values += [f"{item.low:+.2f} to {item.high:+.2f}", f"{item.p_value:.4f}"]
        rows.append([item.system, HEADINGS[item.metric], *values])
    drawn = f"{item.samples:,} samples, seed {item.seed}"
    return [f"paired bootstrap against {item.baseline} ({drawn}), two-sided", *align(rows)]
