"""`demo`: a page over models of every kind, in a browser: it shows them, asks nobody, escapes."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from contextlib import contextmanager
from html import escape, unescape
from pathlib import Path
from types import SimpleNamespace

import gradio
import pytest
from cli import shims
from cli.demo_models import make_bundles
from gradio.routes import App

from fairseq_plugins.demo import panels, tabs
from fairseq_plugins.demo.guard import refused
from fairseq_plugins.demo.options import DemoOptions
from fairseq_plugins.demo.page import build
from fairseq_plugins.installation import how_to_add
from fairseq_plugins.service import http
from fairseq_plugins.service.kinds import SENTENCES
from fairseq_plugins.service.models import Served

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror=\"document.title='broken in'\"> </textarea><script>alert(1)</script>"
TABS = {tab.name: tab for tab in tabs.TABS}
GIVEN = {
    "translation": ("syntax", "baseline"),
    "text": ("sla", "words"),
    "pairs": ("dabert", "scores"),
    "questions": ("query", "plain"),
}
PASSAGE = "Mara built the mill in Lund.\nHer brother sold it."
ASKED = {
    "sentence": ("The old dog watches the light.",),
    "translation": ("The old dog watches the light.",),
    "text": ("good dogs run .",),
    "pairs": ("good dogs run .", "bad dogs run ."),
    "questions": ("Who built the mill?", PASSAGE),
}


@pytest.fixture(scope="module")
def root(model, plain, tmp_path_factory) -> Path:
    return make_bundles(tmp_path_factory.mktemp("demo"), syntax=model, baseline=plain)


def paths(root: Path, given=GIVEN) -> list[str]:
    return [str(root / name) for names in given.values() for name in names]


@pytest.fixture(scope="module")
def shown(root) -> list[Served]:
    return tabs.open_models(DemoOptions(models=paths(root)))


def of(shown, kind):
    return [one for one in shown if one.kind in TABS[kind].kinds]


@pytest.mark.parametrize("name", ASKED)
def test_every_tab_shows_its_models_and_escapes_what_they_are_given(shown, name):
    tab = TABS[name]
    page = tab.show(of(shown, name), *ASKED[name])
    assert re.findall("<h3>(.*?)</h3>", page) == [one.name for one in of(shown, name)]
    assert 'class="fp-error"' not in page
    page = tab.show(of(shown, name), *[HOSTILE] * len(tab.fields))
    assert not re.search(r"<(img|script|/?textarea)\b", page)
    assert "&lt;" in page


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    ("text", "said"), [(" ", "is empty"), ("a" * 10_001, "10,001 char"), ("\ud800", "half a char")]
)
def test_what_no_model_is_asked_is_refused_unread(name, text, said):
    page = TABS[name].show([], *[text] * len(TABS[name].fields))
    assert page.count('class="fp-error"') == 1
    assert said in page


def test_the_page_says_what_the_models_say(shown):
    by_name = {one.name: one for one in shown}
    line, asked = ASKED["translation"][0], ASKED["questions"]
    page = unescape(TABS["translation"].show(of(shown, "translation"), line))
    for name in GIVEN["translation"]:
        (text,) = by_name[name].model.translate([line])
        assert f">{text}</p>" in page
    page = TABS["questions"].show(of(shown, "questions"), *asked)
    none = by_name["query"].model.answer(*asked).found.probabilities[-1]
    assert f"{100 * none:.1f} %" in page
    assert page.count("No picture: this model has no coattention") == 1
    assert page.count("<figcaption>coattention") == len(panels.WAYS)
    (found,) = by_name["sla"].model.predict(["good dogs run ."])
    page = TABS["text"].show([by_name["sla"]], "good dogs run .")
    assert all(f"{100 * share:.1f} %" in page for share in found.probabilities.values())
    gates = re.findall(r">layer (\d+), local attention<", page)
    assert len(gates) == len(by_name["sla"].model.models[0].encoder.layers)
    kinds = ["affinity attention", "difference attention", "fused attention"]
    page = TABS["pairs"].show([by_name["dabert"]], *ASKED["pairs"])
    assert [kind for kind in kinds if f"<figcaption>{kind}" in page] == kinds


def test_directions_of_coattention_are_told(shown):
    (model,) = (one.model for one in shown if one.name == "query")
    page = TABS["questions"].show(of(shown, "questions")[:1], *ASKED["questions"])
    for drawn in panels.coattention(model, ASKED["questions"])["maps"]:
        turned, weights = drawn["turned"], drawn["weights"]
        sums = map(sum, zip(*weights) if turned else weights)
        assert all(abs(found - 100) < 2 for found in sums)  # who looks at the others looks once
        sides = drawn["columns"][0], drawn["rows"][1]
        first, second = sides if turned else sides[::-1]
        assert f'title="{escape(first)} → {escape(second)}: ' in page


def test_an_answer_stays_where_its_picture_cannot_be_drawn(shown):
    page = TABS["text"].show(of(shown, "text"), "a " * 749)
    assert page.count("No picture: the text has ") == 2
    assert 'class="fp-error"' not in page


WATCHED = """
import sys
from fairseq_plugins.cli.main import main

