"""Tokens in, labels out: a token that is white space never ends a sentence without a word."""

from __future__ import annotations

import random

import pytest
from raw_datasets import write

from fairseq_plugins.corpora.conllu import read_blocks
from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.corpora.parallel_text import scan_file
from fairseq_plugins.corpora.readers.tokens import TokenLayout
from fairseq_plugins.corpora.role_columns import RoleColumns, read_roles
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction_inputs import Wanted, read_examples
from fairseq_plugins.text_reading import numbered_lines

WORDS = (
    "ball",
    "weiß",
    "教区",
    "成立",
    "كتاب",
    "🙂",
    "e\u0301",
    "\u200b",
    "x\ufeff",
    "-",
    '"',
    "O",
)
SPACES = ("\u3000", "\u00a0", "\u2003", "\u2028", "\u0085", "\u202f", "\x0b", "\x0c", "\x1f")
LAYOUTS = {  # how a line of a word without a label is written -> options that read it
    "{}": {},
    "{}\t": {"tag_column": 2},
    "7\t{}": {"token_column": 2, "tag_column": 1, "layer_columns": "number=1"},
    "{} ": {"separator": "blank"},
}


def sentences(rng: random.Random) -> list[list[str]]:
    """Invent sentences; every other file has tokens that are white space."""
    known = WORDS + SPACES * rng.randint(0, 1)
    return [rng.choices(known, k=rng.randint(1, 4)) for _ in range(rng.randint(1, 3))]


def lines_of(found: list[list[str]], form: str, rng: random.Random) -> list[str]:
    """Write sentences a token a line, with all that may stand between them."""
    ends = ("", " ", "\t", " \t ")
    return [x for words in found for x in (*map(form.format, words), rng.choice(ends))]


def outcome(examples, wanted: list[list[str]]) -> bool:
    """Whether a file is read; then it has all its tokens. One of white space is refused."""
    spaces = [word for words in wanted for word in words if not word.strip()]
    try:
        found = [list(one.words) for one in examples]
    except ValueError as error:
        message = str(error)
        found = f":{1 + flat(wanted).index(spaces[0])}: " in message and "white space" in message
    assert found == (True if spaces else wanted)
    return not spaces


def flat(wanted: list[list[str]]) -> list[str]:
    """The lines of a file, its tokens and what is between sentences."""
    return [line for words in wanted for line in (*words, "")]


@pytest.mark.parametrize("form", LAYOUTS)
def test_every_token_has_a_place_or_the_file_is_refused(form, tmp_path) -> None:
    rng, read = random.Random(form), []
    for number in range(60):
        wanted = sentences(rng)
        path = write(tmp_path / f"{number}.txt", lines_of(wanted, form, rng))
        options = ReadOptions(**LAYOUTS[form])
        name = rng.choice(["tokens", "token_errors"])
        read.append(outcome(read_split(DATASETS[name], "test", path, options), wanted))
    assert 10 < sum(read) < 50


def test_predicted_files_lose_no_token() -> None:
    rng, read = random.Random(5), []
    for _ in range(120):
        wanted = sentences(rng)
        lines = [*enumerate(lines_of(wanted, "{}", rng), 1)]
        found = read_examples(lines, "in", "conll", Wanted(1, ("O", "B-x")))
        read.append(outcome(found, wanted))
    assert 20 < sum(read) < 100


@pytest.mark.parametrize("space", SPACES)
def test_labelled_tokens_of_white_space_are_refused_alike(space, tmp_path) -> None:
    for separator, name in (("\t", "tab"), (" ", "blank")):
        path = write(tmp_path / f"{name}.txt", ["a", f"{space}{separator}O"])
        path.write_text(f"a{separator}O\n{space}{separator}O\nb{separator}O\n", encoding="utf-8")
        with pytest.raises(InputError, match=r".txt:2: word .* is white space.* such as _, in its"):
            list(read_split(DATASETS["tokens"], "train", path, ReadOptions(separator=name)))
    lines = [(1, "a O"), (2, f"{space} O"), (3, "b O")]
    with pytest.raises(InputError, match=r"in:2: .* is no word"):
        list(read_examples(lines, "in", "conll", Wanted(1, ("O", "B-x"))))
    path = write(tmp_path / "roles", ["a (A0*)", f"{space} *", "b *"])
    with pytest.raises(InputError, match=r"roles:2: .* no word"):
        list(read_roles(path, RoleColumns()))


