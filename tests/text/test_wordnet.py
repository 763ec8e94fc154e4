"""WordNet: where a database is found, what is read of it, how its lack is said."""

from __future__ import annotations

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.text import wordnet
from fairseq_plugins.text.wordnet import find_wordnet, open_wordnet
from tests.small_wordnet import Sense, write_small_wordnet


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return open_wordnet(write_small_wordnet(tmp_path_factory.mktemp("wordnet") / "dict"))


def test_base_forms_follow_rules_and_exceptions(small) -> None:
    assert small.base("dogs", "n") == "dog"
    assert small.base("mice", "n") == "mouse"
    assert small.base("bought", "v") == "buy"
    assert small.base("dogs", "v") is None


def test_antonyms_are_those_of_the_word_itself(small) -> None:
    assert small.antonyms("big", "a") == ("little",)
    assert small.antonyms("large", "a") == ("small",)
    assert small.antonyms("quickly", "r") == ("slowly",)
    assert small.antonyms("day", "n") == ("night",)
    assert small.antonyms("climb", "v") == small.antonyms("dog", "n") == ()


def test_synonyms_are_single_words_of_the_first_sense(small) -> None:
    assert small.synonyms("car", "n") == ("auto",)
    assert small.synonyms("cat", "n") == small.synonyms("unknown", "n") == ()


def test_the_reader_itself_is_at_hand(small) -> None:
    dog, cat = (small.reader.synsets(word, "n")[0] for word in ("dog", "cat"))
    assert 0 < dog.wup_similarity(cat) < dog.wup_similarity(dog) == 1
    assert small.version == "0.1"
    assert dog.lexname() == "noun.Tops"


@pytest.mark.parametrize(("variable", "below"), [("WNSEARCHDIR", ""), ("WNHOME", "dict")])
def test_the_environment_tells_the_folder(tmp_path, monkeypatch, variable, below) -> None:
    home = tmp_path / "home"
    write_small_wordnet(home / below if below else home)
    monkeypatch.setattr(wordnet, "USUAL", ())
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setenv(variable, str(home))
    assert find_wordnet() == (home / below).resolve()


def test_no_database_says_how_to_install_one(tmp_path, monkeypatch) -> None:
    with pytest.raises(FileNotFoundError, match="apt-get install wordnet-base.*--wordnet DIR"):
        open_wordnet(tmp_path)
    monkeypatch.setattr(wordnet, "USUAL", (str(tmp_path / "nowhere"),))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_wordnet()


def test_a_damaged_database_is_refused(tmp_path) -> None:
    folder = write_small_wordnet(tmp_path / "dict")
    (folder / "index.noun").write_text("dog n one 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="damaged WordNet"):
        open_wordnet(folder)


@pytest.mark.parametrize("damage", [b" x ", b"\xff", b""])
def test_a_damaged_count_is_refused_when_it_is_read(tmp_path, damage) -> None:
    path = write_small_wordnet(tmp_path / "dict") / "index.noun"
    found = open_wordnet(path.parent)
    path.write_bytes(path.read_bytes() + b"zebra n 1 0 1" + damage)
    with pytest.raises(InputError, match="index.noun"):
        found.synonyms("year", "n")


def test_every_lexicographer_file_has_a_name() -> None:
    assert len(wordnet.LEXNAMES) == len(set(wordnet.LEXNAMES)) == 45


def test_rare_words_are_no_synonyms_and_the_reading_with_more_senses_counts(tmp_path) -> None:
    senses = (
        Sense("noun", ("year", "twelvemonth", "long_year")),
        Sense("noun", ("year", "class")),
        Sense("noun", ("years", "eld")),
        Sense("noun", ("class", "form")),
        Sense("noun", ("form",)),
    )
    found = open_wordnet(write_small_wordnet(tmp_path / "dict", senses))
    assert (found.base("years", "n"), found.likely_base("years", "n")) == ("years", "year")
    assert found.synonyms("year", "n") == ("twelvemonth",)
    assert found.synonyms("class", "n") == ()  # the first sense of each is another
    rows = (tmp_path / "dict" / "index.noun").read_text().splitlines(keepends=True)
    rare = [row.replace(" 1 0 1 1 ", " 1 0 1 0 ") for row in rows]
    (tmp_path / "dict" / "index.noun").write_text("".join(rare))
    assert open_wordnet(tmp_path / "dict").synonyms("year", "n") == ()


def test_irregular_forms_are_those_of_the_exception_lists(small) -> None:
    assert small.irregular_forms("buy", "v") == ("bought",)
    assert small.irregular_forms("mouse", "n") == ("mice",)
    assert small.irregular_forms("dog", "n") == ()


@pytest.mark.skipif(
    not any((wordnet.Path(place) / "data.noun").is_file() for place in wordnet.USUAL),
    reason="no WordNet installed",
)
def test_the_installed_database_is_read() -> None:
    installed = open_wordnet()
    assert "bad" in installed.antonyms("good", "a")
    assert "purchase" in installed.synonyms("buy", "v")
    assert installed.likely_base("saw", "v") == "see"