def watch(event, given):
    if event in ("socket.connect", "socket.getaddrinfo"):
        host = given[1][0] if event == "socket.connect" else given[0]
        if not str(host).startswith("127.") and host not in ("::1", "localhost"):
            print("ASKED", event, host, file=sys.stderr, flush=True)

sys.addaudithook(watch)
status = main(sys.argv[1:])
import os, huggingface_hub.constants as hub
print("stays", hub.HF_HUB_OFFLINE, os.environ["GRADIO_ANALYTICS_ENABLED"], file=sys.stderr)
sys.exit(status)
"""


@contextmanager
def served(root: Path, *more: str, given=GIVEN):
    """Serve the page from a process of its own, which speaks to nobody; yield its address."""
    words = [shims.python(), "-c", WATCHED, "demo", *paths(root, given), "--port", "0", *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, **pipes, text=True, env=shims.variables()) as process:
        try:
            said = process.stdout.readline()
            yield re.fullmatch(r"the page is at (http://\S+)\n", said).group(1)
        finally:
            process.send_signal(signal.SIGTERM)
            err = process.communicate(timeout=30)[1]
        assert process.returncode == 0
        assert "ASKED" not in err
        assert err.splitlines()[-1] == "stays True False"  # libraries were told before they came


@pytest.fixture(scope="module")
def address(root):
    with served(root) as place:
        yield place


@contextmanager
def opened(browser, address, width=1280):
    """Open the page; afterwards it must have asked its own server alone, and not complained."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    told, asked = [], []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address, wait_until="domcontentloaded", timeout=120_000)
    page.get_by_role("tab", name="Sentence").wait_for()
    yield page
    page.close()
    elsewhere = [url for url in asked if not url.startswith((f"{address}/", "data:", "blob:"))]
    assert (told, elsewhere) == ([], [])
    assert len(asked) > 5


def show(page, title, *texts):
    """Fill in a tab and wait for what is found."""
    button = page.get_by_role("tab", name=title, exact=True)
    if not button.is_visible():  # on a phone
        page.get_by_label("More tabs").click()
        button = page.locator(".overflow-dropdown button", has_text=title)
    button.click()
    tab = page.locator("[role=tabpanel]:visible")
    for field, text in zip(tab.locator("textarea, input[type=text]").all(), texts):
        field.fill(text)
    panels = tab.locator(".fp-panel")
    panels.evaluate_all("found => found.forEach(one => one.remove())")  # those of an example
    tab.get_by_role("button", name="Show").click()
    panels.first.wait_for()
    return panels


@pytest.mark.parametrize("width", [1280, 360])
def test_a_browser_shows_every_tab_and_asks_nobody_else(browser, address, width):
    with opened(browser, address, width) as page:
        for name, tab in TABS.items():
            panels = show(page, tab.title, *ASKED[name])
            assert panels.count() == (8 if name == "sentence" else 2)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            boxes = [panel.bounding_box() for panel in panels.all()]
            assert all(0 <= box["x"] and box["x"] + box["width"] <= width for box in boxes)


def test_hostile_text_is_text_in_a_browser(browser, address):
    with opened(browser, address) as page:
        for tab in TABS.values():
            panels = show(page, tab.title, *[HOSTILE] * len(tab.fields))
            assert panels.locator("img, script").count() == 0
        assert page.title() == "fairseq_plugins"


def test_examples_are_shown_at_a_click(browser, address):
    with opened(browser, address) as page:
        tab = page.locator("[role=tabpanel]:visible")
        tab.locator("svg text", has_text="kitchen").first.wait_for()  # the first one, at once
        tab.get_by_role("button", name="Time flies").click()
        tab.locator("svg text", has_text="arrow").first.wait_for()
        assert tab.locator(".fp-panel").count() == 8


def page_of(presets) -> dict:
    """Return what gradio is told of a page over one model of texts."""
    model = SimpleNamespace(manifest=SimpleNamespace(annotator={}))
    return build([Served("m", SENTENCES, model, {})], presets).config