def test_sentences_of_conllu_are_counted_as_they_are_read(tmp_path) -> None:
    rng = random.Random(7)
    for number in range(100):
        body = lines_of(sentences(rng), "{}", rng)
        path = write(tmp_path / f"{number}.conllu", body)
        assert scan_file(path, None).lines == len([*read_blocks(enumerate(body, 1))])


def conllu(rng: random.Random, wanted, labels) -> list[str]:
    """Write sentences as CoNLL-U, with all that is no word."""
    lines = []
    for words, tags in zip(wanted, labels):
        lines += rng.choices(
            ["# text = 教区 x", "#", "# -DOCSTART-", "# a\tb"], k=rng.randint(0, 2)
        )
        for number, (word, tag) in enumerate(zip(words, tags), 1):
            if rng.random() < 0.3:
                lines.append(f"{number}-{number + 1}\tzum" + "\t_" * 8)
            lines.append(f"{number}\t{word}\t_\t{tag}" + "\t_" * 6)
            if rng.random() < 0.2:
                lines.append(f"{number}.1\tran\t_\tVERB" + "\t_" * 6)
        lines.append(rng.choice(["", "", "\t"]))
    return lines


CONLLU = {"token_column": 2, "tag_column": 4}


def test_conllu_is_a_token_file_of_its_words(tmp_path) -> None:
    rng = random.Random(8)
    layout = TokenLayout.of(ReadOptions(**CONLLU))
    for number in range(120):
        wanted = [rng.choices([*WORDS, "#", "#x"], k=rng.randint(1, 4)) for _ in range(2)]
        labels = [rng.choices(["NOUN", "B_x", "O"], k=len(words)) for words in wanted]
        path = write(tmp_path / f"{number}.conllu", conllu(rng, wanted, labels))
        found = list(read_split(DATASETS["tokens"], "train", path, ReadOptions(**CONLLU)))
        assert [(list(x.words), list(x.word_labels)) for x in found] == [*zip(wanted, labels)]
        lines = [*numbered_lines(path)]
        reads = Wanted(1, ("NOUN", "B_x", "O"), layout)
        assert [(x.words, x.word_labels) for x in read_examples(lines, "in", "conll", reads)] == [
            (x.words, x.word_labels) for x in found
        ]
        bare = [*enumerate(conllu(rng, wanted, [["_"] * len(words) for words in wanted]), 1)]
        spaced = [(n, x.replace("\t_" * 6, "\t_" * 5 + "\tSpaceAfter=No")) for n, x in lines]
        # of a tagger that other files made as well
        for one, given in ((layout, bare), (TokenLayout(), bare), (TokenLayout(), spaced)):
            made = read_examples(given, "in", "conll", Wanted(1, ("NOUN", "O"), one))
            assert [(list(x.words), x.word_labels) for x in made] == [(x, None) for x in wanted]


def test_files_that_are_no_conllu_keep_their_hashtags(tmp_path) -> None:
    words = ["#news", "#", "3-4", "1"]
    path = write(tmp_path / "x.txt", [*words, "", *words])
    found = list(read_split(DATASETS["tokens"], "test", path, ReadOptions()))
    assert [list(x.words) for x in found] == [words, words]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (
            ["# x", "1\tA\t_\tB" + "\t_" * 6],
            {},
            "x:2: the words of CoNLL-U stand in column 2: give ",
        ),
        (
            ["EU B-ORG", "rejects O"],
            {},
            "x:1: found blanks, but no TAB in 'EU B-ORG': give --separ",
        ),
        (["", "EU NNP"], {"tag_column": 2}, "x:2: found blanks, but no TAB .* or write TABs"),
        (["\u3000"], {"separator": "blank"}, "x:1: word .* is white space"),
    ],
)
def test_token_files_of_another_form_say_what_to_type(lines, options, message, tmp_path) -> None:
    path = write(tmp_path / "x", lines)
    for split in ("test", "train" if options.get("separator") != "blank" else "test"):
        found = read_split(DATASETS["tokens"], split, path, ReadOptions(**options))
        with pytest.raises(InputError, match=message):
            list(found)
