"""The routes over real connections, with models that are stand-ins: limits, refusals, counts."""

from __future__ import annotations

import http.client
import json
import math
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.question_answering import BrokenModel
from fairseq_plugins.service.app import Service, make_app
from fairseq_plugins.service.batching import Batcher
from fairseq_plugins.service.http import bind, host_of
from fairseq_plugins.service.kinds import Kind
from fairseq_plugins.service.metrics import Metrics
from fairseq_plugins.service.models import Served
from fairseq_plugins.service.options import ServiceOptions
from fairseq_plugins.service.requests import Sentences
from fairseq_plugins.service.server import HOW

LONG = 30  # seconds; never waited for
JSON = {"Content-Type": "application/json"}


class Model:
    """Gives texts in capitals; some words of theirs make it fail, or wait."""

    def __init__(self) -> None:
        self.go, self.begun, self.seen = threading.Event(), threading.Event(), []

    def answer(self, items):
        self.seen += items
        self.begun.set()
        for item in items:
            if item == "wait":
                assert self.go.wait(LONG)
            if item == "bad":
                raise InputError("texts[0] is bad")
            if item == "broken":
                raise RuntimeError("secret")
            if item == "untrained":
                raise BrokenModel("/home/me/secret gives scores that are no numbers")
        return [{"upper": math.nan if item == "nan" else item.upper()} for item in items]


@contextmanager
def running(names=("a",), most=None, **options):
    """Serve stand-ins; give what asks them, the models, and the service."""
    given = ServiceOptions(bundles=names, **{"port": 0, "workers": 1, **options})
    given.check()
    kind = Kind("texts", Sentences, {"texts": ["x"]}, lambda model, body: body.texts, None)
    kind = Kind(**{**vars(kind), "answer": lambda model, items: model.answer(items)})
    models = {name: Served(name, kind, Model(), {"name": name}) for name in names}
    metrics = Metrics()
    batcher = Batcher(
        {name: one.answer for name, one in models.items()},
        workers=given.workers,
        room=given.queue,
        told=metrics.add_batch,
    )
    service = Service(models, batcher, metrics, given)
    config = uvicorn.Config(make_app(service), **HOW | {"limit_concurrency": most})
    server = uvicorn.Server(config)
    port = socket.create_server(("127.0.0.1", 0))
    number = port.getsockname()[1]

    def ask(content, path="/predict", method="POST", headers=JSON):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        link = http.client.HTTPConnection("127.0.0.1", number, timeout=LONG)
        link.request(method, path, body, headers)
        answer = link.getresponse()
        found = answer.read()
        link.close()
        return answer.status, json.loads(found, parse_constant=pytest.fail), answer.headers

    ask.port, ask.service = number, service
    ask.models = {name: one.model for name, one in models.items()}
    thread = threading.Thread(target=server.run, args=([port],))
    thread.start()
    try:
        yield ask
    finally:
        for one in ask.models.values():
            one.go.set()
        server.should_exit = True
        thread.join(LONG)
        batcher.close(LONG)
    assert service.in_flight == 0


@pytest.fixture(scope="module")
def two():
    with running(("a", "b"), max_body=1000, max_texts=5, max_characters=50) as ask:
        yield ask


@pytest.fixture(scope="module")
def one():
    with running(timeout=20.0) as ask:
        yield ask


