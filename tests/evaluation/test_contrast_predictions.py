"""Examples that one system gets right and another wrong, as text and as a page."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.contrast import (
    Contrast,
    ContrastOptions,
    agreement,
    differing,
    format_items,
)
from fairseq_plugins.evaluation.contrast_kinds import ANSWERS, compare_files, kind_of, predicted
from fairseq_plugins.evaluation.predictions import (
    check_same,
    read_predictions,
    target_of_lines,
    with_texts,
)
from fairseq_plugins.targets.classes import CLASSES
from fairseq_plugins.targets.score import SCORE
from fairseq_plugins.targets.word_labels import WORD_LABELS

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
    return [
        write(
            tmp_path / f"{name}.jsonl",
            [record(n, c, g, texts=PAIR) for n, (c, g) in enumerate(zip(chances, GOLD))],
        )
        for name, chances in SAID.items()
    ]


def compare(files, source=None, positive="", **criteria):
    """Return the examples of which one system is right and another wrong."""
    systems = [(str(path), read_predictions(path)) for path in files]
    systems = systems if source is None else with_texts(systems, source)
    check_same(systems)
    items = predicted(CLASSES, systems, positive=positive).items
    return differing(items, ContrastOptions(**criteria))


def shown(found, names, style="text"):
    return format_items(found, Contrast("example", found, is_judged=True), names, style)


def printed(files, **options):
    return compare_files(ContrastOptions(systems=[*map(str, files)], **options), dict)


def ids(files, **criteria):
    return [example.id for example in compare(files, **criteria)]


def test_the_side_asked_for_is_right_and_most_others_wrong_come_first(files):
    assert ids(files) == ["2", "1", "0", "4"]  # two others wrong, then one; wide gaps first
    assert ids(files, better="first") == ["4", "3"]
    assert sorted(ids(files, better="any")) == list("01234")
    assert ids(files[::2]) == ["0", "2", "1"]
    assert ids(files, min_gap=60) == ["2", "1"]


def test_an_example_counts_however_sure_the_wrong_system_was(tmp_path):
    """Of three classes the right one may win with less than a wrong system gave it."""
    right = {"a": 0.4, "b": 0.3, "c": 0.3}
    wrong = {"a": 0.45, "b": 0.5, "c": 0.05}
    files = [
        write(
            tmp_path / f"{name}.jsonl",
            [{"id": "0", "label": label, "probabilities": chances, "gold": "a", "texts": PAIR}],
        )
        for name, label, chances in (("one", "a", right), ("two", "b", wrong))
    ]
    assert ids(files, better="any") == ids(files, better="first") == ["0"]
    assert ids(files, better="any", min_gap=0.1) == []
    rows = [json.loads(files[0].read_text()) | {"probabilities": {"a": 10**400}}]
    with pytest.raises(InputError, match=r"one\.jsonl, line 1: probabilities are 1000"):
        read_predictions(write(files[0], rows))


def test_refusals_name_file_line_and_value(files, tmp_path):
    path = files[1]
    good = path.read_text()
    cases = [
        (good.replace('"id": "2"', '"id": "x"'), "line 3: id 'x', but"),
        (good[:-3].rpartition("\n")[0] + "\n", "has 4 predictions"),
        (good.replace('{"id": "1"', '{"id": "1'), "bert.jsonl, line 2: no JSON"),
        ('{"id": "0", "score": 1.5}\n', "line 1: no prediction of classes"),
        ('{"id": "0", "words": ["a"], "labels": ["b"]}\n', "line 1: no prediction of classes"),
        (good.replace('"1": 0.7', '"1": NaN', 1), "line 2: probabilities are"),
        (good.replace('"label": "1"', '"label": "2"', 1), "line 2: no probability of label '2'"),
        (good.replace('"texts": [', '"texts": [3, ', 1), "line 1: 'texts' are"),
        (good.replace('"texts": [', '"texts": [' + "3, " * 9999, 1), "line 1: 'texts' are"),
        (good.replace('"label": "1"', f'"label": "{"2" * 9999}"', 1), "(9,999 characters)"),
    ]
    for text, told in cases:
        path.write_text(text)
        with pytest.raises(InputError, match=r".") as error:
            compare(files)
        assert told in str(error.value)
        assert len(str(error.value)) < 500
    path.write_text(good)
    for criteria, told in (
        ({"better": "third"}, "choices are first, last, any"),
        ({"min_gap": -1}, "must be at least 0"),
    ):
        with pytest.raises(InputError, match=told):
            compare(files, **criteria)
    with pytest.raises(InputError, match="two systems at least"):
        printed(files[:1])
    for path in files:
        write(path, [record(0, 0.3, None)])
    with pytest.raises(InputError, match=r"line 1: no gold label"):
        compare(files)
    with pytest.raises(FileNotFoundError):
        compare([tmp_path / "none", files[0]])


def test_texts_may_stand_elsewhere(tmp_path):
    files = [
        write(tmp_path / f"{c}.jsonl", [record(0, 0.1, "0"), record(1, c, "0")]) for c in (0.9, 0.2)
    ]
    rows = [{"id": str(n), "texts": [f"a {n}", f"b {n}"]} for n in (1, 0)]
    kept = write(tmp_path / "valid.examples.jsonl", rows)
    lines = tmp_path / "valid.txt"
    lines.write_text("a 0\tb 0\na 1\tb 1\n")
    for source in (kept, lines):
        (example,) = compare(files, source)
        texts = ["".join(text for text, _ in runs) for runs in example.view().lines.values()]
        assert texts == ["a 1", "b 1"]
    (example,) = compare(files)
    assert not example.view().lines
    assert "example 1: gold 0" in shown([example], ("a", "b"))
    write(kept, rows[1:])
    with pytest.raises(InputError, match="holds no example '1'"):
        printed(files, src=str(kept))
    write(kept, [*rows, rows[0]])
    with pytest.raises(InputError, match="line 3: id '1' is in line 1 already"):
        printed(files, src=str(kept))
    kept.write_text("[]\n")
    with pytest.raises(InputError, match="line 1: no example with 'id' and 'texts'"):
        printed(files, src=str(kept))


def test_a_class_without_a_probability_has_none(tmp_path):
    lacking = {"id": "0", "label": "0", "probabilities": {"0": 1.0}, "gold": "1"}
    files = [
        write(tmp_path / "a.jsonl", [lacking]),
        write(tmp_path / "b.jsonl", [record(0, 0.9, "1")]),
    ]
    found = compare(files)
    for style in ("text", "html"):
        assert "1: 0.00%" in shown(found, ("a", "b"), style)


def test_predictions_are_told_from_translations(files, tmp_path):
    assert target_of_lines(files[0])
    for text in ("", "S-0\thello\n", "12\n", '{"id": 3}\n', "[]\n"):
        (tmp_path / "x").write_text(text)
        assert not target_of_lines(tmp_path / "x")


def test_text_shows_differing_words_and_every_system(files):
    text = shown(compare(files), tuple(SAID))
    first = text.split("\n\n")[0].splitlines()
    assert first[0] == "example 2: gold 0"
    assert first[1].endswith("if this [-girl-] loves me?")
    assert first[2].endswith("if this {+boy+} loves me?")
    assert [line.split() for line in first[3:]] == [
        ["esim", "wrong", "1", "(1:", "90.00%)"],
        ["bert", "wrong", "1", "(1:", "90.00%)"],
        ["ours", "right", "0", "(1:", "20.00%)"],
    ]
    assert "(0: 80.00%)" in shown(compare(files, positive="0"), tuple(SAID))
    with pytest.raises(InputError, match="class 'x' is not one of 0, 1"):
        printed(files, positive="x")


def test_labels_that_are_no_numbers_show_the_answers_probability(tmp_path):
    said = {"label": "yes", "probabilities": {"yes": 0.8, "no": 0.2}, "gold": "yes", "id": "0"}
    one = write(tmp_path / "a", [said])
    two = write(tmp_path / "b", [{**said, "label": "no", "probabilities": {"yes": 0.4, "no": 0.6}}])
    text = shown(compare([two, one]), ("b", "a"))
    assert "(80.00%)" in text
    assert "(60.00%)" in text


@given(st.lists(st.text("ab*_|\\<\t\n\u2028 ", min_size=1), min_size=2, max_size=2))
def test_lines_stay_lines_whatever_the_texts_hold(texts):
    with TemporaryDirectory() as folder:
        files = [
            write(Path(folder) / f"{chance}.jsonl", [record(0, chance, "0", texts=texts)])
            for chance in (0.9, 0.1)
        ]
        found = compare(files)
    assert len(shown(found, ("a", "b")).split("\n")) == 7


def test_a_system_may_stand_twice(files, tmp_path):
    """Nothing differs then, and no system is lost, whatever systems are called."""
    once = files[0]
    assert printed([once, once]).startswith("0 of 0 such examples shown")
    text = printed([f"one={once}", f"one={files[1]}", f"id={once}"], better="any", max=1)
    assert [line.split()[0] for line in text.splitlines()[3:6]] == ["one", "one", "id"]


def test_identical_sentences_have_no_marks(tmp_path):
    rows = [record(0, chance, "0", texts=[PAIR[0]] * 2) for chance in (0.9, 0.1)]
    paths = [write(tmp_path / str(i), [row]) for i, row in enumerate(rows)]
    text = shown(compare(paths), ("a", "b"))
    assert "[-" not in text
    assert "{+" not in text
    assert read_predictions(paths[0])[0].texts == (PAIR[0],) * 2


def test_agreement_counts_every_example_once(tmp_path):
    rows = [zip((0.9, 0.1, 0.9), "111"), zip((0.9, 0.1, 0.1), "111")]
    files = [
        write(tmp_path / str(i), [record(n, *pair) for n, pair in enumerate(row)])
        for i, row in enumerate(rows)
    ]
    systems = [(str(path), read_predictions(path)) for path in files]
    found = agreement(predicted(CLASSES, systems).items, "example")
    assert found == "3 examples: 1 all right, 1 all wrong, systems differ on the rest"
    assert printed(files).endswith(f"0 of 0 such examples shown\n{found}\n")


def test_the_nearer_score_is_better(tmp_path):
    files = [
        write(tmp_path / name, [{"id": str(n), "score": s, "gold": 3} for n, s in enumerate(row)])
        for name, row in (("a", (3.5, 1, 3)), ("b", (2, 2.5, 3)))
    ]
    assert [target_of_lines(path) for path in files] == [SCORE] * 2
    text = printed(files, better="any")
    assert text.splitlines()[:3] == [
        "example 1: gold 3",
        "  a  1.000  (-2.000)",
        "  b  2.500  (-0.500)",
    ]
    assert text.endswith("2 of 2 such examples shown\n")
    assert "0 of 0" in printed(files, min_gap=3)
    write(files[0], [{"id": "0", "score": float("nan"), "gold": 3}])
    with pytest.raises(InputError, match="line 1: nan is no number"):
        printed(files)
    systems = [(name, read_predictions(files[1], SCORE)) for name in "ab"]
    assert not differing(predicted(SCORE, systems).items, ContrastOptions(better="any"))


def test_the_row_of_labels_with_fewer_errors_is_better(tmp_path):
    def said(*labels):
        return {"id": "0", "words": ["a", "b"], "labels": labels, "gold": ["O", "B-X"]}

    files = [write(tmp_path / str(n), [said("O", one)]) for n, one in enumerate(("O", "B-X"))]
    systems = [(str(path), read_predictions(path, WORD_LABELS)) for path in files]
    (item,) = differing(predicted(WORD_LABELS, systems).items)
    assert item.gap == 50
    text = printed([f"{name}={path}" for name, path in zip("ab", files)])
    assert "  a      O [-O-]  (1 of 2 right)\n  b      O B-X  (2 of 2 right)\n" in text
    write(files[1], [said("O")])
    with pytest.raises(InputError, match="line 1: 1 labels and 2 words and 2 gold"):
        printed(files)


def test_whole_json_objects_are_answers_to_questions(tmp_path):
    path = tmp_path / "file"
    for text in ('{"a": "mill"}', '\n{\n"a": "mill",\n"b": ""\n}\n', "{}"):
        path.write_text(text)
        assert kind_of(path) == ANSWERS
    one = '{"id": "a", "label": "yes", "probabilities": {}}'
    for text in ("", "{ a mill }", "{" * 99_999 + "}", one, f"{one}\n{one}", "a mill\n{}"):
        path.write_text(text)
        assert kind_of(path) != ANSWERS
    path.write_text('{"a": [{"text": "mill"}]}')
    with pytest.raises(InputError, match="file is one JSON object, but not of ids with answers"):
        kind_of(path)
