"""Who may ask the page for what: its own pages alone, and only the routes that they need.

gradio has routes that take files, run programs and speak to others in the user's name, and it lets
pages of other local servers ask. Here a route is closed unless it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import PlainTextResponse

from ..service.http import ASGIApp

MOST = 1 << 20  # bytes of a body
PLACES = frozenset({"/", "/config", "/theme.css", "/favicon.ico", "/manifest.json"})
API = "/gradio_api"
FOLDERS = ("/assets/", "/static/", f"{API}/run/", f"{API}/queue/join", f"{API}/queue/data")
ELSEWHERE = (b"cross-site", b"same-site")  # from another site, or another server of this machine
# nothing is loaded from, sent to or shown inside anything but this page
POLICY = (
    b"default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    b"style-src 'self' 'unsafe-inline'; connect-src 'self'; form-action 'self'; "
    b"frame-ancestors 'none'; base-uri 'self'"
)
HEADERS = (
    (b"content-security-policy", POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
OPENED = b"access-control-allow-"  # headers by which gradio lets others read
FORWARDED = b"x-forwarded-"  # headers of proxies, which anybody can send


def guarded(app: ASGIApp) -> ASGIApp:
    """Return an application that answers its own pages alone, at the places that they need."""

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                kept = [one for one in message["headers"] if not one[0].startswith(OPENED)]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = [one for one in scope["headers"] if not one[0].startswith(FORWARDED)]
        scope = dict[str, Any](scope, headers=headers)
        asked, body = app, None
        if status := refused(scope["method"], scope["path"], dict(headers)):
            asked = PlainTextResponse("this is for the page itself", status)
        elif (body := await _body(receive)) is None:
            reason = f"the body is longer than {MOST:,} bytes"
            asked = PlainTextResponse(reason, 413, {"Connection": "close"})  # the rest is not read
        first = iter([body])

        async def received() -> Any:
            return next(first, None) or await receive()

        await asked(scope, received, sent)

    return checked


async def _body(receive: Any) -> Any:
    """Return a request's body as one message; None for one that is too long."""
    body, message = bytearray(), {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MOST:
            return None
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
