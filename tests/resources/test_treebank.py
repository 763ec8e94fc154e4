"""Reading and re-cutting treebank sentences, the pure half of the pipeline's training."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.pipeline import treebank

ROWS = [
    ("1", "I", "PRON", "4", "nsubj", "_"),
    ("2-3", "don't", "_", "_", "_", "_"),
    ("2", "do", "AUX", "4", "aux", "_"),
    ("3", "n't", "PART", "4", "advmod", "_"),
    ("4", "like", "VERB", "0", "root", "_"),
    ("4.1", "like", "VERB", "_", "_", "_"),
    ("5", "half", "ADJ", "7", "compound", "SpaceAfter=No"),
    ("6", "-", "PUNCT", "5", "punct", "SpaceAfter=No"),
    ("7", "measures", "NOUN", "4", "obj", "SpaceAfter=No"),
    ("8", "!!", "PUNCT", "4", "punct", "SpaceAfter=No"),
]
TEXT = "I don't like half-measures!!"


def conllu(rows=ROWS, text=TEXT) -> str:
    lines = [f"# text = {text}"]
    for number, form, tag, head, dep, misc in rows:
        lines.append("\t".join([number, form, "_", tag, "_", "_", head, dep, "_", misc]))
    return "\n".join(lines) + "\n\n"


def read(folder, split):
    return list(treebank.read_conllu(treebank.split_file(folder, split)))


@pytest.fixture
def sentence(tmp_path):
    (tmp_path / "en_ewt-ud-train.conllu").write_text(conllu(), encoding="utf-8")
    (only,) = read(tmp_path, "train")
    return only


def test_reading_takes_syntactic_words_and_their_place_in_the_text(sentence):
    assert sentence.words == ("I", "do", "n't", "like", "half", "-", "measures", "!!")
    surface = treebank.squeeze(sentence.text)
    assert tuple(surface[start:end] for start, end in sentence.spans) == sentence.words
    assert sentence.spaces == (True, False, True, True, False, False, False, False)
    assert (sentence.heads[3], sentence.deps[3]) == (3, "ROOT")


@pytest.mark.parametrize(
    ("rows", "text", "message"),
    [
        (ROWS, "I do not like half-measures!!", "do not spell"),
        ([("1", "a", "X", "2", "dep", "_"), ("2", "b", "X", "1", "dep", "_")], "a b", "cycle"),
        ([("1", "a", "X", "_", "dep", "_")], "a", "number"),
    ],
)
def test_read_conllu_names_file_and_line_of_a_broken_sentence(tmp_path, rows, text, message):
    path = tmp_path / "train.conllu"
    path.write_text(conllu(rows, text), encoding="utf-8")
    with pytest.raises(InputError, match=rf"train\.conllu:\d+.*{message}"):
        read(tmp_path, "train")


def test_read_conllu_rejects_a_line_with_missing_fields(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text("# text = a\n1\ta\n\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.conllu:2: expected 10"):
        read(tmp_path, "dev")


def test_reading_without_the_split_names_the_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="test.conllu"):
        read(tmp_path, "test")


def test_recut_gives_each_token_the_tag_under_its_first_character(sentence):
    tokens = ["I", "don", "'t", "like", "half-measures", "!", "!"]
    other = treebank.recut(sentence, tokens)
    assert other.words == tuple(tokens)
    assert other.upos == ("PRON", "AUX", "PART", "VERB", "ADJ", "PUNCT", "PUNCT")
    assert other.spaces is None


def test_recut_carries_the_tree_over(sentence):
    other = treebank.recut(sentence, ["I", "don", "'t", "like", "half-measures", "!", "!"])
    assert other.heads == (3, 3, 3, 3, 3, 3, 5)
    assert other.deps == ("nsubj", "aux", "advmod", "ROOT", "obj", "punct", "goeswith")


def test_recut_into_the_same_words_changes_nothing(sentence):
    other = treebank.recut(sentence, sentence.words)
    assert other == treebank.as_given(sentence)


def test_recut_refuses_tokens_that_spell_something_else(sentence):
    assert treebank.recut(sentence, ["I", "do", "not", "like", "half-measures", "!!"]) is None


@given(cuts=st.sets(st.integers(1, 23)))
def test_recut_of_any_cutting_keeps_tags_and_leaves_a_tree_or_none(cuts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ud")
    (folder / "train.conllu").write_text(conllu(), encoding="utf-8")
    (sentence,) = read(folder, "train")
    surface = treebank.squeeze(TEXT)
    edges = [0, *sorted(cut for cut in cuts if cut < len(surface)), len(surface)]
    tokens = [surface[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    other = treebank.recut(sentence, tokens)
    tag_of_character = [
        tag for tag, (a, b) in zip(sentence.upos, sentence.spans, strict=True) for _ in range(a, b)
    ]
    assert list(other.upos) == [tag_of_character[edge] for edge in edges[:-1]]
    assert other.heads is None or treebank.is_forest(other.heads)


def test_is_forest_sees_a_cycle_beside_a_root():
    assert treebank.is_forest([0, 0, 1])
    assert not treebank.is_forest([0, 2, 1])


def test_variants_add_lower_case_and_recut_copies_at_their_rate(sentence):
    def mix(rate):
        return treebank.variants([sentence] * 200, tokenize=str.split, rate=rate, seed=3)

    assert [other.words for other in mix(0)] == [sentence.words] * 200
    every = mix(1)
    assert len(every) == 600
    assert sum(other.words == treebank.lowered(sentence).words for other in every) == 200
    assert sum(other.words[-1].lower() == "half-measures!!" for other in every) == 200
    assert mix(0.5) == mix(0.5)
    assert {other.spaces is None for other in mix(0)} == {True, False}


def test_language_and_licence_are_read_off_the_folder(tmp_path):
    assert (treebank.language_of(tmp_path), treebank.licence_of(tmp_path)) == ("", "")
    for split in ("train", "dev"):
        (tmp_path / f"de_gsd-ud-{split}.conllu").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Summary\nLicense: CC BY-SA 4.0\n", encoding="utf-8")
    assert (treebank.language_of(tmp_path), treebank.licence_of(tmp_path)) == ("de", "CC BY-SA 4.0")
