"""Draw what a question and its context attend to in each other, as PNG and SVG.

python scripts/plot_coattention.py --path runs/squad2/bertqa --context article.txt \
    --question "When were the Normans in Normandy?" --out coattention
python scripts/plot_coattention.py --path runs/squad2/bertqa --split valid --id 56ddde6b9a695914
python scripts/plot_coattention.py --path runs/squad2/bertqa --split valid --first unanswered

Of a model with coattention blocks (BERTQA): the last block, or --block; the question's attention to
the context (--direction q2c), or the context's to the question (c2q); the mean over heads, or
--head. The best span is framed, with dashes where no answer wins. What is attended to most is
printed.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.inference import coattention, question_answering
from fairseq_plugins.inference.overrides import WINDOWS, add_overrides, given_overrides
from fairseq_plugins.lab.figures.coattention_plots import STRIP, plot_coattention
from fairseq_plugins.lab.figures.drawing import check_stem
from fairseq_plugins.text_reading import read_lines

MEAN = "mean"


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--path", required=True, help="run folder (its checkpoint_best.pt), or checkpoint file")
    add("--context", metavar="FILE", help="text that the question is about")
    add("--question", metavar="Q", help="what to ask about it")
    add("--split", help="or a split of the prepared folder")
    add("--id", help="of the question in the split")
    add(
        "--first",
        choices=coattention.KINDS,
        help="or the first question of the split that has an answer, or has none",
    )
    add("--data", metavar="DIR", help="prepared folder (default: the one it was trained on)")
    add(
        "--direction",
        default=coattention.TO_CONTEXT,
        choices=coattention.DIRECTIONS,
        help="q2c: the question attends to the context (default); c2q: the other way round",
    )
    add("--block", type=int, metavar="B", help="one block from 0 (default: the last)")
    add("--head", default=MEAN, metavar="H", help="one head from 0, or mean (default)")
    add("--window", type=int, metavar="K", help="of a long context, from 0 (default: the answer's)")
    add("--top", type=int, default=10, metavar="N", help="how many wordpieces to print")
    add("--strip", type=int, default=STRIP, metavar="N", help="most wordpieces side by side")
    add("--out", default="coattention", help="file name without suffix")
    add_overrides(parser, WINDOWS)
    add("--cpu", action="store_true", help="use no GPU")
    args = parser.parse_args()
    raw, split = (args.context, args.question), (args.split, args.id or args.first)
    if not (all(raw) and not any(split) or all(split) and not any(raw)) or args.id and args.first:
        parser.error("give --context and --question, or --split and --id (or --first)")
    if args.head != MEAN and not args.head.isdecimal():
        parser.error(f"--head {args.head!r}: must be a number from 0, or {MEAN}")
    if args.top < 0 or args.strip < 1:
        parser.error(f"--top {args.top} --strip {args.strip}: must be at least 0 and 1")
    return args


def look(args: argparse.Namespace) -> coattention.CoattentionMap:
    """Load the model and read the question.

    Raises:
        FileNotFoundError, ValueError: see `question_answering.load` and `coattention.attend`.
    """
    context = None
    if args.context:
        context = "\n".join(read_lines(args.context))
    reader = question_answering.load(
        args.path, args.data, cpu=args.cpu, **given_overrides(args, WINDOWS)
    )
    if context is not None:
        dataset, number = coattention.ask(reader, args.question, context), 0
    else:
        dataset = reader.predictor.load_split(args.split)
        choose, wanted = (
            (coattention.number_of, args.id) if args.id else (coattention.first_of, args.first)
        )
        number = choose(dataset, wanted)
    return coattention.attend(
        reader,
        dataset,
        number,
        direction=args.direction,
        block=args.block,
        head=None if args.head == MEAN else int(args.head),
        window=args.window,
    )


def described(found: coattention.CoattentionMap, count: int) -> str:
    """Return the answer, and what is attended to most."""
    reply = found.reply
    lines = [f"question: {reply.passage.question}", f"answer: {reply.text or 'none'}"]
    if not reply.text:
        lines.append(f"best span: {reply.found.best_text or 'none'}")
    if reply.passage.answers is not None:
        gold = " | ".join(dict.fromkeys(reply.passage.answers))
        lines.append(f"gold: {gold or 'none'}")
    if found.window[1] > 1:
        lines.append(f"window: {found.window[0]} of 0 to {found.window[1] - 1}")
    if found.on_span is not None:
        lines.append(f"attention on the best span: {found.on_span:.3f}")
    lines.append(f"attention on {coattention.SEPARATOR}: {found.on_separator:.3f}")
    for place, share in found.most_attended(count):
        lines.append(f"{share:.3f}  {place:4}  {found.attended[place]}")
    return "\n".join(lines) + "\n"


def draw(args: argparse.Namespace) -> str:
    """Look and draw; return what is to be printed."""
    stem = check_stem(args.out)
    found = look(args)
    paths: list[Path] = plot_coattention(
        found.weights,
        found.question,
        found.context,
        stem,
        span=found.span,
        chosen=bool(found.reply.text),
        title=f"{found.direction}: {found.reply.text or 'no answer'}",
        strip=args.strip,
    )
    return described(found, args.top) + "".join(f"{path}\n" for path in paths)


def main() -> int:
    """Draw; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    return command.run(lambda: print(draw(args), end=""), args.out)


if __name__ == "__main__":
    sys.exit(main())
