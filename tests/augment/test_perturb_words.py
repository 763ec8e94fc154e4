"""What single transformations do to words, numbers and names, and what they leave alone."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.augment.perturbation import insertions, numbers
from fairseq_plugins.augment.perturbation.meanings import (
    _degree,
    ed_form,
    inflect,
    swap_antonym,
    swap_synonyms,
)
from fairseq_plugins.augment.perturbation.names import collect_names
from fairseq_plugins.augment.perturbation.sentences import Resources, TaggedSentence, rewrite
from tests.pair_sentences import made, run, sentences, small_resources


@pytest.fixture(scope="module")
def resources(tmp_path_factory) -> Resources:
    """A tiny WordNet, some names, and a translation into capitals."""
    return small_resources(tmp_path_factory.mktemp("wordnet"))


@given(seed=st.integers(0, 10_000), number=st.integers(0, 10**7), decimals=st.sampled_from((0, 2)))
def test_a_number_keeps_separators_decimals_and_digits(seed, number, decimals) -> None:
    written = f"{number:,.{decimals}f}" if seed % 2 else f"{number:.{decimals}f}"
    new = numbers.other_number(made(f"{written}/NUM"), 0, Random(seed))
    if new is None:
        assert not set(written) & set("23456789") or written == "1"
        return
    assert float(new.replace(",", "")) != float(written.replace(",", ""))
    assert re.sub(r"\d", "9", new) == re.sub(r"\d", "9", written)
    if 1100 <= number <= 2099 and written.isdigit():
        assert abs(int(new) - number) <= numbers.BACK


@pytest.mark.parametrize(
    "tagged", ["Dec./PROPN 26/NUM", "26/NUM December/PROPN", "Nov/PROPN ./PUNCT 26/NUM"]
)
def test_days_stay_days(tagged) -> None:
    sentence = made(tagged)
    place = sentence.words.index("26")
    new = {numbers.other_number(sentence, place, Random(seed)) for seed in range(60)}
    assert {int(day) for day in new} <= set(range(2, 29)) - {26}


@pytest.mark.parametrize("text", ["1997-98", "10:30", "3/4", "6 - 3"])
def test_parts_of_dates_times_and_scores_stay(text) -> None:
    spans = [match.span() for match in re.finditer(r"\d+", text)]
    words = tuple(re.findall(r"\d+", text))
    sentence = TaggedSentence(text, words, ("NUM",) * len(words), tuple(spans))
    assert all(numbers.other_number(sentence, i, Random(1)) is None for i in range(len(words)))


@pytest.mark.parametrize("text", ["Twenty-two", "sixty - nine", "ninety two"])
def test_units_behind_tens_stay_below_ten(text) -> None:
    spans = tuple(match.span() for match in re.finditer(r"\w+", text))
    sentence = TaggedSentence(text, tuple(text[a:b] for a, b in spans), ("NUM", "NUM"), spans)
    new = {numbers.other_number(sentence, 1, Random(seed)) for seed in range(99)}
    assert new == {*"two three four five six seven eight nine".split()} - {sentence.words[1]}
    alone = {numbers.other_number(made("two/NUM"), 0, Random(seed)) for seed in range(99)}
    assert {"ten", "eleven", "twelve"} <= alone


@pytest.mark.parametrize("word", ["one", "One", "1", "0", "747th", "\u0663"])
def test_numbers_that_nothing_changes_stay(word) -> None:
    assert numbers.other_number(made(f"{word}/NUM"), 0, Random(1)) is None


def test_antonyms_take_the_form_the_case_and_the_article(resources) -> None:
    second = made("x/X")
    for tagged, wanted in (
        ("A/DET big/ADJ dog/NOUN", "A little dog"),
        ("it/PRON rises/VERB", "it falls"),
        ("it/PRON is/AUX rising/VERB", "it is falling"),
        ("it/PRON has/AUX fallen/VERB", None),  # risen is in no list of the tiny database
        ("Big/ADJ dogs/NOUN", "Little dogs"),
        ("days/NOUN", "nights"),
        ("Day/PROPN", None),
        ("a/DET multi/X -/PUNCT day/NOUN", "a multi - night"),
    ):
        change = swap_antonym((made(tagged), second), (1,), Random(1), resources)
        assert (change and change.texts[1]) == wanted, tagged


def test_an_article_before_the_word_agrees(resources) -> None:
    pair = (made("a/DET car/NOUN"), made("a/DET cat/NOUN"))
    change = swap_synonyms(pair, (0, 1), Random(1), resources)
    assert change.texts == ("an auto", "a cat")
    assert change.what == ("car -> auto",)


def test_an_antonym_that_would_repeat_the_second_sentence_is_left(resources) -> None:
    pair = (made("big/ADJ dog/NOUN"), made("little/ADJ dog/NOUN"))
    assert run("SwapAnt", pair, resources=resources) is None


def test_synonyms_agree_between_the_sentences(resources) -> None:
    pair = (made("the/DET car/NOUN"), made("Cars/NOUN are/AUX cars/NOUN"))
    change = run("SwapSyn", pair, resources=resources)
    assert change.texts == ("the auto", "Autos are autos")
    assert change.label == "1"
    assert run("SwapSyn", pair, fields="second", resources=resources).texts[0] == "the car"


@pytest.mark.parametrize(("count", "wanted"), [(6, 1), (19, 1), (20, 2), (59, 5)])
def test_a_tenth_of_the_words_get_synonyms(resources, count, wanted) -> None:
    own = "dog/NOUN car/NOUN buy/VERB big/ADJ small/ADJ quick/ADJ".split()
    sentence = made(" ".join([*own, *["the/DET"] * (count - len(own))]))
    change = swap_synonyms((sentence, made("cat/NOUN")), (0,), Random(1), resources)
    assert len(change.what) == wanted


def test_verbs_with_particles_and_hyphenated_words_keep_their_meaning(resources) -> None:
    first = made("they/PRON bought/VERB up/ADP all/DET")
    assert run("SwapSyn", (first, first), resources=resources) is None
    joined = TaggedSentence(
        "self-car", ("self", "-", "car"), ("X", "PUNCT", "NOUN"), ((0, 4), (4, 5), (5, 8))
    )
    assert run("SwapSyn", (joined, joined), resources=resources) is None


def test_inflection_refuses_what_it_does_not_know(resources) -> None:
    wordnet = resources.wordnet

    def like(lemma, form, base, part, participle=False):
        return inflect(lemma, form, base, part, wordnet=wordnet, participle=participle)

    assert like("mouse", "dogs", "dog", "n") == "mice"
    assert like("purchase", "bought", "buy", "v") == "purchased"
    assert like("buy", "purchasing", "purchase", "v") == "buying"
    assert like("small", "quicker", "big", "a") == "smaller"
    assert _degree("famous", "bigger", ()) is None  # two syllables have no form in -er
    assert [_degree(word, "bigger", ()) for word in ("big", "happy", "late", "little")] == [
        "bigger",
        "happier",
        "later",
        "littler",
    ]
    assert like("small", "larger", "large", "a") == "smaller"
    assert like("rise", "put", "put", "v") is None  # put may be the past of put
    assert [ed_form(verb) for verb in ("stop", "carry", "play", "rise")] == [
        "stopped",
        "carried",
        "played",
        "rised",
    ]


def test_names_become_names_alike_in_both_sentences(resources) -> None:
    first = made("Anna/PROPN Berg/PROPN lives/VERB in/ADP Rome/PROPN")
    second = made("Berg/NOUN saw/VERB Rome/PROPN")
    change = run("SwapNamedEnt", (first, second), "0", resources=resources)
    assert change.label == "0"
    (given, family, _, _, place), (same, _, there) = (text.split() for text in change.texts)
    assert (given, family) == ("Otto", "Weiss")  # the only other name of two words
    assert (same, there) == (family, place)
    assert place in ("Oslo", "Bergen")


def test_names_are_not_months_nor_words_that_are_written_small() -> None:
    texts = [
        made("the/DET Life/PROPN of/ADP Ida/PROPN in/ADP May/PROPN"),
        made("my/PRON life/NOUN in/ADP Oslo/PROPN"),
    ]
    names = collect_names(texts)
    assert names.words == {"Ida", "Oslo"}
    assert names.others == {(1, False): [("Ida",)], (1, True): [("Oslo",)]}
    assert collect_names(texts[::-1]) == names


@pytest.mark.parametrize("fields", ["first", "second"])
def test_names_change_in_both_sentences_whatever_was_asked_for(resources, fields) -> None:
    """The label is kept, and would be wrong where one sentence still names somebody else."""
    pair = made("Eva/PROPN sleeps/VERB"), made("Eva/PROPN rests/VERB")
    texts = run("SwapNamedEnt", pair, fields=fields, resources=resources).texts
    assert "Eva" not in " ".join(texts)
    assert texts[0].split()[0] == texts[1].split()[0]


def test_names_without_another_of_their_kind_stay(resources) -> None:
    only = made("Ida/PROPN sleeps/VERB")
    alone = Resources(names=collect_names([only]))
    assert run("SwapNamedEnt", (only, only), resources=alone) is None


@settings(max_examples=30, deadline=None)
@given(sentence=sentences(), seed=st.integers(0, 9))
def test_insertions_leave_the_rest_of_the_text_alone(sentence, seed) -> None:
    core = sentence.text.strip().rstrip(".?!,").strip()
    random = Random(seed)
    text = rewrite(sentence.text, insertions.add_sentence(sentence, random))
    assert text.startswith(sentence.text.rstrip())
    text = rewrite(sentence.text, insertions.add_punctuation(sentence, random))
    assert core in text
    text = rewrite(sentence.text, insertions.add_irrelevant(sentence, random))
    assert core[1:] in text
    found = insertions.add_adverbs(sentence, random)
    if found:
        text = rewrite(sentence.text, found)
        for adverb in insertions.ADVERBS:
            text = text.replace(f"{adverb} ", "")
        assert text == sentence.text


@pytest.mark.parametrize(
    ("tagged", "count"),
    [
        ("he/PRON sleeps/VERB", 1),
        ("he/PRON is/AUX sleeping/VERB", 1),
        ("he/PRON likes/VERB sleeping/VERB", 1),
        ("he/PRON did/AUX not/PART sleep/VERB", 0),
        ("Sleep/VERB", 0),
        ("the/DET fallen/VERB tree/NOUN", 0),
        ("he/PRON wants/VERB to/PART sleep/VERB", 2),
        ("the/DET tree/NOUN", 0),
    ],
)
def test_adverbs_stand_before_predicates(tagged, count) -> None:
    found = insertions.add_adverbs(made(tagged), Random(1))
    assert len(found) == count


def test_twitter_shortens_words_and_adds_one_thing() -> None:
    sentence = made("You/PRON wait/VERB for/ADP dogs/NOUN")
    for seed in range(20):
        found = insertions.add_twitter(sentence, Random(seed))
        what = sorted(edit.what for edit in found)
        assert what[1:] == ["You -> u", "for -> 4"]
        assert re.fullmatch(r"\+ (@\w+|#dogs|https://\w+\.example/\w+)", what[0])


def test_openings_lower_the_first_letter_of_small_words_alone() -> None:
    for tagged, core in (("The/DET", "the"), ("Anna/PROPN", "Anna"), ("I/PRON", "I")):
        sentence = made(tagged, "sleeps/VERB")
        text = rewrite(sentence.text, insertions.add_irrelevant(sentence, Random(1)))
        assert f", {core} sleeps. " in text


def test_tokenised_texts_get_tokenised_additions() -> None:
    sentence = made("it/PRON sleeps/VERB ./PUNCT")
    text = rewrite(sentence.text, insertions.add_sentence(sentence, Random(1)))
    assert text.startswith("it sleeps . ")
    assert text.endswith(" .")
    text = rewrite(sentence.text, insertions.add_punctuation(sentence, Random(1)))
    assert re.fullmatch(r"\S it sleeps \S+ \S", text)


def test_backtrans_that_comes_back_as_it_was_is_no_change(resources) -> None:
    loud = made("ALL/X LOUD/X")
    assert run("BackTrans", (loud, loud), resources=resources) is None
    done = run("BackTrans", (loud, made("quiet/X")), "0", resources=resources)
    assert (done.texts, done.label) == (("ALL LOUD", "QUIET"), "0")


def test_swapant_starts_from_pairs_that_mean_the_same(resources) -> None:
    pair = (made("big/ADJ dog/NOUN"), made("dog/NOUN"))
    assert run("SwapAnt", pair, "1", resources=resources).label == "0"
    assert run("SwapAnt", pair, "0", resources=resources) is None
