"""Examples that one system gets right and another wrong, as text, Markdown and TSV."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation.text_comparison import (
    TextPrediction,
    agreement,
    compare_predictions,
    holds_answers,
    holds_predictions,
    read_predictions,
)
from fairseq_plugins.evaluation.text_comparison_report import (
    compare_text_files,
    format_text_examples,
)

PAIR = ["How can I tell if this girl loves me?", "How can I tell if this boy loves me?"]
# probability of class 1 by three systems, for five examples; gold
SAID = {"esim": [0.9, 0.8, 0.9, 0.1, 0.9], "bert": [0.2, 0.7, 0.9, 0.2, 0.1]}
SAID["ours"] = [0.1, 0.12, 0.2, 0.9, 0.6]
GOLD = ["0", "0", "0", "0", "1"]


def record(number, chance, gold, **more):
    label = "1" if chance > 0.5 else "0"
    probabilities = {"0": 1 - chance, "1": chance}
    found = {"id": str(number), "label": label, "probability": probabilities[label]}
    return {**found, "probabilities": probabilities, "gold": gold, **more}


def write(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """Predictions of three systems, with texts."""
    return [
        write(
            tmp_path / f"{name}.jsonl",
            [record(n, c, g, texts=PAIR) for n, (c, g) in enumerate(zip(chances, GOLD))],
        )
        for name, chances in SAID.items()
    ]


def ids(files, **criteria):
    return [example.id for example in compare_text_files(files, **criteria)]


def test_the_side_asked_for_is_right_and_most_others_wrong_come_first(files):
    assert ids(files) == ["2", "1", "0", "4"]  # two others wrong, then one; wide gaps first
    assert ids(files, better="second") == ["0", "3"]
    assert ids(files, better="first") == ["4", "3"]
    assert sorted(ids(files, better="any")) == sorted(ids(files, better="both")) == list("01234")
    assert ids(files[::2]) == ids(files[::2], better="second") == ["0", "2", "1"]
    assert ids(files, min_gap=60) == ["2", "1"]


def test_refusals_name_file_line_and_value(files, tmp_path):
    path = files[1]
    good = path.read_text()
    cases = [
        (good.replace('"id": "2"', '"id": "x"'), "line 3: id 'x', but"),
        (good[:-3].rpartition("\n")[0] + "\n", "has 4 predictions"),
        (good.replace('{"id": "1"', '{"id": "1'), "bert.jsonl, line 2: no JSON"),
        ('{"id": "0", "score": 1.5}\n', "line 1: no prediction of a class"),
        ('{"id": "0", "words": ["a"], "labels": ["b"]}\n', "line 1: no prediction of a class"),
        (good.replace('"1": 0.7', '"1": NaN', 1), "line 2: probabilities are"),
        (good.replace('"label": "1"', '"label": "2"', 1), "line 2: no probability of label '2'"),
        (good.replace('"texts": [', '"texts": [3, ', 1), "line 1: 'texts' are"),
        (good.replace('"texts": [', '"texts": [' + "3, " * 9999, 1), "line 1: 'texts' are"),
        (good.replace('"label": "1"', f'"label": "{"2" * 9999}"', 1), "(9,999 characters)"),
    ]
    for text, told in cases:
        path.write_text(text)
        with pytest.raises(ValueError, match=r".") as error:
            compare_text_files(files)
        assert told in str(error.value)
        assert len(str(error.value)) < 500
    path.write_text(good)
    for criteria, told in (
        ({"better": "third"}, "choose from second, first, last, both, any"),
        ({"min_gap": -1}, "must not be negative"),
    ):
        with pytest.raises(ValueError, match=told):
            compare_text_files(files, **criteria)
    with pytest.raises(ValueError, match="two systems at least"):
        compare_text_files(files[:1])
    for path in files:
        write(path, [record(0, 0.3, None)])
    with pytest.raises(ValueError, match=r"line 1: no gold label"):
        compare_text_files(files)
    with pytest.raises(FileNotFoundError):
        compare_text_files([tmp_path / "none", files[0]])


def test_texts_may_stand_elsewhere(tmp_path):
    files = [
        write(tmp_path / f"{c}.jsonl", [record(0, 0.1, "0"), record(1, c, "0")]) for c in (0.9, 0.2)
    ]
    rows = [{"id": str(n), "texts": [f"a {n}", f"b {n}"]} for n in (1, 0)]
    kept = write(tmp_path / "valid.examples.jsonl", rows)
    lines = tmp_path / "valid.txt"
    lines.write_text("a 0\tb 0\na 1\tb 1\n")
    for source in (kept, lines):
        (example,) = compare_text_files(files, source)
        assert example.texts == ("a 1", "b 1")
    (example,) = compare_text_files(files)
    assert example.texts == ()
    assert "example 1: gold 0" in format_text_examples([example], names=("a", "b"))
    write(kept, rows[1:])
    with pytest.raises(ValueError, match="holds no example '1'"):
        compare_text_files(files, kept)
    kept.write_text("[]\n")
    with pytest.raises(ValueError, match="line 1: no example with 'id' and 'texts'"):
        compare_text_files(files, kept)


def test_a_class_without_a_probability_has_none(tmp_path):
    lacking = {"id": "0", "label": "0", "probabilities": {"0": 1.0}, "gold": "1"}
    files = [
        write(tmp_path / "a.jsonl", [lacking]),
        write(tmp_path / "b.jsonl", [record(0, 0.9, "1")]),
    ]
    found = compare_text_files(files)
    for style, shown in (("text", "1: 0.00%"), ("markdown", "1: 0.00%"), ("tsv", "\t0.000000\t")):
        assert shown in format_text_examples(found, names=("a", "b"), style=style)


def test_predictions_are_told_from_translations(files, tmp_path):
    assert holds_predictions(files[0])
    for text in ("", "S-0\thello\n", "12\n", '{"id": 3}\n', "[]\n"):
        (tmp_path / "x").write_text(text)
        assert not holds_predictions(tmp_path / "x")


def test_text_shows_differing_words_and_every_system(files):
    text = format_text_examples(compare_text_files(files), names=tuple(SAID))
    first = text.split("\n\n")[0].splitlines()
    assert first[0] == "example 2: gold 0"
    assert first[1].endswith("if this [-girl-] loves me?")
    assert first[2].endswith("if this {+boy+} loves me?")
    assert [line.split() for line in first[3:]] == [
        ["esim", "wrong", "1", "(1:", "90.00%)"],
        ["bert", "wrong", "1", "(1:", "90.00%)"],
        ["ours", "right", "0", "(1:", "20.00%)"],
    ]
    other = format_text_examples(compare_text_files(files), names=tuple(SAID), positive="0")
    assert "(0: 80.00%)" in other
    with pytest.raises(ValueError, match="class 'x' is not one of 0, 1"):
        format_text_examples(compare_text_files(files), names=tuple(SAID), positive="x")
    with pytest.raises(ValueError, match="choose from text, markdown, tsv"):
        format_text_examples([], names=tuple(SAID), style="html")


def test_labels_that_are_no_numbers_show_the_answers_probability(tmp_path):
    said = {"label": "yes", "probabilities": {"yes": 0.8, "no": 0.2}, "gold": "yes", "id": "0"}
    one = write(tmp_path / "a", [said])
    two = write(tmp_path / "b", [{**said, "label": "no", "probabilities": {"yes": 0.4, "no": 0.6}}])
    text = format_text_examples(compare_text_files([two, one]), names=("b", "a"))
    assert "(80.00%)" in text
    assert "(60.00%)" in text


@given(st.lists(st.text("ab*_|\\<\t\n\u2028 ", min_size=1), min_size=2, max_size=2))
def test_tables_stay_tables_whatever_the_texts_hold(texts):
    one, two = (_read([record(0, chance, "0", texts=texts)]) for chance in (0.9, 0.1))
    found = compare_predictions([("a", one), ("b", two)])
    tsv = format_text_examples(found, names=("a", "b"), style="tsv")
    assert [line.count("\t") for line in tsv.split("\n")[:-1]] == [10, 10]
    markdown = format_text_examples(found, names=("a", "b"), style="markdown").split("\n")[:-1]
    assert len(markdown) == 3
    assert {line.replace("\\\\", "").replace("\\|", "").count("|") for line in markdown} == {6}
    shown = format_text_examples(found, names=("a", "b")).split("\n")
    assert len(shown) == 7


def _read(records):
    """Read records as if they stood in a file."""
    from fairseq_plugins.evaluation import text_comparison

    return [text_comparison._prediction(one, i, "x") for i, one in enumerate(records, 1)]


def test_identical_sentences_have_no_marks(tmp_path):
    rows = [record(0, chance, "0", texts=[PAIR[0]] * 2) for chance in (0.9, 0.1)]
    paths = [write(tmp_path / str(i), [row]) for i, row in enumerate(rows)]
    text = format_text_examples(compare_text_files(paths), names=("a", "b"))
    assert "[-" not in text
    assert "{+" not in text
    assert read_predictions(paths[0])[0].texts == (PAIR[0],) * 2


def test_agreement_counts_every_example_once():
    def said(*labels):
        return [TextPrediction(str(i), one, {one: 1.0}, "a", (), i) for i, one in enumerate(labels)]

    found = agreement([said("a", "b", "a"), said("a", "b", "b")])
    assert found == "3 examples: 1 all right, 1 all wrong, systems differ on the rest"


def test_whole_json_objects_are_answers_to_questions(tmp_path):
    path = tmp_path / "file"
    for text in ('{"a": "mill"}', '\n{\n"a": "mill",\n"b": ""\n}\n', "{}"):
        path.write_text(text)
        assert holds_answers(path)
    one = '{"id": "a", "label": "yes", "probabilities": {}}'
    for text in ("", "{ a mill }", "{" * 99_999 + "}", one, f"{one}\n{one}", "a mill\n{}"):
        path.write_text(text)
        assert not holds_answers(path)
    path.write_text('{"a": [{"text": "mill"}]}')
    with pytest.raises(ValueError, match="file is one JSON object, but not of ids with answers"):
        holds_answers(path)
