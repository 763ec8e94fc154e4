"""Options as closed records: whatever is given, only declared values come out."""

from __future__ import annotations

import json
from dataclasses import fields, make_dataclass

import pytest
from fairseq.tasks import TASK_DATACLASS_REGISTRY
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.door.records import close, read_list
from fairseq_plugins.errors import InputError
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.models._config import SyntaxTransformerConfig
from fairseq_plugins.tasks import ExtractiveQATask

CLASSES = [BertConfig, SyntaxTransformerConfig, TASK_DATACLASS_REGISTRY[ExtractiveQATask.NAME]]
PLAIN = (str, int, float, bool, type(None), list)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
scalars |= st.sampled_from(["${oc.env:HOME}", "a${b}", "add", "relu", "none", "all", 10**9, -1])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
@pytest.mark.parametrize("config_class", CLASSES, ids=lambda c: c.__name__)
def test_a_record_holds_known_names_and_plain_values_alone(config_class, data):
    names = [spec.name for spec in fields(config_class)]
    keys = st.sampled_from([*names, "_target_", "arch", "task", "bpe"])
    options = data.draw(st.dictionaries(keys, values, max_size=3))
    try:
        found = close(options, config_class, "here")
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert refusal.startswith("here: option ")
        assert len(refusal) < 1000
        return
    assert set(found) <= set(names) - {"_name"}
    assert all(isinstance(value, PLAIN) for value in found.values())
    assert all(found[name] is options[name] for name in found)
    assert "${" not in json.dumps(found)
    assert close(found, config_class, "again") == found


@pytest.mark.parametrize("config_class", CLASSES, ids=lambda c: c.__name__)
def test_defaults_are_values_of_their_own_types(config_class):
    defaults = {spec.name: spec.default for spec in fields(config_class)}
    found = close(defaults, config_class, "here")
    for name, value in defaults.items():
        interpolated = isinstance(value, str) and ("${" in value or value == "???")
        assert name == "_name" or interpolated or name in found or isinstance(value, str)


def test_only_labels_may_be_long():
    with pytest.raises(InputError, match="option 'features' is longer than 10,000"):
        close({"features": "a" * 10_001}, BertConfig, "here")
    assert close({"labels": "a" * 100_000}, BertConfig, "here")
    with pytest.raises(InputError, match="longer than 10,000,000"):
        close({"labels": "a" * 10_000_001}, BertConfig, "here")


def test_layers_and_lists_are_not_endless():
    config = make_dataclass("Config", [("layers", int, 1), ("names", list[str], None)])
    most = {"layers": 1000, "names": ["a"] * 1000}
    assert close(most, config, "here") == most
    with pytest.raises(InputError, match="option 'layers' is 1001, expected at most 1,000"):
        close({"layers": 1001}, config, "here")
    with pytest.raises(InputError, match="option 'names' is of type list, expected a list of str"):
        close({"names": ["a"] * 1001}, config, "here")


def test_what_omegaconf_takes_for_missing_is_refused():
    with pytest.raises(InputError, match=r"here: option 'features' is '\?\?\?', expected text"):
        close({"features": "???"}, BertConfig, "here")


@pytest.mark.parametrize(
    "text", ["{}", '"ab"', "5", "null", "[1]", '["a", null]', "[", "[" * 100_000]
)
def test_a_list_of_text_is_nothing_else(text):
    with pytest.raises(InputError, match="option 'labels' is .*, expected a JSON list of text"):
        read_list(text, "labels")


def test_a_list_of_text_may_be_empty_or_unsaid():
    assert read_list(None, "labels") == read_list("", "labels") == read_list("[]", "labels") == []
    assert read_list('["a", ""]', "labels") == ["a", ""]
