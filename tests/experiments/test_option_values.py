"""What a value of fairseq's options may be: nothing that runs when fairseq evaluates it."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairseq_plugins.experiments.option_values import read_choices, read_options

PLAIN = [
    "(0.9, 0.98)",
    "[-1, 1e-5]",
    "[(512, 3)] * 4 + [(1024, 5)]",
    '{"beam": 4, "lenpen": 0.6, "sampling": true}',
    "{'encoder_layers': 3}",
    "0.1",
    "polynomial_decay",
    "/data/a b/model.pt",
    "it's one word",
]
ACTING = [
    "print(1)",
    "(print)(1)",
    "[0 for os.path.exists in [os.system]]",
    "help['x']",
    "(lambda: 1)()",
    "(x := 1)",
    "f'{x!r}'",
    "(a.b, 1)",
    "f\\\n(1)",
    "(f #,\n(1))",
    "1),print(",
]


@pytest.mark.parametrize("text", PLAIN)
def test_literals_and_words_are_values(text) -> None:
    assert read_options({"x": text}) == {"x": text}


@pytest.mark.parametrize("text", ACTING)
def test_what_would_act_when_evaluated_is_refused(text) -> None:
    with pytest.raises(ValueError, match="option 'x': .* is an option or code, not a value"):
        read_options({"x": text})


def test_choices_are_held_to_the_same() -> None:
    with pytest.raises(ValueError, match="'f\\(2\\)' is an option or code"):
        read_choices(["x=1,f(2)"])


@given(st.text(st.sampled_from("act()[]{},.: '\"=+*\\\n#" + string.digits), max_size=12))
@example("act()")
@example("{act(): 1}")
@example("[act][0]")
def test_no_value_calls_anything(text) -> None:
    called = []
    names = {"act": lambda *_: called.append(1), "__builtins__": {}}
    try:
        read_options({"x": text})
    except ValueError:
        return
    try:
        eval(text, names)  # noqa: S307
    except Exception:
        pass
    assert called == []
