"""What a step of an experiment's file may say to a script: its options by their whole names.

The table repeats the scripts' command lines, less what starts commands, loads packages or reads
from anywhere. A file to read begins with a placeholder (`step_places`), and goes down from there; a
step writes into ``{out}`` alone.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NoReturn

from .plain_values import NUMBER, TEXT, WHOLE, WORD, Kind

# Name of an argument, what it takes, how many: + from one on, ? none or one, or a number; all that
# begins with -- is an option, and one without a kind is a flag. Kinds are those of `_KINDS`.
_ARGUMENTS = {
    "analyze_questions.py": "gold:file predictions:runs+ --ids:file --format:word --output:out "
    "--plot:out --samples:whole --seed:whole",
    "case_study.py": "checkpoint:runs --data:file --pair:text2 --input:file --split:word "
    "--max:whole --wrong-only --layer:whole --highlight:whole --html:out --against:runs "
    "--max-positions:whole --long-examples:word --cpu",
    "compare_predictions.py": "systems:file+ --gold:file --src:file --lang:word --tokenized:word "
    "--names:text+ --metric:word --better:word --min-gap:number --positive:text --max:whole "
    "--markdown:out --tsv:out",
    "perturb.py": "--dataset:word --raw-dir:file --output:out --split:word --transformations:word "
    "--seed:whole --max-pairs:whole --untouched:word --fields:word --forward:file --backward:file",
    "plot_attention.py": "sentence:text+ --checkpoints:file+ --names:text+ --data:file --out:out "
    "--beam:whole --layer:whole --head:whole --attention:word+ --words --no-arcs "
    "--highlight:whole --max-positions:whole --long-examples:word --cpu",
    "plot_coattention.py": "--path:file --context:text --question:text --split:word --id:text "
    "--first:word --data:file --direction:word --block:whole --head:word --window:whole "
    "--top:whole --strip:whole --max-positions:whole --doc-stride:whole --max-query-length:whole "
    "--out:out --cpu",
    "plot_fractions.py": "folder:file --out:out",
    "plot_gates.py": "checkpoints:file+ --names:text+ --data:file --split:word --text:text+ "
    "--input:file --input-format:word --out:out --batch-size:whole --max-positions:whole "
    "--long-examples:word --cpu",
    "predict.py": "checkpoint:runs --data:file --split:word --input:file --input-format:word "
    "--output:out --format:word --submission-dir:out --metrics:out --batch-size:whole "
    "--max-tokens:whole --max-positions:whole --long-examples:word --cpu",
    "predict_squad.py": "--path:runs --output-dir:out --data:file --split:word --input:file "
    "--ids:file --null-threshold:number --n-best:whole --max-answer-length:whole "
    "--max-positions:whole --doc-stride:whole --max-query-length:whole --ensemble:word "
    "--batch-size:whole --cpu",
    "report_table.py": "folders:file+ --layout:word+ --ensemble:file+ --test:word --samples:whole "
    "--seed:whole --no-paper --output:out",
    "robustness.py": "systems:runs+ --sets:file+ --output:out --names:text+ --data:file "
    "--batch-size:whole --max-tokens:whole --max-positions:whole --long-examples:word "
    "--samples:whole --seed:whole --cpu",
    "score.py": "--sys:file+ --ref:file --lang:word --tokenized:word? --ref-tokenized:word? "
    "--subwords:word --paired --samples:whole --seed:whole --json:out",
    "score_squad.py": "gold:file predictions:file --null-odds:file --threshold:number --ids:file "
    "--missing:word --json",
}
SUBCOMMANDS = {  # what a file calls a script -> the words of its subcommand
    "analyze_questions.py": ("analyze-questions",),
    "case_study.py": ("cases",),
    "compare_predictions.py": ("compare",),
    "perturb.py": ("perturb",),
    "plot_attention.py": ("plot", "attention"),
    "plot_coattention.py": ("plot", "coattention"),
    "plot_fractions.py": ("plot", "fractions"),
    "plot_gates.py": ("plot", "gates"),
    "predict.py": ("predict",),
    "predict_squad.py": ("answer",),
    "report_table.py": ("table",),
    "robustness.py": ("robustness",),
    "score.py": ("score",),
    "score_squad.py": ("score-answers",),
}

_INNER = r"(?:/(?!\.)[^/\\{}:,=\x00-\x1f\x7f]+)*/?"  # behind a placeholder: goes down only
_FILE = re.compile(rf"\{{(?:runs|run|data|raw|after|file|out)(?::[^{{}}]*)?\}}{_INNER}")
_RUNS = re.compile(
    rf"(?:[^-={{}}:,][^={{}}:,]*=)?{_FILE.pattern}(?:[:,]{_FILE.pattern})*"
)  # NAME=PATH,PATH or PATH:PATH
_OUT = re.compile(rf"\{{out\}}{_INNER}")
_KINDS = {
    "word": WORD,
    "whole": WHOLE,
    "number": NUMBER,
    "text": TEXT,
    "file": Kind(
        "a path that begins with {runs...}, {data...}, {raw...}, {after...}, {file} or {out} and "
        "goes down from there",
        lambda value: bool(_FILE.fullmatch(value)),
    ),
    "runs": Kind(
        "a run, or several with , or : between, or NAME=RUN, where each begins with {run...}, "
        "{runs...} or another placeholder",
        lambda value: value.isprintable() and bool(_RUNS.fullmatch(value)),
    ),
    "out": Kind(
        "{out}/...: a step writes into its own folder", lambda value: bool(_OUT.fullmatch(value))
    ),
}
_SPEC = re.compile(r"(?P<name>[\w-]+)(?::(?P<kind>[a-z]+)(?P<count>[+?2]?))?")


class _Parser(argparse.ArgumentParser):
    """argparse that refuses with an error instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def check_step(script: str, words: Sequence[str]) -> None:
    """Refuse a step's arguments that its script does not take from a file.

    Args:
        script: one of `SUBCOMMANDS`.
        words: its arguments, with placeholders, without what makes them optional.

    Raises:
        ValueError: names the word, or the option, and what would do.
    """
    parser = _parser(script)
    known = parser._option_string_actions
    for word in words:
        name = word.partition("=")[0]
        if not word.isprintable() or len(word) > 1000:
            raise ValueError(f"{word[:100]!r}: no line of at most 1,000 characters")
        # argparse takes the beginning of an option for the option, even with a blank behind it
        if word.startswith("-") and name not in known and not NUMBER.fits(word):
            raise ValueError(f"{name!r}: not for {script} in a file; choices: {', '.join(known)}")
    parser.parse_args(list(words))


@cache
def _parser(script: str) -> argparse.ArgumentParser:
    """Return a parser that takes what a file may say to a script."""
    parser = _Parser(prog=script, add_help=False, allow_abbrev=False)
    for spec in _ARGUMENTS[script].split():
        name, kind, count = _SPEC.fullmatch(spec).groups()
        if not kind:
            parser.add_argument(name, action="store_true")
            continue
        more = {"nargs": int(count) if count.isdigit() else count} if count else {}
        parser.add_argument(name, type=_reader(kind), action=_action(count), **more)
    return parser


def _action(count: str) -> str:
    return "append" if count.isdigit() else "store"  # of a pair, of which there may be several


def _reader(name: str) -> Callable[[str], str]:
    """Return what reads a word of a kind."""
    kind = _KINDS[name]

    def read(word: str) -> str:
        number = name == "whole" and re.fullmatch(r"-?[0-9]{1,15}", word)
        try:
            kind.check(int(word) if number else word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return word

    return read
