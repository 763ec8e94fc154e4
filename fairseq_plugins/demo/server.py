"""The page over HTTP: its own address alone may ask, and the browser is told to ask nobody else."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from .drawings import PAGE
from .models import Shown
from .options import LOCAL, DemoOptions
from .page import Presets, build

HERE = ("127.0.0.1", "localhost", "[::1]")
# nothing is loaded from, sent to or shown inside anything but this page
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'self'"
)
CLOSED = ("/gradio_api/upload", "/gradio_api/file", "/gradio_api/proxy")  # nothing here needs them


def application(models: Sequence[Shown], presets: Presets, host: str = LOCAL) -> FastAPI:
    """Return what serves the page."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guarded(request: Request, answer: Callable[[Request], Any]) -> Response:
        if request.url.path.startswith(CLOSED):
            return Response(status_code=404)
        response = await answer(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    if host in HERE:  # a foreign page may not pass for this one by a name that leads here
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(HERE))
    page = build(models, presets).queue(default_concurrency_limit=2, max_size=50)
    look = gr.themes.Default(
        primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"]
    )
    return gr.mount_gradio_app(
        app,
        page,
        path="/",
        footer_links=[],
        theme=look,
        css=(PAGE / "page.css").read_text(encoding="utf-8"),
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
    )


def listening(options: DemoOptions) -> socket.socket:
    """Return the page's port, before anything long is loaded.

    Raises:
        OSError: it is taken, or not ours to take.
    """
    kind = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    place = socket.socket(kind, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((options.host, options.port))
    except OSError as error:
        place.close()
        where = f"{options.host}:{options.port}"
        raise OSError(error.errno, error.strerror, where) from None
    return place


def serve(app: FastAPI, place: socket.socket, options: DemoOptions) -> None:
    """Serve the page until it is interrupted; print where it is once it is there."""
    name = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{name}:{place.getsockname()[1]}"

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            print(f"the page is at {address}", flush=True)
            if options.browser:
                webbrowser.open(address)

    how = {"log_level": "warning", "timeout_graceful_shutdown": 3}
    Server(uvicorn.Config(app, **how)).run([place])
