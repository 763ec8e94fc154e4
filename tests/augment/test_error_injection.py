"""Injected errors: what the labels say, what decides them, and what each kind does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.augment import error_injection, error_rules
from fairseq_plugins.augment.english_forms import (
    in_case_of,
    indefinite,
    ing_form,
    plural,
    third_person,
)
from fairseq_plugins.augment.error_injection import Injection, inject, inject_file
from fairseq_plugins.augment.error_rules import RULES, ParsedSentence, edits_of
from fairseq_plugins.corpora.conllu import Word
from fairseq_plugins.corpora.datasets import get_dataset, read_split
from fairseq_plugins.errors import InputError

SENTENCES = {  # form lemma upos feats head relation
    "cats": """
        She she PRON Number=Sing 2 nsubj
        sees see VERB Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin 0 root
        an a DET _ 5 det
        old old ADJ _ 5 amod
        cat cat NOUN Number=Sing 2 obj
        in in ADP _ 8 case
        the the DET _ 8 det
        garden garden NOUN Number=Sing 2 obl
        . . PUNCT _ 2 punct""",
    "dogs": """
        Those that DET _ 2 det
        dogs dog NOUN Number=Plur 4 nsubj
        were be AUX Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin 4 aux
        hunting hunt VERB Tense=Pres|VerbForm=Part 0 root
        mice mouse NOUN Number=Plur 4 obj
        to to PART _ 7 mark
        eat eat VERB VerbForm=Inf 4 advcl
        them they PRON _ 7 obj""",
    "typo": """
        Thanks thanks NOUN Number=Plur 0 root
        verry very ADV Typo=Yes 3 advmod
        much much ADV _ 1 advmod""",
    "nothing": """
        ! ! PUNCT _ 2 punct
        42 42 NUM _ 0 root""",
}


def words_of(name: str) -> list[Word]:
    found = []
    for line, row in enumerate(SENTENCES[name].strip().split("\n"), 1):
        form, lemma, upos, feats, head, relation = row.split()
        pairs = dict(pair.split("=") for pair in feats.split("|") if "=" in pair)
        found.append(Word(form, lemma, upos, pairs, int(head), relation, line))
    return found


def write_treebank(path: Path, names=tuple(SENTENCES)) -> Path:
    """Write sentences as CoNLL-U; ``sent_id`` is their name."""
    blocks = []
    for name in names:
        rows = [f"# sent_id = {name}"]
        for i, word in enumerate(words_of(name), 1):
            feats = "|".join(f"{k}={v}" for k, v in word.feats.items()) or "_"
            columns = (i, word.form, word.lemma, word.upos, "_", feats, word.head, word.relation)
            rows.append("\t".join(map(str, (*columns, "_", "_"))))
        blocks.append("\n".join(rows) + "\n\n")
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def edits(kind: str, name: str) -> set[str]:
    """Return what a kind may make of a sentence, over several seeds; wrong words in brackets."""
    found, words = set(), words_of(name)
    for seed in range(30):
        for edit in edits_of(kind, ParsedSentence(words), random.Random(seed)):
            put = [f"[{w}]" if i < edit.wrong else w for i, w in enumerate(edit.words)]
            forms = [word.form for word in words]
            forms[edit.first : edit.last] = put
            found.add(" ".join(forms))
    return found


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("article", "cats", "She sees [old] cat in the garden ."),
        ("article", "cats", "She sees [a] old cat in the garden ."),
        ("article", "cats", "She sees [the] old cat in the garden ."),
        ("article", "cats", "She sees an old cat in [garden] ."),
        ("article", "dogs", "Those dogs were hunting [a] mice to eat them"),
        ("preposition", "cats", "She sees an old cat [on] the garden ."),
        ("preposition", "cats", "She sees an old cat [the] garden ."),
        ("preposition", "cats", "She sees [for] an old cat in the garden ."),
        ("agreement", "cats", "She [see] an old cat in the garden ."),
        ("agreement", "dogs", "Those dogs [was] hunting mice to eat them"),
        ("verb_form", "dogs", "Those dogs were [hunt] mice to eat them"),
        ("verb_form", "dogs", "Those dogs were hunting mice to [eats] them"),
        ("verb_form", "dogs", "Those dogs were hunting mice to [eating] them"),
        ("noun_number", "cats", "She sees an old [cats] in the garden ."),
        ("noun_number", "dogs", "Those [dog] were hunting mice to eat them"),
        ("noun_number", "dogs", "Those dogs were hunting [mouse] to eat them"),
        ("word_order", "cats", "She sees an [cat] [old] in the garden ."),
        ("word_order", "dogs", "[Dogs] [those] were hunting mice to eat them"),
        ("spelling", "cats", "She sees an old cat in the [gaden] ."),
    ],
)
def test_kinds_make_their_errors(kind, name, expected) -> None:
    if kind == "spelling":
        assert any("[g" in text for text in edits(kind, name))
    else:
        assert expected in edits(kind, name)


def test_nothing_is_wrong_that_a_kind_cannot_know() -> None:
    assert not any("[gardens]" in text for text in edits("noun_number", "cats"))  # the gardens
    assert edits("agreement", "typo") == edits("verb_form", "nothing") == set()
    assert not any(text.startswith("[") for text in edits("spelling", "cats"))  # too short


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("name", SENTENCES)
def test_every_edit_changes_words_and_marks_one(kind, name) -> None:
    words = words_of(name)
    for seed in range(20):
        for edit in edits_of(kind, ParsedSentence(words), random.Random(seed)):
            old = tuple(word.form for word in words[edit.first : edit.last])
            assert 0 <= edit.first < edit.last <= len(words)
            assert edit.words != old
            assert 1 <= edit.wrong <= len(edit.words)
            assert all(edit.words)
            assert not any(character.isspace() for word in edit.words for character in word)


def test_forms_of_words() -> None:
    assert [third_person(v) for v in ("be", "have", "go", "watch", "try", "play", "see")] == (
        "is has goes watches tries plays sees".split()
    )
    assert [ing_form(v) for v in ("be", "lie", "make", "see", "run", "begin", "show", "eat")] == (
        "being lying making seeing running beginning showing eating".split()
    )
    assert [
        plural(n) for n in ("child", "city", "bus", "sheep")
    ] == "children cities buses sheep".split()
    assert [indefinite(w) for w in ("apple", "Hour", "unit", "house")] == ["an", "an", "a", "a"]
    assert [in_case_of("dogs", m) for m in ("Cat", "CAT", "cat", "I")] == [
        "Dogs",
        "DOGS",
        "dogs",
        "Dogs",
    ]


NAMES = st.sampled_from(sorted(SENTENCES))
INJECTIONS = st.builds(
    Injection,
    seed=st.integers(0, 2**40),
    rate=st.floats(0, 1),
    erroneous=st.floats(0, 1),
    kinds=st.lists(st.sampled_from(sorted(RULES)), min_size=1, unique=True).map(",".join),
)


@settings(deadline=None, max_examples=150)
@given(name=NAMES, injection=INJECTIONS)
def test_labels_fit_and_every_error_shows(name, injection) -> None:
    words = words_of(name)
    done = inject(words, name, injection)
    assert len(done.words) == len(done.labels)
    assert set(done.labels) <= {"c", "i"}
    own = sum("Typo" in word.feats for word in words)
    assert done.labels.count("i") >= own + len(done.kinds)
    assert set(done.kinds) <= set(injection.names)
    if not done.kinds:
        assert done.words == [word.form for word in words]
        assert done.labels.count("i") == own
    assert inject(words, name, injection) == done


@settings(deadline=None, max_examples=60)
@given(name=NAMES, seed=st.integers(0, 10**6))
def test_right_words_are_those_of_the_sentence_in_order(name, seed) -> None:
    kinds = ",".join(kind for kind in RULES if kind != "word_order")
    done = inject(words_of(name), name, Injection(seed, 0.3, 1.0, kinds))
    left = iter(word.form.lower() for word in words_of(name))
    assert all(w.lower() in left for w, label in zip(done.words, done.labels) if label == "c")


def test_misspellings_of_the_treebank_are_wrong_as_they_stand() -> None:
    words = words_of("typo")
    assert inject(words, "", Injection(1, erroneous=0.0)).labels == ["c", "i", "c"]
    for seed in range(50):
        done = inject(words, "", Injection(seed, 1.0, 1.0))
        assert done.labels[done.words.index("verry")] == "i"


def test_share_and_rate_say_how_much() -> None:
    words = words_of("cats")
    seeds = range(400)
    some = [inject(words, "", Injection(seed, 0.15, 0.7)) for seed in seeds]
    assert 0.62 < sum("i" in done.labels for done in some) / len(seeds) < 0.78
    assert not any("i" in inject(words, "", Injection(s, 0.5, 0.0)).labels for s in seeds)
    assert all(len(inject(words, "", Injection(s, 0.0, 1.0)).kinds) == 1 for s in seeds)
    assert sum(len(inject(words, "", Injection(s, 0.4, 1.0)).kinds) for s in seeds) > 2 * len(seeds)


def test_sentences_do_not_depend_on_their_neighbours(tmp_path) -> None:
    injection = Injection(3, 0.2, 1.0)

    def sentences(*names: str) -> list[str]:
        source, output = write_treebank(tmp_path / "a.conllu", names), tmp_path / "out.tsv"
        inject_file(source, output, injection)
        return output.read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n")

    first = sentences(*SENTENCES)
    assert sentences(*reversed(SENTENCES)) == first[::-1]
    assert sentences("dogs") == [first[1]]


def test_seed_and_name_of_the_sentence_matter() -> None:
    words = words_of("cats")
    assert len({tuple(inject(words, "", Injection(s, 0.2, 1.0)).words) for s in range(20)}) > 10
    assert len({tuple(inject(words, str(n), Injection(1, 0.2, 1.0)).words) for n in range(20)}) > 10


def test_file_is_read_as_token_errors_and_counted(tmp_path) -> None:
    source, output = write_treebank(tmp_path / "a.conllu"), tmp_path / "train.tsv"
    counts = inject_file(source, output, Injection(1, 0.2, 1.0))
    examples = list(read_split(get_dataset("token_errors"), "train", output))
    assert len(examples) == counts["sentences"] == 4
    labels = [label for example in examples for label in example.word_labels]
    assert (len(labels), labels.count("i")) == (counts["words"], counts["wrong"])
    assert counts["untouched"] == 1  # "! 42"
    assert counts["erroneous"] == 3
    assert sum(counts[kind] for kind in RULES) > 0


@pytest.mark.parametrize("name", ["rate", "erroneous"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_shares_are_from_0_to_1(name, value) -> None:
    with pytest.raises(InputError, match=f"--{name} {value}: must be from 0 to 1"):
        Injection(1, **{name: value})


@pytest.mark.parametrize("kinds", ["", "articles", "article,article"])
def test_kinds_are_known_and_named_once(kinds) -> None:
    with pytest.raises(InputError, match="choices, each once, are article, preposition"):
        Injection(1, kinds=kinds)


def test_output_is_complete_or_absent(tmp_path, monkeypatch) -> None:
    source = write_treebank(tmp_path / "a.conllu")
    output = tmp_path / "out.tsv"
    monkeypatch.setattr(error_injection.Injected, "counts", lambda done: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        inject_file(source, output, Injection(1))
    assert [path.name for path in tmp_path.iterdir()] == ["a.conllu"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"a\.conllu: no sentences"),
        ("1\tDog\n", r"a\.conllu:1: expected 10 tab-separated fields"),
        ("1\t20 000\t_\tNUM\t_\t_\t0\troot\t_\t_\n", r"a\.conllu:1: word '20 000' is empty or has"),
    ],
)
def test_bad_treebanks_are_named(content, message, tmp_path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        inject_file(path, tmp_path / "out.tsv", Injection(1))
    assert not (tmp_path / "out.tsv").exists()


def test_missing_files_are_named(tmp_path) -> None:
    source = write_treebank(tmp_path / "a.conllu")
    with pytest.raises(FileNotFoundError, match="no file '.*none.conllu'"):
        inject_file(tmp_path / "none.conllu", tmp_path / "out.tsv", Injection(1))
    with pytest.raises(FileNotFoundError, match="--output: no folder '.*none'"):
        inject_file(source, tmp_path / "none" / "out.tsv", Injection(1))


def test_rules_are_all_drawn() -> None:
    drawn = {kind for s in range(300) for kind in inject(words_of("cats"), "", Injection(s)).kinds}
    assert drawn == set(error_rules.RULES) - {"verb_form"}  # nothing for it in this sentence
