"""The files of the official evaluation, and what is refused of them."""

from __future__ import annotations

import json
import re
import sys

import pytest
from squad_files import paragraph, question, write_squad

from fairseq_plugins.cli.main import main
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.squad_files import SquadScoring, read_gold, read_ids, score_files
from fairseq_plugins.targets.squad import as_text

SCRIPT = "score"
PARAGRAPH = paragraph(
    "Mara built the mill in Lund.",
    question("a", "Who built the mill?", "Mara", "Mara built"),
    question("b", "Where is the mill?", "Lund"),
    question("c", "Who sold the mill?"),
)
TEXTS = {"a": "mara", "b": "in Lund", "c": ""}
ODDS = {"a": -1.0, "b": 0.5, "c": 2.0}


@pytest.fixture
def files(tmp_path):
    write_squad(tmp_path / "gold.json", [PARAGRAPH])
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    (tmp_path / "odds.json").write_text(json.dumps(ODDS))
    (tmp_path / "ids.txt").write_text("b\n\n c \n")
    return tmp_path


def write(folder, name, content):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def scored(folder, **changes):
    given = {"gold": folder / "gold.json", "predictions": folder / "texts.json", **changes}
    return score_files(SquadScoring(**{k: v if k in PLAIN else str(v) for k, v in given.items()}))


PLAIN = ("threshold", "missing")


def test_files_are_scored(files):
    found = scored(files)
    assert found["exact"] == pytest.approx(200 / 3)
    assert found["f1"] == pytest.approx(100 * (1 + 2 / 3 + 1) / 3)
    assert "best_f1" not in found
    with_odds = scored(files, null_odds=files / "odds.json")
    assert (with_odds["f1"], with_odds["best_f1_thresh"]) == (found["f1"], 0.5)
    strict = scored(files, null_odds=files / "odds.json", threshold=0.0)
    assert strict["HasAns_exact"] == 50.0


def test_version_one_has_no_unanswerable_questions(files):
    body = dict(PARAGRAPH, qas=PARAGRAPH["qas"][:2])
    write_squad(files / "gold.json", [body], version="1.1")
    write(files, "texts.json", {"a": "Mara", "b": "Lund"})
    found = scored(files)
    assert (found["exact"], found["HasAns_total"]) == (100.0, 2)
    assert "NoAns_f1" not in found


@pytest.mark.parametrize("form", ["lines", "list", "squad", "object"])
def test_subsets_by_ids(files, form):
    path = files / "ids.txt"
    if form == "list":
        path.write_text('\n ["c", "b"]')
    elif form == "squad":
        write_squad(path, [dict(PARAGRAPH, qas=PARAGRAPH["qas"][1:])])
    elif form == "object":
        path.write_text('{"b": "x", "c": 1}')
    assert sorted(read_ids(path)) == ["b", "c"]
    found = scored(files, ids=path, null_odds=files / "odds.json")
    assert (found["total"], found["HasAns_total"], found["NoAns_total"]) == (2, 1, 1)
    assert found["f1"] == pytest.approx(100 * (2 / 3 + 1) / 2)


def test_missing_predictions_follow_the_policy(files):
    write(files, "texts.json", {"a": "Mara"})
    with pytest.raises(InputError, match=r"texts\.json lacks 2 ids \(b, c\) of the 3 questions"):
        scored(files)
    assert scored(files, missing="skip") == {
        **{"exact": 100.0, "f1": 100.0, "total": 1},
        **{"HasAns_exact": 100.0, "HasAns_f1": 100.0, "HasAns_total": 1},
    }
    empty = scored(files, missing="empty", null_odds=files / "odds.json")
    assert (empty["total"], empty["exact"]) == (3, pytest.approx(200 / 3))
    write(files, "odds.json", {"a": -1.0})
    assert scored(files, missing="empty", null_odds=files / "odds.json") == empty
    write(files, "texts.json", {"z": "Mara"})
    with pytest.raises(InputError, match="no prediction for any question"):
        scored(files, missing="skip")


