"""The subcommands of ``fairseq-plugins``: one file each, found by name and listed without import.

``prepare_text.py`` is ``prepare text`` for `GROUPS`, ``train_pipeline.py`` is ``train-pipeline``.
A file has a docstring (the help; its first line is for the overview) and

    add_arguments(parser)   declares its arguments; imports nothing heavy
    run(args)               does the work, returns its exit status or None; imports its libraries

and optionally names of arguments with files and folders that must exist (`READ`; checked before
`run` imports anything), of arguments that system errors may concern (`PLACES`), a message after an
interrupt (`STOPPED`), and the argument for all words after ``--`` (`REST`).
"""

import importlib
import os
from collections.abc import Sequence
from types import ModuleType

from ..errors import InputError

PROGRAM = "fairseq-plugins"
GROUPS = ("augment", "plot", "prepare", "results")
HEADINGS = {  # heading of the overview -> first words of commands; all others are `EXTRAS`
    "data": ("prepare", "augment", "convert-roles", "perturb", "subset", "check"),
    "train": ("train", "run", "average"),
    "use": ("predict", "answer", "ask", "translate", "export", "serve"),
    "results": ("results", "score", "compare", "robustness"),
    "look": ("plot", "demo"),
}
EXTRAS = "extras"
OLD = {  # former name -> today's; a former name is refused, and the error names today's
    "table": "results table",
    "seeds": "results compare",
    "report": "results page",
    "evidence": "results page",
    "keep": "results keep",
    "cases": "compare",
    "analyze-questions": "compare",
    "plot fractions": "results compare",
    "score-answers": "score",
    "train-udpipe": "train-pipeline",
    "score-pipeline": "train-pipeline --score",
}
GONE = {  # former name -> commands in its place
    "train-distributed": "fairseq-train uses all GPUs by itself, and on several machines under "
    "torchrun or Slurm (docs/distributed.md)",
}
MACHINERY = frozenset({"__init__", "command", "main", "subcommands"})

FOLDER = os.path.dirname(__file__)

Words = tuple[str, ...]


def subcommands() -> dict[Words, str]:
    """Return the words of every subcommand -> its module, sorted."""
    names = {name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py")} - MACHINERY
    return dict(sorted((words_of(name), name) for name in names))


def words_of(name: str) -> Words:
    """Return the command of a module: one word, or two of a group."""
    verb, _, noun = name.partition("_")
    return (verb, noun.replace("_", "-")) if verb in GROUPS and noun else (name.replace("_", "-"),)


def find(typed: Sequence[str]) -> tuple[Words, str]:
    """Return the subcommand at the beginning of a command line: its words, and its module."""
    known = subcommands()
    for length in (1, 2):
        words = tuple(typed[:length])
        if words in known:
            return words, known[words]
    verb = typed[0]
    for old in (verb, " ".join(typed[:2])):
        if old in OLD:
            raise InputError(f"{old}: this command is called `{PROGRAM} {OLD[old]}` now")
    if verb in GONE:
        raise InputError(f"{verb}: there is no such command any more: {GONE[verb]}")
    choices = [words[1] for words in known if len(words) == 2 and words[0] == verb]
    if choices and len(typed) < 2:
        raise InputError(f"{verb}: of what? choices: {', '.join(choices)}")
    if choices:
        raise InputError(f"{verb} {typed[1]!r}: no such subcommand{_nearest(typed[1], choices)}")
    verbs = [*dict.fromkeys(words[0] for words in known)]
    raise InputError(f"{verb!r}: no such subcommand{_nearest(verb, verbs)}")


def _nearest(typed: str, choices: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(typed.replace("_", "-"), choices, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{hint or ';'} choices: {', '.join(choices)}"


def load(name: str) -> ModuleType:
    """Import a subcommand's module."""
    return importlib.import_module(f"{__package__}.{name}")


def summary(name: str) -> str:
    """Return the first line of a subcommand's docstring, without importing the module."""
    import ast

    with open(os.path.join(FOLDER, f"{name}.py"), encoding="utf-8") as stream:
        source = stream.read()
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def overview(verb: str = "") -> str:
    """Return a line for every subcommand under its heading, or only for a group."""
    known = {words: name for words, name in subcommands().items() if verb in ("", words[0])}
    width = max(len(" ".join(words)) for words in known)
    lines = {
        words: f"  {' '.join(words):<{width}}  {summary(name)}\n" for words, name in known.items()
    }
    if verb:
        return "".join(lines.values())
    text = ""
    for heading, verbs in HEADINGS.items():
        own = [words for one in verbs for words in lines if words[0] == one]
        text += f"{heading}:\n" + "".join(map(lines.pop, own)) + "\n"
    return f"{text}{EXTRAS}:\n{''.join(lines.values())}"
