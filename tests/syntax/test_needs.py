"""What models read: layers of one and of several models, controls, and folders that lack some."""

from __future__ import annotations

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.controls import UNCONTROLLED, Controls
from fairseq_plugins.syntax.needs import Needs

CURED = "--layers {0.name}".format


def refusal(function, *args, **kwargs):
    with pytest.raises(InputError, match=".") as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_controls_say_what_they_change():
    both = Controls(trees="chain", questions="shuffled", seed=3)
    assert both.said == "--tree-source chain --question-source shuffled"
    assert both.described == f"{both.said} (seed 3)"
    assert both.record == {"controls": both.described}
    chain = Controls(trees="chain", seed=3)
    assert chain.described == chain.said == "--tree-source chain"


@pytest.mark.parametrize("trees", ["parse", "gold"])
def test_what_was_prepared_is_no_control(trees):
    assert (Controls(trees=trees).said, Controls(trees=trees).record) == ("", {})


@pytest.mark.parametrize(
    ("given", "drawn"),
    [
        ({}, False),
        ({"trees": "chain"}, False),
        ({"features": "constant"}, False),
        ({"trees": "shuffled"}, True),
        ({"trees": "random"}, True),
        ({"features": "random"}, True),
        ({"questions": "shuffled"}, True),
    ],
)
def test_what_is_drawn_from_a_split_is_not_for_raw_text(given, drawn):
    controls = Controls(**given, seed=1)
    assert controls.drawn == drawn
    if drawn:
        assert controls.said in refusal(controls.check_raw)
    else:
        controls.check_raw()


def test_training_alone_reads_what_is_taught():
    needs = Needs(("pos",), ("heads", "similarity"), taught=("dep", "heads"))
    assert needs.reads(training=False) == ("pos", "heads", "similarity")
    assert needs.reads(training=True) == ("pos", "heads", "similarity", "dep")


@pytest.mark.parametrize(
    ("given", "annotated"),
    [
        ({}, False),
        ({"features": ("case",)}, False),
        ({"features": ("case", "pos")}, True),
        ({"layers": ("heads",)}, True),
        ({"layers": ("similarity",)}, False),
        ({"taught": ("heads",)}, False),
    ],
)
def test_annotated_is_what_answers_depend_on(given, annotated):
    assert Needs(**given).annotated == annotated


@pytest.mark.parametrize("name", ["words", "pairs"])
@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("other", [True, False])
def test_an_ensemble_reads_what_one_of_its_models_reads(name, one, other):
    found = Needs(**{name: one}).joined(Needs(**{name: other}))
    assert getattr(found, name) == (one or other)


def test_an_ensemble_reads_every_layer_once():
    first = Needs(("pos",), ("heads",), taught=("dep",))
    second = Needs(("pos",), ("similarity", "heads"), taught=("dep", "tag"))
    assert second.joined(first) == Needs(("pos",), ("heads", "similarity"), taught=("dep", "tag"))
    assert first.joined(None) is first


def test_ensembles_of_other_features_or_controls_are_refused():
    told = refusal(Needs(("pos",)).joined, Needs())
    assert told.endswith("the same features, not none and pos")
    chain = Controls(trees="chain")
    told = refusal(Needs().joined, Needs(controls=chain))
    assert told.endswith("the same controls, not --tree-source chain and none")
    Needs(controls=chain).check_controls(chain)
    Needs(controls=chain).check_controls(None)
    assert refusal(Needs(controls=chain).check_controls, UNCONTROLLED)


def test_single_sentences_are_no_pairs():
    told = refusal(Needs(pairs=True).check, (), "data", CURED, sentences=1, training=False)
    assert told.startswith("the model compares the two sentences of a pair, but data has single")
    assert told == refusal(Needs(pairs=True).check, (), "data", CURED, training=False)
    Needs(pairs=True).check((), "data", CURED, sentences=2, training=False)
    Needs().check((), "data", CURED, sentences=1, training=False)


def test_a_layer_that_a_folder_lacks_is_named_with_its_option_and_cure():
    needs = Needs(("pos",), ("heads",), taught=("dep",), options={"heads": "--tree-masks"})
    needs.check(("pos", "heads"), "data", CURED, training=False)
    told = refusal(needs.check, ("pos", "heads"), "data", CURED, training=True)
    assert told == (
        "the model reads dependency relations, but data was prepared without: prepare it with "
        "--layers dep"
    )
    told = refusal(needs.check, ("pos",), "data", CURED, training=False)
    assert told.startswith("--tree-masks reads parse trees, but data")
