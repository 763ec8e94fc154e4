"""Layers as values: those that are made by name, where annotators have them, learnt inventories."""

from __future__ import annotations

import pickle
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.vocab import Vocab

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import RESERVED, UNKNOWN_ID, Inventory, arc_labels
from fairseq_plugins.syntax.layers import (
    LAYERS,
    annotated_names,
    are_known,
    digests,
    in_order,
    layer_of,
    misc_value,
    parse_features,
)

FIELDS = "2\tsees\tsee\tVERB\tVBZ\tNumber=Sing|Person=3\t1\tnsubj:pass\t_\tNER=B-PER|A=b".split(
    "\t"
)
LABELS = st.text(min_size=1, max_size=4).map(lambda s: "_".join(s.split()) or "_")


@given(
    st.dictionaries(LABELS, st.integers(1, 9), max_size=30), st.integers(1, 4), st.integers(0, 9)
)
def test_a_learnt_inventory_keeps_the_commonest(counts, least, most):
    found = Inventory.learn("lemma", counts, least, most)
    kept = [label for label in counts if label in found.labels]
    assert len(found) == len(found.symbols) == len(found.labels) + 3
    assert len(found.labels) == min(
        most, sum(n >= least for k, n in counts.items() if k not in RESERVED)
    )
    for label, number in counts.items():
        (i,) = found.ids([label])
        assert (i == UNKNOWN_ID) != (label in found.labels) or label in RESERVED
        if label not in found.labels and label not in RESERVED and number >= least:
            assert all((-counts[other], other) < (-number, label) for other in kept)


@given(st.lists(LABELS, max_size=30))
def test_a_learnt_inventory_is_read_as_it_was_written(tmp_path_factory, labels):
    found = Inventory.learn("lemma", Counter(labels))
    path = tmp_path_factory.mktemp("inventory") / "dict.lemma.txt"
    found.save(path, Counter(labels))
    again = Inventory.load("lemma", path)
    assert again == found
    assert again.digest == found.digest
    assert again.ids(labels) == found.ids(labels)


def test_labels_become_ids_and_other_values_stay():
    learnt = layer_of("tag")
    assert learnt.ids(("VBZ", "NN")) == ["VBZ", "NN"]  # of which the folder's ids are not known yet
    bound = learnt.bound(Inventory("tag", ("NN", "VBZ"), learnt=True))
    assert bound.ids(("VBZ", "NN", "XY")) == [4, 3, UNKNOWN_ID]
    assert LAYERS["case"].ids(["lower"]) == LAYERS["case"].inventory.ids(["lower"]) != ["lower"]
    assert LAYERS["heads"].ids((2, 0)) == [2, 0]
    assert LAYERS["similarity"].ids((255, 7)) == [255, 7]


def test_other_labels_have_another_digest():
    one, other = (Inventory("tag", labels, learnt=True) for labels in (("a", "b"), ("b", "a")))
    assert one.digest != other.digest
    layers = [layer_of("tag").bound(one), LAYERS["pos"]]
    assert digests(layers) == f"tag={one.digest}"


@pytest.mark.parametrize(
    "lines", ["", "<pad> 0\n<special> 0\n", "<pad> 0\n<special> 0\n<unknown> 0\na 1\na 2\n", "a\n"]
)
def test_what_is_no_inventory_is_refused(tmp_path, lines):
    path = tmp_path / "dict.txt"
    path.write_text(lines)
    with pytest.raises(InputError, match=f"{path} is no learnt inventory"):
        Inventory.load("tag", path)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        *[("pos", "VERB"), ("tag", "VBZ"), ("lemma", "see"), ("dep", "nsubj"), ("ent", "B-PER")],
        *[("morph", "Number=Sing|Person=3"), ("morph.Number", "Sing"), ("morph.Case", "_")],
    ],
)
def test_values_stand_in_their_columns(name, label):
    layer = pickle.loads(pickle.dumps(layer_of(name)))  # noqa: S301 (our own; workers get layers)
    assert layer.label(layer.conllu(FIELDS)) == label
    morph = SimpleNamespace(get={"Number": ["Sing"]}.get)
    if name == "morph":
        morph = "Number=Sing|Person=3"
    elif name == "morph.Case":
        morph = SimpleNamespace(get=lambda _: [])
    token = SimpleNamespace(pos_="VERB", tag_="VBZ", lemma_="see", dep_="nsubj:pass", morph=morph)
    token.ent_iob_, token.ent_type_ = "B", "PER"
    assert layer.label(layer.spacy(token)) == label


def test_features_have_one_order_wherever_they_are_from():
    feats = "Number=Sing|Number[psor]=Plur|NumType=Card|PronType=Int,Rel"  # of UD
    spacys = Vocab().morphology
    token = SimpleNamespace(morph=spacys.strings[spacys.add(feats)])
    assert str(token.morph) != feats
    layer = LAYERS["morph"]
    assert layer.spacy(token) == layer.conllu([""] * 5 + [feats]) == feats
    token.morph = SimpleNamespace(get=lambda name: ["Rel", "Int"])
    other = [""] * 5 + ["PronType=Rel,Int"]
    layer = layer_of("morph.PronType")
    assert layer.spacy(token) == layer.conllu(other) == "Int,Rel"


def test_a_key_that_misc_lacks_is_named_with_those_it_has():
    assert misc_value("A", FIELDS) == "b"
    with pytest.raises(InputError, match="'sees' has no key role in MISC .its keys: NER, A"):
        misc_value("role", FIELDS)


def test_arcs_say_side_and_clipped_distance():
    assert arc_labels([2, 0, 2, 10, 1, 1, 1, 1, 1, 9]) == [
        *["R1", "root", "L1", "R5", "L4", "L5", "L5", "L5", "L5", "L1"]
    ]


def test_an_annotator_is_asked_for_what_layers_follow_from():
    assert annotated_names(["arc", "case"]) == ["pos", "heads"]
    assert annotated_names(["lemma", "given.role"]) == ["pos", "lemma"]


def test_names_stand_in_the_order_of_the_table_and_those_made_by_name_last():
    names = ["morph.Number", "lemma", "given.b", "pos", "given.a", "pos"]
    assert in_order(names) == ["pos", "lemma", "given.a", "given.b", "morph.Number"]


@pytest.mark.parametrize("name", ["gist", "morph.", "morph.A.B", "given", "morph./x", "heads.A"])
def test_unknown_layers_are_refused_with_the_choices(name):
    with pytest.raises(InputError, match=r"unknown layer .* choices: pos, .*, morph\.NAME"):
        layer_of(name)
    assert not are_known([name])


def test_only_columns_are_features():
    assert parse_features("morph.Number[psor], dep") == ("morph.Number[psor]", "dep")
    with pytest.raises(InputError, match="'heads' is no feature; choices: pos, case"):
        parse_features("pos,heads")
