"""Rules of all transformations: labels, seeds, and which of them a dataset can have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.augment.perturbation.sentences import NUMBERS, Resources
from fairseq_plugins.augment.perturbation.transformations import (
    TRANSFORMATIONS,
    choose,
    pair_datasets,
    pair_labels,
)
from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.errors import InputError
from tests.pair_sentences import LABELS, made, run, sentences, small_resources


@pytest.fixture(scope="module")
def resources(tmp_path_factory) -> Resources:
    """A tiny WordNet, some names, and a translation into capitals."""
    return small_resources(tmp_path_factory.mktemp("wordnet"))


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@settings(max_examples=15, deadline=None)
@given(pair=st.tuples(sentences(), sentences()), same=st.booleans(), seed=st.integers(0, 3))
def test_label_follows_the_rule_of_kind_and_transformation(
    name, resources, pair, same, seed
) -> None:
    item = TRANSFORMATIONS[name]
    for labels in LABELS.values():
        label = labels.same if same else labels.different
        done = run(name, pair, label, labels=labels, seed=seed, resources=resources)
        if done is None:
            continue
        assert done.label == (labels.different if item.differs else label)
        assert done.texts != tuple(sentence.text for sentence in pair)
        assert done.what
        assert same or not item.from_same
        assert not any(re.search(r"[\t\n\r]", text) for text in done.texts)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@settings(max_examples=10, deadline=None)
@given(pair=st.tuples(sentences(), sentences()), fields=st.sampled_from(("", *NUMBERS)))
def test_the_same_seed_does_the_same_and_other_sentences_stay(
    name, resources, pair, fields
) -> None:
    item = TRANSFORMATIONS[name]
    done = run(name, pair, fields=fields, resources=resources)
    assert done == run(name, pair, fields=fields, resources=resources)
    if done:
        allowed = NUMBERS[item.fields if item.fixed or not fields else fields]
        for number in {0, 1} - set(allowed):
            assert done.texts[number] == pair[number].text


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_seeds_matter(name, resources) -> None:
    tagged = "you/PRON bought/VERB 12/NUM large/ADJ cars/NOUN and/CCONJ big/ADJ day/NOUN rises/VERB"
    pair = (made(tagged, "in/ADP Rome/PROPN"), made(tagged))
    found = {run(name, pair, seed=seed, resources=resources).texts for seed in range(30)}
    assert len(found) > 1 or name in ("BackTrans", "SwapSyn")


@settings(max_examples=50, deadline=None)
@given(pair=st.tuples(sentences(), sentences()), seed=st.integers(0, 5))
def test_swapant_sets_the_second_to_the_first_but_for_one_word(resources, pair, seed) -> None:
    done = run("SwapAnt", pair, seed=seed, resources=resources)
    if done is None:
        return
    first, second = done.texts
    assert first == pair[0].text
    old, new = re.split(r"(\s)", first), re.split(r"(\s)", second)
    differing = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    articles = [(a, b) for a, b in differing if {a.lower(), b.lower()} == {"a", "an"}]
    assert len(differing) - len(articles) == 1
    assert len(articles) <= 1


@settings(max_examples=50, deadline=None)
@given(pair=st.tuples(sentences(), sentences()), seed=st.integers(0, 5))
def test_numword_changes_the_value_and_keeps_the_form(resources, pair, seed) -> None:
    done = run("NumWord", pair, seed=seed, resources=resources)
    assert done is not None or "NUM" not in pair[0].upos
    if done:
        old, new = done.what[0].split(" -> ")
        assert old != new
        is_day = old.isdigit() and int(old) <= 31 and new.isdigit() and int(new) <= 28
        same_form = re.sub(r"\d", "9", old) == re.sub(r"\d", "9", new)
        assert same_form or old.isalpha() or is_day
        assert old.isalpha() == new.isalpha()
        assert done.texts[0] == pair[0].text


def test_what_a_dataset_says_follows_from_its_labels() -> None:
    found = {name: pair_labels(DATASETS[name]) for name in pair_datasets()}
    assert {name for name, labels in found.items() if not labels.same} == {"sts_b", "sick_r"}
    for name in ("mrpc", "qqp", "paws_wiki", "twitter_url", "wnli"):
        assert (found[name].same, found[name].different) == ("1", "0")
    for name in ("snli", "mnli", "ax"):
        assert (found[name].same, found[name].different) == ("entailment", "contradiction")
    assert found["rte"].different == "not_entailment"
    assert (found["scitail"].same, found["scitail"].different) == ("entails", "neutral")
    assert found["sick"].different == "CONTRADICTION"
    assert not found["qnli"].alike
    for name in ("cola", "conll2003", "chnsenticorp", "plain"):
        with pytest.raises(InputError, match=f"'{name}' has no pairs.*choices: mrpc, "):
            pair_labels(DATASETS[name])


def test_all_leaves_out_what_does_not_apply_and_says_why(tmp_path) -> None:
    scores = pair_labels(DATASETS["sts_b"])
    chosen, left = choose("all", "sts_b", scores, wordnet=str(tmp_path), translates=False)
    names = [item.name for item in chosen]
    assert names == ["InsertAdv", "TwitterType", "SwapNamedEnt", "AddPunc"]
    assert set(names) | set(left) == set(TRANSFORMATIONS)
    assert "score" in left["SwapAnt"]
    assert "apt-get install" in left["SwapSyn"]
    assert "--back-translate" in left["BackTrans"]
    question = pair_labels(DATASETS["qnli"])
    assert "question" in choose("all", "qnli", question, wordnet="", translates=True)[1]["NumWord"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwapAnts", "choices are SwapAnt, NumWord, .*, or all"),
        ("", "choices are SwapAnt"),
        ("NumWord", "NumWord does not apply to sts_b: .*score"),
        ("AppendIrr", "AppendIrr does not apply to sts_b: .*further sentence"),
        ("BackTrans", "BackTrans needs something that translates: --forward"),
    ],
)
def test_what_cannot_be_applied_is_refused_by_name(text, message) -> None:
    labels = pair_labels(DATASETS["sts_b"])
    with pytest.raises(InputError, match=message):
        choose(text, "sts_b", labels, wordnet="", translates=False)


def test_no_wordnet_is_refused_where_it_was_asked_for(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="apt-get install wordnet-base"):
        choose("SwapSyn", "rte", LABELS["inference"], wordnet=str(tmp_path), translates=False)
