"""Who may ask the page for what: its own pages alone, and only the routes that they need.

gradio has routes that take files, run programs and speak to others in the user's name, and it lets
pages of other local servers ask. Here a route is closed unless it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import PlainTextResponse

ASGIApp = Callable[..., Any]
MOST = 1 << 20  # bytes of a body; the page's fields hold 12,000 characters
PLACES = frozenset({"/", "/config", "/theme.css", "/favicon.ico", "/manifest.json"})
API = "/gradio_api"
FOLDERS = ("/assets/", "/static/", f"{API}/run/", f"{API}/queue/join", f"{API}/queue/data")
ELSEWHERE = (b"cross-site", b"same-site")  # from another site, or another server of this machine
# nothing is loaded from, sent to or shown inside anything but this page
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
CLOSE = {"Connection": "close"}  # the rest of a body is not read
OPENED = b"access-control-allow-"  # headers by which gradio lets others read
FORWARDED = b"x-forwarded-"  # headers of proxies, which anybody can send


def guarded(app: ASGIApp) -> ASGIApp:
    """Return an application that answers its own pages alone, at the places that they need."""
    shown = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                kept = [one for one in message["headers"] if not one[0].startswith(OPENED)]
                message = {**message, "headers": [*kept, *shown]}
            await send(message)

        if scope["type"] != "http":
            return await app(scope, receive, send)
        kept = [one for one in scope["headers"] if not one[0].startswith(FORWARDED)]
        scope = dict[str, Any](scope, headers=kept)
        if status := refused(scope["method"], scope["path"], dict(kept)):
            answer = PlainTextResponse("this is for the page itself", status)
            return await answer(scope, receive, send_guarded)
        kept_body = [await _first(receive)]
        if kept_body[0] is None:
            answer = PlainTextResponse(f"the body is longer than {MOST:,} bytes", 413, CLOSE)
            return await answer(scope, receive, send_guarded)

        async def received() -> Any:
            return kept_body.pop() if kept_body else await receive()

        return await app(scope, received, send_guarded)

    return checked


async def _first(receive: Any) -> Any:
    """Return a request's body as one message; None for one that is too long."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MOST:
            return None
        if not message.get("more_body"):
            return {**message, "body": bytes(body)}


def refused(method: str, path: str, headers: Mapping[bytes, bytes]) -> int:
    """Return the status by which a request is refused; 0 for one that is answered."""
    if path not in PLACES and not path.startswith(FOLDERS):
        return 404
    is_visit = method == "GET" and path == "/" and headers.get(b"sec-fetch-mode") == b"navigate"
    origin = headers.get(b"origin")
    is_own = origin is None or origin == b"http://" + headers.get(b"host", b"")
    is_near = headers.get(b"sec-fetch-site") not in ELSEWHERE
    return 0 if is_own and (is_near or is_visit) else 403