def counts(ask, name):
    """Return the values of a metric by their labels."""
    link = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=LONG)
    link.request("GET", "/metrics")
    text = link.getresponse().read().decode()
    link.close()
    found = re.findall(rf"^fairseq_plugins_{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def test_models_are_asked_by_name(two):
    status, found, headers = two({"texts": ["x", "y"]}, "/models/b")
    assert (status, found) == (200, {"model": "b", "answers": [{"upper": "X"}, {"upper": "Y"}]})
    assert headers["content-type"] == "application/json"
    assert two({"texts": ["x"]})[0] == 404  # of two, which one?
    status, found, _ = two({"texts": ["x"]}, "/models/c")
    assert status == 404
    assert "/models/a, /models/b" in found["error"]
    assert two(b"", "/models", "GET")[:2] == (200, {"models": [{"name": "a"}, {"name": "b"}]})
    assert two(b"", "/models/a", "GET")[:2] == (200, {"name": "a"})
    status, found, headers = two(b"", "/models/a", "DELETE")
    assert status == 405
    assert "error" in found


@pytest.mark.parametrize(
    ("content", "status", "part"),
    [
        (b'{"texts": ["\xff"]}', 400, "not valid UTF-8"),
        (b"[" * 900, 400, "nested too deeply|Expecting value"),
        (b'{"texts": [NaN]}', 400, "NaN is no number"),
        ({"texts": ["x"] * 6}, 422, "texts are 6; a request may have 5"),
        ({"texts": ["x", "y" * 51]}, 422, r"texts\[1\] has 51 characters; a text may have 50"),
        ({"texts": ["\ud800"]}, 422, "half a character"),
        ({"texts": ["bad"]}, 422, r"texts\[0\] is bad"),
        ({"texts": ["nan"]}, 500, "scores that are no numbers"),
        ({"texts": ["broken"]}, 500, r"failed \(RuntimeError\)"),
        ({"texts": ["untrained"]}, 500, r"^the model failed \(BrokenModel\); the service"),
        (b" " * 1001, 413, "longer than 1,000 bytes"),
    ],
)
def test_what_is_refused_gets_a_sentence(two, content, status, part, caplog):
    found = two(content, "/models/a")
    assert found[0] == status
    assert re.search(part, found[1]["error"])
    assert [*found[1]] == ["error"]
    assert "secret" not in str(found[1])
    assert ("Traceback" in caplog.text) == ("failed" in part)
    assert two({"texts": ["x"]}, "/models/a")[0] == 200


def test_a_body_of_untold_length_is_limited(two):
    def parts():
        for _ in range(200):
            yield b" " * 1000

    status, found, headers = two_chunked(two, parts())
    assert (status, found["error"]) == (413, "the body is longer than 1,000 bytes")
    assert headers["connection"] == "close"
    status, found, _ = two_chunked(two, iter([b'{"texts":', b' ["x"]}']))
    assert (status, found["answers"]) == (200, [{"upper": "X"}])


def two_chunked(ask, parts):
    link = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=LONG)
    link.request("POST", "/models/a", parts, JSON, encode_chunked=True)
    answer = link.getresponse()
    found = json.loads(answer.read())
    link.close()
    return answer.status, found, answer.headers


def test_a_huge_length_is_refused_unread(two):
    told = {**JSON, "Content-Length": "9" * 30}
    with socket.create_connection(("127.0.0.1", two.port), LONG) as link:
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        link.sendall(f"POST /models/a HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        assert link.recv(1000).split(b"\r\n")[0].split()[1] in (b"400", b"413")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_read(two, kind):
    status, found, _ = two({"texts": ["x"]}, "/models/a", headers={"Content-Type": kind})
    assert status == 415
    assert "send Content-Type: application/json" in found["error"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 400),
        ("localhost.evil.example:80", 400),
        ("", 400),
        ("localhost", 200),
        ("LOCALHOST:99", 200),
        ("[::1]:8000", 200),
        ("127.0.0.1", 200),
    ],
)
def test_other_names_are_not_answered(two, host, status):
    for path in ("/health", "/models", "/openapi.json"):
        assert two(b"", path, "GET", {"Host": host})[0] == status


def test_answers_do_not_wait_for_the_clients_acknowledgement():
    """asyncio sets TCP_NODELAY on sockets of a named protocol alone."""
    with bind("127.0.0.1", 0) as port:
        assert port.proto == socket.IPPROTO_TCP


def test_names_are_read_as_hosts():
    options = ServiceOptions(host="::1", allowed_hosts="My.example, other")
    assert {"my.example", "other", "::1", "localhost"} <= options.hosts
    assert ServiceOptions(host="0.0.0.0").hosts == frozenset()
    assert "my.example" in ServiceOptions(host="0.0.0.0", allowed_hosts="My.example:80").hosts
    for host in ("LOCALHOST", "127.1", "127.0.0.2", "2130706433", "::ffff:127.0.0.1"):
        assert "localhost" in ServiceOptions(host=host).hosts, host
    assert [host_of(h) for h in ("A:1", "[::1]:2", "[::1]", "b")] == ["a", "::1", "::1", "b"]
    assert host_of("::1") == "::1"


def test_the_description_needs_nothing_from_elsewhere(two):
    assert [two(b"", path, "GET")[0] for path in ("/docs", "/redoc")] == [404, 404]
    status, found, _ = two(b"", "/openapi.json", "GET")
    body = found["paths"]["/models/a"]["post"]["requestBody"]["content"]["application/json"]
    assert status == 200
    assert body["schema"]["required"] == ["texts"]


