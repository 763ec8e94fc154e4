"""Files in, a table of telling sentences out: as text, Markdown or TSV (the paper's Table 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..text_reading import read_lines
from .comparison import HIT, METRICS, MISS, SAME, Example, compare, mark_words
from .inputs import TextForm, load
from .translation import remove_subwords

FORMATS = ("text", "markdown", "tsv")

_MARKDOWN = re.compile(r"([\\`*_|~<>\[\]])")
_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_TEXT_MARKS = {HIT: ("{+", "+}"), MISS: ("[-", "-]"), SAME: ("", "")}
_MARKDOWN_MARKS = {HIT: ("<b>", "</b>"), MISS: ("<s>", "</s>"), SAME: ("", "")}


def compare_files(
    first: str | Path,
    second: str | Path,
    gold: str | Path | None,
    source: str | Path | None,
    form: TextForm,
    *,
    metric: str = "chrf",
    better: str = "second",
    min_gap: float = 0.0,
) -> list[Example]:
    """Find the sentences that one of two systems translates better.

    Args:
        first, second: generation logs or plain files.
        gold: references, or None for the T- lines.
        source: source sentences, or None for the S- lines of a log, if there is one.
        form: what the files hold.
        metric: a name in ``METRICS``.
        better, min_gap: as :func:`compare`.

    Raises:
        FileNotFoundError, ValueError: as :func:`load` and :func:`compare`; or an unknown metric.
    """
    if metric not in METRICS:
        raise ValueError(f"metric: unknown value {metric!r}; choose from {', '.join(METRICS)}")
    inputs = load([first, second], gold, form)
    if source is not None:
        sources: list[str] | None = read_lines(source)
    else:
        sources = next((o.sources for o in inputs.outputs if o.sources is not None), None)
    return compare(
        inputs.systems[0].text,
        inputs.systems[1].text,
        inputs.reference.text,
        remove_subwords(sources, form.subwords) if sources is not None else None,
        metric=METRICS[metric],
        better=better,
        min_gap=min_gap,
    )


def short_names(paths: Sequence[str | Path]) -> tuple[str, ...]:
    """Name systems by the last parts of their paths that tell them apart.

    Two logs of one name (``baseline/generate.log``, ``syntax/generate.log``) go by their folders.
    """
    parts = [Path(path).with_suffix("").parts for path in paths]
    for i in range(1, max(map(len, parts)) + 1):
        names = tuple(part[-i] if len(part) >= i else part[0] for part in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(map(str, paths))


def format_examples(
    examples: Sequence[Example], *, names: tuple[str, str], metric: str, style: str = "text"
) -> str:
    """Render examples.

    Args:
        examples: what to show, in this order.
        names: of the two systems.
        metric: name of the metric, for headings.
        style: ``text`` (hits ``{+so+}``, misses ``[-so-]``), ``markdown`` (a table, hits bold,
            misses struck out), or ``tsv`` (unmarked, with columns for the hits).

    Raises:
        ValueError: unknown style.
    """
    if style not in FORMATS:
        raise ValueError(f"style: unknown value {style!r}; choose from {', '.join(FORMATS)}")
    render = {"text": _as_text, "markdown": _as_markdown, "tsv": _as_tsv}[style]
    return "".join(f"{line}\n" for line in render(examples, names, metric))


def _as_text(examples: Sequence[Example], names: tuple[str, str], metric: str) -> Iterable[str]:
    """Yield a block of lines for each example."""
    labels = ["source", "reference", *names]
    width = max(map(len, labels))
    for example in examples:
        yield f"sentence {example.id}: {metric} {example.gap:+.1f} for {names[1]}"
        if example.source is not None:
            yield f"  {'source':<{width}}  {one_line(example.source)}"
        yield f"  {'reference':<{width}}  {one_line(example.gold)}"
        marked = _marked(example, _TEXT_MARKS, one_line)
        scores = example.first_score, example.second_score
        for name, text, value in zip(names, marked, scores):
            yield f"  {name:<{width}}  {text}  ({value:.1f})"
        yield ""


def _as_markdown(examples: Sequence[Example], names: tuple[str, str], metric: str) -> Iterable[str]:
    """Yield a table, one row an example, with a source column if any source is known."""
    with_source = any(example.source is not None for example in examples)
    heads = [*(["Source"] if with_source else []), "Reference", *map(escape_markdown, names)]
    yield f"| # | {' | '.join(heads)} | {metric} |"
    yield f"|{'---|' * (len(heads) + 2)}"
    for example in examples:
        cells = [str(example.id), *([escape_markdown(example.source or "")] if with_source else [])]
        cells += [
            escape_markdown(example.gold),
            *_marked(example, _MARKDOWN_MARKS, escape_markdown),
        ]
        scores = f"{example.first_score:.1f} / {example.second_score:.1f}"
        yield f"| {' | '.join([*cells, scores])} |"


def _as_tsv(examples: Sequence[Example], names: tuple[str, str], metric: str) -> Iterable[str]:
    """Yield a header and one row an example, the hits of each side in columns of their own."""
    heads = [f"{metric} {name}" for name in names] + [f"only {name} right" for name in names]
    yield "\t".join(map(one_line, ["id", "gap", *heads, "source", "reference", *names]))
    for e in examples:
        hits = [_hits(e.first, e.second, e.gold), _hits(e.second, e.first, e.gold)]
        numbers = [f"{value:.2f}" for value in (e.gap, e.first_score, e.second_score)]
        texts = [e.source or "", e.gold, e.first, e.second]
        yield "\t".join([str(e.id), *numbers, *map(one_line, hits + texts)])


def _hits(output: str, other: str, gold: str) -> str:
    """Return the words that only this output has right."""
    return " ".join(text for text, mark in mark_words(output, other, gold) if mark == HIT)


def _marked(
    example: Example, marks: dict[str, tuple[str, str]], clean: Callable[[str], str]
) -> tuple[str, str]:
    """Return both outputs with their marks."""
    pairs = ((example.first, example.second), (example.second, example.first))
    first, second = (
        "".join(
            f"{marks[mark][0]}{clean(text)}{marks[mark][1]}"
            for text, mark in mark_words(output, other, example.gold)
        )
        for output, other in pairs
    )
    return first, second


def one_line(text: str) -> str:
    """Replace tabs and line separators by spaces, so that a cell stays a cell."""
    return _BREAKS.sub(" ", text)


def escape_markdown(text: str) -> str:
    """Make text safe inside a Markdown table."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))
