"""SQuAD files: read, refused, written."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from squad_files import paragraph, question, toy_squad, write_squad

from fairseq_plugins.corpora.squad import GoldAnswer, Paragraph, Question, dump, read
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.squad_files import read_gold, read_ids

CONTEXT = "Mara built a mill in Lund. Otto sold it."
KNOWN = question("q1", "Who built it?", "Mara", ("Otto", 27))
NONE = question("q2", "When?")
OPEN = question("q3", "Why?", gold=False)


@pytest.fixture
def body(tmp_path):
    """A file's content; `refused` writes it again."""
    path = write_squad(tmp_path / "squad.json", [paragraph(CONTEXT, KNOWN, NONE, OPEN)])
    return json.loads(path.read_text())


def test_file_is_read_as_it_says(tmp_path) -> None:
    path = write_squad(tmp_path / "x.json", [paragraph(CONTEXT, KNOWN, NONE, OPEN, title="Mills")])
    found = read(path)
    assert found.version == "v2.0"
    assert found.paragraphs == (
        Paragraph(
            "Mills",
            CONTEXT,
            (
                Question("q1", "Who built it?", (GoldAnswer("Mara", 0), GoldAnswer("Otto", 27))),
                Question("q2", "When?", ()),
                Question("q3", "Why?", None),
            ),
        ),
    )
    assert [q.id for q in found.questions] == ["q1", "q2", "q3"]


def test_first_version_reads_the_same_without_impossible(tmp_path) -> None:
    old = read(write_squad(tmp_path / "a.json", [paragraph(CONTEXT, KNOWN, NONE)], version="1.1"))
    new = read(write_squad(tmp_path / "b.json", [paragraph(CONTEXT, KNOWN, NONE)]))
    assert "is_impossible" not in (tmp_path / "a.json").read_text()
    assert (old.version, old.paragraphs) == ("1.1", new.paragraphs)


def test_other_keys_are_passed_over(body, tmp_path) -> None:
    asked = body["data"][0]["paragraphs"][0]["qas"][1]
    asked["plausible_answers"] = [{"text": "Lund", "answer_start": 0}]
    asked["difficulty"] = body["note"] = body["data"][0]["about"] = [1]
    del body["version"], body["data"][0]["title"]
    path = tmp_path / "squad.json"
    path.write_text("\ufeff" + json.dumps(body), encoding="utf-8")
    found = read(path)
    assert (found.version, found.paragraphs[0].title) == ("", "")
    assert found.paragraphs[0].questions[1].answers == ()


def _change(body, place, value):
    """Set, or with ``...`` delete, what stands at a path of keys."""
    *path, last = place
    for key in path:
        body = body[key]
    if value is ...:
        del body[last]
    else:
        body[last] = value


P, Q = ("data", 0, "paragraphs", 0), ("data", 0, "paragraphs", 0, "qas", 0)
AT_Q, NAMED = r"data\[0\].paragraphs\[0\].qas\[0\]", r" \(id 'q1'\)"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("data",), ..., "is no SQuAD file: expected an object with a list 'data'"),
        (("data",), {}, r"squad.json: the file: 'data' is \{\}, expected a list"),
        (("version",), [2], r"'version' is \[2\], expected a text"),
        (("data", 0), "x", r"squad.json: data\[0\] is \"x\", expected an object"),
        (("data", 0, "title"), {}, r"data\[0\]: 'title' is \{\}, expected a text"),
        (("data", 0, "paragraphs"), ..., r"data\[0\] has no 'paragraphs'; it has 'title'"),
        ((*P, "context"), 5, r"data\[0\].paragraphs\[0\]: 'context' is 5, expected a text"),
        ((*P, "context"), " \n", r"data\[0\].paragraphs\[0\]: 'context' is empty"),
        ((*P, "context"), "a \udc80", r"paragraphs\[0\]: '.udc80' is half a character"),
        ((*P, "qas"), ..., r"data\[0\].paragraphs\[0\] has no 'qas'"),
        ((*Q, "id"), 7.0, rf"{AT_Q}: 'id' is 7.0, expected a text"),
        ((*Q, "id"), True, rf"{AT_Q}: 'id' is true, expected a text"),
        ((*Q, "answers"), {"text": ["a"], "answer_start": []}, "expected a list"),
        ((*Q, "id"), "q3", r"qas\[2\] \(id 'q3'\): the id stands at data.*qas\[0\] \(id 'q3'\)"),
        ((*Q, "question"), "", rf"{AT_Q}{NAMED}: 'question' is empty"),
        ((*Q, "question"), "\ud800", rf"{AT_Q}{NAMED}: '.ud800' is half a character"),
        ((*Q, "answers"), {}, rf"{AT_Q}{NAMED}: 'answers' is \{{\}}, expected a list"),
        ((*Q, "answers"), ..., "'is_impossible' is false, but it has 0 answers"),
        ((*Q, "answers"), [], "'is_impossible' is false, but it has 0 answers"),
        ((*Q, "is_impossible"), True, f"{AT_Q}{NAMED}: 'is_impossible' is true, but it has 2"),
        ((*Q, "is_impossible"), "no", "'is_impossible' is \"no\", expected a truth"),
        ((*Q, "answers", 1), "Mara", rf"{AT_Q}{NAMED}: answers\[1\] is \"Mara\", expected an"),
        ((*Q, "answers", 1, "text"), "", rf"{NAMED}: answers\[1\]: 'text' is empty"),
        ((*Q, "answers", 1, "text"), ..., rf"{NAMED}: answers\[1\] has no 'text'; it has 'ans"),
        ((*Q, "answers", 0, "answer_start"), 1.0, "'answer_start' is 1.0, expected a whole number"),
        ((*Q, "answers", 0, "answer_start"), True, "'answer_start' is true, expected a whole"),
        ((*P, "qas"), [], "squad.json holds no question"),
        (("data",), [], "squad.json holds no question"),
    ],
)
def test_bad_entries_are_named(place, value, message, body, tmp_path) -> None:
    _change(body, place, value)
    (tmp_path / "squad.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "squad.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"data": [\n  {"title": }]}', "bad.json is no JSON: line 2, column 13: "),
        (b"", "bad.json is no JSON: line 1, column 1: "),
        (b'{"data": "\xff"}', "bad.json:1: byte 11 of the line"),
        (b"[1, 2]", "bad.json is no SQuAD file: expected an object"),
        (b"[" * 100_000, "bad.json is no JSON that can be read"),
        (b'{"data": ' + b"9" * 5000 + b"}", "bad.json is no JSON that can be read"),
    ],
)
def test_bad_json_is_named(content, message, tmp_path) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "bad.json")


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file '.*none.json'"):
        read(tmp_path / "none.json")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
