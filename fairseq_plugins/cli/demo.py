"""Show trained models on a local web page: what they read, predict and attend to.

    fairseq-plugins demo --translation bundles/baseline bundles/syntax
    fairseq-plugins demo --text bundles/cola --pairs bundles/rte --questions bundles/squad --browser

Shown are a sentence with its tags, arcs and subwords; translations side by side with their
attention; classes with the gates of each layer; pairs with what dual attention looks at; answers in
their passages with coattention. Ctrl-C ends it. No data leaves this machine, and the page can be
opened on this machine alone unless --host says otherwise. Needs pip install 'fairseq-plugins[web]'.
"""

import argparse
from typing import Any

from ..demo.options import KINDS, TRANSLATION, DemoOptions
from ..option_flags import add_flags
from . import command

RUNS = ", or runs if fairseq is installed"


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
    from ..demo.tabs import PRESETS, read_presets

    command.show_log()
    presets = read_presets(Path(options.presets) if options.presets else PRESETS)
    with bind(options.host, options.port) as port:
        serve(application(open_models(options), presets, options.host), port, options)
