"""The embedded sample: its files, its grammar, and the count of right senses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample_en_de"
sys.path.insert(0, str(SAMPLE))

import score_ambiguous  # noqa: E402
from ambiguous import COLUMNS, has_sense, read_report, score, write_report  # noqa: E402
from grammar import english_sentences, german_sentences  # noqa: E402
from grammar.contexts import Context, is_hard, measure, read_contexts, write_contexts  # noqa: E402
from grammar.corpus import LONGEST, SHORTEST, CorpusSampler, Pair  # noqa: E402
from grammar.entries import Frame, Lexicon  # noqa: E402
from grammar.lexicon import read_lexicon, rows  # noqa: E402
from grammar.nominals import PEOPLE  # noqa: E402
from grammar.text import join  # noqa: E402
from grammar.trees import Clause, NounPhrase, Place, Pronoun, Sentence  # noqa: E402
from tagging import agreement  # noqa: E402

SIZES = {"train": 4000, "valid": 500, "test": 500}
FILES = [f"{split}.{language}" for split in SIZES for language in ("en", "de")]
ANNA = PEOPLE[0]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return read_lexicon()


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    sampler = CorpusSampler(seed=3)
    return sampler.pairs(500, usual=False) + sampler.pairs(500, usual=True)


def lines(name: str) -> list[str]:
    return (SAMPLE / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_generator_reproduces_committed_files(tmp_path):
    command = [sys.executable, str(SAMPLE / "generate.py"), "--ambiguous-report"]
    options = ["--output", str(tmp_path), "--seed", "1", "--train", "4000"]
    environment = {**os.environ, "PYTHONHASHSEED": "123"}
    subprocess.run([*command, *options], check=True, env=environment, capture_output=True)
    for name in (*FILES, "test.ambiguous.tsv"):
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_committed_files_have_equal_lines_and_no_shared_sentences():
    for language in ("en", "de"):
        splits = [lines(f"{split}.{language}") for split in SIZES]
        assert [len(split) for split in splits] == list(SIZES.values())
        assert len(set().union(*splits)) == sum(SIZES.values())


def test_committed_sentences_are_short_and_the_vocabulary_moderate():
    words = [line.lower().split() for split in SIZES for line in lines(f"{split}.en")]
    assert all(SHORTEST <= len(sentence) <= LONGEST for sentence in words)
    assert len({word.strip('".,?!') for sentence in words for word in sentence}) <= 1500


def test_references_have_every_sense_and_other_sentences_have_few():
    listed = read_report(SAMPLE / "test.ambiguous.tsv")
    references = lines("test.de")
    seen, hit = score(references, listed)
    assert hit == seen
    assert {row.line for row in listed} == set(range(1, len(references) + 1))
    _, by_chance = score(references[1:] + references[:1], listed)
    assert by_chance.total() < 0.2 * seen.total()


def test_test_set_has_several_readings_of_many_words():
    listed = read_report(SAMPLE / "test.ambiguous.tsv")
    readings = {(row.word, row.upos) for row in listed}
    number = Counter(word for word, _ in readings)
    assert sum(count > 1 for count in number.values()) >= 25


@pytest.mark.slow
def test_same_seed_gives_same_pairs_and_another_seed_others(pairs):
    assert CorpusSampler(seed=3).pairs(500, usual=False) == pairs[:500]
    other = {pair.english for pair in CorpusSampler(seed=4).pairs(500, usual=False)}
    assert len(other & {pair.english for pair in pairs}) < 50


def test_english_sentence_has_one_translation():
    sampler = CorpusSampler(seed=5, table={})
    keys = [key for _, _, keys in sampler.ambiguity.targets() for key in keys]
    seen: dict[str, str] = {}
    for _ in range(3000):
        pair = sampler.attempt(sampler.dice.pick(keys), True)
        if pair:
            assert seen.setdefault(pair.english, pair.german) == pair.german
    assert len(seen) > 1000


def test_every_reading_is_drawn_and_has_german_forms_of_its_own(pairs):
    ambiguity = CorpusSampler(seed=3).ambiguity
    drawn = Counter((o.word, o.upos) for pair in pairs for o in pair.ambiguous)
    for word, upos, _ in ambiguity.targets():
        assert drawn[word, upos] >= 4, word
    for word in sorted(ambiguity.words):
        readings = list(ambiguity.readings[word].values())
        assert len(readings) > 1
        assert sum(map(len, readings)) == len(set().union(*readings)), word


def test_occurrences_point_at_their_words(pairs):
    for pair in pairs:
        assert pair.ambiguous
        for item in pair.ambiguous:
            end = item.start + len(item.surface)
            assert pair.english[item.start : end] == item.surface
            assert item.german in pair.german
            assert item.count >= 1


def test_lines_are_clean(pairs):
    for text in (text for pair in pairs for text in (pair.english, pair.german)):
        assert text == text.strip()
        assert text[-1] == "."
        assert text[0].isupper()
        assert not any(bad in text for bad in ("  ", " ,", " .", ",,", ",."))


def frame(lexicon: Lexicon, verb: str, *kinds: str) -> Frame:
    """The first frame of a verb with these slots."""
    found = (f for f in lexicon.frames if f.verb.key == f"verb:{verb}")
    return next(f for f in found if tuple(slot.kind for slot in f.slots) == kinds)


def spell(sentence: Sentence) -> tuple[str, str]:
    english = join(english_sentences.sentence_words(sentence)).text
    return english, join(german_sentences.sentence_words(sentence)).text


def phrase(lexicon: Lexicon, noun: str, determiner: str = "the", *, adjective="", plural=False):
    found = [item for item in lexicon.adjectives if item.english == adjective]
    return NounPhrase(lexicon.nouns[noun], plural, determiner, found[0] if found else None)


def test_separable_verb_splits_joins_and_takes_zu_inside(lexicon):
    turn_on = frame(lexicon, "turn on", "acc")
    act = Clause(turn_on, Pronoun("she"), (phrase(lexicon, "light"),))
    assert spell(Sentence("statement", act)) == (
        "She turns on the light.",
        "Sie macht das Licht an.",
    )
    likes = Clause(frame(lexicon, "sleep"), ANNA)
    assert spell(Sentence("subordinate", likes, "because", act))[1] == (
        "Anna schläft, weil sie das Licht anmacht."
    )
    tries = Clause(frame(lexicon, "try", "inf"), ANNA, (act,))
    assert spell(Sentence("statement", tries)) == (
        "Anna tries to turn on the light.",
        "Anna versucht, das Licht anzumachen.",
    )


@pytest.mark.parametrize(
    ("determiner", "adjective", "plural", "german"),
    [
        ("the", "old", False, "den alten Bären"),
        ("a", "old", False, "einen alten Bären"),
        ("bare", "old", True, "alte Bären"),
        ("her", "old", True, "ihre alten Bären"),
        ("this", "", False, "diesen Bären"),
        ("two", "big", True, "zwei große Bären"),
    ],
)
def test_noun_phrase_is_inflected(lexicon, determiner, adjective, plural, german):
    bear = phrase(lexicon, "bear", determiner, adjective=adjective, plural=plural)
    clause = Clause(frame(lexicon, "watch", "acc"), ANNA, (bear,))
    assert spell(Sentence("statement", clause))[1] == f"Anna beobachtet {german}."


def test_negation_is_kein_before_indefinite_objects_and_nicht_elsewhere(lexicon):
    own = frame(lexicon, "own", "acc")
    for kind, german in (("a", "besitzt keine Uhr"), ("the", "besitzt die Uhr nicht")):
        clause = Clause(own, ANNA, (phrase(lexicon, "watch", kind),), negated=True)
        assert spell(Sentence("statement", clause))[1] == f"Anna {german}."


def test_time_in_front_puts_the_subject_behind_the_verb(lexicon):
    evening = next(p for p in lexicon.phrases if p.english[-1].text == "evening")
    park = frame(lexicon, "park", "acc")
    clause = Clause(park, ANNA, (phrase(lexicon, "car"),), time=evening)
    assert spell(Sentence("fronted", clause)) == (
        "In the evening, Anna parks the car.",
        "Am Abend parkt Anna das Auto.",
    )


def test_place_precedes_an_indefinite_object_and_follows_a_definite_one(lexicon):
    market = next(p for p in lexicon.places if p.noun.key == "noun:market" and p.english == "on")
    place = Place(market, phrase(lexicon, "market"))
    buy = frame(lexicon, "buy", "acc")
    for determiner, german in (
        ("a", "Anna kauft auf dem Markt einen Ring."),
        ("the", "Anna kauft den Ring auf dem Markt."),
    ):
        clause = Clause(buy, ANNA, (phrase(lexicon, "ring", determiner),), place=place)
        assert spell(Sentence("statement", clause))[1] == german


def test_table_with_a_short_row_is_refused(tmp_path):
    path = tmp_path / "nouns.txt"
    path.write_text("# head\n\nwatch | watches | Uhr\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"nouns\.txt:3: 3 columns instead of 9"):
        list(rows(path, 9))


def test_contexts_are_judged_by_the_most_specific_row(tmp_path):
    rare = Context("fish", "VERB", "PRON", "DET")
    good, bad = Context("fish", "VERB", "PRON", "ADP"), Context("fish", "VERB", "NOUN", "end")
    table = measure({good: 20, bad: 80, rare: 1}, {good: 19, rare: 0}, least=0.75, few=5)
    assert is_hard(table, bad)
    assert not is_hard(table, good)
    assert not is_hard(table, rare)
    assert is_hard(table, Context("fish", "VERB", "PROPN", "end"))
    assert not is_hard(table, Context("book", "VERB", "NOUN", "end"))
    write_contexts(table, tmp_path / "contexts.txt")
    assert read_contexts(tmp_path / "contexts.txt") == table


def test_sense_needs_the_right_reading_in_any_form(tmp_path, lexicon):
    sampler = CorpusSampler(seed=3)
    watch = Clause(frame(lexicon, "watch", "acc"), ANNA, (phrase(lexicon, "watch"),))
    english = join(english_sentences.sentence_words(Sentence("statement", watch)))
    german = join(german_sentences.sentence_words(Sentence("statement", watch)))
    found = sampler.ambiguity.occurrences(english, german)
    write_report(tmp_path / "report.tsv", [found])
    verb, noun = read_report(tmp_path / "report.tsv")
    assert (verb.word, verb.upos, noun.word, noun.upos) == ("watch", "VERB", "watch", "NOUN")
    assert has_sense("Anna beobachtete Uhren.", verb)
    assert has_sense("Beobachtet Anna eine Katze?", verb)
    assert not has_sense("Anna kauft die Uhr.", verb)
    assert has_sense("Anna kauft die Uhr.", noun)
    assert not has_sense("Anna beobachtet die Katze.", noun)


def test_scores_of_two_systems_stand_side_by_side(tmp_path, capsys):
    (tmp_path / "good.txt").write_bytes((SAMPLE / "test.de").read_bytes())
    (tmp_path / "bad.txt").write_text("nichts\n" * SIZES["test"], encoding="utf-8")
    score_ambiguous.main([str(tmp_path / "good.txt"), str(tmp_path / "bad.txt")])
    *_, last = capsys.readouterr().out.splitlines()
    assert last.split()[0] == "all"
    assert last.split()[-2:] == ["100.0%", "0.0%"]


def test_example_is_a_sentence_in_which_the_first_system_alone_mistakes_a_word(tmp_path, capsys):
    listed, references = read_report(SAMPLE / "test.ambiguous.tsv"), lines("test.de")
    row = next(row for row in listed if row.word == "water" and row.upos == "VERB")
    wrong = list(references)
    wrong[row.line - 1] = "Wasser."
    for name, texts in (("bad", wrong), ("good", references)):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    found = "\n".join(lines(f"test.{language}")[row.line - 1] for language in ("en", "de"))
    for names, shown in (("bad good", found), ("good bad", "")):
        score_ambiguous.main([*(str(tmp_path / name) for name in names.split()), "--example"])
        assert capsys.readouterr().out == f"{shown}\n"


def test_missing_translations_and_foreign_reports_are_refused(tmp_path):
    listed = read_report(SAMPLE / "test.ambiguous.tsv")
    with pytest.raises(ValueError, match="there are 1 lines"):
        score(["nur eine Zeile"], listed)
    path = tmp_path / "report.tsv"
    path.write_text("line\tword\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"report\.tsv:1: columns"):
        read_report(path)
    path.write_text("\t".join(COLUMNS) + "\n1\twatch\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"report\.tsv:2: 2 columns"):
        read_report(path)


def test_bundled_pipeline_mostly_agrees(pairs):
    pytest.importorskip("spacy")
    seen, hit = agreement([p.english for p in pairs], [p.ambiguous for p in pairs], "bundled")
    assert hit.total() >= 0.9 * seen.total()
