"""What the page is made of: maps, arcs, names of models, presets."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fairseq_plugins.demo import guard, panels
from fairseq_plugins.demo.maps import MOST, as_map, render
from fairseq_plugins.demo.options import DemoOptions
from fairseq_plugins.demo.sentences import arcs
from fairseq_plugins.demo.tabs import NOTHING, PRESETS, TABS, read_presets
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.classes import ClassPrediction

WORDS = ["Dogs", "chase", "<b>cats</b>", "."]
PARSE = {"pos": ["NOUN", "VERB", "<u>", "PUNCT"], "heads": [2, 0, 2, 2], "dep": ["<i>"] * 4}


def test_arcs_lead_from_heads_to_dependents_and_are_text_not_markup():
    drawn = arcs(WORDS, PARSE)
    assert drawn.count('class="displacy-arc"') == 3
    assert drawn.count("&lt;i&gt;") == 3
    assert "&lt;b&gt;cats&lt;/b&gt;" in drawn
    assert not re.search("<b>|<i>|<u>", drawn)
    one = arcs(WORDS[:2], {"heads": [2, 0]})
    other = arcs(WORDS[:2], {"heads": [0, 1]})
    assert len(re.findall("<path", one)) == len(re.findall("<path", other)) == 2
    heads = [
        re.findall('class="displacy-arrowhead" d="M([0-9.]+)', drawn) for drawn in (one, other)
    ]
    assert float(heads[0][0]) < float(heads[1][0])
    assert arcs(WORDS, {}) == ""


def test_a_map_keeps_the_weights_and_says_what_it_hides():
    weights = np.array([[0.5, 0.25], [0.0, 1.0], [0.1, 0.2]])
    small = as_map("x", weights, "abc", "de", border=1)
    assert np.allclose(np.array(small["cells"]), weights, atol=1e-3)  # the largest is 1
    assert np.allclose(np.array(small["weights"]), 100 * weights, atol=0.1)
    assert (small["rows"], small["columns"], small["hidden"]) == ([*"abc"], [*"de"], "")
    assert as_map("x", weights * 0, "abc", "de")["cells"] == [[0, 0]] * 3
    alike = as_map("x", 0.5 + weights / 10, "abc", "de")
    assert np.allclose(np.array(alike["cells"]), weights, atol=1e-3)  # differences are seen
    assert (small["low"], alike["low"]) == (0.0, 50.0)
    many = MOST + 45
    wide = as_map("x", np.ones((2, many)), "ab", [*map(str, range(many))])
    assert len(wide["columns"]) == len(wide["cells"][0]) == MOST
    assert wide["hidden"] == f"2 of 2 rows and columns 1 to {MOST} of {many} are shown"
    for first, last in ((0, 2), (60, 61), (many - 3, many - 1)):
        near = as_map("x", np.ones((2, many)), "ab", [*map(str, range(many))], marked=(first, last))
        assert [near["columns"][place] for place in near["marked"]] == [str(first), str(last)]


def test_our_own_presets_fit_the_tabs():
    found = read_presets(PRESETS)
    assert found.keys() == {tab.name for tab in TABS}
    assert all(len(examples) >= 3 for examples in found.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence: [[a, b]]", "sentence: expected 1 text"),
        ("pairs: [[a]]", "pairs: expected 2 text"),
        ("text: [[1]]", "expected lists of texts under sentence, translation, text, pairs, ques"),
        ("text: a", "expected lists of texts"),
        ("texts: [[a]]", "'texts' is none of sentence, translation, text, pairs, questions"),
        ('text: [["\\ud800"]]', "half a character"),
        ('pairs: [[a, ""]]', "pairs: texts[0][1] is empty"),
        (f"text: [[{'a' * 10_001}]]", "texts[0] has 10,001 characters; a text may have 10,000"),
        ("- a", "expected lists of texts"),
        ("a: [", "expected lists of texts"),
        ("text: [[2026-99-99]]", "expected lists of texts"),
        ("x: !!python/object/apply:os.system [echo]", "expected lists of texts"),
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
    model = SimpleNamespace(predict_examples=lambda items: [found])
    shown = NOTHING | panels.label(SimpleNamespace(model=model), (), ())
    page = render("panels.html", panels=[("m", shown, "")], template="answer.html")
    assert [share for _, share in shown["bars"]] == [0.75, 0.25]
    assert page.count("&lt;i&gt;fine (1)") == (2 if names else 0)
    assert "<i>fine" not in page


@pytest.mark.parametrize(("begin", "end"), [(5, 9), (None, None)])
def test_answers_are_marked_in_their_passage(begin, end):
    context = "Mara <i>x</i>\nbuilt"
    texts = ["Mara", context[5:9], *"abcdef", ""]
    found = [{"text": one, "probability": 1 / (2 + n)} for n, one in enumerate(texts)]
    record = {"answer": context[5:9] if end else "", "begin": begin, "end": end, "n_best": found}
    served = SimpleNamespace(answer=lambda items: [record])
    shown = panels.answer(served, (), ("Who?", context))
    assert "".join(shown["passage"]) == context
    assert shown["passage"][1] == record["answer"]
    assert [text for text, _ in shown["bars"]] == [*texts[: panels.RIVALS], "no answer"]
    page = render("panels.html", panels=[("m", NOTHING | shown, "")], template="answer.html")
    assert page.count("<mark") == bool(end)
    assert "<i>" not in page


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
    def broken(*_):
        raise error

    model = SimpleNamespace(name="m")
    page = replace(TABS[1], view=broken).show([model], "a")
    assert page.count('class="fp-error"') == 1
    assert said in page
