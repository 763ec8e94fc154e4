"""`demo`: a page over models of every kind, in a browser: it shows them, asks nobody, escapes."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from cli.demo_models import make_bundles
from test_layering import ABSENT

from fairseq_plugins.demo import models, tabs
from fairseq_plugins.demo.options import DemoOptions

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
    "sentence": ("The old dog watches the light.", "syntax"),
    "translation": ("The old dog watches the light.",),
    "text": ("good dogs run .",),
    "pairs": ("good dogs run .", "bad dogs run ."),
    "questions": ("Who built the mill?", PASSAGE),
}


@pytest.fixture(scope="module")
def root(model, plain, tmp_path_factory) -> Path:
    return make_bundles(tmp_path_factory.mktemp("demo"), syntax=model, baseline=plain)


def flags(root: Path, given=GIVEN) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(str(root / name) for name in names) for kind, names in given.items()}


@pytest.fixture(scope="module")
def shown(root) -> list[models.Shown]:
    return models.open_models(DemoOptions(**flags(root)))


def of(shown, kind):
    return [one for one in shown if one.kind in TABS[kind].kinds]


@pytest.mark.parametrize("name", ASKED)
def test_every_tab_shows_its_models_and_escapes_what_they_are_given(shown, name):
    tab = TABS[name]
    page = tab.show(of(shown, name), *ASKED[name])
    names = ASKED[name][-1:] if tab.single else GIVEN[name]
    assert re.findall("<h3>(.*?)</h3>", page) == [*names]
    assert 'class="fp-error"' not in page
    hostile = [HOSTILE] * len(tab.texts) + [*ASKED[name][len(tab.texts) :]]
    page = tab.show(of(shown, name), *hostile)
    assert not re.search(r"<(img|script|/?textarea)\b", page)
    assert "&lt;" in page


@pytest.mark.parametrize("name", ASKED)
def test_longer_texts_than_fields_take_are_refused_unread(name):
    tab = TABS[name]
    last = max(tabs.LONGEST[lines] for lines in tab.texts.values())
    page = tab.show([], *["a" * (last + 1)] * len(tab.texts))
    assert f"{last + 1} characters; the page takes" in page


@pytest.mark.parametrize("name", ASKED)
def test_what_a_model_refuses_stands_in_its_place(shown, name):
    empty = [" "] * len(TABS[name].texts) + [*ASKED[name][len(TABS[name].texts) :]]
    page = TABS[name].show(of(shown, name), *empty)
    count = 1 if TABS[name].single else 2
    assert page.count('class="fp-error"') == count
    assert "empty" in page


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
    assert page.count("This model has no coattention") == 1
    (found,) = by_name["sla"].model.predict(["good dogs run ."])
    page = TABS["text"].show([by_name["sla"]], "good dogs run .")
    assert all(f"{100 * share:.1f} %" in page for share in found.probabilities.values())
    gates = re.findall(r">layer (\d+), local attention<", page)
    assert len(gates) == len(by_name["sla"].model.models[0].encoder.layers)
    kinds = ["affinity attention", "difference attention", "fused attention"]
    page = TABS["pairs"].show([by_name["dabert"]], *ASKED["pairs"], "0")
    assert [kind for kind in kinds if f"<figcaption>{kind}" in page] == kinds
    page = TABS["pairs"].show([by_name["dabert"]], *ASKED["pairs"], "1")
    assert [kind for kind in kinds if f"<figcaption>{kind}" in page] == kinds[:1]


def test_directions_of_coattention_differ(shown):
    pages = {
        way: TABS["questions"].show(of(shown, "questions"), *ASKED["questions"], way)
        for way in tabs.WAYS
    }
    first, second = pages.values()
    assert first != second


@contextmanager
def served(root: Path, *more: str, given=GIVEN):
    """Serve the page from a process of its own; yield its address."""
    words = [sys.executable, "-m", "fairseq_plugins", "demo", "--port", "0", *more]
    for kind, paths in flags(root, given).items():
        words += [f"--{kind}", *paths]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.stdout.readline()
            yield re.fullmatch(r"the page is at (http://\S+)\n", said).group(1)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


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
    page.get_by_role("tab", name=title, exact=True).click()
    tab = page.locator("[role=tabpanel]:visible")
    for field, text in zip(tab.locator("textarea, input[type=text]").all(), texts):
        field.fill(text)
    tab.get_by_role("button", name="Show").click()
    panels = tab.locator(".fp-panel")
    panels.first.wait_for()
    return panels


@pytest.mark.parametrize("width", [1280, 360])
def test_a_browser_shows_every_tab_and_asks_nobody_else(browser, address, width):
    with opened(browser, address, width) as page:
        for name, tab in TABS.items():
            panels = show(page, tab.title, *ASKED[name][: len(tab.texts)])
            assert panels.count() == (1 if tab.single else 2)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            boxes = [panel.bounding_box() for panel in panels.all()]
            assert all(0 <= box["x"] and box["x"] + box["width"] <= width for box in boxes)


def test_hostile_text_is_text_in_a_browser(browser, address):
    with opened(browser, address) as page:
        for tab in TABS.values():
            panels = show(page, tab.title, *[HOSTILE] * len(tab.texts))
            assert panels.locator("img, script").count() == 0
        assert page.title() == "fairseq_plugins"


def test_examples_are_shown_at_a_click(browser, address):
    with opened(browser, address) as page:
        tab = page.locator("[role=tabpanel]:visible")
        tab.get_by_role("button", name="Time flies").click()
        tab.locator(".fp-panel").wait_for()
        assert tab.locator("svg text", has_text="arrow").count() == 1


def request(address: str, head: str) -> str:
    """Send a bare request and return the first line and headers of the answer."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as link:
        link.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        return link.makefile("rb").read().decode("utf-8", "replace").partition("\r\n\r\n")[0]