def test_the_first_tab_shows_its_first_example():
    page = page_of({"sentence": [["One dog ."], ["Two dogs ."]], "text": [["It runs ."]]})
    fields = [one["props"] for one in page["components"] if one["type"] == "textbox"]
    assert [field["value"] for field in fields] == ["One dog .", "It runs ."]
    at_once = [
        one for one in page["dependencies"] if "load" in {name for _, name in one["targets"]}
    ]
    (box,) = (one["id"] for one in page["components"] if one["props"].get("value") == "One dog .")
    assert [one["inputs"][0] for one in at_once] == [box]
    empty = page_of({})
    assert not any("load" in {name for _, name in one["targets"]} for one in empty["dependencies"])


@pytest.mark.parametrize(
    ("manifest", "english"),
    [
        ({"source_lang": "en", "annotator": {}}, True),
        ({"source_lang": "de", "annotator": {"model": "en_ewt_small"}}, False),
        ({"annotator": {"model": "en_ewt_small"}}, True),
        ({"annotator": {"model": "zh_core_web_sm"}}, False),
        ({"annotator": {}}, True),
    ],
)
def test_our_own_examples_are_for_models_that_read_english(manifest, english):
    model = SimpleNamespace(manifest=SimpleNamespace(**manifest))
    served = Served("m", SENTENCES, model, {})
    assert tabs.reads_english(served) == english
    assert [*tabs.english_presets([served])] == (["sentence", "text"] if english else [])


def request(address: str, head: str) -> str:
    """Send a bare request and return the first line and headers of the answer."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as link:
        link.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        return link.makefile("rb").read().decode("utf-8", "replace").partition("\r\n\r\n")[0]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", "", 200),
        ("/", "Host: elsewhere.example", 400),
        ("/", "Origin: http://elsewhere.example", 403),
        ("/", "Origin: null", 403),
        ("/", "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors", 403),
        ("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate", 200),  # a link to it
        ("/config", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate", 403),
        ("/config", "Sec-Fetch-Site: same-origin", 200),
        ("/gradio_api/file=/etc/passwd", "", 404),
        ("/gradio_api/run-history/buckets", "", 404),
        ("/openapi.json", "", 404),
        ("/../config", "", 404),
    ],
)
def test_only_the_page_itself_may_ask(address, path, headers, status):
    own = address.removeprefix("http://")
    given = headers if headers.startswith("Host") else f"Host: {own}\r\n{headers}".strip()
    said = request(address, f"GET {path} HTTP/1.1\r\n{given}").lower()
    assert said.startswith(f"http/1.1 {status} ")
    assert "access-control-allow-origin" not in said
    if status != 400:
        assert "content-security-policy: default-src 'self'" in said
        assert "cross-origin-resource-policy: same-origin" in said


def test_other_addresses_of_this_machine_are_guarded_as_well(root):
    with served(root, "--host", "127.0.0.2", given={"text": ("sla",)}) as place:
        assert request(place, "GET / HTTP/1.1\r\nHost: elsewhere").startswith("HTTP/1.1 400")


def paths_of(routes):
    """Yield the paths of routes, those of included routers as well."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        yield from [route.path] if inner is None else paths_of(inner.routes)


def test_routes_of_gradio_are_closed_but_for_those_of_the_page():
    known = {*paths_of(App.create_app(gradio.Blocks(analytics_enabled=False)).routes)}
    asked = {path for path in known if not refused("GET", path, {})}
    assert asked == {
        *("/", "/config", "/theme.css", "/favicon.ico", "/manifest.json"),
        *("/assets/{path:path}", "/static/{path:path}"),
        *("/gradio_api/run/{api_name}", "/gradio_api/run/{api_name}/"),
        *("/gradio_api/queue/join", "/gradio_api/queue/data"),
    }
    assert len(known) > 50


def test_wrong_models_and_ports_are_refused_before_anything_is_served(root, run_here):
    wrong = {
        (root / "sla", "--port", "70000"): "--port 70000: must be from 0 to 65535",
        (root / "nothing",): "nothing",
        (root / "sla", "--host", ""): "--host is empty",
        (root / "sla", "--presets", root / "none"): "none: no such file",
    }
    for words, said in wrong.items():
        assert said in run_here("demo", *words, fails=True).err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        err = run_here("demo", root / "sla", "--port", port, fails=True).err
    assert f"--host 127.0.0.1 --port {port}: Address already in use" in err


def test_without_gradio_it_says_what_to_install(root, run_here, monkeypatch):
    monkeypatch.setattr(http, "find_spec", lambda name: None if name == "gradio" else name)
    err = run_here("demo", root / "sla", fails=True).err
    assert err == f"error: gradio not installed: {how_to_add('web')}\n"
    assert "pip install -e '.[web]'" in err
