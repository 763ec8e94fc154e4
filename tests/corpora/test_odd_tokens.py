"""Tokens in, labels out: a token that is white space never ends a sentence without a word."""

from __future__ import annotations

import random

import pytest
from raw_datasets import write

from fairseq_plugins.corpora.conllu import read_blocks
from fairseq_plugins.corpora.datasets import DATASETS, ReadOptions, read_split
from fairseq_plugins.corpora.parallel_text import scan_file
from fairseq_plugins.corpora.role_columns import RoleColumns, read_roles
from fairseq_plugins.inference.prediction_inputs import Wanted, read_examples

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
        with pytest.raises(ValueError, match=r".txt:2: word .* is white space.* such as _, in its"):
            list(read_split(DATASETS["tokens"], "train", path, ReadOptions(separator=name)))
    lines = [(1, "a O"), (2, f"{space} O"), (3, "b O")]
    with pytest.raises(ValueError, match=r"in:2: .* is no word"):
        list(read_examples(lines, "in", "conll", Wanted(1, ("O", "B-x"))))
    path = write(tmp_path / "roles", ["a (A0*)", f"{space} *", "b *"])
    with pytest.raises(ValueError, match=r"roles:2: .* no word"):
        list(read_roles(path, RoleColumns()))


def test_sentences_of_conllu_are_counted_as_they_are_read(tmp_path) -> None:
    rng = random.Random(7)
    for number in range(100):
        body = lines_of(sentences(rng), "{}", rng)
        path = write(tmp_path / f"{number}.conllu", body)
        assert scan_file(path, None).lines == len([*read_blocks(enumerate(body, 1))])
