"""Common parts of this package's servers: port, host names, signals."""

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

from ..errors import InputError
from ..installation import how_to_add
from ..messages import named, quoted

ASGIApp = Callable[..., Any]
LOCAL = ("localhost", "127.0.0.1", "::1")
SIGNALS = (signal.SIGTERM, signal.SIGINT)
TICK = 0.5  # seconds between checks for signals


def check_libraries(*wanted: str) -> None:
    """Refuse to start without the server's libraries."""
    if missing := [name for name in wanted if find_spec(name) is None]:
        raise InputError(f"{named(missing, between=' and ')} not installed: {how_to_add('web')}")


def bind(host: str, port: int) -> socket.socket:
    """Bind a port, without accepting connections."""
    if not host:
        raise InputError("--host is empty; 127.0.0.1 is this machine, 0.0.0.0 all its addresses")
    taken = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        *what, _, address = found[0]
        # asyncio lets only sockets of a named protocol answer without waiting (TCP_NODELAY)
        taken = socket.socket(*what)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except OSError as error:
        if taken is not None:
            taken.close()
        raise InputError(_taken(f"--host {host} --port {port}", error)) from None
    return taken


def listen(port: socket.socket, waiting: int) -> None:
    """Accept connections; ``waiting`` is the backlog."""
    try:
        port.listen(waiting)
    except OSError as error:
        raise InputError(_taken(address_of(port), error)) from None


def _taken(where: str, error: OSError) -> str:
    cure = "; --port 0 takes any that is free" if error.errno == EADDRINUSE else ""
    return f"{where}: {error.strerror}{cure}"


def address_of(port: socket.socket) -> str:
    """Return the URL of a port for users."""
    host, number = port.getsockname()[:2]
    return f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"


def names_of(host: str, others: str = "") -> frozenset[str]:
    """Return the allowed host names; empty for any.

    A local address allows only this machine's names, against DNS rebinding: a web page whose name
    suddenly leads there is refused.

    Args:
        host: the address in any form.
        others: further names, joined by commas; with them no other name is allowed, at any address.
    """
    given = {host_of(one.strip()) for one in others.split(",")} - {""}
    return frozenset({*LOCAL, host.lower(), *given}) if given or _is_local(host) else frozenset()


def _is_local(host: str) -> bool:
    """Return whether only this machine can reach an address, or a name's addresses."""
    try:
        found = {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    addresses = [ipaddress.ip_address(one) for one in found]
    return any((getattr(one, "ipv4_mapped", None) or one).is_loopback for one in addresses)


def only_for(app: ASGIApp, hosts: Collection[str], refusal: Callable[[str], ASGIApp]) -> ASGIApp:
    """Return an application that allows some host names, or all if there are none."""

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
    """Return the name in a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    if header.count(":") > 1:  # plain IPv6
        return header.lower()
    return header.partition(":")[0].lower()


def until_told(server: Any, port: socket.socket, ready: Callable[[], None]) -> None:
    """Run a server in a thread until a signal comes; signals arrive in the main thread."""

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
