"""Examples about which systems differ, as text, Markdown or TSV (Table 4 of Wang et al., 2022).

Words of one sentence that the other lacks are marked: ``[-girl-]`` in the first, ``{+boy+}`` in the
second; bold in Markdown, in columns of their own in TSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..messages import named
from .comparison import MISS, mark_words
from .comparison_report import FORMATS, escape_markdown, one_line
from .text_comparison import (
    TextExample,
    TextPrediction,
    Texts,
    compare_predictions,
    read_predictions,
    read_texts,
)

_MARKS = (("[-", "-]"), ("{+", "+}"))
_BOLD = ("<b>", "</b>")


def compare_text_files(
    paths: Sequence[str | Path],
    source: str | Path | None = None,
    *,
    better: str = "last",
    min_gap: float = 0.0,
) -> list[TextExample]:
    """Find examples that one of several systems gets right and another gets wrong.

    Args:
        paths: their predictions.
        source: the texts, for predictions that do not hold them; see `read_texts`.
        better, min_gap: see `compare_predictions`.

    Raises:
        FileNotFoundError, ValueError: see `read_predictions`, `read_texts`, `compare_predictions`;
            texts that lack an example.
    """
    systems = [(str(path), read_predictions(path)) for path in paths]
    texts = None if source is None else read_texts(source)
    found = compare_predictions(systems, texts, better=better, min_gap=min_gap)
    lacking = next((example for example in found if source and not example.texts), None)
    if lacking is not None:
        raise ValueError(f"{source} holds no example {lacking.id!r}, which {paths[0]} predicts")
    return found


def format_text_examples(
    examples: Sequence[TextExample],
    *,
    names: Sequence[str],
    style: str = "text",
    positive: str = "",
) -> str:
    """Render examples.

    Args:
        examples: what to show, in this order.
        names: of the systems.
        style: ``text``, ``markdown`` or ``tsv``.
        positive: class whose probability is shown (default: ``1`` where classes are 0 and 1, else
            that of each answer).

    Raises:
        ValueError: unknown style or class.
    """
    if style not in FORMATS:
        raise ValueError(f"style: unknown value {style!r}; choose from {', '.join(FORMATS)}")
    classes = {label for example in examples for one in example.said for label in one.probabilities}
    if positive and examples and positive not in classes:
        raise ValueError(f"class {positive!r} is not one of {named(sorted(classes))}")
    positive = positive or ("1" if classes == {"0", "1"} else "")
    render = {"text": _as_text, "markdown": _as_markdown, "tsv": _as_tsv}[style]
    return "".join(f"{line}\n" for line in render(examples, list(names), positive))


def _as_text(examples: Sequence[TextExample], names: list[str], positive: str) -> Iterator[str]:
    """Yield a block of lines for each example."""
    width = max(map(len, ["text", *names]))
    for example in examples:
        yield f"example {example.id}: gold {example.gold}"
        for name, text in zip(_text_names(example.texts), _marked(example.texts, _MARKS, one_line)):
            yield f"  {name:<{width}}  {text}"
        for name, said in zip(names, example.said):
            verdict = "right" if said.is_right else "wrong"
            yield f"  {name:<{width}}  {verdict}  {said.label}  ({_chance(said, positive)})"
        yield ""


def _as_markdown(examples: Sequence[TextExample], names: list[str], positive: str) -> Iterator[str]:
    """Yield a table, one row an example; what is wrong is struck out."""
    heads = ["Example", "Gold", *map(escape_markdown, names)]
    yield f"| # | {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) + 1)}"
    for example in examples:
        texts = _marked(example.texts, (_BOLD, _BOLD), escape_markdown)
        named = (f"{name}: {t}" for name, t in zip(_text_names(example.texts), texts))
        cells = [escape_markdown(example.id), "<br>".join(named), escape_markdown(example.gold)]
        for said in example.said:
            label = escape_markdown(said.label)
            label = label if said.is_right else f"<s>{label}</s>"
            cells.append(f"{label} ({escape_markdown(_chance(said, positive))})")
        yield f"| {' | '.join(cells)} |"


def _as_tsv(examples: Sequence[TextExample], names: list[str], positive: str) -> Iterator[str]:
    """Yield a header and one row an example."""
    shown = f"probability of {positive}" if positive else "probability"
    heads = [f"{name} {what}" for name in names for what in ("label", shown)]
    texts = ["S1", "S2", "only S1", "only S2"]
    yield "\t".join(map(one_line, ["id", "gold", "gap", *heads, *texts]))
    for example in examples:
        cells = [example.id, example.gold, f"{example.gap:.2f}"]
        for said in example.said:
            cells += [said.label, f"{said.probability(positive or said.label):.6f}"]
        both = (*example.texts, "", "")[:2]
        cells += [*both, *(" ".join(words) for words in _differing(both))]
        yield "\t".join(map(one_line, cells))


def _text_names(texts: Texts) -> list[str]:
    return ["text"] if len(texts) == 1 else [f"S{number}" for number in range(1, len(texts) + 1)]


def _chance(said: TextPrediction, positive: str) -> str:
    """Show a probability: that of the positive class, or of the answer."""
    of = f"{positive}: " if positive else ""
    return f"{of}{100 * said.probability(positive or said.label):.2f}%"


def _marked(
    texts: Texts, marks: Sequence[tuple[str, str]], clean: Callable[[str], str]
) -> list[str]:
    """Mark the words that each of two sentences has alone; one sentence stays as it is."""
    if len(texts) != 2:
        return list(map(clean, texts))
    pairs = ((texts[0], texts[1]), (texts[1], texts[0]))
    return [
        "".join(
            f"{begin}{clean(part)}{end}" if mark == MISS else clean(part)
            for part, mark in mark_words(text, other, "")
        )
        for (text, other), (begin, end) in zip(pairs, marks)
    ]


def _differing(texts: tuple[str, str]) -> Iterator[list[str]]:
    """Yield the stretches that each of two sentences has alone."""
    for text, other in (texts, texts[::-1]):
        yield [part for part, mark in mark_words(text, other, "") if mark == MISS]