def test_many_missing_ids_are_counted_and_some_named(files):
    asked = [question(f"q{i}", "Who?", "Mara") for i in range(9)]
    write_squad(files / "gold.json", [paragraph("Mara sings.", *asked)])
    write(files, "texts.json", {})
    with pytest.raises(InputError, match=r"lacks 9 ids \(q0, q1, q2 and 6 more, 9 in all\) of"):
        scored(files)


def test_predictions_of_other_questions_are_remarked(files, caplog):
    write(files, "texts.json", TEXTS | {"zz": "x"})
    with caplog.at_level("WARNING"):
        assert scored(files)["total"] == 3
    assert "texts.json: 1 id (zz) not in" in caplog.text
    caplog.clear()
    write(files, "texts.json", TEXTS)
    scored(files, ids=files / "ids.txt")
    assert not caplog.text  # other questions of the gold file are no strangers


@pytest.mark.parametrize(
    ("texts", "threshold", "unlike"),
    [
        (TEXTS, None, None),  # c alone is above 1.0, and empty
        (TEXTS, 0.5, None),
        (TEXTS, 0.0, r"another threshold than 0: .* of 1 id \(b\)"),  # b is answered at 0.5
        (TEXTS, 2.0, r"another threshold than 2: .* of 1 id \(c\)"),  # c is not, at 2.0
        (TEXTS | {"b": ""}, None, r"another threshold than 1: .* of 1 id \(b\)"),
        (TEXTS | {"c": "Otto"}, -5.0, None),  # no text is empty: made for any threshold
    ],
)
def test_answers_that_another_threshold_made_are_remarked(files, caplog, texts, threshold, unlike):
    write(files, "texts.json", texts)
    scored(files, null_odds=files / "odds.json", threshold=threshold)
    assert bool(caplog.text) == (unlike is not None)
    assert re.search(unlike or "", caplog.text)
    assert "--threshold what `answer` used" in caplog.text or not unlike


def test_questions_without_any_span_say_nothing_of_the_threshold(files, caplog):
    write(files, "texts.json", TEXTS | {"b": "", "c": "Otto"})
    write(files, "odds.json", {"a": -1.0, "b": float("inf"), "c": 2.0})
    scored(files, null_odds=files / "odds.json")
    assert not caplog.text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("texts.json", '{"a": "x",\n "b" "y"}', r"texts\.json, line 2, column 6: malformed JSON"),
        ("texts.json", "", r"texts\.json, line 1, column 1: malformed JSON"),
        ("texts.json", "[" * 100_000, r"texts\.json: malformed JSON \(nested too deeply\)"),
        ("texts.json", '{"a": ' + "9" * 5000 + "}", r"texts\.json: malformed JSON \(a number of"),
        ("texts.json", ["a"], r"texts\.json: expected one JSON object, ids with a text each"),
        ("texts.json", TEXTS | {"b": 3}, r"question b: 3 is not a text"),
        ("texts.json", TEXTS | {"b": [{"text": "x"}]}, r"question b: .* is not a text"),
        ("texts.json", TEXTS | {"b": None}, r"question b: null is not a text"),
        ("odds.json", ODDS | {"c": "much"}, r"odds\.json: question c: \"much\" is not a number"),
        ("odds.json", ODDS | {"c": True}, r"question c: true is not a number"),
        ("odds.json", '{"a": NaN}', r"question a: NaN is not a number"),
        ("odds.json", {"a": 1.0, "c": 1.0}, r"odds\.json lacks 1 id \(b\) that are predicted"),
        ("ids.txt", "\n", r"ids\.txt holds no ids"),
        ("ids.txt", "a\nnone\n", r"ids\.txt: 1 id \(none\) not in .*gold\.json"),
        ("ids.txt", "[1.5]", r"ids\.txt: 1.5 is no id"),
        ("gold.json", "[]", r"gold\.json: expected an object with 'data', a list: no SQuAD file"),
        ("gold.json", {"data": []}, r"gold\.json holds no questions"),
        ("gold.json", {"data": [{}]}, r"data\[0\]: expected an object with 'paragraphs'"),
        ("gold.json", {"data": [{"paragraphs": ["x"]}]}, r"paragraphs\[0\]: .* with 'qas'"),
        (
            "gold.json",
            {"data": [{"paragraphs": [{"qas": [{"answers": []}]}]}]},
            r"qas\[0\]: expected an object with 'id'",
        ),
        (
            "gold.json",
            {"data": [{"paragraphs": [{"qas": [{"id": "a"}]}]}]},
            r"qas\[0\]: question a has no 'answers'",
        ),
        (
            "gold.json",
            {"data": [{"paragraphs": [{"qas": [{"id": "a", "answers": [{"text": 1}]}]}]}]},
            r"qas\[0\]: expected an object with 'text', a text",
        ),
    ],
)
def test_bad_files_are_refused(files, name, content, message):
    write(files, name, content)
    with pytest.raises(InputError, match=message):
        scored(files, null_odds=files / "odds.json", ids=files / "ids.txt")


