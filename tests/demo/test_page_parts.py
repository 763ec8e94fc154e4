"""What the page is made of: maps, arcs, names of models, presets."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fairseq_plugins.demo import guard
from fairseq_plugins.demo.drawings import MOST, arcs, as_map, render
from fairseq_plugins.demo.options import DemoOptions
from fairseq_plugins.demo.sentences import Cut, Reading
from fairseq_plugins.demo.tabs import PRESETS, TABS, read_presets
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.classes import ClassPrediction

WORDS = ["Dogs", "chase", "<b>cats</b>", "."]
HEADS = [2, 0, 2, 2]


def reading(heads=HEADS, words=WORDS):
    tags = ["NOUN", "VERB", "NOUN", "PUNCT"][: len(words)]
    return Reading(Cut(words, words, [*range(len(words))], {}), {}, (), tags, heads, ["<i>"] * 4)


def drawn(shown):
    """Return a sentence's panel."""
    values = {"reading": reading(), "rows": [], "arcs": shown}
    return render("panels.html", panels=[("m", values, "")], template="sentence.html")


def test_arcs_lead_from_heads_to_dependents():
    found = arcs(reading())
    centres = [x for x, *_ in found.words]
    assert centres == sorted(centres)
    assert found.roots == [centres[1]]
    assert [word for _, word, *_ in found.arcs] == [centres[0], centres[2], centres[3]]
    for head, word, height, _ in found.arcs:
        assert abs(head - centres[1]) < 10
        assert (head < centres[1]) == (word < centres[1])  # beside each other, on their own side
        assert 0 < height < found.foot
    assert found.arcs[2][2] < found.arcs[1][2]  # the longer one rises above the one within it
    assert arcs(reading(heads=[])) is None


def test_arcs_are_drawn_as_text_not_markup():
    page = drawn(arcs(reading()))
    assert page.count("<path") == 6
    assert page.count("<circle") == 1
    assert "&lt;b&gt;cats&lt;/b&gt;" in page
    assert "&lt;i&gt;" in page
    assert not re.search("<b>|<i>", page)


def test_a_map_keeps_the_weights_and_says_what_it_hides():
    weights = np.array([[0.5, 0.25], [0.0, 1.0], [0.1, 0.2]])
    small = as_map("x", weights, "abc", "de", borders=(1, 0))
    assert np.allclose(np.array(small.cells), weights, atol=1e-3)  # the largest is 1
    assert np.allclose(np.array(small.weights), 100 * weights, atol=0.1)
    assert (small.rows, small.columns, small.hidden) == ([*"abc"], [*"de"], "")
    assert as_map("x", weights * 0, "abc", "de").cells == [[0, 0]] * 3
    alike = as_map("x", 0.5 + weights / 10, "abc", "de")
    assert np.allclose(np.array(alike.cells), weights, atol=1e-3)  # differences are seen
    assert (small.low, alike.low) == (0.0, 50.0)
    many = MOST + 45
    wide = as_map("x", np.ones((2, many)), "ab", [*map(str, range(many))])
    assert len(wide.columns) == len(wide.cells[0]) == MOST
    assert wide.hidden == f"2 of 2 rows and columns 1 to {MOST} of {many} are shown"
    for first, last in ((0, 2), (60, 61), (many - 3, many - 1)):
        near = as_map("x", np.ones((2, many)), "ab", [*map(str, range(many))], marked=(first, last))
        assert [near.columns[place] for place in near.marked] == [str(first), str(last)]


def test_our_own_presets_fit_the_tabs():
    found = read_presets(PRESETS)
    assert found.keys() == {tab.name for tab in TABS}
    assert all(len(examples) >= 3 for examples in found.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence: [[a, b]]", "sentence: expected 1 text"),
        ("pairs: [[a]]", "pairs: expected 2 text"),
        ("text: [[1]]", "text: expected 1 text"),
        ("text: a", "text: expected 1 text"),
        ("texts: [[a]]", "expected examples under sentence, translation, text, pairs, questions"),
        ('text: [["\\ud800"]]', "half a character"),
        (f"text: [[{'a' * 1501}]]", "the sentence has 1501 characters; the page takes 1500"),
        ("- a", "expected examples under"),
        ("a: [", "is no YAML"),
        ("text: [[2026-99-99]]", "is no YAML"),
        ("x: !!python/object/apply:os.system [echo]", "is no YAML"),
    ],
)
def test_other_presets_are_refused(tmp_path, text, said):
    path = tmp_path / "presets.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(said)):
        read_presets(path)


def test_presets_have_to_be_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        DemoOptions(models=["x"], presets=str(tmp_path / "none.yaml"))


@pytest.mark.parametrize("names", [{}, {"1": "<i>fine"}])
def test_classes_are_shown_by_their_names(names):
    found = ClassPrediction("0", "1", probabilities={"0": 0.25, "1": 0.75}, names=names)
    bars = found.bars
    values = {"found": found, "bars": bars, "gates": [], "maps": [], "note": ""}
    page = render("panels.html", panels=[("m", values, "")], template="label.html")
    assert [share for _, share in bars] == [0.75, 0.25]
    assert page.count("&lt;i&gt;fine (1)") == (2 if names else 0)
    assert "<i>fine" not in page


def asked(app, parts, path="/gradio_api/queue/join"):
    """Send a body in parts; return the status and the messages that are left."""
    left = [{"type": "http.request", "body": part, "more_body": True} for part in parts[:-1]]
    left += [{"type": "http.request", "body": part} for part in parts[-1:]]
    left, sent = [*left, {"type": "http.disconnect"}], []

    async def receive():
        return left.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": []}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], left


def test_bodies_are_bounded_however_they_come(monkeypatch):
    monkeypatch.setattr(guard, "MOST", 1000)
    dice, bodies = random.Random(4), []

    async def app(scope, receive, send):
        message = await receive()
        bodies.append(message["body"])
        assert not message.get("more_body")
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guarded = guard.guarded(app)
    for _ in range(300):
        parts = [b"x" * dice.choice([0, 1, 10, 500, 5000]) for _ in range(dice.randint(1, 9))]
        bodies.clear()
        status, left = asked(guarded, parts)
        is_fair = len(b"".join(parts)) <= 1000
        assert (status, bodies) == ((200, [b"".join(parts)]) if is_fair else (413, []))
        assert is_fair or len(left) >= 1  # what comes behind the limit is not read
    assert asked(guarded, [b"x" * 9999], "/gradio_api/upload")[0] == 404


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("<b>no</b>"), "&lt;b&gt;no&lt;/b&gt;"),
        (RuntimeError("out of\nmemory"), "RuntimeError: out of memory"),
    ],
)
def test_every_error_is_one_line_in_the_panel_of_its_model(error, said):
    def broken(model, text):
        raise error

    model = SimpleNamespace(name="m")
    page = replace(TABS[1], view=broken).show([model], "a")
    assert page.count('class="fp-error"') == 1
    assert said in page
