"""Options of local attention: what they say, and what they refuse."""

from __future__ import annotations

import pytest

from fairseq_plugins.models._local_options import (
    read_layers,
    read_local,
    reads_heads,
    reads_words,
    rules,
)
from fairseq_plugins.nn.tree_masks import RelationRule, TreeRule, WindowRule

DEFAULTS = (4, "asymmetric", 4, "subwords")


@pytest.mark.parametrize(
    ("text", "names"),
    [("none", ()), (None, ()), ("sla", ("sla",)), (" wla, sla ", ("wla", "sla"))],
)
def test_kinds_are_read(text, names):
    assert read_local(text) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sls", "--x 'sls': choices are sla, wla, parent, child, sibling, none"),
        ("sla,none", "'none'"),
        ("sla,wla,sla", "names 'sla' twice"),
        ("", "--x is empty; say '--x none'"),
        (" , ", "is empty"),
    ],
)
def test_kinds_that_are_none(text, message):
    with pytest.raises(ValueError, match=message):
        read_local(text, "--x")


def test_layers_are_read():
    assert read_layers("all", 3) == read_layers(None, 3) == (0, 1, 2)
    assert read_layers("2, 0", 3) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "there is no layer 3; the 3 layers are numbered from 0 to 2"),
        ("0,1,0", "names a layer twice"),
        ("-1", "numbers from 0"),
        ("first", "say 'all', or numbers from 0 such as 0,2,5"),
        ("", "numbers from 0"),
    ],
)
def test_layers_that_are_none(text, message):
    with pytest.raises(ValueError, match=rf"--x {text!r}.*{message}"):
        read_layers(text, 3, "--x")


def test_every_kind_has_its_rule():
    names = ("wla", "sla", "child")
    found = rules(names, 3, "symmetric", 2, "words")
    assert found == (WindowRule(2, "words"), TreeRule(3, "symmetric"), RelationRule("child"))
    assert rules((), *DEFAULTS) == ()
    assert [rule.needs_heads for rule in found] == [reads_heads((name,)) for name in names]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((-1, "none", 4, "words"), "--tree-threshold -1: must be at least 0"),
        ((4, "none", -2, "words"), "--window -2: must be at least 0"),
        ((4, "both", 4, "words"), "--tree-neighbours 'both': choices are asymmetric, symmetric, "),
        ((4, "none", 4, "letters"), "--window-unit 'letters': choices are subwords, words"),
    ],
)
def test_values_that_do_not_fit(values, message):
    with pytest.raises(ValueError, match=message):
        rules(("sla",), *values)


def test_words_are_needed_where_they_are_counted():
    assert reads_words(("sla",), "subwords")
    assert reads_words(("wla",), "words")
    assert not reads_words(("wla",), "subwords")
    assert not reads_words((), "words")
    assert not reads_heads(("wla",))
