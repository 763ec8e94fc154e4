"""CSV says what the same rows say as JSON lines, or is refused: nothing is guessed in silence."""

from __future__ import annotations

import csv
import json
import logging
import random
from pathlib import Path

import pytest
from raw_datasets import write

from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.corpora.readers.csv_rows import MARKS
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction_inputs import Wanted, read_rows
from fairseq_plugins.targets.classes import CLASSES

PARTS = (
    "a, b",
    "c; d",
    'the "heir',
    "教区，成立",
    "كتاب",
    "🙂",
    "\t",
    "\n",
    "x",
    "5'",
    '""',
    ",",
    ";",
)
LABELS = ("yes", "no; maybe", "a,b", "教", "1")


def text(rng: random.Random) -> str:
    return "w" + "".join(rng.choices(PARTS, k=rng.randint(1, 4)))


def table(rng: random.Random, count: int) -> list[dict[str, str]]:
    """Invent rows of pairs; columns that nobody asks for stand among theirs."""
    names = rng.sample(["text", "other", "label", "key", "note", "no;te"], 6)
    rows = []
    for number in range(count):
        row = {"text": text(rng), "other": text(rng), "label": rng.choice(LABELS)}
        row |= {"key": f"k{number}", "note": rng.choice(["", text(rng)]), "no;te": ""}
        rows.append({name: row[name] for name in names})
    return rows


def write_csv(path: Path, rows, rng: random.Random, *, header: bool = True) -> str:
    """Write rows as some tool would; return what separates their cells."""
    mark = rng.choice([*MARKS])
    style = {"delimiter": mark, "lineterminator": rng.choice(["\n", "\r\n"])}
    style["quoting"] = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    with open(path, "w", encoding=rng.choice(["utf-8", "utf-8-sig"]), newline="") as stream:
        writer = csv.writer(stream, **style)
        writer.writerows([[*rows[0]]] * header + [[*row.values()] for row in rows])
    return mark


def read(path: Path, split: str = "train", name: str = "plain", **options) -> list:
    found = read_split(DATASETS[name], split, path, ReadOptions(**options))
    return [(x.texts, x.label, x.id) for x in found]


COLUMNS = {"text2_column": "other", "id_column": "key"}


def test_csv_of_any_style_says_what_json_lines_say(tmp_path, caplog) -> None:
    rng = random.Random(1)
    caplog.set_level(logging.INFO)
    for number in range(150):
        rows = table(rng, rng.randint(1, 5))
        path = tmp_path / f"{number}.{rng.choice(['csv', 'CSV'])}"
        mark = write_csv(path, rows, rng)
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        assert read(path, **COLUMNS) == read(write(tmp_path / "x.jsonl", lines), **COLUMNS)
        assert f"{path}: {MARKS[mark]} separate the columns" in caplog.text
        found = [*read_rows(path, ReadOptions(**COLUMNS), CLASSES, Wanted(2), keeps=True)]
        assert [one.cells for one in found] == rows
        assert [x.line for x in found] == starts(path, rows)


def starts(path: Path, rows) -> list[int]:
    """The lines that rows begin in: behind the header, and those that cells with breaks fill."""
    places, line = [], 2
    for row in rows:
        places.append(line)
        line += 1 + "".join(row.values()).count("\n")
    return places


def test_csv_without_a_header_is_read_or_refused_but_never_cut_wrong(tmp_path) -> None:
    rng, read_well = random.Random(2), 0
    numbers = {"no_header": True, "text_column": "1", "label_column": "3", "text2_column": "2"}
    for number in range(120):
        rows = [{k: row[k] for k in ("text", "other", "label")} for row in table(rng, 3)]
        path = tmp_path / f"{number}.csv"
        write_csv(path, rows, rng, header=False)
        wanted = [((r["text"], r["other"]), r["label"], str(i)) for i, r in enumerate(rows)]
        try:
            found = read(path, **numbers)
        except ValueError as error:
            found = "may separate the columns" in str(error) or str(error)
        read_well += found == wanted
        assert found in (wanted, True)
    assert read_well > 80