def test_questions_that_are_there_twice_are_refused(files):
    write_squad(files / "gold.json", [PARAGRAPH, PARAGRAPH])
    with pytest.raises(InputError, match=r"paragraphs\[1\]\.qas\[0\]: question a is there twice"):
        read_gold(files / "gold.json")


def test_options_without_sense_are_refused(files):
    with pytest.raises(InputError, match="--threshold needs --null-odds"):
        scored(files, threshold=0.0)
    with pytest.raises(InputError, match="--threshold nan"):
        scored(files, threshold=float("nan"), null_odds=files / "odds.json")
    with pytest.raises(InputError, match="choices: error, skip, empty"):
        scored(files, missing="drop")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        scored(files, predictions="nowhere")


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the script and gives back its exit status and what it said."""

    def call(*args):
        with pytest.raises(SystemExit) as done:
            sys.exit(main([*SCRIPT.split(), *map(str, args)]))
        return done.value.code, *capsys.readouterr()

    return call


def test_the_script_prints_a_table_or_json(run, files):
    plain = ("--sys", files / "texts.json", "--ref", files / "gold.json")
    where = (*plain, "--null-odds", files / "odds.json")
    status, out, err = run(*where, "--json", files / "scores")
    assert (status, err) == (0, "")
    found = json.loads((files / "scores").read_text())
    assert found == scored(files, null_odds=files / "odds.json")
    assert "no answer where null odds exceed 1;" in out
    assert "null odds" not in run(*plain)[1]
    for words, said in (
        (("--lang", "de"), "without --lang"),
        (("--missing", "no"), "invalid choice"),
    ):
        status, _, err = run(*plain, *words)
        assert (status, said in err) == (2, True)
    status, out, err = run(*where, "--threshold", "0")
    assert (status, err.count("\n")) == (0, 1)  # the answers were made with another
    assert "answerable" in out
    assert "no answer where null odds exceed 0;" in out
    assert "best F1 88.89 with null odds up to 0.5000 answered" in out


def test_the_table_says_where_silence_is_best(files):
    write(files, "texts.json", {"a": "Otto", "b": "Otto", "c": "Otto"})
    found = scored(files, null_odds=files / "odds.json")
    assert (found["best_f1"], found["best_f1_thresh"]) == (pytest.approx(100 / 3), 0.0)
    assert "best F1 33.33 with no question answered" in as_text(found)
    write(files, "texts.json", TEXTS)
    write(files, "odds.json", dict.fromkeys(TEXTS, 0.0))
    found = as_text(scored(files, null_odds=files / "odds.json"))
    assert "best F1 88.89 with null odds up to 0.0000 answered" in found


def test_the_script_refuses_in_one_line(run, files):
    gold = files / "gold.json"
    status, _, err = run("--sys", files / "texts.json", "--ref", gold, "--threshold", "high")
    assert status == 2
    assert "argument --threshold: invalid float value: 'high'" in err
    for system in (gold, "nowhere", files, files / "ids.txt"):
        status, out, err = run("--sys", system, "--ref", gold)
        assert (status, out) == (1, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
