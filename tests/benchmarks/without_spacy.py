"""Runs the part *commands* without spaCy and CTranslate2, each command in a fork of this process.

without_spacy.py ARGUMENTS_OF_THE_PART...
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

for absent in ("spacy", "ctranslate2", "nltk", "submitit"):
    sys.modules[absent] = None  # as if they were not installed


def be(words: Sequence[str], path: str) -> None:
    """Be a command that writes all it says to a file."""
    file = os.open(path, os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = list(words)
    code = None
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else code is not None)  # no thread is waited for


def call(words: Sequence[str]) -> tuple[int, str]:
    """Do what `commands.call` does, without the start of a Python."""
    with tempfile.NamedTemporaryFile() as file:
        process = multiprocessing.get_context("fork").Process(target=be, args=(words, file.name))
        process.start()
        process.join()
        return process.exitcode, Path(file.name).read_text(errors="replace")


if __name__ == "__main__":
    for name in ("fairseq.options", "fairseq.trainer", "transformers"):
        importlib.import_module(name)
    from benchmarks.gpu import commands

    commands.call = call
    sys.exit(commands.main(sys.argv[1:]))
