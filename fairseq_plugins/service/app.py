"""The service's routes: read a request, wait for the batcher, write JSON.

``POST /models/NAME``   answers in the order of the texts (``POST /predict`` for a single model)
``GET /models[/NAME]``  list of models; input, labels, limits and card of one
``GET /health``         200 while requests are answered, 503 while the service ends
``GET /metrics``        counts in Prometheus' format
``GET /openapi.json``   description for programs; there are no pages with scripts from elsewhere

An error is ``{"error": "one sentence"}``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from .. import __version__
from ..errors import InputError
from ..inference.question_answering import BrokenModel
from ..messages import named, quoted
from .batching import Batcher, Closed, Full
from .http import only_for
from .metrics import Metrics
from .models import Served
from .options import CONNECTIONS, ServiceOptions
from .requests import (
    BUSY,
    CONTENT,
    OTHER_TYPE,
    TOO_LARGE,
    UNREADABLE,
    Refused,
    check_size,
    read_json,
    read_request,
    schema_of,
)

OK, NOT_HERE, FAILED = 200, 400, 500
GONE = 499  # the client went away; nobody reads the answer
SLOW_BODY = 408
DISCARDED = 1 << 24  # bytes to read beyond the limit, so that the client gets the reason
HEADERS = {BUSY: {"Retry-After": "1"}, TOO_LARGE: {"Connection": "close"}}
HEADERS[SLOW_BODY] = HEADERS[TOO_LARGE]  # the rest is not read
JSON = "application/json"
ERRORS = {  # of requests to models: status -> reason
    UNREADABLE: "The body is no JSON, or the request names a Host that is not served.",
    SLOW_BODY: "The body did not come in time.",
    TOO_LARGE: "The body is longer than --max-body allows.",
    OTHER_TYPE: f"The body is not sent as Content-Type: {JSON}.",
    CONTENT: "The content is refused: another form, too many texts, or a text that is too long.",
    FAILED: "The model failed.",
    BUSY: "The service is busy, or ends; Retry-After says when to ask again.",
}
ABOUT = f"""Trained models of text: classes, scores, labels of words, answers, translations.

