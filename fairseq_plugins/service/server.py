"""The service from start to end: a port, models, and signals.

The first SIGTERM or SIGINT closes the port and lets current requests finish; a second signal ends
the process at once.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from typing import Any

from ..messages import named
from .batching import Batcher
from .http import address_of, bind, check_libraries, listen, until_told
from .metrics import Metrics
from .models import Served, find_models, load_model
from .options import CONNECTIONS, ServiceOptions

BACKLOG = 2048  # connections in the backlog
CHARACTERS = 1000  # of a text, for trying a full batch
HOW: dict[str, Any] = {  # of uvicorn
    "lifespan": "off",
    "ws": "none",
    "proxy_headers": False,
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "limit_concurrency": CONNECTIONS,
}
LAST = 5  # seconds to wait at the end beyond the time limit of a request

logger = logging.getLogger(__name__)


def serve(options: ServiceOptions, ready: Callable[[str], None]) -> None:
    """Load the models and serve until a signal; ``ready`` gets a line as requests are answered."""
    options.check()
    check_libraries("fastapi", "uvicorn")
    paths = find_models(options.bundles)
    with bind(options.host, options.port) as port:
        _set_threads(options.threads)
        models = {}
        for name, found in paths.items():
            start = time.monotonic()
            models[name] = load_model(name, found, options)
            logger.info("loaded %s in %.1f seconds", name, time.monotonic() - start)
        run(models, port, options, ready)
    logger.info("ended")


def _set_threads(count: int) -> None:
    import torch

    torch.set_num_threads(count)


def run(
    models: dict[str, Served],
    port: socket.socket,
    options: ServiceOptions,
    ready: Callable[[str], None],
) -> None:
    """Serve loaded models at a port until a signal comes; waiting requests are still answered."""
    import uvicorn

    from .app import Service, make_app

    metrics = Metrics()
    batcher = Batcher(
        {name: one.answer for name, one in models.items()},
        workers=options.workers,
        most=options.batch_size,
        heaviest=options.batch_size * CHARACTERS,
        room=options.queue,
        told=metrics.add_batch,
    )
    service = Service(models, batcher, metrics, options)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    end = int(options.timeout) + LAST
    app = make_app(service)
    server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=end, **HOW))
    service.ending = lambda: server.should_exit
    listen(port, BACKLOG)  # connections from now on wait for the server
    told = f"serving {named(models)} at {address_of(port)}"
    until_told(server, port, lambda: ready(told))
    batcher.close(LAST)
