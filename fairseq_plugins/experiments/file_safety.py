"""What the file of an experiment may not say: a file from elsewhere must bring no code.

fairseq evaluates some options as Python (``--adam-betas``, the layers of a convolutional model),
after it has put others in the place of ``${...}``; it loads plug-ins, and runs or writes what other
options name. A step after the runs writes into its own folder alone. Whoever wants more gives it on
the command line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

# options of fairseq-train that load or run code, or write outside the run's folder
CODE = (
    "user-dir post-save-script model-overrides optimizer-overrides quantization-config-path "
    "plasma-path log-file tensorboard-logdir wandb-project aim-repo azureml-logging"
).split()
GENERATION = (  # options of fairseq-generate that say how to search, and how fast
    "beam nbest max-len-a max-len-b min-len match-source-len unnormalized no-early-stop "
    "no-beamable-mm lenpen unkpen replace-unk prefix-size no-repeat-ngram-size sampling "
    "sampling-topk sampling-topp temperature diverse-beam-groups diverse-beam-strength "
    "diversity-rate print-alignment print-step seed cpu fp16 bf16 batch-size max-tokens "
    "num-workers skip-invalid-size-inputs-valid-test required-batch-size-multiple"
).split()
COMMANDS = {"perturb.py": ("--back-translate",)}  # script -> its options that are commands

_BRACKETS, _QUOTES = set("([{"), set("'\"")
_LITERAL = (  # what a text may consist of, as Python reads it
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop),
)
_INSIDE = re.compile(r"\{out\}(/(?!\.\.?(/|$))[^/]+)*/?")


def refuse_code(options: Mapping[str, Any]) -> None:
    """Refuse options of ``fairseq-train`` that a file has no business with.

    Args:
        options: name -> value, or list of values.

    Raises:
        ValueError: one of `CODE`, or a value that is more than a literal; names it.
    """
    for key, given in options.items():
        if str(key).replace("_", "-") in CODE:
            raise ValueError(
                f"option {key!r}: not in a file, which brings no code and writes no logs"
            )
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str) and ("${" in value or not is_literal(value)):
                raise ValueError(
                    f"option {key!r}: {value!r} would be evaluated: a file may say words, and "
                    "literals such as (0.9, 0.98)"
                )


def refuse_generation(options: Mapping[str, Any]) -> None:
    """Refuse options of ``fairseq-generate`` that do not say how to search.

    Raises:
        ValueError: names the first, and the choices.
    """
    refuse_code(options)
    for key in options:
        if key not in GENERATION:
            choices = ", ".join(GENERATION)
            raise ValueError(f"option {key!r}: not in a file; choices are {choices}")


def is_literal(text: str) -> bool:
    """Tell whether evaluating a text, even twice, builds numbers, texts and lists of them at most.

    Without brackets nothing is called, indexed or assigned; quotes may hide them.
    """
    if not (_BRACKETS | _QUOTES) & set(text):
        return True
    try:
        nodes = list(ast.walk(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return not _BRACKETS & set(text)  # evaluating it fails as well
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = [value for value in values if isinstance(value, str | bytes)]
    if any(isinstance(value, bytes) for value in texts):
        return False
    if texts and any(isinstance(node, ast.BinOp) for node in nodes):
        return False  # texts that are put together
    return all(isinstance(node, _LITERAL) for node in nodes) and all(map(is_literal, texts))


def check_step(script: str, words: Sequence[str], writes: Sequence[str]) -> None:
    """Refuse a step's arguments that start a command or write outside the step's folder.

    argparse takes the beginning of an option for the option, so beginnings are held to the same.

    Args:
        script: its file name.
        words: its arguments, without what makes them optional.
        writes: options of the script that name what it writes.

    Raises:
        ValueError: names the word.
    """
    for place, word in enumerate(words):
        option, sign, value = word.partition("=")
        if not option.startswith("--") or option == "--":
            continue
        if any(given.startswith(option) for given in COMMANDS.get(script, ())):
            raise ValueError(f"{word!r}: a file starts no commands of its own")
        if any(given.startswith(option) for given in writes):
            value = value if sign else "".join(words[place + 1 : place + 2])
            if not _INSIDE.fullmatch(value):
                raise ValueError(
                    f"{option} {value}: a step writes into its own folder: {{out}}/..."
                )
