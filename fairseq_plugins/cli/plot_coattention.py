"""Draw the attention between a question and its context, as PNG and SVG.

    fairseq-plugins plot coattention runs/squad2/bertqa --context article.txt \\
        --question "When were the Normans in Normandy?" --output coattention
    fairseq-plugins plot coattention runs/squad2/bertqa --split valid --id 56ddde6b9a695914
    fairseq-plugins plot coattention runs/squad2/bertqa --split valid --first unanswered

For models with coattention blocks (BERTQA). Shown is the last block, or --block; the question's
attention to the context (--direction q2c), or the context's attention to the question (c2q); the
mean over heads, or --head. The best answer span is framed, with dashes if the model gives no
answer. The wordpieces that receive most attention are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..evaluation.shown_text import as_line
from ..inference.options import (
    DIRECTIONS,
    QUESTIONS,
    TO_CONTEXT,
    WINDOWS,
    add_overrides,
    given_overrides,
)
from . import command

if TYPE_CHECKING:
    from ..inference.coattention import CoattentionMap

READ = ("checkpoint", "data")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", metavar="MODEL", help="run folder (its checkpoint_best.pt), or file")
    add("--context", metavar="FILE", help="file with the text that the question is about")
    add("--question", metavar="Q", help="question about the text of --context")
    add("--split", help="or take a question of this split of the prepared folder")
    add("--id", help="id of the question in the split")
    first = "or the first question of the split that has an answer, or that has none"
    add("--first", choices=QUESTIONS, help=first)
    add("--data", metavar="DIR", help="prepared folder (default: the one used in training)")
    ways = "q2c: the question attends to the context (default); c2q: the context to the question"
    add("--direction", default=TO_CONTEXT, choices=DIRECTIONS, help=ways)
    add("--block", type=int, metavar="B", help="coattention block, from 0 (default: the last)")
    heads = "attention head, counted from 0 (default: the mean over heads)"
    add("--head", type=int, metavar="H", help=heads)
    window = "window of a long context, counted from 0 (default: the one with the best answer span)"
    add("--window", type=int, metavar="K", help=window)
    most = "number of most attended wordpieces to print"
    add("--top", type=int, default=10, metavar="N", help=most)
    add("--output", default="coattention", help="name of the figure files without suffix")
    add_overrides(parser, WINDOWS)
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Load, draw and print."""
    check(args)
    from ..lab.figures.drawing import check_stem, save
    from ..lab.figures.matrices import plot_coattention

    command.show_log()
    stem, found = check_stem(args.output), look(args)
    block = "last block" if args.block is None else f"block {args.block}"
    roles = ("attending", "attended")[:: 1 if found.direction == TO_CONTEXT else -1]
    figure = plot_coattention(
        found.weights,
        found.question,
        found.context,
        (f"question ({roles[0]})", f"context ({roles[1]})"),
        span=found.span,
        chosen=bool(found.reply.text),
        title=titled(found),
        about=f"{block}, {'mean over heads' if args.head is None else f'head {args.head}'}",
    )
    paths = save(figure, stem)
    print(*described(found, args.top), *paths, sep="\n")


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that contradict each other."""
    raw, split = (args.context, args.question), (args.split, args.id or args.first)
    if not (all(raw) and not any(split) or all(split) and not any(raw)) or args.id and args.first:
        raise command.UsageError("give --context and --question, or --split and --id (or --first)")
    command.check_text_file("--context", args.context)
    command.check_least(args, top=0)


def look(args: argparse.Namespace) -> CoattentionMap:
    """Load the model and read the question."""
    from ..inference import coattention, question_answering
    from ..text_reading import read_lines

    context = "\n".join(read_lines(args.context)) if args.context else None
    given = given_overrides(args, WINDOWS)
    reader = question_answering.load(args.checkpoint, args.data, cpu=args.cpu, **given)
    if context is not None:
        dataset, number = reader.ask(args.question, context), 0
    else:
        dataset = reader.predictor.load_split(args.split)
        number = coattention.number_of(dataset, args.id, args.first)
    shown = {key: getattr(args, key) for key in ("direction", "block", "head", "window")}
    return coattention.attend(reader, dataset, number, **shown)


def titled(found: CoattentionMap) -> str:
    """Return the meaning of the frame."""
    if text := found.reply.text:
        return f"red: the answer, {as_line(text)}"
    return "no answer is found" + "; dashed: the best span, which loses" * bool(found.span)


def described(found: CoattentionMap, count: int) -> Iterator[str]:
    """Yield lines on the answer, and on the most attended words."""
    reply, golds = found.reply, found.reply.passage.answers
    said = {"question": reply.passage.question, "answer": reply.text}
    said |= {} if reply.text else {"best span": reply.found.best_text}
    said |= {} if golds is None else {"gold": " | ".join(dict.fromkeys(golds))}
    yield from (f"{name}: {as_line(text) or 'none'}" for name, text in said.items())
    if found.window[1] > 1:
        yield f"window: {found.window[0]} of 0 to {found.window[1] - 1}"
    for place, share in found.most_attended(count):
        yield f"{share:.3f}  {place:4}  {as_line(found.attended[place])}"
