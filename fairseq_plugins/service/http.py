"""What every server of this package does: a port, names that it answers to, signals that end it."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, wait
from errno import EADDRINUSE
from importlib.util import find_spec
from typing import Any

from ..messages import named, quoted

ASGIApp = Callable[..., Any]
LOCAL = ("localhost", "127.0.0.1", "::1")
SIGNALS = (signal.SIGTERM, signal.SIGINT)
TICK = 0.5  # seconds between looks at signals


def check_libraries(*wanted: str) -> None:
    """Refuse to begin without what a server is made of (ValueError)."""
    if missing := [name for name in wanted if find_spec(name) is None]:
        raise ValueError(
            f"{named(missing, between=' and ')} not installed: pip install 'fairseq-plugins[web]'"
        )


def bind(host: str, port: int) -> socket.socket:
    """Take a port; nobody can connect yet.

    Raises:
        ValueError: there is no such address, or the port is taken.
    """
    if not host:
        raise ValueError("--host is empty; 127.0.0.1 is this machine, 0.0.0.0 all its addresses")
    taken = None
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(kind, socket.SOCK_STREAM)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except OSError as error:
        if taken is not None:
            taken.close()
        cure = "; --port 0 takes any that is free" if error.errno == EADDRINUSE else ""
        raise ValueError(f"--host {host} --port {port}: {error.strerror}{cure}") from None
    return taken


def address_of(port: socket.socket) -> str:
    """Return the address of a port for users."""
    host, number = port.getsockname()[:2]
    return f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"


def names_of(host: str, others: str = "") -> frozenset[str]:
    """Return the names by which an address may be asked; none for any.

    At a local address only this machine's own: a web page whose name leads there all of a sudden
    (DNS rebinding) is not heard.

    Args:
        host: the address.
        others: further names, joined by commas.
    """
    if not _is_local(host):
        return frozenset()
    given = (one.strip().lower() for one in others.split(","))
    return frozenset({*LOCAL, host.lower(), *filter(None, given)})


def _is_local(host: str) -> bool:
    """Whether only this machine can ask an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def only_for(app: ASGIApp, hosts: Collection[str], refusal: Callable[[str], ASGIApp]) -> ASGIApp:
    """Return an application that answers to some names alone, to all if there are none.

    Args:
        app: the application.
        hosts: see `names_of`.
        refusal: makes an answer of a reason.
    """

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and hosts:
            given = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if host_of(given) not in hosts:
                reason = f"Host {quoted(given)} is not served here"
                await refusal(reason)(scope, receive, send)
                return
        await app(scope, receive, send)

    return checked


def host_of(header: str) -> str:
    """Return the name in a Host header, without its port and the brackets of IPv6."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def until_told(server: Any, port: socket.socket, ready: Callable[[], None]) -> None:
    """Run a server in a thread until a signal comes; signals are for the main thread."""

    def on_signal(number: int, frame: object) -> None:
        if server.should_exit:
            os._exit(128 + number)
        server.should_exit = True

    before = {number: signal.signal(number, on_signal) for number in SIGNALS}
    try:
        with ThreadPoolExecutor(1, "http") as pool:
            running = pool.submit(server.run, [port])
            try:
                ready()
                while not wait([running], TICK).done:
                    pass
            finally:
                server.should_exit = True
            running.result()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
