"""The page over HTTP, from its start to its end."""

from __future__ import annotations

import socket
import sys
import webbrowser
from collections.abc import Sequence

import gradio as gr
import uvicorn
from fastapi import FastAPI
from starlette.responses import PlainTextResponse

from ..service.http import ASGIApp, address_of, listen, names_of, only_for, until_told
from ..service.models import Served
from .guard import guarded
from .maps import PAGE
from .options import LOCAL, DemoOptions
from .page import Presets, build

BACKLOG, LAST = 128, 3  # connections that wait to be taken; seconds until the end waits no longer


def application(models: Sequence[Served], presets: Presets, host: str = LOCAL) -> ASGIApp:
    """Return what serves the page."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    page = build(models, presets).queue(default_concurrency_limit=2, max_size=50, api_open=False)
    fonts = {"font": ["system-ui", "sans-serif"], "font_mono": ["monospace"]}  # the system's own
    gr.mount_gradio_app(
        app,
        page,
        path="/",
        footer_links=[],
        theme=gr.themes.Default(primary_hue="blue", **fonts),
        css=(PAGE / "page.css").read_text(encoding="utf-8"),
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
        run_history=False,
    )
    return only_for(guarded(app), names_of(host), lambda reason: PlainTextResponse(reason, 400))


def serve(app: ASGIApp, port: socket.socket, options: DemoOptions) -> None:
    """Serve the page until a signal comes; print where it is."""
    how = {"log_level": "warning", "timeout_graceful_shutdown": LAST}
    server = uvicorn.Server(uvicorn.Config(app, ws="none", proxy_headers=False, **how))
    listen(port, BACKLOG)
    address = address_of(port)

    def ready() -> None:
        print(f"the page is at {address}", flush=True)
        if not names_of(options.host):
            print("whoever reaches this machine can use it: there is no password", file=sys.stderr)
        if options.browser:
            webbrowser.open(address)

    until_told(server, port, ready)
