"""Show trained models on a local web page: what they read, predict and attend to.

    fairseq-plugins demo bundles/baseline bundles/syntax
    fairseq-plugins demo bundles/cola bundles/rte answers=bundles/squad --browser

Shown are a sentence with its tags, arcs and subwords; translations side by side with their
attention; classes with the gates of each layer; pairs with what dual attention looks at; answers in
their passages with coattention. Ctrl-C ends it. No data leaves this machine, and the page can be
opened on this machine alone unless --host says otherwise. The command needs the extra web: in a
clone, run pip install -e '.[web]'.
"""

import argparse

from ..demo.options import DemoOptions
from ..option_flags import add_flags
from . import command

READ = ("models", "presets")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    models = (
        "bundles, or (but for translation) runs if fairseq is installed; each PATH or NAME=PATH"
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help=models)
    add_flags(parser, DemoOptions)


def run(args: argparse.Namespace) -> None:
    from pathlib import Path

    from ..service.http import bind, check_libraries

    options = DemoOptions(**vars(args))
    check_libraries("gradio", "fastapi", "uvicorn")
    from ..demo.server import application, serve
    from ..demo.tabs import english_presets, open_models, read_presets

    command.show_log()
    own = read_presets(Path(options.presets)) if options.presets else None
    with bind(options.host, options.port) as port:
        shown = open_models(options)
        presets = english_presets(shown) if own is None else own
        serve(application(shown, presets, options.host), port, options)