def test_the_description_and_the_page_say_what_errors_there_are(two):
    found = two(b"", "/openapi.json", "GET")[1]
    about = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
    errors = found["paths"]["/models/b"]["post"]["responses"]
    assert {*errors} - {"200"} == {"400", "408", "413", "415", "422", "500", "503"}
    for status, error in errors.items():
        assert status == "200" or error["content"]["application/json"]["schema"]["required"]
        assert status in ("200", "408", "500") or status in about
    for page in (about, found["info"]["description"]):
        assert "1,000 connections" in page
        assert "plain text" in page


def test_two_errors_are_plain_text():
    assert HOW["limit_concurrency"] == 1000
    with running(most=1) as ask:
        busy = raw(ask, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        broken = raw(ask, b"nonsense\r\n\r\n")
    for found, status in ((busy, b" 503 "), (broken, b" 400 ")):
        assert status in found.partition(b"\r\n")[0]
        assert b"content-type: text/plain" in found.lower()


def raw(ask, request):
    with socket.create_connection(("127.0.0.1", ask.port), timeout=LONG) as link:
        link.sendall(request)
        return b"".join(iter(lambda: link.recv(4096), b""))


def test_many_threads_get_their_own_answers(one):
    def client(number):
        link = http.client.HTTPConnection("127.0.0.1", one.port, timeout=LONG)
        for k in range(30):
            texts = [f"t{number}-{k}-{i}" for i in range(1 + k % 3)]
            content = {"texts": ["bad"] if k % 7 == 3 else texts}
            link.request("POST", "/predict", json.dumps(content).encode(), JSON)
            answer = link.getresponse()
            found = json.loads(answer.read())
            if k % 7 == 3:
                assert answer.status == 422
            else:
                assert found["answers"] == [{"upper": text.upper()} for text in texts]
        link.close()

    before = counts(one, "requests_total")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(client, range(6)))
    after = counts(one, "requests_total")
    each = {label: value - before.get(label, 0) for label, value in after.items()}
    assert each == {'model="a",status="200"': 6 * 26, 'model="a",status="422"': 6 * 4}
    sizes = counts(one, "batch_texts_bucket")
    assert sizes['model="a",le="+Inf"'] == counts(one, "batch_texts_count")['model="a"'] > 0
    assert counts(one, "request_seconds_count")['model="a"'] == sum(after.values())


def test_a_client_that_leaves_is_forgotten_and_a_full_queue_says_so():
    with running(queue=2, max_texts=2) as ask:
        model = ask.models["a"]
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(ask, {"texts": ["wait"]})
            assert model.begun.wait(LONG)
            left = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=LONG)
            left.request("POST", "/predict", json.dumps({"texts": ["p", "q"]}).encode(), JSON)
            until(lambda: ask.service.batcher.waiting == 2)
            status, found, headers = ask({"texts": ["x"]})
            assert (status, headers["retry-after"]) == (503, "1")
            assert found["error"] == (
                "the service is busy: 2 of at most 2 wait already; ask again later"
            )
            left.close()
            until(lambda: ask.service.in_flight == 1)
            second = pool.submit(ask, {"texts": ["x", "y"]})  # in the place of who left
            until(lambda: ask.service.in_flight == 2)
            model.go.set()
            assert first.result(LONG)[0] == 200
            assert second.result(LONG)[1]["answers"] == [{"upper": "X"}, {"upper": "Y"}]
        assert model.seen == ["wait", "x", "y"]
        assert counts(ask, "requests_total")['model="a",status="499"'] == 1


def test_time_is_limited():
    with running(timeout=0.3) as ask:
        status, found, _ = ask({"texts": ["wait"]})
        assert status == 503
        assert "no answer within 0.3 seconds" in found["error"]
        with socket.create_connection(("127.0.0.1", ask.port), LONG) as link:
            link.sendall(
                b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 50\r\n\r\n{"
            )
            assert link.recv(1000).startswith(b"HTTP/1.1 408 ")
        ask.models["a"].go.set()
        assert ask({"texts": ["x"]})[0] == 200


def test_health_says_when_the_end_is_near(one):
    assert one(b"", "/health", "GET")[:2] == (200, {"status": "ok", "models": ["a"]})
    one.service.ending = lambda: True
    assert one(b"", "/health", "GET")[:2] == (503, {"status": "ending", "models": ["a"]})
    one.service.ending = lambda: False


def until(happened):
    end = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)
