"""Trees of sentences with errors: words that stay keep their heads, and it remains one tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.augment.carried_trees import carried_tree
from fairseq_plugins.augment.error_injection import Injection, inject, inject_file
from fairseq_plugins.augment.error_rules import WordEdit
from fairseq_plugins.corpora.conllu import Word, parse_block, read_blocks
from fairseq_plugins.errors import InputError
from fairseq_plugins.text_reading import numbered_lines

CATS = "she:2 sees:0 an:5 old:5 cat:2 in:8 the:8 garden:2 .:2".split()


def sentence(rows) -> list[Word]:
    """Make words of ``form:head``."""
    pairs = [row.split(":") for row in rows]
    relations = ["dep" if int(head) else "root" for _, head in pairs]
    return [
        Word(f, f, "NOUN", {}, int(h), r, n)
        for n, ((f, h), r) in enumerate(zip(pairs, relations), 1)
    ]


def tree(words, *edits):
    return [f"{word.form}:{word.head}" for word in carried_tree(words, edits)]


def test_a_sentence_without_errors_keeps_its_tree():
    words = sentence(CATS)
    assert tree(words) == CATS
    assert [word.relation for word in carried_tree(words, [])] == [word.relation for word in words]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ((4, 5, ("cats",)), "she:2 sees:0 an:5 old:5 cats:2 in:8 the:8 garden:2 .:2"),
        ((2, 4, ("old",)), "she:2 sees:0 old:4 cat:2 in:7 the:7 garden:2 .:2"),
        ((4, 5, ("of", "cat")), "she:2 sees:0 an:6 old:6 of:6 cat:2 in:9 the:9 garden:2 .:2"),
        ((8, 9, (".", "on")), "she:2 sees:0 an:5 old:5 cat:2 in:8 the:8 garden:2 .:2 on:9"),
        ((5, 7, ("the", "in")), "she:2 sees:0 an:5 old:5 cat:2 the:8 in:8 garden:2 .:2"),
        ((0, 2, ("she",)), "she:0 an:4 old:4 cat:1 in:7 the:7 garden:1 .:1"),
        ((3, 5, ("old",)), "she:2 sees:0 an:2 old:2 in:7 the:7 garden:2 .:2"),
    ],
)
def test_words_that_come_and_go(edit, expected):
    assert tree(sentence(CATS), WordEdit(*edit, 1)) == expected.split()


@pytest.mark.parametrize("heads", [[2, 1], [0, 0], [1], [3], [None], []])
def test_what_is_no_tree_is_refused(heads):
    words = [Word("a", "a", "X", {}, head, "dep", 1) for head in heads]
    with pytest.raises(InputError, match="no tree leads|roots in the place of one"):
        carried_tree(words, [])


@st.composite
def edited(draw):
    """A random tree, and edits that do not touch."""
    count = draw(st.integers(1, 9))
    order = draw(st.permutations(range(count)))
    heads = [0] * count
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))] + 1
    words = sentence(f"w{i}:{head}" for i, head in enumerate(heads))
    edits, at = [], 0
    while at < count:
        last = min(count, at + draw(st.integers(1, 3)))
        if draw(st.booleans()):
            put = draw(
                st.lists(st.sampled_from(["x", "y", "w0", f"w{at}"]), min_size=1, max_size=3)
            )
            edits.append(WordEdit(at, last, tuple(put), 1))
        at = last
    return words, edits


@given(edited())
def test_it_remains_one_tree_of_the_words_that_stand_there(case):
    words, edits = case
    found = carried_tree(words, edits)
    forms = [word.form for word in words]
    for first, last, put, _ in sorted(edits, reverse=True):
        forms[first:last] = put
    assert [word.form for word in found] == forms
    assert [word.head for word in found].count(0) == 1
    for start in range(1, len(found) + 1):
        at, steps = start, 0
        while at:
            at, steps = found[at - 1].head, steps + 1
            assert steps <= len(found)
    assert carried_tree(words, edits[::-1]) == found


def test_files_of_errors_and_trees_have_the_same_words(tmp_path):
    rows = [row.split(":") for row in CATS]
    lines = [f"{n}\t{f}\t{f}\tNOUN\t_\t_\t{h}\tdep\t_\t_\n" for n, (f, h) in enumerate(rows, 1)]
    (tmp_path / "bank.conllu").write_text("".join(["# sent_id = a\n", *lines, "\n"]) * 6)
    inject_file(tmp_path / "bank.conllu", tmp_path / "e.tsv", Injection(1), tmp_path / "e.conllu")
    blocks = list(read_blocks(numbered_lines(tmp_path / "e.conllu")))
    trees = [parse_block(block, tmp_path / "e.conllu", ["heads"]).words for block in blocks]
    sentences = (tmp_path / "e.tsv").read_text().strip().split("\n\n")
    assert trees == [[row.split("\t")[0] for row in one.split("\n")] for one in sentences]
    done = inject(sentence(CATS), "a", Injection(1, kinds="spelling"))
    assert bool(done.edits) == bool(done.kinds)


def test_a_treebank_without_trees_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "bank.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(InputError, match="bank.conllu:1: word 1: no tree leads"):
        inject_file(
            tmp_path / "bank.conllu", tmp_path / "e.tsv", Injection(1), tmp_path / "e.conllu"
        )
    assert not list(tmp_path.glob("e.*"))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("bank.conllu", "e.conllu"), "--output '.*bank.conllu' is the treebank"),
        (("e.tsv", "bank.conllu"), "--trees '.*bank.conllu' is the treebank"),
        (("e.tsv", "sub/../e.tsv"), "--trees '.*e.tsv' is --output"),
    ],
)
def test_no_file_is_written_over_another(tmp_path, names, said):
    lines = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "bank.conllu").write_text(lines)
    (tmp_path / "sub").mkdir()
    output, trees = (tmp_path / name for name in names)
    with pytest.raises(InputError, match=said):
        inject_file(tmp_path / "bank.conllu", output, Injection(1), trees)
    assert (tmp_path / "bank.conllu").read_text() == lines
    assert not (tmp_path / "e.tsv").exists()
