"""Word similarities: NLTK's Wu and Palmer, the rule between words, and what it does without."""

from __future__ import annotations

import multiprocessing
import pickle
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import Synset
from small_wordnet import SENSES, Sense, write_small_wordnet

from fairseq_plugins.errors import InputError
from fairseq_plugins.text.word_similarity import FULL, Ancestors, WordSimilarity, spelling, wup
from fairseq_plugins.text.wordnet import find_wordnet

KNOWN = sorted({word for sense in SENSES for word in sense.words})
WORDS = [*KNOWN, "dogs", "Dog", "(cat)", "bought", "the", "of", "...", "!", "Paris", "3,5"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny WordNet."""
    return write_small_wordnet(tmp_path_factory.mktemp("wordnet") / "dict")


@pytest.fixture(scope="module")
def similarity(folder) -> WordSimilarity:
    """Similarities by the tiny WordNet."""
    return WordSimilarity(folder)


class Node(Synset):
    """A synset of an invented taxonomy."""

    def __init__(self, name: str, part: str, above: list[Node]) -> None:
        super().__init__(None)
        self._name, self._pos, self.above = name, part, above

    def hypernyms(self) -> list[Node]:
        """Return the synsets right above."""
        return self.above

    def instance_hypernyms(self) -> list[Node]:
        """Return none: they count like the others."""
        return []

    def pos(self) -> str:
        """Return the part of speech."""
        return self._pos

    def _needs_root(self) -> bool:
        return self._pos != "n"

    _hypernyms, _instance_hypernyms = hypernyms, instance_hypernyms


@st.composite
def taxonomies(draw) -> list[Node]:
    """Synsets with any number of parents, nouns and verbs apart."""
    nodes: list[Node] = []
    for number in range(draw(st.integers(2, 12))):
        part = draw(st.sampled_from("nnv"))
        others = [node for node in nodes if node.pos() == part]
        above = draw(st.lists(st.sampled_from(others), unique=True, max_size=3)) if others else []
        letter = draw(st.sampled_from("abc"))
        nodes.append(Node(f"{letter}{number}.{part}.01", part, above))
    return nodes


@settings(max_examples=120, deadline=None)
@given(taxonomies())
def test_wup_is_nltks_in_any_taxonomy(nodes) -> None:
    ancestors = Ancestors()
    for one, two in product(nodes, nodes):
        expected = one.wup_similarity(two)
        assert wup(ancestors.sense(one), ancestors.sense(two)) == expected


def test_wup_is_nltks_in_the_tiny_wordnet(similarity) -> None:
    reader, ancestors = similarity.wordnet.reader, Ancestors()
    synsets = [synset for part in "nvar" for synset in reader.all_synsets(part)]
    assert len(synsets) == len(SENSES)
    found = [wup(ancestors.sense(a), ancestors.sense(b)) for a, b in product(synsets, synsets)]
    assert found == [a.wup_similarity(b) for a, b in product(synsets, synsets)]
    assert len({*found}) > 4


def test_wup_is_nltks_in_an_installed_wordnet() -> None:
    try:
        installed = WordSimilarity(find_wordnet())
    except FileNotFoundError:
        pytest.skip("no WordNet is installed")
    reader, ancestors, rng = installed.wordnet.reader, Ancestors(), random.Random(1)
    lemmas = sorted(name for name in reader.all_lemma_names() if "_" not in name)
    for _ in range(200):
        first, second = (rng.choice(lemmas) for _ in range(2))
        pairs = list(product(reader.synsets(first), reader.synsets(second)))
        pairs += [(b, a) for a, b in pairs]
        scores = [a.wup_similarity(b) for a, b in pairs]
        assert [wup(ancestors.sense(a), ancestors.sense(b)) for a, b in pairs] == scores
        defined = [score for score in scores if score is not None]
        mean = FULL * sum(defined) / max(len(defined), 1)
        assert abs(installed.of(first, second) - mean) < 0.501 or (
            installed.of(first, second) == FULL  # synonyms
        )


def test_circle_of_ancestors_is_refused() -> None:
    one, two = Node("a.n.01", "n", []), Node("b.n.01", "n", [])
    one.above, two.above = [two], [one]
    with pytest.raises(InputError, match=r"damaged: a\.n\.01 is among its own ancestors"):
        Ancestors().sense(one)


@settings(max_examples=100, deadline=None)
@given(SENTENCES, SENTENCES)
def test_tables_hold_every_pair_of_words(similarity, first, second) -> None:
    table = similarity.table(first, second)
    assert table == [similarity.of(a, b) for b in second for a in first]
    assert all(isinstance(value, int) and 0 <= value <= FULL for value in table)
    back = similarity.table(second, first)
    assert [back[i * len(second) + j] for j in range(len(second)) for i in range(len(first))] == (
        table
    )


@given(st.text(min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_word_is_like_itself_whatever_its_case(similarity, word) -> None:
    assert similarity.of(word, word) == FULL
    assert similarity.of(word.lower(), word) == FULL


def test_words_are_compared_as_the_rule_says(similarity) -> None:
    of = similarity.of
    assert of("dog", "hound") == of("Dogs", "HOUND!") == of("bought", "purchase") == FULL
    assert 0 < of("dog", "car") < of("dog", "cat") < FULL
    assert of("dog", "cat") == of("dogs,", "(cats)") == round(FULL * 2 * 2 / 6)
    assert of("dog", "animal") > of("dog", "entity")
    assert of("the", "dog") == of("the", "of") == of("...", "dog") == 0
    assert of("the", "The") == of("...", "...") == FULL
    assert of("...", "!") == 0


def test_mean_is_over_all_senses(tmp_path, similarity) -> None:
    """A further sense changes the mean, nearer or farther."""
    more = (*SENSES, Sense("noun", ("cat_house", "dog"), "thing"))
    richer = WordSimilarity(write_small_wordnet(tmp_path / "dict", more))
    assert similarity.of("dog", "cat") > richer.of("dog", "cat") > 0
    assert similarity.of("dog", "car") < richer.of("dog", "car") < FULL


def test_verbs_without_a_common_ancestor_have_nltks_root(similarity) -> None:
    """As NLTK has it: low, but not 0."""
    assert 0 < similarity.of("buy", "fall") < FULL
    assert 0 < similarity.of("dog", "rise") < FULL


@pytest.mark.parametrize(
    ("word", "spelt"),
    [("Dog,", "dog"), ("can't", "can't"), ("'em", "em"), ("U.S.", "u.s"), ("--", "--"), ("É", "é")],
)
def test_punctuation_goes_from_the_ends(word, spelt) -> None:
    assert spelling(word) == spelt


def _of(similarity: WordSimilarity) -> list[int]:
    return similarity.table(KNOWN, KNOWN)


def test_similarities_travel_to_processes(folder) -> None:
    """Two at once, of a parent whose database is open."""
    similarity = WordSimilarity(folder)
    similarity.of("dog", "cat")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_of, [similarity] * 4)
    assert found == [_of(similarity)] * 4


def test_forked_copy_reads_for_itself(folder) -> None:
    """The very object, not one that was pickled, as workers of a preparation have it."""
    similarity = WordSimilarity(folder)
    similarity.of("dog", "cat")
    files = similarity.wordnet.reader._data_file_map
    assert files
    similarity._owner -= 1
    assert not similarity.wordnet.reader._data_file_map
    assert similarity.of("rise", "fall") == WordSimilarity(folder).of("rise", "fall")


def test_identity_follows_the_database(folder, tmp_path) -> None:
    identity = WordSimilarity(folder).identity()
    assert identity == pickle.loads(pickle.dumps(WordSimilarity(folder))).identity()
    assert identity["version"] == "0.1"
    copy = WordSimilarity(write_small_wordnet(tmp_path / "copy")).identity()
    assert {**copy, "file": identity["file"]} == identity
    other = WordSimilarity(write_small_wordnet(tmp_path / "other", SENSES[:-2])).identity()
    assert other["sha256"] != identity["sha256"]


def test_no_wordnet_says_how_to_get_one(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="no WordNet database in .*apt-get install wordnet"):
        WordSimilarity(tmp_path)


def test_long_words_are_like_themselves_alone_and_are_not_kept(similarity, monkeypatch) -> None:
    dice, kept, level = random.Random(1), [], similarity._level
    monkeypatch.setattr(similarity, "_level", lambda *pair: [kept.extend(pair), level(*pair)][1])
    for _ in range(300):
        signs = dice.choice(["ab", "\u4e2d\u6587", "\u0645\u0631", "\U0001f600\U0001f601"])
        one, two = ("".join(dice.choices(signs, k=dice.randint(101, 900))) for _ in range(2))
        assert similarity.table([one, "dog"], [two, one]) == [0, 0, FULL, 0]
    assert max(map(len, kept)) <= 100
