"""SQuAD with paraphrased questions (BERTQA, Chada 2019, 3.4: "SQuAD 2.Q").

A share of the questions is translated there and back; what comes back and says something new
becomes another question of the same paragraph, with the same answers. The work resumes where it was
stopped, and what comes out depends on the input and the options alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .. import __version__
from ..corpora.squad import VERSION, Paragraph, Question, Squad, dump, read
from ..files import sha256, write_text
from ..messages import quoted
from .squad_augmentation_options import AugmentOptions, Step
from .squad_augmentation_rules import REASONS, Asked, choose, clean, fault, folded
from .squad_augmentation_work import open_work
from .translators import Translate, chain, chunks, run_command, translate_chunk

LoadTranslator = Callable[[Step, AugmentOptions], Translate]


@dataclass(frozen=True)
class Paraphrase:
    """What became of a chosen question.

    Args:
        id: of the question.
        question: its text.
        paraphrase: what came back, cleaned.
        dropped: why it is not used, of `REASONS`; None where it is.
    """

    id: str
    question: str
    paraphrase: str
    dropped: str | None


@dataclass(frozen=True)
class Report:
    """What an augmentation came to.

    Args:
        input: file and SHA-256.
        questions: of the input.
        chosen: of them to be paraphrased.
        kept: paraphrases in the output.
        dropped: reason -> paraphrases that are not.
        options: what decided it.
        version: of this package.
    """

    input: Mapping[str, str]
    questions: int
    chosen: int
    kept: int
    dropped: Mapping[str, int]
    options: Mapping[str, Any]
    version: str = __version__


def augment(options: AugmentOptions, load_translator: LoadTranslator) -> Report:
    """Augment a file as the options say: output, paraphrases and report.

    Args:
        options: what and how.
        load_translator: makes a translator of a step that names a checkpoint.

    Raises:
        ValueError, FileNotFoundError: bad input (see `squad.read`); an id that is there already; a
            checkpoint or command that does not translate (see `translators`).
    """
    squad = read(options.input)
    questions = asked_in(squad.paragraphs)
    chosen = choose(questions, options.rate, options.seed)
    check_ids((asked.id for asked in questions), chosen, options)
    source = {"file": Path(options.input).name, "sha256": sha256(Path(options.input))}
    decisive = options.decisive()
    fingerprint = json.dumps([source["sha256"], decisive, __version__], sort_keys=True)
    steps = [_translator(step, options, load_translator) for step in options.steps]
    with open_work(options.work, fingerprint) as (found, keep):
        texts = [asked.text for asked in chosen]
        _translate(texts, chain(*steps), found, keep, options.chunk)
        judged = judge(questions, chosen, found, options)
        report = _report(source, questions, judged, decisive)
        _write(options, squad, judged, report)
        options.work.unlink()
    return report


def asked_in(paragraphs: Sequence[Paragraph]) -> list[Asked]:
    """Return all questions with their places."""
    return [
        Asked(number, question.id, question.text)
        for number, paragraph in enumerate(paragraphs)
        for question in paragraph.questions
    ]


def check_ids(ids: Iterable[str], chosen: Sequence[Asked], options: AugmentOptions) -> None:
    """Refuse ids of paraphrases that questions have.

    Raises:
        ValueError: such an id.
    """
    known = set(ids)
    for asked in chosen:
        name = asked.id + options.suffix
        if name in known:
            raise ValueError(
                f"{options.input} has a question {quoted(name)} already, as a paraphrase of "
                f"{quoted(asked.id)} would be called; was it augmented before? Give another "
                "--suffix"
            )


def _translator(step: Step, options: AugmentOptions, load: LoadTranslator) -> Translate:
    if step.command:
        return run_command(step.command, step.flag)
    try:
        return load(step, options)
    except ValueError as error:
        raise ValueError(
            f"{step.flag}: {error}; any other translator goes through {step.flag}-command"
        ) from None


def _translate(
    texts: Sequence[str],
    translate: Translate,
    found: dict[str, str],
    keep: Callable[[dict[str, str]], None],
    size: int,
) -> None:
    """Translate distinct texts, chunk by chunk, into ``found``; whole chunks in it are done."""
    distinct = list(dict.fromkeys(texts))
    with tqdm(total=len(distinct), desc="paraphrase", unit=" questions") as bar:
        for chunk in chunks(distinct, size):
            if any(text not in found for text in chunk):
                became = translate_chunk(chunk, translate)
                keep(became)
                found |= became
            bar.update(len(chunk))


def judge(
    questions: Sequence[Asked],
    chosen: Sequence[Asked],
    found: Mapping[str, str],
    options: AugmentOptions,
) -> dict[str, Paraphrase]:
    """Return what became of each chosen question by its id, in the order they were drawn."""
    others: dict[int, set[str]] = {}
    for asked in questions:
        others.setdefault(asked.paragraph, set()).add(folded(asked.text))
    judged = {}
    for asked in chosen:
        text, near = clean(found[asked.text], asked.text), others[asked.paragraph]
        dropped = fault(
            text,
            asked.text,
            near,
            max_ratio=options.max_ratio,
            max_characters=options.max_characters,
        )
        if dropped is None:
            near.add(folded(text))
        judged[asked.id] = Paraphrase(asked.id, asked.text, text, dropped)
    return judged


def with_paraphrases(
    paragraph: Paragraph, judged: Mapping[str, Paraphrase], suffix: str
) -> Paragraph:
    """Put behind each question its paraphrase, if one is kept."""
    questions: list[Question] = []
    for question in paragraph.questions:
        questions.append(question)
        new = judged.get(question.id)
        if new is not None and new.dropped is None:
            questions.append(replace(question, id=question.id + suffix, text=new.paraphrase))
    return replace(paragraph, questions=tuple(questions))


def _report(
    source: Mapping[str, str],
    questions: Sequence[Asked],
    judged: Mapping[str, Paraphrase],
    decisive: Mapping[str, Any],
) -> Report:
    counts = Counter(done.dropped for done in judged.values())
    dropped = {reason: counts[reason] for reason in REASONS}
    return Report(source, len(questions), len(judged), counts[None], dropped, decisive)


def _write(
    options: AugmentOptions, squad: Squad, judged: Mapping[str, Paraphrase], report: Report
) -> None:
    """Write the three files; the output appears last."""
    output, listed, reported = options.results
    lines = (json.dumps(asdict(done), ensure_ascii=False) + "\n" for done in judged.values())
    write_text(listed, "".join(lines))
    write_text(reported, json.dumps(asdict(report), ensure_ascii=False, indent=2) + "\n")
    paragraphs = (with_paraphrases(p, judged, options.suffix) for p in squad.paragraphs)
    dump(output, paragraphs, squad.version or VERSION)
