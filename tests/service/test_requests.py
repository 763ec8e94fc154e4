"""Requests that are read, and hostile ones that are refused with one sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.service.kinds import PAIRS, QUESTIONS, SENTENCES, TRANSLATION, WORDS
from fairseq_plugins.service.requests import (
    Refused,
    check_size,
    read_json,
    read_request,
    schema_of,
)

KINDS = (SENTENCES, PAIRS, WORDS, QUESTIONS, TRANSLATION)
NO_JSON = {
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "NaN": b'{"texts": [NaN]}',
    "infinity": b'{"texts": [-Infinity]}',
    "no UTF-8": b'{"texts": ["\xff"]}',
    "UTF-16": '{"texts": ["a"]}'.encode("utf-16"),
    "a mark": b'\xef\xbb\xbf{"texts": ["a"]}',
    "twice": b'{"texts": ["a"], "texts": ["b"]}',
    "digits": b'{"texts": [' + b"9" * 10_000 + b"]}",
    "cut": b'{"texts": ["a"',
    "nothing": b"",
    "two": b"{} {}",
    "control": b'{"texts": ["a\x01"]}',
}


def asked(kind, content, most=4, longest=100):
    body = read_request(kind.body, read_json(json.dumps(content).encode()), kind.example)
    return check_size(body, most, longest)


@pytest.mark.parametrize("what", NO_JSON)
def test_no_json_is_refused(what):
    with pytest.raises(Refused, match="^the body is no JSON: ") as error:
        read_json(NO_JSON[what])
    assert error.value.status == 400
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)


@given(st.binary(max_size=40) | st.text(max_size=20).map(lambda t: json.dumps([t]).encode()))
def test_any_bytes_are_read_or_refused(raw):
    try:
        found = read_json(raw)
    except Refused:
        return
    assert found == json.loads(raw.decode())


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=8), part),
    max_leaves=8,
)
NAMES = st.sampled_from(["texts", "questions", "beam", "nbest", "lenpen", "x"])


@given(st.sampled_from(KINDS), ANY | st.dictionaries(NAMES, ANY))
def test_any_content_is_taken_or_refused_in_one_sentence(kind, content):
    refused = None
    try:
        body = read_request(kind.body, content, kind.example)
        check_size(body, 2, 4)
    except Refused as error:
        refused = error
    assert refused is None or (refused.status == 422 and len(str(refused)) < 500)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_examples_are_requests(kind):
    assert asked(kind, kind.example) == [len("".join(text_of(kind.example)))]
    schema = schema_of(kind.body)
    assert "$ref" not in json.dumps(schema)
    assert {*kind.example} == {*schema["required"]}


def text_of(content):
    if isinstance(content, str):
        return [content]
    parts = content.values() if isinstance(content, dict) else content
    return [text for part in parts for text in text_of(part)]


WRONG = [
    (SENTENCES, [1], "the body is [1]: it should be an object; a request is like {"),
    (SENTENCES, {}, "texts is missing; "),
    (SENTENCES, {"texts": "a"}, "texts is 'a': input should be a valid list"),
    (SENTENCES, {"texts": []}, "texts is []: list should have at least 1 item"),
    (SENTENCES, {"texts": ["a", 3]}, "texts[1] is 3: input should be a valid string"),
    (SENTENCES, {"texts": ["a"], "beam": 4}, "beam is not known"),
    (SENTENCES, {"texts": ["a", " \n"]}, "texts[1] is empty: ' \\n'"),
    (SENTENCES, {"texts": ["a"] * 5}, "texts are 5; a request may have 4"),
    (SENTENCES, {"texts": ["a", "b" * 101]}, "texts[1] has 101 characters; a text may have 100"),
    (SENTENCES, {"texts": ["a \ud800"]}, "texts[0]: '\\ud800' is half a character"),
    (PAIRS, {"texts": ["a"]}, "texts[0] is 'a': input should be a valid list"),
    (PAIRS, {"texts": [["a"]]}, "texts[0] is ['a']: list should have at least 2 items"),
    (PAIRS, {"texts": [["a", "b"], ["a", ""]]}, "texts[1][1] is empty"),
    (WORDS, {"texts": [{"a": "b"}]}, "texts[0] is {'a': 'b'}: input should be"),
    (WORDS, {"texts": [["a", ""]]}, "texts[0][1] is empty"),
    (WORDS, {"texts": ["a", ["bbbb"] * 26]}, "texts[1] has 104 characters; a text may have 100"),
    (QUESTIONS, {"questions": [{"question": "a"}]}, "questions[0].context is missing"),
    (QUESTIONS, {"questions": [{"question": "", "context": "b"}]}, "questions[0].question is em"),
    (TRANSLATION, {"texts": ["a"], "beam": 33}, "beam is 33: input should be less than or equal"),
    (TRANSLATION, {"texts": ["a"], "beam": True}, "beam is True: input should be a valid integer"),
    (TRANSLATION, {"texts": ["a"], "lenpen": 11.5}, "lenpen is 11.5: input should be less"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "content", "message"), WRONG)
def test_what_is_wrong_is_named(kind, content, message):
    with pytest.raises(Refused) as error:
        asked(kind, content)
    assert str(error.value).startswith(message)
    assert error.value.status == 422


def test_long_values_are_shortened():
    with pytest.raises(Refused) as error:
        asked(SENTENCES, {"texts": {"a" * 10_000: "b" * 10_000}})
    assert len(str(error.value)) < 300


def test_words_and_sentences_may_stand_side_by_side():
    assert asked(WORDS, {"texts": ["The cat", ["The", "cat", "sat"]]}) == [7, 9]
