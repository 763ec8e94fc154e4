"""Look at trained models on a local page: what they read, say and attend to.

    fairseq-plugins demo --translation bundles/baseline bundles/syntax
    fairseq-plugins demo --text bundles/cola --pairs bundles/rte --questions bundles/squad --browser

A sentence with its tags, arcs and subwords; translations side by side with their attention; classes
with the gates of each layer; pairs with what dual attention looks at; answers in their passages
with coattention. Nothing leaves this machine, and the page is for this machine alone unless --host
says otherwise. Wants pip install 'fairseq-plugins[web]'.
"""

import argparse

from ..demo.options import KINDS, MODELS, DemoOptions
from ..option_flags import add_flags
from . import command

PLACES = ("host",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind in KINDS:
        text = f"models for {kind}: {MODELS}"
        parser.add_argument(f"--{kind}", nargs="+", default=(), metavar="MODEL", help=text)
    add_flags(parser, DemoOptions)


def run(args: argparse.Namespace) -> None:
    from pathlib import Path

    options = DemoOptions(**{**vars(args), **{kind: tuple(getattr(args, kind)) for kind in KINDS}})
    try:
        from ..demo import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("gradio", "fastapi", "uvicorn"):
            raise
        raise ValueError(
            f"{error.name} is not installed: pip install 'fairseq-plugins[web]'"
        ) from None
    from ..demo.models import open_models
    from ..demo.tabs import PRESETS, read_presets

    command.show_log()
    presets = read_presets(Path(options.presets) if options.presets else PRESETS)
    with server.listening(options) as place:
        app = server.application(open_models(options), presets, options.host)
        server.serve(app, place, options)