def test_strangers_and_files_are_refused(address):
    assert request(address, "GET / HTTP/1.1\r\nHost: elsewhere.example").startswith("HTTP/1.1 400")
    host = f"Host: {address.removeprefix('http://')}"
    for path in ("upload", "file=/etc/passwd", "proxy=http://elsewhere.example"):
        for verb in ("GET", "POST"):
            said = request(
                address, f"{verb} /gradio_api/{path} HTTP/1.1\r\n{host}\r\nContent-Length: 0"
            )
            assert said.startswith("HTTP/1.1 404"), path
    said = request(address, f"GET / HTTP/1.1\r\n{host}").lower()
    assert "content-security-policy: default-src 'self'" in said
    assert "frame-ancestors 'none'" in said


def test_wrong_models_and_ports_are_refused_before_anything_is_served(root, run_here):
    wrong = {
        ("--text", root / "dabert"): "is no model for --text: give it with --pairs",
        ("--pairs", root / "syntax"): "is no model for --pairs: give it with --translation",
        ("--questions", root / "sla"): "is no model for --questions: give it with --text",
        (): "no model to look at: name one with --translation, --text, --pairs, --questions",
        ("--text", root / "sla", "--port", "70000"): "--port 70000: must be from 0 to 65535",
        ("--text", root / "nothing"): "nothing",
        ("--text", root / "sla", "--presets", root / "none"): "none: no such file",
    }
    for words, said in wrong.items():
        assert said in run_here("demo", *words, fails=True).err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        err = run_here("demo", "--text", root / "sla", "--port", port, fails=True).err
    assert f"127.0.0.1:{port}: Address already in use" in err


def test_without_gradio_it_says_what_to_install(root):
    call = "from fairseq_plugins.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    code = ABSENT.format(absent=("gradio",)) + call
    words = [sys.executable, "-c", code, "demo", "--text", str(root / "sla")]
    done = subprocess.run(words, capture_output=True, text=True)
    wanted = "error: gradio is not installed: pip install 'fairseq-plugins[web]'\n"
    assert (done.returncode, done.stderr) == (1, wanted)
