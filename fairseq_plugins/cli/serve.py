"""Serve trained models over HTTP: JSON in and out, concurrent requests computed in batches.

    fairseq-plugins serve bundles/cola
    fairseq-plugins serve bundles/cola qa=bundles/squad bundles/en_de --port 8001 --int8
    curl --json '{"texts": ["The cat sat on the mat."]}' http://127.0.0.1:8000/models/cola

Each BUNDLE is a bundle or run folder, and is served under NAME, or under its folder's name; several
joined by ':' are an ensemble. Without --host, only requests from this machine are answered. After
SIGTERM or Ctrl-C, the service finishes the requests that are under way and ends; a second signal
ends it at once.
"""

import argparse

from ..option_flags import add_flags
from ..service.options import ServiceOptions
from . import command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = "bundle or run folder to serve"
    parser.add_argument("bundles", nargs="+", metavar="[NAME=]BUNDLE", help=what)
    add_flags(parser, ServiceOptions, strict=True)


def run(args: argparse.Namespace) -> None:
    from ..service.server import serve

    options = ServiceOptions(**vars(args))
    command.show_log(options.log_level.upper(), command.TIMED)
    serve(options, lambda line: print(line, flush=True))