ANSWERS = st.none() | st.lists(st.builds(GoldAnswer, TEXT, st.integers(-9, 99)), max_size=2).map(
    tuple
)


@given(st.lists(st.lists(st.tuples(TEXT, ANSWERS), min_size=1, max_size=3), min_size=1, max_size=3))
def test_written_file_reads_back(tmp_path_factory, groups) -> None:
    path = tmp_path_factory.mktemp("dump") / "squad.json"
    paragraphs = tuple(
        Paragraph(
            f"title {k // 2}",
            group[0][0],
            tuple(Question(f"{k}-{i}", *asked) for i, asked in enumerate(group)),
        )
        for k, group in enumerate(groups)
    )
    for version in ("v2.0", "1.1"):
        dump(path, paragraphs, version)
        assert read(path).paragraphs == paragraphs
        assert read(path).version == version
    assert "is_impossible" not in path.read_text()


def test_official_file_is_written_as_it_was(tmp_path) -> None:
    path, _ = toy_squad(tmp_path)
    dump(tmp_path / "again.json", read(path).paragraphs)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def as_others_write(body, rng):
    """Write a file's content as tools other than SQuAD's do; ids are numbers already."""
    columns = rng.random() < 0.7
    for article in body["data"]:
        article["title"] = rng.choice([None, 7, article["title"]])
        for asked in (q for p in article["paragraphs"] for q in p["qas"]):
            asked["id"] = rng.choice([int, str])(asked["id"])
            asked.pop(rng.choice(["is_impossible", "none of these"]), None)
            if columns and "answers" in asked:
                answers = asked["answers"]
                keys = ("text", "answer_start")
                asked["answers"] = {key: [one[key] for one in answers] for key in keys}
    body["version"] = rng.choice([1.1, 2, 2.0, None, "v2.0"])
    if columns and rng.random() < 0.5:
        body["data"] = [
            {"title": a["title"], "context": p["context"], **q}
            for a in body["data"]
            for p in a["paragraphs"]
            for q in p["qas"]
        ]
    return body


def test_files_of_other_tools_say_what_squads_own_say(tmp_path) -> None:
    rng, texts = random.Random(6), ("Mara built a mill.", "教区成立了。", "كتاب جديد", "🙂 weiß 🙂")
    path = tmp_path / "squad.json"
    for _ in range(120):
        paragraphs, number = [], 0
        for _ in range(rng.randint(1, 3)):
            text, asked = rng.choice(texts), []
            for _ in range(rng.randint(1, 3)):
                answers = rng.sample(text.split(), rng.randint(0, 1)) * rng.randint(1, 2)
                asked.append(question(str(number), "Who 谁?", *answers, gold=rng.random() < 0.8))
                number += 1
            paragraphs.append(paragraph(text, *asked, title=rng.choice(["A", "B"])))
        plain = read(write_squad(path, paragraphs))
        gold = all(one.answers is not None for one in plain.questions) and read_gold(path)
        body = as_others_write(json.loads(path.read_text()), rng)
        path.write_text(json.dumps(body), encoding="utf-8")
        found = read(path)
        told = [[(p.context, q) for p in x.paragraphs for q in p.questions] for x in (plain, found)]
        assert told[0] == told[1]
        assert not gold or read_gold(path) == gold
        assert [*read_ids(path)] == [q.id for q in plain.questions]
