"""The subcommands of ``fairseq-plugins``: a file each, found by its name and listed unread.

``prepare_text.py`` is ``prepare text`` for `GROUPS`, ``train_pipeline.py`` is ``train-pipeline``.
A file has a docstring (its first line is the overview's, all of it the help's) and

    add_arguments(parser)   declares its arguments; imports nothing heavy
    run(args)               does the work, returns its exit status or None; imports what it needs

and, where it wants them, names of arguments with files and folders that must be there (`READ`;
looked for before `run` imports anything), of arguments that an error of the system may be about
(`PLACES`), what to say to whoever interrupts it (`STOPPED`), and the argument that takes all words
behind ``--`` (`REST`).
"""

import importlib
import os
from collections.abc import Sequence
from types import ModuleType

from ..errors import InputError

PROGRAM = "fairseq-plugins"
GROUPS = ("augment", "plot", "prepare", "results")
HEADINGS = {  # of the overview -> first words of its commands; all others stand under `EXTRAS`
    "data": ("prepare", "augment", "convert-roles", "perturb", "subset", "check"),
    "train": ("train", "run", "average"),
    "use": ("predict", "answer", "ask", "translate", "export", "serve"),
    "results": ("results", "score", "compare", "robustness"),
    "look": ("plot", "demo"),
}
EXTRAS = "extras"
OLD = {  # name of the release before -> today's; such a name is refused, and says the new one
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
GONE = {  # name of the release before -> what does its work
    "train-distributed": "fairseq-train uses all GPUs by itself, and on several machines under "
    "torchrun or Slurm (docs/distributed.md)",
}
MACHINERY = frozenset({"__init__", "command", "main", "subcommands"})

FOLDER = os.path.dirname(__file__)

Words = tuple[str, ...]


def subcommands() -> dict[Words, str]:
    """Return the words of every subcommand -> the name of its module, sorted."""
    names = {name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py")} - MACHINERY
    return dict(sorted((words_of(name), name) for name in names))


def words_of(name: str) -> Words:
    """Return what is typed for a module: one word, or two of a group."""
    verb, _, noun = name.partition("_")
    return (verb, noun.replace("_", "-")) if verb in GROUPS and noun else (name.replace("_", "-"),)


def find(typed: Sequence[str]) -> tuple[Words, str]:
    """Return the subcommand that a command line begins with: its words, and its module's name."""
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
    """Return the first line of a subcommand's docstring, without importing it."""
    import ast

    with open(os.path.join(FOLDER, f"{name}.py"), encoding="utf-8") as stream:
        source = stream.read()
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def overview(verb: str = "") -> str:
    """Return a line for every subcommand under its heading, or for those of a group."""
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
