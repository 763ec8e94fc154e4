"""The site as mkdocs builds it: strictly, whole, without a request to elsewhere, searched as files.

What its pages name is tried in `test_pages.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OUTSIDE = re.compile(r"^\s*(https?:)?//", re.I)
IN_STYLES = re.compile(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", re.I)
LONGEST = 900
pytestmark = pytest.mark.slow


class Requests(HTMLParser):
    """Collects what a page makes a browser fetch: all but links that a reader follows."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.style = ""

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.fetched += [known[key] or "" for key in {"src", "data", "poster"} & {*known}]
        self.fetched += [known["href"] or ""] if tag != "a" and "href" in known else []
        self.style += known.get("style") or ""


def requests_of(html: str) -> list[str]:
    """Return the addresses elsewhere that a page makes a browser fetch."""
    parser = Requests()
    parser.feed(html)
    styled = IN_STYLES.findall(html + parser.style)
    return [*filter(OUTSIDE.match, parser.fetched), *styled]


def build(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    words = ["-m", "mkdocs", "build", "--strict", "-f", config, "-d", out]
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=config.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build it as CI does."""
    out = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", out)
    assert done.returncode == 0, done.stderr[-5000:]
    assert "WARNING -" not in done.stderr
    return out


def test_no_page_asks_for_anything_from_elsewhere(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) > 40
    asked = {page.name: requests_of(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: found for name, found in asked.items() if found} == {}
    styles = [path for path in site.rglob("*.css") if IN_STYLES.search(path.read_text())]
    assert styles == []


@pytest.mark.parametrize(
    ("html", "asks"),
    [
        ('<script src="https://x.org/a.js"></script>', True),
        ('<link rel="preconnect" href="//fonts.x.org">', True),
        ("<style>@import url(https://x.org/a.css)</style>", True),
        ('<img src="http://x.org/a.png">', True),
        ('<a href="https://x.org">a</a><img src="a.png">', False),
    ],
)
def test_a_request_to_elsewhere_is_seen(html, asks):
    assert bool(requests_of(html)) == asks


def test_pages_are_laid_out_whole(site):
    """No list, table or link of a page stayed plain text; code of tables has its strokes."""
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.S)
        assert re.findall(r"<p>[^<]*\n(?:- |\||```)[^<]*", text) == [], page.name
        assert "](" not in re.sub(r"<script\b.*?</script>", "", text, flags=re.S), page.name
        assert not re.search(r'<pre[^>]*>(<span></span>)?<code class="whole"', html), page.name
    translated = (site / "translate.html").read_text(encoding="utf-8")
    assert "<code>--on-misalignment error|repair|skip</code>" in translated
    assert '<code class="whole">--tokenizer pretokenized' in translated


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path):
    """To a page, and to a heading of one: what `--strict` is for; a site of short pages."""
    shutil.copytree(ROOT / "docs" / "hooks", tmp_path / "docs" / "hooks")
    (tmp_path / "docs" / "hooks" / "reference.py").write_text("pages = dict\n")
    for path in [*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]:
        there = tmp_path / path.relative_to(ROOT)
        there.parent.mkdir(exist_ok=True)
        there.write_text("# A page\n")
    page = tmp_path / "docs" / "safety.md"
    page.write_text("# Here\n\n[a](gone.md) [b](../RESULTS.md#gone) [c](../RESULTS.md#a-page)\n")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump({**config, "nav": None, "plugins": []}))
    done = build(tmp_path / "mkdocs.yml", tmp_path / "out")
    assert done.returncode != 0
    assert "link 'gone.md'" in done.stderr
    assert "link 'results.md#gone'" in done.stderr
    assert done.stderr.count("WARNING -") == 2


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    known = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next(filter(None, known), None)
    if path is None:
        pytest.skip("no browser is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_files_are_searched_without_a_server(site, browser):
    """As a reader opens them; every request is of a file."""
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.locator("input.md-search__input").first.click()
    page.locator("input.md-search__input").first.press_sequentially("coattention")  # by keys
    found = page.locator(".md-search-result__link").first
    found.wait_for(state="attached", timeout=60_000)
    assert "coattention" in page.locator(".md-search-result__list").inner_text().lower()
    page.close()
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [1300, 400])
def test_no_page_is_wider_than_its_window(site, browser, width):
    """Tables may scroll in their own boxes."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    wide = {}
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        wide[path.relative_to(site)] = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert {name: found for name, found in wide.items() if found > width} == {}
