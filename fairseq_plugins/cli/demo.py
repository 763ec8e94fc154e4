"""Show trained models on a local web page: what they read, predict and attend to.

    fairseq-plugins demo --translation bundles/baseline bundles/syntax
    fairseq-plugins demo --text bundles/cola --pairs bundles/rte --questions bundles/squad --browser

Shown are a sentence with its tags, arcs and subwords; translations side by side with their
attention; classes with the gates of each layer; pairs with what dual attention looks at; answers in
their passages with coattention. Ctrl-C ends it. No data leaves this machine, and the page can be
opened on this machine alone unless --host says otherwise. The command needs the extra web: in a
clone, run pip install '.[web]'.
"""

import argparse
from typing import Any

from ..demo.options import KINDS, TRANSLATION, DemoOptions
from ..option_flags import add_flags
from . import command

RUNS = ", or runs if fairseq is installed"

READ = ("translation", "text", "pairs", "questions", "presets")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind in KINDS:
        runs = "" if kind == TRANSLATION else RUNS
        text = f"models for {kind}: bundles{runs}; each given as PATH or NAME=PATH"
        parser.add_argument(f"--{kind}", nargs="+", default=(), metavar="MODEL", help=text)
    add_flags(parser, DemoOptions)


def run(args: argparse.Namespace) -> None:
    from pathlib import Path

    from ..service.http import bind, check_libraries

    models: dict[str, Any] = {kind: tuple(getattr(args, kind)) for kind in KINDS}
    options = DemoOptions(**(vars(args) | models))
    check_libraries("gradio", "fastapi", "uvicorn")
    from ..demo.models import open_models
    from ..demo.server import application, serve
    from ..demo.tabs import english_presets, read_presets

    command.show_log()
    own = read_presets(Path(options.presets)) if options.presets else None
    with bind(options.host, options.port) as port:
        shown = open_models(options)
        presets = english_presets(shown) if own is None else own
        serve(application(shown, presets, options.host), port, options)
