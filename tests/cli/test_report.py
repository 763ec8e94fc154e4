"""`results page` in a browser: tables sort, figures show, no errors, no requests."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from cli import commands
from lab.report_runs import HOSTILE, PLAIN, SLA, experiment, part_of

pytestmark = pytest.mark.slow

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
REPORT = "results page"
CODE = "<script>top.document.title='broken in'</script>"
LIGHT, DARK = "light", "dark"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The page of an experiment with finished, failed, running and waiting runs."""
    root = experiment(tmp_path_factory.mktemp("runs") / "toy")
    done = commands.run(str(REPORT), root, "--samples", 20)
    assert "9 of 12 runs finished, 1 failed" in done.out
    return root / "report.html"


@contextmanager
def opened(browser, path, *, width=1280, scheme=LIGHT):
    """Open a page; afterwards it must have asked for nothing and complained of nothing."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    told, asked = [], []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    page.close()
    asked = [url for url in asked if not url.startswith(("data:", "about:"))]
    assert (told, asked) == ([], [path.as_uri()])


def words(table, place):
    """Return the first line of every cell of a column."""
    script = "(rows, place) => rows.map(row => row.cells[place].innerText.trim().split('\\n')[0])"
    return table.locator("tbody tr").evaluate_all(script, place)


def test_tables_sort_by_the_mean_of_their_cells(browser, page_file):
    with opened(browser, page_file) as page:
        table = page.locator("#c1-tables-1 table")
        head = table.locator("thead th").nth(2)
        button = head.locator("button")
        button.click()
        assert head.get_attribute("aria-sort") == "descending"
        down = words(table, 2)
        ran = [float(text.split()[0]) for text in down if text != "–"]
        assert ran == sorted(ran, reverse=True)
        assert down[len(ran) :] == ["–"] * 4  # cited systems stay below
        button.click()
        assert head.get_attribute("aria-sort") == "ascending"
        up = words(table, 2)
        assert [float(text.split()[0]) for text in up[: len(ran)]] == ran[::-1]
        assert up[len(ran) :] == ["–"] * 4


def test_tables_sort_by_keyboard_and_words_upwards_first(browser, page_file):
    with opened(browser, page_file) as page:
        table = page.locator("#c1 figure.table").last
        head = table.locator("thead th").first
        head.locator("button").focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        page.keyboard.press("Space")
        assert head.get_attribute("aria-sort") == "descending"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "none"


def test_figures_show_and_text_of_files_stands_there_as_text(browser, page_file):
    with opened(browser, page_file) as page:
        script = "images => images.map(one => [one.complete, one.naturalWidth, one.alt])"
        sizes = page.locator("img").evaluate_all(script)
        assert len(sizes) >= 7
        assert all(complete and width > 0 and alt for complete, width, alt in sizes)
        assert page.title() == "Single sentences, two datasets"
        assert HOSTILE in page.locator(".failure pre").first.inner_text()


def test_no_script_runs_but_the_pages_own(browser, page_file, tmp_path):
    (tmp_path / "bad.html").write_text(page_file.read_text().replace("</main>", f"{CODE}</main>"))
    page = browser.new_page()
    page.goto((tmp_path / "bad.html").as_uri())
    page.wait_for_timeout(100)
    assert page.title() == "Single sentences, two datasets"
    page.close()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_is_as_wide_as_the_screen(browser, page_file, width):
    with opened(browser, page_file, width=width) as page:
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        table = page.locator("#c1-tables-1")
        wide, cue = table.locator(".scroll"), table.locator(".hint")
        inner, outer = wide.evaluate("block => [block.scrollWidth, block.clientWidth]")
        assert cue.is_visible() == (inner > outer)
        assert table.locator(".scroll.more").count() == (inner > outer)
        if width == 360:
            assert inner > outer
            wide.evaluate("block => { block.scrollLeft = block.scrollWidth; }")
            sync_api.expect(table.locator(".scroll.more")).to_have_count(0)
            wide.evaluate("block => { block.scrollLeft = 200; }")
            first = wide.locator("tbody th").first.bounding_box()
            assert first["x"] == pytest.approx(wide.bounding_box()["x"], abs=2)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_text_stands_out_in_light_and_dark(browser, page_file, scheme):
    with opened(browser, page_file, scheme=scheme) as page:
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (
            scheme == DARK
        )
        for place in ("body", "h2", "td .main", "td small", "figcaption p", "thead button", "pre"):
            assert contrast(page.locator(place).first) >= 4.5, place


def contrast(element):
    """Return the ratio of luminances of a text and of what is behind it (WCAG 2)."""
    one, other = element.evaluate("""element => {
        const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
        let behind = element;
        while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) {
            behind = behind.parentElement;
        }
        return [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor]
            .map(numbers);
    }""")
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color):
    parts = [value / 255 for value in color[:3]]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(weight * v for weight, v in zip((0.2126, 0.7152, 0.0722), linear))


def test_commands_are_folded_and_can_be_copied(browser, page_file):
    with opened(browser, page_file) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        first = page.locator(".command").first
        first.locator("button").click()
        sync_api.expect(page.locator(".command .copy").first).to_have_text("copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "fairseq-plugins run examples/toy/table.yaml"
        run = page.locator("details.command pre").first
        assert not run.is_visible()


def test_a_page_of_many_runs_stays_short(browser, tmp_path):
    root = tmp_path / "many"
    for number in range(30):
        choice = {"width": number}
        part_of(root, "cola", "mcc", {PLAIN: [0.5] * 5, SLA: [0.6] * 5}, choice=choice)
    commands.run(str(REPORT), root, "--samples", 5)
    with opened(browser, root / "report.html") as page:
        assert page.locator(".fold tbody tr").count() >= 60
        assert page.evaluate("document.body.scrollHeight") < 6000


def test_what_cannot_be_reported_is_one_line(tmp_path):
    empty = commands.run(str(REPORT), tmp_path, fails=True)
    assert empty.err.startswith("error: ")
    assert "no runs (no rows.jsonl" in empty.err
    assert len(empty.err.splitlines()) == 1
    root = experiment(tmp_path / "toy")
    unknown = commands.run(str(REPORT), root, "--baseline", "nobody", fails=True)
    assert f"choices are {PLAIN}, {SLA}" in unknown.err
    (root / "rows.jsonl").write_text("{\n")
    stem, title = tmp_path / "page", "Another title"
    done = commands.run(
        str(REPORT), root, "--output", stem, "--title", title, "--no-paper", "--samples", 5
    )
    assert "warning: " in done.err
    page = stem.with_suffix(".html").read_text()
    assert f"<h1>{title}</h1>" in page
    assert "paper 58" not in page
