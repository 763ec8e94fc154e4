"""Files of semantic roles, a column a predicate: labels, brackets, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.corpora.role_columns import RoleColumns, read_roles
from fairseq_plugins.errors import InputError

BRACKETS = """\
Anna (A0*   *
and   *)    *
I    *    (A0*)
saw  (V*)   *
it   (A1*A1) (V*V)
"""
LABELS = [["B-A0", "I-A0", "O", "B-V", "B-A1"], ["O", "O", "B-A0", "O", "B-V"]]


def read(tmp_path: Path, text: str, **columns):
    (tmp_path / "a.srl").write_text(text, encoding="utf-8")
    return [*read_roles(tmp_path / "a.srl", RoleColumns(**columns))]


def test_brackets_become_labels(tmp_path) -> None:
    (found,) = read(tmp_path, BRACKETS)
    assert found.words == ["Anna", "and", "I", "saw", "it"]
    assert found.roles == LABELS
    rows = zip(found.words, *LABELS)
    (again,) = read(tmp_path, "".join("\t".join(row) + "\n" for row in rows), separator="tab")
    assert again == found


def test_sentences_have_as_many_columns_as_predicates(tmp_path) -> None:
    text = "a O\nb B-V\n\n\nno\n\nc B-V O O\n"
    found = read(tmp_path, text)
    assert [one.roles for one in found] == [[["O", "B-V"]], [], [["B-V"], ["O"], ["O"]]]
    assert [one.line for one in found] == [1, 5, 7]


def test_files_of_conll_2012_have_words_and_coreference_around(tmp_path) -> None:
    text = (
        "#begin document (a); part 000\n"
        "a 0 0 She PRP (S* - - - - * (ARG0*) (0)\n"
        "a 0 1 ran VBD *)  run 1 - - * (V*)   -\n"
        "\n"
        "a 0 0 # NN *      - - - - *  -\n"
        "#end document\n"
    )
    found = read(tmp_path, text, word_column=4, first_column=12, columns_behind=1)
    assert [(one.words, one.roles) for one in found] == [
        (["She", "ran"], [["B-ARG0", "B-V"]]),
        (["#"], []),
    ]


def spans_of(labels: list[str]) -> list[str]:
    """Write labels as brackets."""
    cells = []
    for label, after in zip(labels, [*labels[1:], "O"]):
        opens = f"({label[2:]}" if label[0] == "B" else ""
        cells.append(f"{opens}*{')' if label != 'O' and after[0] != 'I' else ''}")
    return cells


@given(
    st.lists(st.tuples(st.sampled_from(["O", "A0", "V", "ARGM-TMP"]), st.booleans()), min_size=1)
)
def test_labels_survive_brackets(tmp_path_factory, drawn) -> None:
    labels, before = [], "O"
    for kind, goes_on in drawn:
        label = "O" if kind == "O" else f"B-{kind}"
        before = f"I-{before[2:]}" if goes_on and before != "O" else label
        labels.append(before)
    text = "".join(f"w {cell}\n" for cell in spans_of(labels))
    (found,) = read(tmp_path_factory.getbasetemp(), text)
    assert found.roles == [labels]


@pytest.mark.parametrize(
    ("text", "given_columns", "message"),
    [
        ("a O O\nb O\n", {}, r"a\.srl:2: found 2 columns, line 1 has 3"),
        ("a O\nb ARG0\n", {}, r"a\.srl:2: column 2 has 'ARG0'; expected O, B-ROLE or I-ROLE, or"),
        ("a *\nb B-V\n", {}, r"a\.srl:2: column 2 has 'B-V' among brackets such as"),
        ("a (A0*\nb (V*)\n", {}, r"a\.srl:2: column 2 opens '\(V\*\)' inside A0"),
        ("a (A0*\nb *A1)\n", {}, r"a\.srl:2: column 2 closes '\*A1\)', but A0 is open"),
        ("a (A0*A1)\n", {}, r"a\.srl:1: column 2 closes '\(A0\*A1\)', but A0 is open"),
        ("a *A0)\n", {}, r"a\.srl:1: column 2 closes '\*A0\)', but nothing is open"),
        ("a *)\n", {}, r"a\.srl:1: column 2 closes '\*\)', but nothing is open"),
        ("a *\nb (A0*\nc *\n", {}, r"a\.srl:2: column 2 opens A0 and never closes it"),
        ("a O\n", {"first_column": 4}, r"found 2 columns in 'a O': --first-column 4 has no roles"),
        ("a O\n", {"word_column": 3}, r"found 2 columns in 'a O': --word-column 3 has no word"),
        ("a b\tO\n", {"separator": "tab"}, r"a\.srl:1: .* --word-column 1 has no word"),
        ("a O\n", {"columns_behind": -1}, "--columns-behind -1: must be at least 0"),
    ],
)
def test_other_files_are_refused(tmp_path, text, given_columns, message) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, **given_columns)
