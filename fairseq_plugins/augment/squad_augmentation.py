"""SQuAD with paraphrased questions (BERTQA, Chadha 2019, 3.4: "SQuAD 2.Q").

A share of the questions is translated there and back; a different result becomes another question
of the same paragraph, with the same answers. The work is resumable, and the result depends only on
the input and the options.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from .. import __version__
from ..corpora.squad import VERSION, Paragraph, Question, Squad, dump, read
from ..errors import InputError
from ..files import open_own, sha256, try_lock, write_text
from ..messages import quoted
from .squad_augmentation_options import AugmentOptions, TranslationStep
from .squad_augmentation_rules import REASONS, choose, clean, fault, folded
from .translators import Translate, chain, run_command, translate_all

logger = logging.getLogger(__name__)

LoadTranslator = Callable[[TranslationStep, AugmentOptions], Translate]


@dataclass(frozen=True)
class Paraphrase:
    """The result for a chosen question."""

    id: str  # of the question
    question: str  # its text
    paraphrase: str  # its translation there and back, cleaned
    dropped: str | None  # reason against it, of `REASONS`, or None


@dataclass(frozen=True)
class AugmentReport:
    """The counts of an augmentation, as in its report."""

    input: Mapping[str, str]  # file and SHA-256
    questions: int  # of the input
    chosen: int  # questions to paraphrase
    kept: int  # paraphrases in the output
    dropped: Mapping[str, int]  # reason -> number of paraphrases
    options: Mapping[str, Any]  # that decide the result
    version: str = __version__  # of this package


def augment(options: AugmentOptions, load_translator: LoadTranslator) -> AugmentReport:
    """Augment a file: write output, paraphrases and report.

    Args:
        load_translator: from a step with a checkpoint to a translator.
    """
    squad = read(options.input)
    ids = {question.id for question in squad.questions}
    chosen = choose(squad.questions, options.rate, options.seed)
    _check_ids(ids, chosen, options)
    source = {"file": Path(options.input).name, "sha256": sha256(options.input)}
    decisive = options.decisive()
    fingerprint = json.dumps([source["sha256"], decisive, __version__], sort_keys=True)
    translate = chain(*(_translator(step, options, load_translator) for step in options.steps))
    with open_work(options.work, fingerprint) as (found, keep):
        texts, how = (question.text for question in chosen), {"size": options.chunk, "keep": keep}
        bar = {"title": "paraphrase", "unit": " questions"}
        translate_all(texts, translate, found=found, **how, **bar)
        judged = judge(squad.paragraphs, chosen, found, options)
        counts = Counter(done.dropped for done in judged.values())
        dropped = {reason: counts[reason] for reason in REASONS}
        report = AugmentReport(source, len(ids), len(chosen), counts[None], dropped, decisive)
        _write(options, squad, judged, report)
        options.work.unlink()
    return report


def _check_ids(known: set[str], chosen: Sequence[Question], options: AugmentOptions) -> None:
    for question in chosen:
        name = question.id + options.suffix
        if name in known:
            raise InputError(
                f"{options.input} has a question {quoted(name)} already, as a paraphrase of "
                f"{quoted(question.id)} would be called; was it augmented before? Give another "
                "--suffix"
            )


def _translator(step: TranslationStep, options: AugmentOptions, load: LoadTranslator) -> Translate:
    if step.command:
        return run_command(step.command, step.flag)
    try:
        return load(step, options)
    except InputError as error:
        raise InputError(
            f"{step.flag}: {error}; any other translator goes through {step.flag}-command"
        ) from None


@contextmanager
def open_work(
    path: Path, fingerprint: str
) -> Iterator[tuple[dict[str, str], Callable[[dict[str, str]], None]]]:
    """Open the file of unfinished translations, made if missing; one process at a time.

    The first line is the fingerprint, each further line the JSON of a chunk. An incomplete line
    after a kill is cut off, and its chunk is translated again.

    Args:
        fingerprint: of all that decides the translations; a file with another one is restarted.

    Yields:
        Earlier translations, and a function that stores another chunk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_own(path) as stream:
        if not try_lock(stream, path):
            raise InputError(f"{path} is in use: another augmentation writes this output")
        found = _read(stream, path, fingerprint)

        def keep(chunk: dict[str, str]) -> None:
            stream.write(_line(chunk))
            stream.flush()

        yield found, keep


def _line(body: Any) -> bytes:
    return (json.dumps(body, ensure_ascii=True) + "\n").encode()


def _read(stream: IO[bytes], path: Path, fingerprint: str) -> dict[str, str]:
    """Read the complete lines of our own work; cut the file after them, or restart it."""
    stream.seek(0)
    lines = stream.read().split(b"\n")[:-1]
    found: dict[str, str] = {}
    head = _line(fingerprint)
    if not lines or lines[0] + b"\n" != head:
        if lines:
            logger.warning("%s is of another augmentation: beginning anew", path)
        stream.truncate(0)
        stream.write(head)
        stream.flush()
        return found
    stream.truncate(sum(len(line) + 1 for line in lines))
    for number, line in enumerate(lines[1:], 2):
        try:
            found |= json.loads(line)
        except (ValueError, TypeError, RecursionError):
            raise InputError(
                f"{path}:{number}: no chunk of translations; remove the file"
            ) from None
    if found:
        logger.info("going on: %d questions are translated", len(found))
    return found


def judge(
    paragraphs: Iterable[Paragraph],
    chosen: Iterable[Question],
    found: Mapping[str, str],
    options: AugmentOptions,
) -> dict[str, Paraphrase]:
    """Return id -> result of each chosen question, in the order they were drawn."""
    near: dict[str, set[str]] = {}  # id -> texts of all questions of its paragraph
    for paragraph in paragraphs:
        texts = {folded(question.text) for question in paragraph.questions}
        near |= {question.id: texts for question in paragraph.questions}
    judged = {}
    limits = {"max_ratio": options.max_ratio, "max_characters": options.max_characters}
    for question in chosen:
        text = clean(found[question.text], question.text)
        dropped = fault(text, question.text, near[question.id], **limits)
        if dropped is None:
            near[question.id].add(folded(text))
        judged[question.id] = Paraphrase(question.id, question.text, text, dropped)
    return judged


def _with_paraphrases(
    paragraph: Paragraph, judged: Mapping[str, Paraphrase], suffix: str
) -> Paragraph:
    """Add after each question its paraphrase, if kept."""
    questions: list[Question] = []
    for question in paragraph.questions:
        questions.append(question)
        new = judged.get(question.id)
        if new is not None and new.dropped is None:
            questions.append(replace(question, id=question.id + suffix, text=new.paraphrase))
    return replace(paragraph, questions=tuple(questions))


def _write(
    options: AugmentOptions, squad: Squad, judged: Mapping[str, Paraphrase], report: AugmentReport
) -> None:
    output, listed, reported = options.results
    lines = (json.dumps(asdict(done), ensure_ascii=False) + "\n" for done in judged.values())
    write_text(listed, "".join(lines))
    write_text(reported, json.dumps(asdict(report), ensure_ascii=False, indent=2) + "\n")
    paragraphs = (_with_paraphrases(p, judged, options.suffix) for p in squad.paragraphs)
    dump(output, paragraphs, squad.version or VERSION)
