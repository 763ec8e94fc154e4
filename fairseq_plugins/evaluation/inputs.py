"""Files of system outputs and references -> corpora of equal length, ready to be scored.

A system is a generation log or a plain file (told apart by content); the reference is a plain file
or, when none is given, the T- lines of the logs, which must then agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..text_reading import read_lines
from .generate_log import SystemOutput, read_system
from .translation import Corpus, TextForm, check_equal_counts, prepare

_UNKNOWN = "<<unk>>"  # how fairseq prints a reference word outside the dictionary


@dataclass(frozen=True)
class Inputs:
    """Systems and reference of equal length; ``outputs`` are the files before preparation.

    ``notes`` say what a reader of the figures has to know about where the text came from.
    """

    systems: list[Corpus]
    reference: Corpus
    outputs: list[SystemOutput]
    notes: list[str]


def load(paths: Sequence[str | Path], reference: str | Path | None, form: TextForm) -> Inputs:
    """Read systems and their reference.

    Args:
        paths: one file a system.
        reference: plain file, or None for the T- lines.
        form: what the files hold.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is empty, not UTF-8 or a damaged log; the counts differ; or there is no
            reference and the files have no T- lines, or T- lines that differ.
    """
    outputs = [read_system(path) for path in paths]
    if reference is None:
        gold, notes = _target_lines(outputs, form)
    else:
        other = replace(form, tokenized=form.reference_tokenized)
        gold, notes = prepare(str(reference), read_lines(reference), other), []
    systems = [prepare(output.name, output.lines, form, output.targets) for output in outputs]
    for corpus in systems:
        check_equal_counts((corpus.name, corpus.text), (gold.name, gold.text))
    notes += [
        f"{corpus.name}: Moses tokens, detokenised ({form.lang}) for BLEU and chrF"
        for corpus in [*systems, gold]
        if corpus.tokens is not None
    ]
    return Inputs(systems, gold, outputs, notes)


def _target_lines(outputs: Sequence[SystemOutput], form: TextForm) -> tuple[Corpus, list[str]]:
    """Take the references from the T- lines of the first log, checking the others against them."""
    corpora = []
    for output in outputs:
        if output.targets is None:
            raise ValueError(f"{output.name} has no references (T- lines); give a reference file")
        name = f"T- lines of {output.name}"
        corpora.append(prepare(name, output.targets, form, output.lines))
    first = corpora[0]
    for corpus in corpora[1:]:
        check_equal_counts((corpus.name, corpus.text), (first.name, first.text))
        for i, (line, expected) in enumerate(zip(corpus.text, first.text)):
            if line != expected:
                raise ValueError(
                    f"{corpus.name} differ from {first.name} at sentence {i}: {line[:60]!r} "
                    f"against {expected[:60]!r}; give a reference file"
                )
    notes = [f"references are the {first.name}, as the model's dictionary renders them"]
    unknown = sum(_UNKNOWN in line for line in first.text)
    if unknown:
        notes.append(
            f"{unknown:,} of these references hold {_UNKNOWN}: give the reference file for "
            "figures that compare with others"
        )
    return first, notes
