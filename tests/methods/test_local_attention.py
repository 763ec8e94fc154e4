"""Options of local attention: what they say, and what they refuse."""

from __future__ import annotations

from argparse import Namespace

import pytest

from fairseq_plugins.architectures.bert_options import BertOptions
from fairseq_plugins.errors import InputError
from fairseq_plugins.methods.local_attention import LocalAttention, read_local
from fairseq_plugins.methods.options import merged, read_layers
from fairseq_plugins.nn.tree_masks import OpenRule, RelationRule, TreeRule, WindowRule


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
    with pytest.raises(InputError, match=message):
        read_local(text, "--x")


def test_layers_are_read():
    assert read_layers("all", 3, "--x") == read_layers(None, 3, "--x") == (0, 1, 2)
    assert read_layers("2, 0", 3, "--x") == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "there is no layer 3; the 3 layers are numbered from 0 to 2"),
        ("0,1,0", "names a layer twice"),
        ("-1", "numbers from 0"),
        ("9" * 5000, "numbers from 0"),
        ("first", "say 'all', or numbers from 0 such as 0,2,5"),
        ("", "numbers from 0"),
    ],
)
def test_layers_that_are_none(text, message):
    with pytest.raises(InputError, match=rf"--x {text!r}.*{message}"):
        read_layers(text, 3, "--x")


def test_dropout_is_separate_or_on_the_mixture():
    assert LocalAttention().separate
    assert not LocalAttention(local_dropout="mixture").separate


def test_every_kind_has_its_rule():
    how = {"tree_threshold": 3, "tree_neighbours": "symmetric", "tree_open": "punctuation"}
    how |= {"window": 2, "window_unit": "words", "local_attention": "wla,sla,child"}
    found = LocalAttention(**how).rules
    assert found == (
        WindowRule(2, "words"),
        TreeRule(3, "symmetric", "punctuation"),
        RelationRule("child"),
    )
    assert [rule.needs_punctuation for rule in found] == [False, True, False]
    assert [rule.needs_heads for rule in found] == [False, True, True]
    assert all(rule.needs_words for rule in found)
    assert not WindowRule(2, "subwords").needs_words
    assert LocalAttention(local_attention="none", num_hidden_layers=2).layers == ()
    opened = LocalAttention(**how, tree_source="full")
    assert opened.rules == (WindowRule(2, "words"), OpenRule(), OpenRule())
    assert opened.reads_trees  # so that the control is allowed


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tree_threshold", -1, "--tree-threshold -1: must be at least 0"),
        ("window", -2, "--window -2: must be at least 0"),
        ("tree_neighbours", "both", "--tree-neighbours 'both': choices are asymmetric, symmetric"),
        ("tree_open", "commas", "--tree-open 'commas': choices are none, punctuation"),
        ("window_unit", "letters", "--window-unit 'letters': choices are subwords, words"),
    ],
)
def test_values_that_do_not_fit(name, value, message):
    with pytest.raises(InputError, match=message):
        merged(Namespace(**{name: value}), BertOptions)