def test_rows_behind_the_first_one_tell_what_separates_columns(tmp_path) -> None:
    for mark in MARKS:
        others = ", ".join({*MARKS} - {mark, "\t"}) + " " + "\t" * (mark != "\t")
        for first in (f"a{others}b", '" a"', f'" a{others}"'):
            path = write(tmp_path / "x.csv", [f"{first}{mark}yes", f"c{mark}no"])
            found = read(path, no_header=True, text_column="1", label_column="2")
            assert [(*texts, label) for texts, label, _ in found] == [
                (first.strip('"'), "yes"),
                ("c", "no"),
            ]


def test_csv_and_tsv_give_the_same_examples(tmp_path) -> None:
    rng = random.Random(3)
    for number in range(60):
        rows = table(rng, 4)
        rows = [{k: " ".join(v.split()) for k, v in row.items()} for row in rows]
        write_csv(tmp_path / f"{number}.csv", rows, rng)
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
        path = write(tmp_path / f"{number}.tsv", lines)
        assert read(path, **COLUMNS) == read(path.with_suffix(".csv"), **COLUMNS)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["text,label", '"a,1', "b,0"],
            r"x.csv:2: the row that begins here is no CSV \(unexpected",
        ),
        (["text,label", "a,1", '"b"c,1'], r"x.csv:3: the row .*: a cell with a quotation mark"),
        (["text,label", "a, b,1"], r"x.csv:2: found 3 columns, expected 2; a cell that holds the"),
        (["text,label", "a", "1"], r"x.csv:2: found 1 columns, expected 2"),
        (["text,label", "a,1", "", "b,1"], r"x.csv:3: an empty line; expected 2 columns"),
        (["text,label", "a,1", ",,"], r"x.csv:3: found 3 columns, expected 2"),
        (["text,label,text", "a,1,b"], r"x.csv:1: the header names column 'text' twice"),
        (["txt;label", "a;1"], r"x.csv:1: no column 'text'; the columns are txt, label"),
        (
            ["text,a;text", "b,c;d"],
            r"x.csv:1: commas or semicolons may separate the columns: write",
        ),
        (["text,label", '"a\n\n",', "b,1"], r"x.csv:2: no label, which split 'train' must have"),
    ],
)
def test_what_is_no_table_is_named(lines, message, tmp_path) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "x.csv", lines))


@pytest.mark.parametrize("lines", [["text,label", "a,0"], ['"text";"label"', "a;0"]])
def test_csv_of_another_name_is_recognised(lines, tmp_path) -> None:
    with pytest.raises(
        ValueError, match=r"x.tsv:1: no column .* give it a name that ends with .csv"
    ):
        read(write(tmp_path / "x.tsv", lines))


def test_blanks_behind_commas_are_no_text(tmp_path) -> None:
    path = write(tmp_path / "x.csv", ['"key", "text", "label"', '1, "a, b", x', "2, c, x"])
    assert [texts for texts, *_ in read(path)] == [("a, b",), ("c",)]


def test_a_single_column_is_cut_at_commas_alone(tmp_path) -> None:
    path = write(tmp_path / "x.csv", ["text", "a; b", '"c, d"', ""])
    assert [texts for texts, *_ in read(path, "test")] == [("a; b",), ("c, d",)]


def test_official_tables_may_be_csv(tmp_path) -> None:
    header = "id,qid1,qid2,question1,question2,is_duplicate"
    path = write(tmp_path / "x.csv", [header, '"0","1","2","Why, say?","Who?","0"'])
    assert read(path, name="qqp") == [(("Why, say?", "Who?"), "0", "0")]
    path = write(tmp_path / "y.csv", ['a;1;*;"Hi; there"'])
    assert read(path, name="cola") == [(("Hi; there",), "1", "0")]