An error is {{"error": "one sentence"}}. Two errors are plain text instead: while
{CONNECTIONS:,} connections are open, a request gets 503; what is no HTTP gets 400."""
BUSY_REASON = "the service is busy: {}; ask again later"

logger = logging.getLogger(__name__)


class Service:
    """The state that all routes share; ``batcher`` answers the models' items."""

    def __init__(
        self,
        models: Mapping[str, Served],
        batcher: Batcher,
        metrics: Metrics,
        options: ServiceOptions,
        ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.models, self.batcher, self.metrics = models, batcher, metrics
        self.options, self.ending = options, ending
        self.in_flight = 0

    async def ask(self, served: Served, request: Request) -> Response:
        """Answer a request to a model, also after errors."""
        start, texts = time.monotonic(), 0
        self.in_flight += 1
        try:
            records = await self._records(served, request, start + self.options.timeout)
            response, texts = _answers(served.name, records), len(records)
        except Refused as error:
            response = refusal(error.status, str(error))
        except ClientGone:
            response = Response(status_code=GONE)
        except Exception as error:  # of the model
            logger.exception("%s failed", served.name)
            reason = f"the model failed ({type(error).__name__}); the service's log says more"
            response = refusal(FAILED, reason)
        finally:
            self.in_flight -= 1
        spent = time.monotonic() - start
        self.metrics.add_request(served.name, response.status_code, spent, texts)
        logger.debug("%s: %d in %.1f ms", served.name, response.status_code, 1000 * spent)
        return response

    async def _records(self, served: Served, request: Request, deadline: float) -> list[Any]:
        """Read a request and wait for its records."""
        kind, limits = served.kind, self.options
        raw = await read_body(request, limits.max_body, deadline)
        body = read_request(kind.body, read_json(raw), kind.example)
        sizes = check_size(body, limits.max_texts, limits.max_characters)
        try:
            items = kind.items(served.model, body)
            asked = self.batcher.submit(served.name, items, sizes)
            return await answered(asked, request, deadline)
        except (Full, Closed) as error:
            raise Refused(BUSY, BUSY_REASON.format(error)) from None
        except TimeoutError:
            reason = f"no answer within {limits.timeout:g} seconds"
            raise Refused(BUSY, BUSY_REASON.format(reason)) from None
        except (Refused, BrokenModel):
            raise
        except InputError as error:  # about the text
            logger.info("%s refuses: %s", served.name, error)
            raise Refused(CONTENT, str(error).partition("; choices: --")[0]) from None

    def health(self) -> Response:
        status = "ending" if self.ending() else "ok" if self.batcher.alive else "failed"
        return as_json({"status": status, "models": [*self.models]}, OK if status == "ok" else BUSY)

    def counts(self) -> Response:
        gauges = {
            "requests_in_flight": ("requests that are being answered", self.in_flight),
            "texts_waiting": ("texts that wait for a thread", self.batcher.waiting),
            "texts_running": ("texts that are being computed", self.batcher.running),
            "workers": ("threads that compute, in one process", self.options.workers),
        }
        return Response(self.metrics.render(gauges), media_type="text/plain; version=0.0.4")


class ClientGone(Exception):
    """The client no longer waits for the answer."""


async def read_body(request: Request, most: int, deadline: float) -> bytes:
    """Read a request's body, with or without a declared length.

    Args:
        request: the request.
        most: its largest number of bytes.
        deadline: of `time.monotonic`.
    """
    told = request.headers.get("content-length", "0")
    large = Refused(TOO_LARGE, f"the body is longer than {most:,} bytes")
    if told.isdecimal() and int(told[:20]) > most + DISCARDED:
        raise large
    try:
        raw = await asyncio.wait_for(_received(request, most), deadline - time.monotonic())
    except (TimeoutError, asyncio.TimeoutError):
        raise Refused(SLOW_BODY, "the body did not come in time") from None
    if raw is None:
        raise large
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:  # web pages cannot send JSON without permission
        raise Refused(OTHER_TYPE, f"the body is {quoted(kind)}; send Content-Type: {JSON}")
    return raw


async def _received(request: Request, most: int) -> bytes | None:
    """Return a body; None if it is too long."""
    found, size = bytearray(), 0
    while size <= most + DISCARDED:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        size += len(message.get("body", b""))
        if size <= most:
            found += message.get("body", b"")
        if not message.get("more_body"):
            break
    return bytes(found) if size <= most else None


async def answered(asked: Future[list[Any]], request: Request, deadline: float) -> list[Any]:
    """Wait for answers as long as the client waits."""
    found = asyncio.wrap_future(asked)
    gone = asyncio.ensure_future(request.receive())  # after the body only a disconnect can come
    try:
        left = deadline - time.monotonic()
        await asyncio.wait({found, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if found.done():
            return found.result()
        if gone.done():
            raise ClientGone
        raise TimeoutError
    finally:
        gone.cancel()
        found.cancel()


def as_json(content: Any, status: int = OK, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response; refuse numbers that JSON lacks."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8"), status, headers, JSON)


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error response, with Retry-After if the client may try again."""
    shown = reason.encode("utf-8", "backslashreplace").decode("utf-8")
    return as_json({"error": shown}, status, headers or HEADERS.get(status))


def _answers(name: str, records: list[Any]) -> Response:
    try:
        return as_json({"model": name, "answers": records})
    except ValueError:  # NaN, infinity
        raise Refused(FAILED, "the model gives scores that are no numbers") from None


def make_app(service: Service) -> ASGIApp:
    """Return the application with all its routes."""
    app = FastAPI(
        title="fairseq_plugins",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    models = service.models

    for one in models.values():
        _add_model(app, service, one)

    @app.get("/models", summary="All models")
    async def list_models() -> Response:
        return as_json({"models": [one.about for one in models.values()]})

    @app.get("/health", summary="Whether requests are answered")
    async def health() -> Response:
        return service.health()

    @app.get("/metrics", summary="Counts, as Prometheus reads them")
    async def metrics() -> Response:
        return service.counts()

    app.add_exception_handler(HTTPException, _refuser([f"/models/{name}" for name in models]))
    return only_for(app, service.options.hosts, _not_here)


def _not_here(reason: str) -> Response:
    return refusal(NOT_HERE, f"{reason}; --allowed-hosts names others")


def _refuser(places: Sequence[str]) -> Callable[[Request, Any], Awaitable[Response]]:
    """Return the handler of other paths and methods."""
    known = named([*places, "/health", "/metrics", "/models", "/openapi.json"], 20)

    async def refuse(request: Request, error: HTTPException) -> Response:
        where = f"{request.method} {request.url.path[:200]}"
        reason = f"there is no {where}; choices: {known}"
        if error.status_code == 405:
            reason = f"{where}: another method is wanted"
        return refusal(error.status_code, reason, error.headers)

    return refuse


def _add_model(app: FastAPI, service: Service, served: Served) -> None:
    """Add the routes of a model; a single model needs no name."""
    content = {JSON: {"schema": schema_of(served.kind.body), "example": served.kind.example}}
    place, about = f"/models/{served.name}", f"Ask {served.name} ({served.kind.name})"
    documented = {"requestBody": {"required": True, "content": content}}
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    error = {"content": {JSON: {"schema": schema}}}
    told: Any = {status: {"description": when, **error} for status, when in ERRORS.items()}

    async def ask(request: Request) -> Response:
        return await service.ask(served, request)

    async def describe() -> Response:
        return as_json(served.about)

    for path in [place] if len(service.models) > 1 else [place, "/predict"]:
        app.add_api_route(
            path, ask, methods=["POST"], summary=about, openapi_extra=documented, responses=told
        )
    app.add_api_route(place, describe, methods=["GET"], summary=f"What {served.name} is")
