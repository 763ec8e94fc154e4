"""CoNLL-U: what a sentence is, multiword tokens and empty nodes, and rows that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_plugins.corpora.conllu import parse_block, read_blocks, sentence_id, treebank_words
from fairseq_plugins.corpora.parallel_text import scan_file
from fairseq_plugins.errors import InputError
from fairseq_plugins.text_reading import numbered_lines

FILE = Path("a.conllu")


def row(number: str, form: str, upos: str = "NOUN") -> str:
    return "\t".join([number, form, "_", upos, "_", "_", "0", "root", "_", "_"])


def parse(*rows: str):
    return parse_block(list(enumerate(rows, 1)), FILE)


def heads_of(*rows: str) -> list[int]:
    return parse_block(list(enumerate(rows, 1)), FILE, ["heads"]).layers["heads"]


def test_words_and_tags_are_read() -> None:
    note = parse("# text = Dogs bark", row("1", "Dogs"), row("2", "bark", "VERB"))
    assert (note.words, note.layers["pos"], note.spans) == (
        ["Dogs", "bark"],
        ["NOUN", "VERB"],
        None,
    )


def test_comments_alone_are_an_empty_sentence() -> None:
    assert parse("# sent_id = 1").words == []


def test_multiword_token_spelt_by_its_parts_is_its_parts() -> None:
    rows = (
        row("1-2", "don't"),
        row("1", "do", "AUX"),
        row("2", "n't", "PART"),
        row("3", "go", "VERB"),
    )
    assert parse(*rows).words == ["do", "n't", "go"]


def test_multiword_token_that_contracts_is_one_word_of_its_first_tag() -> None:
    rows = (
        *(row("1", "geht", "VERB"), row("2-3", "zum", "_"), row("2", "zu", "ADP")),
        *(row("3", "dem", "DET"), row("4", "See")),
    )
    note = parse(*rows)
    assert (note.words, note.layers["pos"]) == (["geht", "zum", "See"], ["VERB", "ADP", "NOUN"])


def test_empty_nodes_are_passed_over() -> None:
    rows = row("0.1", "ghost"), row("1", "He", "PRON"), row("1.1", "ghost"), row("2", "ran", "VERB")
    assert parse(*rows).words == ["He", "ran"]


def test_words_with_spaces_stay_whole() -> None:
    assert parse(row("1", "20 000", "NUM")).words == ["20 000"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["# c", "1 Dogs NOUN"], r"a.conllu:2: expected 10 tab-separated fields"),
        (["# c", row("x", "Dogs")], r"a.conllu:2: 'x' is no CoNLL-U id"),
        ([row("\u00b2", "Dogs")], r"a.conllu:1: '\u00b2' is no CoNLL-U id"),
        ([row("1-", "Dogs")], r"a.conllu:1: '1-' is no CoNLL-U id"),
        ([row("1.x", "Dogs")], r"a.conllu:1: '1.x' is no CoNLL-U id"),
        (
            [row("1", "Dogs", "NN")],
            r"a.conllu:1: 'NN' is no universal part of speech; choices: ADJ",
        ),
        ([row("1", "Dogs"), row("3", "bark")], r"a.conllu:2: id '3' where 2 is due"),
        ([row("1", "Dogs"), row("1", "bark")], r"a.conllu:2: id '1' where 2 is due"),
        ([row("2-1", "ab"), row("1", "a")], r"a.conllu:1: id '2-1' where 1 is due"),
        ([row("9" * 5000, "a")], r"a.conllu:1: '9{80}'… .* is no CoNLL-U id"),
        ([row("1-3", "abc"), row("1", "a"), row("2", "b")], r"ends at 3, but the sentence has 2"),
        (
            [row("1-2", "ab"), row("1", "a"), row("2-3", "bc"), row("2", "b"), row("3", "c")],
            r"a.conllu:3: multiword token 2-3 overlaps another",
        ),
    ],
)
def test_bad_rows_are_named(rows, message) -> None:
    with pytest.raises(InputError, match=message):
        parse(*rows)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("gap", [1, 3])
def test_sentences_are_counted_as_they_are_read(end, mark, gap, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fairseq_plugins.corpora.parallel_text.CHUNK_LINES", 2)
    sentences = [[f"# {i}", row("1", f"w{i}")] for i in range(5)]
    text = end * 2 + (end * (gap + 1)).join(end.join(lines) for lines in sentences)
    path = tmp_path / "a.conllu"
    path.write_bytes((mark + text.lstrip() + end).encode())
    found = scan_file(path, None)
    assert (found.lines, len(found.offsets)) == (5, 3)
    for k, (offset, number) in enumerate(zip(found.offsets, found.line_numbers)):
        blocks = list(read_blocks(numbered_lines(path, offset, number)))
        assert len(blocks) == 5 - 2 * k
        assert parse_block(blocks[0], path).words == [f"w{2 * k}"]
        assert blocks[0][0] == (number, f"# {2 * k}")


def parsed(*rows: tuple[str, str, object]) -> list[str]:
    """Rows of forms and heads."""
    return [
        "\t".join([number, form, "_", "NOUN", "_", "_", str(head), "dep", "_", "_"])
        for number, form, head in rows
    ]


def test_heads_are_read() -> None:
    assert heads_of(*parsed(("1", "Dogs", 2), ("2", "bark", 0))) == [2, 0]
    assert heads_of("# sent_id = 1") == []


def test_multiword_token_stands_where_its_parts_stood() -> None:
    """``and-in-the-house``: the house's place, and what hung on the house hangs on the token."""
    rows = [("1", "see", 0), ("2-4", "vebait", "_"), ("2", "ve", 4), ("3", "be", 4)]
    rows += [("4", "bait", 1), ("5", "old", 4)]
    assert parse(*parsed(*rows)).words == ["see", "vebait", "old"]
    assert heads_of(*parsed(*rows)) == [0, 1, 2]
    relations = ["root", "_", "cc", "case", "obl", "amod"]
    told = [row.replace("\tdep\t", f"\t{name}\t") for row, name in zip(parsed(*rows), relations)]
    note = parse_block(list(enumerate(told, 1)), FILE, ["dep"])
    assert note.layers["dep"] == ["root", "obl", "amod"]


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((2, 1), "a.conllu:1: .*cycle"),
        ((0, 0), "a.conllu:1: .*2 roots"),
        ((0, 3), "a.conllu:1: .*head 3"),
        ((0, 2), "a.conllu:1: .*its own head"),
        ((0, "_"), "a.conllu:2: head '_' is no number"),
        ((0, "-1"), "a.conllu:2: head '-1' is no number"),
    ],
)
def test_heads_that_form_no_tree_are_not_read_or_refused(heads, message) -> None:
    rows = parsed(("1", "Dogs", heads[0]), ("2", "bark", heads[1]))
    assert [*parse(*rows).layers] == ["pos"]
    with pytest.raises(InputError, match=message):
        heads_of(*rows)


def test_treebank_words_have_all_columns() -> None:
    rows = ["# sent_id = en-1", row("1-2", "don't"), row("1", "do", "AUX"), row("2", "n't", "PART")]
    rows[2] = rows[2].replace("\t_\tAUX\t_\t_\t0\troot", "\tdo\tAUX\tVB\tMood=Imp|X=Y\t2\taux:pass")
    block = list(enumerate(rows, 7))
    first, second = treebank_words(block, FILE)
    assert first == ("do", "do", "AUX", {"Mood": "Imp", "X": "Y"}, 2, "aux", 9)
    assert (second.form, second.head, second.relation, second.line) == ("n't", 0, "root", 10)
    assert sentence_id(block) == "en-1"
    assert sentence_id(block[1:]) == ""
